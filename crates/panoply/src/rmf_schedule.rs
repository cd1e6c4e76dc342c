//! Scheduled sync of the rmf dataset in a server: `[pack.rmf] sync = "daily 20:00"`.
//!
//! The time is Thailand's; `every 12h` counts from the start of the server. A random delay keeps servers from calling the SEC at the same second; a
//! failed sync is repeated with exponential backoff until the next regular time.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::{Offset, TimeZone};
use panoply_contract::context::CallContext;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::Kernel;
use panoply_rmf::sync::Progress;
use serde::Deserialize;
use serde_json::json;

use crate::commands::rmf::sync::{self, SyncJob};
use crate::config::Config;
use crate::env_vars::Environment;
use crate::failure::Failure;

/// `[pack.rmf]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RmfSettings {
    /// When to sync: `daily 20:00`, in Thailand's time, or `every 12h` (`s`, `m` or `h`).
    sync: Option<String>,
    /// Years of NAV history to have, 1 to 30; 10 by default. The first sync fetches it.
    history_years: Option<u8>,
    /// Environment variable with the API key.
    key_env: Option<String>,
    /// Base URL of the API, for tests.
    base_url: Option<String>,
}

/// Years of NAV history by default.
const HISTORY_YEARS: u8 = 10;
/// Largest random delay.
const JITTER: Duration = Duration::from_secs(600);
/// First delay after a failure, tripled up to the maximum.
const FIRST_BACKOFF: Duration = Duration::from_secs(300);
const MAX_BACKOFF: Duration = Duration::from_secs(3 * 3600);

impl RmfSettings {
    /// Time of the daily sync and the variable with the key, if a sync is scheduled.
    pub(crate) fn schedule(&self) -> Result<Option<Schedule>, Failure> {
        let Some(text) = &self.sync else { return Ok(None) };
        let rhythm = Rhythm::parse(text).ok_or_else(|| {
            Failure::usage(format!("`sync` in `[pack.rmf]` is `{text}`"))
                .hint("write a time of day in Thailand, `daily 20:00`, or `every 12h`")
        })?;
        let history_years = self.history_years.unwrap_or(HISTORY_YEARS);
        if !(1..=30).contains(&history_years) {
            let message = format!("`history_years` in `[pack.rmf]` is {history_years}");
            return Err(Failure::usage(message).hint("write 1 to 30"));
        }
        let key_env = self.key_env.clone().ok_or_else(|| {
            Failure::usage("`[pack.rmf]` schedules a sync without `key_env`").hint(
                "name the variable with your key of the SEC's Open API: key_env = \"SEC_API_KEY\"",
            )
        })?;
        Ok(Some(Schedule { rhythm, history_years, key_env, base_url: self.base_url.clone() }))
    }
}

/// When syncs happen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rhythm {
    /// At a time of day in Thailand.
    Daily(Time),
    /// After an interval.
    Every(Duration),
}

impl Rhythm {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(time) = text.strip_prefix("daily ") {
            return Time::strptime("%H:%M", time.trim()).ok().map(Self::Daily);
        }
        let interval = text.strip_prefix("every ")?.trim();
        let (number, unit) = interval.split_at_checked(interval.len().checked_sub(1)?)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        let number: u64 = number.trim().parse().ok().filter(|number| *number > 0)?;
        number.checked_mul(seconds).map(|all| Self::Every(Duration::from_secs(all)))
    }
}

/// A scheduled sync.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    rhythm: Rhythm,
    history_years: u8,
    key_env: String,
    base_url: Option<String>,
}

impl Schedule {
    /// Time until the next regular sync after `now`.
    fn wait(&self, now: Timestamp) -> Duration {
        let time = match self.rhythm {
            Rhythm::Daily(time) => time,
            Rhythm::Every(interval) => return interval,
        };
        let local = now.to_zoned(TimeZone::fixed(Offset::constant(7)));
        let today = local.date().to_datetime(time);
        let next = if today > local.datetime() {
            today
        } else {
            local.date().tomorrow().unwrap_or(local.date()).to_datetime(time)
        };
        local.datetime().duration_until(next).unsigned_abs()
    }
}

/// Delay before the attempt after `failures` failed ones.
fn backoff(failures: u32) -> Duration {
    FIRST_BACKOFF.saturating_mul(3_u32.saturating_pow(failures.saturating_sub(1))).min(MAX_BACKOFF)
}

/// Starts the scheduler of a server. Its thread ends with the process: a sync that is interrupted
/// is resumed by the next one, and the swap is atomic.
pub(crate) fn start(config: &Config, kernel: &Arc<Kernel>) -> Result<(), Failure> {
    let table = config.pack_settings.get("rmf").cloned().unwrap_or_default();
    let settings: RmfSettings = table.try_into().map_err(|error: toml::de::Error| {
        Failure::usage(format!("`[pack.rmf]` in config.toml: {}", error.message()))
    })?;
    let serves = config.packs.is_empty() || config.packs.iter().any(|name| name == "rmf");
    let (Some(schedule), Some(home), true) =
        (settings.schedule()?, config.home.folder.clone(), serves && !config.read_only)
    else {
        return Ok(());
    };
    let packs = panoply_store::Home::at(&home).packs();
    let kernel = Arc::clone(kernel);
    let run = move || keep_fresh(&schedule, &packs, &kernel);
    thread::Builder::new()
        .name("rmf-sync".to_owned())
        .spawn(run)
        .map(|_| ())
        .map_err(|error| Failure::work(format!("the scheduled sync cannot start: {error}")))
}

fn keep_fresh(schedule: &Schedule, packs: &PathBuf, kernel: &Arc<Kernel>) {
    let mut failures = 0;
    loop {
        let regular = schedule.wait(kernel.clock().now());
        let regular = regular + jitter(regular);
        let wait = match failures {
            0 => regular,
            failures => backoff(failures).min(regular),
        };
        thread::sleep(wait);
        match sync_once(schedule, packs, kernel) {
            Ok(()) => failures = 0,
            Err(failure) => {
                failures += 1;
                let next = backoff(failures).as_secs();
                tracing::error!(
                    error = failure.message(),
                    failures,
                    next,
                    "the scheduled rmf sync failed"
                );
            }
        }
    }
}

/// A random delay: at most ten minutes, and at most a tenth of the interval.
fn jitter(interval: Duration) -> Duration {
    let most = JITTER.min(interval / 10).as_millis().max(1);
    let random = uuid::Uuid::new_v4().as_u128() % most;
    Duration::from_millis(u64::try_from(random).unwrap_or_default())
}

/// Runs one sync as an operation of the kernel.
fn sync_once(schedule: &Schedule, packs: &PathBuf, kernel: &Arc<Kernel>) -> Result<(), Failure> {
    let key = Environment::default()
        .secret(&schedule.key_env)
        .ok_or_else(|| Failure::usage(format!("the variable `{}` is not set", schedule.key_env)))?;
    let mut cx = CallContext::local(Arc::clone(kernel.clock()), TraceId::new(uuid::Uuid::new_v4()));
    cx.agent_id = "panoply-schedule".to_owned();
    cx.agent_version = env!("CARGO_PKG_VERSION").to_owned();
    let operation = kernel
        .begin(&sync::OPERATION, &cx, &json!({"scheduled": true}))
        .map_err(|error| Failure::work(error.message))?;
    let job = SyncJob {
        packs,
        key,
        base_url: schedule.base_url.as_deref(),
        since: None,
        history_years: Some(schedule.history_years),
        accept: &[],
        speed: 1,
    };
    let done = sync::run(job, &mut Silent);
    let (output, code) = match &done {
        Ok(report) => (report.summary(), None),
        Err(failure) => (json!({"error": failure.message()}), Some("COMMAND_FAILED")),
    };
    tracing::info!(%output, "the scheduled rmf sync ended");
    operation.finish_blocking(&output, code).map_err(|error| Failure::work(error.message))?;
    done.map(|_| ())
}

struct Silent;

impl Progress for Silent {
    fn step(&mut self, _: usize, _: usize, _: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> RmfSettings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn next_sync_is_at_the_given_time_in_thailand() {
        let set = settings("sync = 'daily 20:00'\nkey_env = 'K'");
        let schedule = set.schedule().unwrap().unwrap();
        // 20:00 in Bangkok is 13:00 UTC.
        for (now, seconds) in [
            ("2026-11-16T12:59:00Z", 60),
            ("2026-11-16T13:00:00Z", 86_400),
            ("2026-11-16T18:00:00Z", 19 * 3600),
        ] {
            let wait = schedule.wait(now.parse().unwrap());
            assert_eq!(wait, Duration::from_secs(seconds), "at {now}");
        }
        assert!(jitter(Duration::from_secs(86_400)) < JITTER);
        assert!(jitter(Duration::from_secs(2)) < Duration::from_millis(200));
    }

    #[test]
    fn interval_is_in_seconds_minutes_or_hours() {
        for (text, seconds) in [("every 2s", 2), ("every 30m", 1800), (" every 12h ", 43_200)] {
            let expected = Rhythm::Every(Duration::from_secs(seconds));
            assert_eq!(Rhythm::parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn failed_syncs_are_repeated_with_growing_delay() {
        let minutes: Vec<u64> = (1..=6).map(|failures| backoff(failures).as_secs() / 60).collect();
        assert_eq!(minutes, [5, 15, 45, 135, 180, 180]);
    }

    #[test]
    fn schedule_without_key_or_with_an_unknown_form_is_rejected() {
        for (text, expected) in [
            ("sync = 'hourly'\nkey_env = 'K'", "hourly"),
            ("sync = 'daily 25:00'\nkey_env = 'K'", "25:00"),
            ("sync = 'every 0h'\nkey_env = 'K'", "every 0h"),
            ("sync = 'every day'\nkey_env = 'K'", "every day"),
            ("sync = 'every 1h'\nkey_env = 'K'\nhistory_years = 0", "history_years"),
            ("sync = 'daily 20:00'", "key_env"),
        ] {
            let failure = settings(text).schedule().unwrap_err();
            assert!(failure.message().contains(expected), "{text}: {}", failure.message());
        }
        assert!(settings("").schedule().unwrap().is_none());
    }
}
