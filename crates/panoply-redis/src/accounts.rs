//! What a replica knows of each budget, and its share of the limit while it is on its own.
//!
//! GCRA keeps one time per budget, the theoretical arrival time (TAT): its distance from now, the
//! debt, is the used part of the bucket in units of the window. The debt of a shared bucket and that
//! of a share of it have the same unit, so a replica that loses the server goes on with the debt
//! that it saw last: half of the bucket used is half of its share used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use panoply_contract::spec::RateLimit;

/// Number of checks between evictions of full buckets.
const CHECKS_BETWEEN_SWEEPS: u32 = 4096;

/// Theoretical arrival times on the monotonic clock of this process.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// By the server, as of its last reply.
    shared: Duration,
    /// With the calls that were admitted without the server. Never before `shared`.
    local: Duration,
}

/// What the server must be told with a call.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Report {
    /// The debt of the bucket that the server reported before, now.
    pub(crate) known: Duration,
    /// The debt of the calls that this replica admitted on its own.
    pub(crate) owed: Duration,
}

/// The budgets of this replica.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    by_key: Mutex<HashMap<String, Account>>,
    checks: AtomicU32,
}

impl Accounts {
    /// Takes what has to be reported. It counts as reported until [`put_back`](Self::put_back).
    pub(crate) fn take_report(&self, key: &str, now: Duration, replicas: u32) -> Report {
        let mut accounts = self.lock(now);
        let Some(account) = accounts.get_mut(key) else { return Report::default() };
        let shared = account.shared.max(now);
        let owed = account.local.max(now).saturating_sub(shared) / replicas.max(1);
        account.local = account.shared;
        Report { known: shared.saturating_sub(now), owed }
    }

    /// Keeps a report that did not reach the server, as far as is known.
    pub(crate) fn put_back(&self, key: &str, report: Report, now: Duration, replicas: u32) {
        let mut accounts = self.lock(now);
        let account = accounts.entry(key.to_owned()).or_default();
        account.local = account.local.max(now) + report.owed * replicas.max(1);
    }

    /// Notes the debt that the server reported for a request sent at `sent`.
    pub(crate) fn settle(&self, key: &str, sent: Duration, debt: Duration) {
        let mut accounts = self.lock(sent);
        let account = accounts.entry(key.to_owned()).or_default();
        // Replies may overtake each other. The server read its clock after `sent`, so this is never
        // later than its own time.
        account.shared = account.shared.max(sent + debt);
        account.local = account.local.max(account.shared);
    }

    /// Admits a call within this replica's share of a limit, or returns the time to wait.
    pub(crate) fn check_share(
        &self,
        key: &str,
        limit: RateLimit,
        now: Duration,
        replicas: u32,
    ) -> Result<(), Duration> {
        let share = limit.max_calls.div_ceil(replicas.max(1)).max(1);
        let mut accounts = self.lock(now);
        let account = accounts.entry(key.to_owned()).or_default();
        let next = account.local.max(now) + limit.window / share;
        let wait = next.saturating_sub(now + limit.window);
        if wait > Duration::ZERO {
            return Err(wait);
        }
        account.local = next;
        Ok(())
    }

    fn lock(&self, now: Duration) -> MutexGuard<'_, HashMap<String, Account>> {
        let mut accounts = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if self.checks.fetch_add(1, Ordering::Relaxed) % CHECKS_BETWEEN_SWEEPS
            == CHECKS_BETWEEN_SWEEPS - 1
        {
            // A full bucket is as good as none.
            accounts.retain(|_, account| account.local > now);
        }
        accounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: RateLimit = RateLimit { max_calls: 30, window: Duration::from_secs(60) };
    const NOW: Duration = Duration::from_secs(1000);

    fn admitted(accounts: &Accounts, limit: RateLimit, now: Duration, replicas: u32) -> usize {
        (0..100).filter(|_| accounts.check_share("k", limit, now, replicas).is_ok()).count()
    }

    #[test]
    fn shares_exceed_the_limit_by_less_than_the_number_of_replicas() {
        for max_calls in [1, 2, 3, 7, 10, 30, 31, 32] {
            for replicas in 1..=5_u32 {
                let limit = RateLimit { max_calls, ..LIMIT };
                let all: usize = (0..replicas)
                    .map(|_| admitted(&Accounts::default(), limit, NOW, replicas))
                    .sum();
                let most = max_calls + replicas - 1;
                let fits = (max_calls as usize..=most as usize).contains(&all);
                assert!(fits, "{max_calls} over {replicas}: {all}");
            }
        }
    }

    #[test]
    fn share_refills_evenly_within_the_window() {
        let accounts = Accounts::default();
        assert_eq!(admitted(&accounts, LIMIT, NOW, 3), 10);
        assert_eq!(admitted(&accounts, LIMIT, NOW + Duration::from_secs(12), 3), 2);
        assert_eq!(admitted(&accounts, LIMIT, NOW + Duration::from_secs(100), 3), 10);
        let wait = accounts.check_share("k", LIMIT, NOW + Duration::from_secs(100), 3).unwrap_err();
        assert_eq!(wait, Duration::from_secs(6));
    }

    #[test]
    fn part_of_the_bucket_that_is_used_is_used_of_the_share_too() {
        let accounts = Accounts::default();
        // 15 of 30 calls, by whatever replica.
        accounts.settle("k", NOW, Duration::from_secs(30));
        assert_eq!(admitted(&accounts, LIMIT, NOW, 3), 5);
    }

    #[test]
    fn calls_on_its_own_are_reported_once() {
        let accounts = Accounts::default();
        accounts.settle("k", NOW, Duration::from_secs(30));
        assert_eq!(admitted(&accounts, LIMIT, NOW, 3), 5);
        // Five calls of two seconds each.
        let report = Report { known: Duration::from_secs(30), owed: Duration::from_secs(10) };
        assert_eq!(accounts.take_report("k", NOW, 3), report);
        assert_eq!(accounts.take_report("k", NOW, 3), Report { owed: Duration::ZERO, ..report });
        accounts.put_back("k", report, NOW, 3);
        assert_eq!(accounts.take_report("k", NOW, 3), report);
        assert_eq!(accounts.take_report("other", NOW, 3), Report::default());
    }

    #[test]
    fn full_buckets_are_forgotten() {
        let accounts = Accounts::default();
        for number in 0..CHECKS_BETWEEN_SWEEPS {
            accounts.settle(&number.to_string(), NOW, Duration::from_secs(1));
        }
        let later = NOW + Duration::from_secs(2);
        for _ in 0..CHECKS_BETWEEN_SWEEPS {
            accounts.take_report("k", later, 1);
        }
        assert_eq!(accounts.by_key.lock().unwrap().len(), 0);
    }
}
