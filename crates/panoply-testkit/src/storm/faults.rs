//! The faults of a storm, in an order that the seed decides.

use std::time::Duration;

use super::cluster::Cluster;

/// A fault.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Fault {
    /// kill -9 of a replica, which is started again.
    ReplicaKill,
    /// A replica is stopped for three seconds and goes on as if nothing had happened.
    ReplicaFreeze,
    /// SIGTERM of a replica, which ends by itself and is started again.
    ReplicaRestart,
    /// The same for all replicas, one after the other.
    RollingRestart,
    /// kill -9 of Redis, which comes back empty.
    CacheKill,
    /// Redis is stopped for two seconds.
    CacheFreeze,
    /// kill -9 of PostgreSQL, which recovers.
    DatabaseKill,
    /// kill -9 of haproxy, which is started again.
    BalancerKill,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ReplicaKill,
        Self::ReplicaFreeze,
        Self::ReplicaRestart,
        Self::RollingRestart,
        Self::CacheKill,
        Self::CacheFreeze,
        Self::DatabaseKill,
        Self::BalancerKill,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReplicaKill => "replica-kill",
            Self::ReplicaFreeze => "replica-freeze",
            Self::ReplicaRestart => "replica-restart",
            Self::RollingRestart => "rolling-restart",
            Self::CacheKill => "cache-kill",
            Self::CacheFreeze => "cache-freeze",
            Self::DatabaseKill => "database-kill",
            Self::BalancerKill => "balancer-kill",
        }
    }

    /// Reads names separated by commas; `all` for all, `none` for none.
    pub fn parse_list(text: &str) -> Option<Vec<Self>> {
        match text {
            "all" => Some(Self::ALL.to_vec()),
            "none" => Some(Vec::new()),
            _ => text
                .split(',')
                .map(|name| Self::ALL.into_iter().find(|fault| fault.name() == name))
                .collect(),
        }
    }
}

/// Splitmix64: small, and the same everywhere.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let bound = u64::try_from(bound.max(1)).unwrap_or(1);
        usize::try_from((mixed ^ (mixed >> 31)) % bound).unwrap_or(0)
    }
}

/// Which fault comes next: each once in random order, then again.
pub(super) struct Schedule {
    kinds: Vec<Fault>,
    round: Vec<Fault>,
    random: Random,
}

impl Schedule {
    pub(super) fn new(kinds: &[Fault], seed: u64) -> Self {
        Self { kinds: kinds.to_vec(), round: Vec::new(), random: Random::new(seed) }
    }

    pub(super) fn next_fault(&mut self) -> Option<Fault> {
        if self.round.is_empty() {
            self.round.clone_from(&self.kinds);
        }
        if self.round.is_empty() {
            return None;
        }
        let place = self.random.below(self.round.len());
        Some(self.round.swap_remove(place))
    }

    /// Injects a fault, and starts again what it ended.
    pub(super) fn inject(&mut self, fault: Fault, cluster: &mut Cluster) {
        let place = self.random.below(cluster.replicas.len());
        let Some(replica) = cluster.replicas.get_mut(place) else { return };
        match fault {
            Fault::ReplicaKill => {
                replica.kill();
                std::thread::sleep(Duration::from_millis(300));
                replica.start();
            }
            Fault::ReplicaFreeze => {
                replica.signal("STOP");
                std::thread::sleep(Duration::from_secs(3));
                replica.signal("CONT");
            }
            Fault::ReplicaRestart => replica.restart(),
            Fault::RollingRestart => {
                for one in &mut cluster.replicas {
                    one.restart();
                    one.wait_until_ready();
                    // Until the balancer has seen it.
                    std::thread::sleep(Duration::from_millis(600));
                }
            }
            Fault::CacheKill => {
                cluster.cache.kill();
                std::thread::sleep(Duration::from_secs(1));
                cluster.cache.restart();
            }
            Fault::CacheFreeze => {
                cluster.cache.signal("STOP");
                std::thread::sleep(Duration::from_secs(2));
                cluster.cache.signal("CONT");
            }
            Fault::DatabaseKill => {
                cluster.database.kill();
                cluster.database.restart();
            }
            Fault::BalancerKill => cluster.balancer.restart(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_unknown_ones_refused() {
        let names: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        assert_eq!(Fault::parse_list(&names.join(",")), Some(Fault::ALL.to_vec()));
        assert_eq!(Fault::parse_list("all"), Some(Fault::ALL.to_vec()));
        assert_eq!(Fault::parse_list("none"), Some(Vec::new()));
        assert_eq!(Fault::parse_list("replica-kill,meteor"), None);
    }

    #[test]
    fn every_fault_comes_once_a_round_and_a_seed_repeats_its_order() {
        let order = |seed| {
            let mut schedule = Schedule::new(&Fault::ALL, seed);
            (0..16).filter_map(|_| schedule.next_fault()).collect::<Vec<_>>()
        };
        let first = order(1);
        let mut round = first[..8].to_vec();
        round.sort();
        assert_eq!(round, Fault::ALL);
        assert_eq!(first, order(1));
        assert_ne!(first, order(2));
    }
}
