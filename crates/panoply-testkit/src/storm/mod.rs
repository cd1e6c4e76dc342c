//! A storm: clients change flashcards through a balancer while replicas, cache and database are
//! killed, frozen and restarted; then a checker compares what they were told with what is there.
//!
//! The parts are real programs: `panoply`, PostgreSQL, Redis and haproxy, started as processes. Each
//! client writes a history, synced before each request and after each reply, so that the verdict
//! rests on files and not on the memory of what was tested.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "helpers of tests may fail the test, say what they start and measure real time"
)]

mod check;
mod client;
mod cluster;
mod faults;
mod history;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use self::client::Client;
use self::cluster::Cluster;
pub use self::faults::Fault;
use self::faults::Schedule;

/// What to do.
#[derive(Clone, Debug)]
pub struct Storm {
    /// The program.
    pub panoply: PathBuf,
    /// How many servers.
    pub replicas: usize,
    /// How many users; each has a collection.
    pub tenants: usize,
    /// How many clients, shared between the users.
    pub clients: usize,
    /// How long.
    pub duration: Duration,
    /// Pause between faults.
    pub pause: Duration,
    /// Which faults.
    pub faults: Vec<Fault>,
    /// Order of the faults and of the work.
    pub seed: u64,
    /// Whether to wait until the audit entries of killed replicas are recovered, a minute later.
    pub wait_for_recovery: bool,
}

/// The outcome of a storm.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Changes that were acknowledged.
    pub acknowledged: usize,
    /// Changes whose fate the client does not know.
    pub unknown: usize,
    /// Replies that were no acknowledgement, by code.
    pub refused: BTreeMap<String, u64>,
    /// Faults that were injected.
    pub faults: BTreeMap<Fault, u32>,
    /// What must not be; empty if all is well.
    pub violations: Vec<String>,
    /// Changes without a row in the audit log yet, but with a record from which it is recovered.
    pub unrecovered: usize,
}

impl Storm {
    /// Runs it. The caller's thread starts all processes, which end with it.
    pub fn run(&self) -> Outcome {
        let folder = std::env::temp_dir().join(format!("panoply-storm-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut cluster = Cluster::start(&self.panoply, &folder, self.replicas, self.tenants);
        let stop = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..self.clients)
            .map(|number| {
                let tenant = number % self.tenants;
                let client =
                    Client::new(number, cluster.address(), cluster.key(tenant), &folder, self.seed);
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || client.run(tenant, &stop))
            })
            .collect();
        let faults = self.inject(&mut cluster);
        cluster.heal();
        stop.store(true, Ordering::Relaxed);
        let mut violations = Vec::new();
        for client in clients {
            match client.join() {
                Ok(seen) => violations.extend(seen),
                Err(_) => violations.push("a client failed; see its message above".to_owned()),
            }
        }
        let mut outcome = check::check(&mut cluster, &folder, self.wait_for_recovery);
        outcome.violations.extend(violations);
        outcome.faults = faults;
        if outcome.violations.is_empty() {
            drop(cluster);
            // It is of use only after a violation.
            let _ = std::fs::remove_dir_all(&folder);
        } else {
            eprintln!("histories and logs are in {}", folder.display());
        }
        outcome
    }

    fn inject(&self, cluster: &mut Cluster) -> BTreeMap<Fault, u32> {
        let mut injected = BTreeMap::new();
        let mut schedule = Schedule::new(&self.faults, self.seed);
        let started = Instant::now();
        std::thread::sleep(self.pause);
        while started.elapsed() < self.duration {
            let Some(fault) = schedule.next_fault() else {
                std::thread::sleep(self.duration.saturating_sub(started.elapsed()));
                break;
            };
            eprintln!("{:6.1} s: {}", started.elapsed().as_secs_f64(), fault.name());
            schedule.inject(fault, cluster);
            *injected.entry(fault).or_default() += 1;
            std::thread::sleep(self.pause);
        }
        injected
    }
}

impl Outcome {
    /// In a few lines.
    pub fn report(&self) -> String {
        let faults: Vec<String> =
            self.faults.iter().map(|(fault, count)| format!("{} {count}", fault.name())).collect();
        let mut text = format!(
            "{} changes acknowledged, {} of unknown fate; {} faults ({}); refused: {:?}; {} rows to be recovered; {} violations",
            self.acknowledged,
            self.unknown,
            self.faults.values().sum::<u32>(),
            faults.join(", "),
            self.refused,
            self.unrecovered,
            self.violations.len()
        );
        for violation in self.violations.iter().take(20) {
            text.push_str("\n  ");
            text.push_str(violation);
        }
        text
    }
}
