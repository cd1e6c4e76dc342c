//! Audit rows for refused logins, rate-limited so that an attacker cannot fill the disk.
//!
//! The first refusal per address and reason is written at once. Further ones are counted, and the
//! count is written when the window ends. A window has at most [`MAX_ROWS`] addresses; refusals
//! of further ones are counted together, without an address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use panoply_contract::context::Provenance;
use panoply_contract::kernel::Kernel;
use panoply_contract::login::RefusedLogin;

/// Length of a counting window.
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Distinct pairs of address and reason per window.
const MAX_ROWS: usize = 128;

/// Aggregates refused logins and writes them to the audit log.
pub(super) struct RefusedLogins {
    kernel: Arc<Kernel>,
    counted: Mutex<HashMap<(Option<IpAddr>, &'static str), Counted>>,
}

/// Refusals after the first, which has its own row.
struct Counted {
    provenance: Provenance,
    count: u64,
}

impl RefusedLogins {
    pub(super) fn new(kernel: Arc<Kernel>) -> Self {
        Self { kernel, counted: Mutex::default() }
    }

    /// Records a refusal as a row, or counts it in the window.
    pub(super) async fn record(&self, reason: &'static str, provenance: Provenance) {
        if let Some(provenance) = self.count(reason, provenance) {
            self.kernel.record_refused_login(RefusedLogin { reason, provenance, count: 1 }).await;
        }
    }

    /// Counts a refusal; returns it when it is the first of its window.
    fn count(&self, reason: &'static str, mut provenance: Provenance) -> Option<Provenance> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut place = (provenance.address.map(network), reason);
        if counted.len() >= MAX_ROWS && !counted.contains_key(&place) {
            place.0 = None;
            provenance = Provenance::default();
        }
        if let Some(known) = counted.get_mut(&place) {
            known.count += 1;
            return None;
        }
        counted.insert(place, Counted { provenance: provenance.clone(), count: 0 });
        Some(provenance)
    }

    /// Ends the window and writes the counts.
    pub(super) async fn close_window(&self) {
        let counted =
            std::mem::take(&mut *self.counted.lock().unwrap_or_else(PoisonError::into_inner));
        for ((_, reason), Counted { provenance, count }) in counted {
            if count > 0 {
                self.kernel.record_refused_login(RefusedLogin { reason, provenance, count }).await;
            }
        }
    }

    /// Closes windows periodically.
    pub(super) async fn close_windows(&self) {
        loop {
            tokio::time::sleep(WINDOW).await;
            self.close_window().await;
        }
    }
}

/// One IPv6 client has 2^64 addresses, so addresses are grouped by /64 network.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address) >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use panoply_contract::audit::{AuditFilter, AuditRow};
    use panoply_contract::kernel::Settings;
    use panoply_contract::testing::{FixedClock, kernel_in_memory, noon};

    use super::*;

    fn logins() -> RefusedLogins {
        let clock = FixedClock::at(noon());
        RefusedLogins::new(kernel_in_memory(Vec::new(), clock, Settings::default()).unwrap())
    }

    fn from(address: &str) -> Provenance {
        Provenance { address: Some(address.parse().unwrap()), credential: None }
    }

    async fn rows(logins: &RefusedLogins) -> Vec<AuditRow> {
        let filter = AuditFilter { limit: 100_000, ..AuditFilter::default() };
        let mut rows = logins.kernel.audit().read(filter).await.unwrap();
        rows.reverse();
        rows
    }

    #[tokio::test]
    async fn refusals_of_one_address_write_one_row_and_one_count() {
        let logins = logins();
        for _ in 0..1000 {
            logins.record("KEY_UNKNOWN", from("192.0.2.7")).await;
        }
        logins.record("KEY_REVOKED", from("192.0.2.7")).await;
        assert_eq!(rows(&logins).await.len(), 2, "one for each reason");
        logins.close_window().await;
        let found = rows(&logins).await;
        let told: Vec<_> = found
            .iter()
            .map(|row| (row.entry.error_code.as_deref().unwrap(), row.entry.count))
            .collect();
        assert_eq!(told, [("KEY_UNKNOWN", 1), ("KEY_REVOKED", 1), ("KEY_UNKNOWN", 999)]);
        assert!(
            found.iter().all(|row| row.entry.tool == "login_refused"
                && row.entry.provenance == from("192.0.2.7"))
        );
        logins.record("KEY_UNKNOWN", from("192.0.2.7")).await;
        assert_eq!(rows(&logins).await.len(), 4, "a new window begins with a row");
    }

    #[tokio::test]
    async fn number_of_rows_per_window_is_bounded() {
        let logins = logins();
        for number in 0..5000_u32 {
            let network = u128::from(number) << 64 | 0x2001_0db8 << 96;
            // Two addresses of one network count as one client.
            for host in [1, 2] {
                let address = Ipv6Addr::from(network | host).into();
                let provenance = Provenance { address: Some(address), credential: None };
                logins.record("TOKEN_INVALID", provenance).await;
            }
        }
        logins.close_window().await;
        let found = rows(&logins).await;
        assert_eq!(found.len(), 2 * MAX_ROWS + 2);
        assert_eq!(found.iter().map(|row| row.entry.count).sum::<u64>(), 10_000, "none is missing");
    }
}
