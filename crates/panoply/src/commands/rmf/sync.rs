//! One sync of the rmf dataset, started by a command or by the scheduler of a server.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use panoply_contract::operation::OperationSpec;
use panoply_rmf::diff::{DatasetDiff, diff};
use panoply_rmf::store::{FundStore, Generations, JournalFolder};
use panoply_rmf::sync::{
    self, BASE_URL, HttpClient, Journal as _, Progress, SyncOutcome, SyncRequest, SystemTimer,
};
use serde_json::{Value, json};

use super::{describe, folder, lock, unwritten, write_diff};
use crate::app;
use crate::cli::RmfSync;
use crate::commands::Session;
use crate::failure::Failure;
use crate::out::{Out, notice};
use crate::progress_bar::ProgressBar;

/// The sync as a kernel operation.
pub(crate) const OPERATION: OperationSpec =
    OperationSpec { name: "rmf/sync", pack: "rmf", permissions: &["funds:import"], data: &["rmf"] };

/// Journal of an interrupted sync.
const JOURNAL: &str = "rmf-sync";

/// What to sync.
pub(crate) struct SyncJob<'a> {
    /// Folder of the packs' files.
    pub(crate) packs: &'a Path,
    pub(crate) key: String,
    pub(crate) base_url: Option<&'a str>,
    pub(crate) since: Option<Date>,
    /// Years of NAV history to have; fetched once.
    pub(crate) history_years: Option<u8>,
    /// Codes of funds whose figures are taken though they fail a gate.
    pub(crate) accept: &'a [String],
    /// Divides every wait.
    pub(crate) speed: u32,
}

/// Result of a sync that replaced the dataset.
pub(crate) struct SyncReport {
    pub(crate) outcome: SyncOutcome,
    pub(crate) changes: DatasetDiff,
}

impl SyncReport {
    /// Output of the operation, for the audit log.
    pub(crate) fn summary(&self) -> Value {
        let codes = |rejected: &[sync::Rejected]| -> Vec<String> {
            rejected.iter().map(|fund| fund.code.clone()).collect()
        };
        let total = self.changes.total();
        json!({
            "funds": self.outcome.dataset.funds.len(),
            "checksum": self.outcome.dataset.checksum,
            "new": self.outcome.added,
            "gone": self.outcome.vanished,
            "skipped": codes(&self.outcome.skipped),
            "quarantined": codes(&self.outcome.quarantined),
            "figures": {"gained": total.gained, "lost": total.lost, "changed": total.changed},
        })
    }
}

/// Syncs, checks and swaps the dataset. At most one sync runs at a time.
pub(crate) fn run(job: SyncJob<'_>, progress: &mut dyn Progress) -> Result<SyncReport, Failure> {
    let _lock = lock(job.packs)?;
    let generations = Generations::of(job.packs);
    let store = FundStore::at(Some(generations.file().to_owned()))
        .map_err(|error| Failure::work(format!("cannot read the bundled dataset: {error}")))?;
    if let Some(damage) = store.load_error() {
        let message = format!("{} is damaged: {damage}", generations.file().display());
        return Err(Failure::work(message).hint(
            "run `panoply rmf rollback`, or delete the file to start from the bundled figures",
        ));
    }
    let catalog = store.catalog();
    let now = app::clock().now();
    let request = SyncRequest {
        catalog: &catalog,
        today: bangkok_date(now),
        since: job.since,
        history_from: job.history_years.map(|years| years_before(bangkok_date(now), years)),
        now: &now.to_string(),
        accept: job.accept,
    };
    let mut http = HttpClient::new(job.base_url.unwrap_or(BASE_URL), job.key);
    let mut journal = JournalFolder::at(job.packs.join(JOURNAL));
    let timer = SystemTimer::new(app::clock()).faster(job.speed);
    let outcome = sync::sync(&request, &mut http, &timer, &mut journal, progress)
        .map_err(|error| Failure::work(error.to_string()))?;
    let changes = diff(catalog.funds(), &outcome.dataset.funds);
    generations.swap(&outcome.dataset).map_err(|error| unwritten(generations.file(), &error))?;
    // The dataset is in place; the next sync discards a remaining journal.
    let _ = journal.clear();
    Ok(SyncReport { outcome, changes })
}

/// `panoply rmf sync`.
pub(super) fn run_command(arguments: &RmfSync, session: &Session) -> Result<Value, Failure> {
    let key = session.environment.secret(&arguments.key_env).ok_or_else(|| {
        Failure::usage(format!("the variable `{}` is not set", arguments.key_env))
            .hint("put your key of the SEC's Open API there; get one at secopendata.sec.or.th")
    })?;
    let packs = folder(session)?;
    let job = SyncJob {
        packs: &packs,
        key,
        base_url: arguments.base_url.as_deref(),
        since: arguments.since,
        history_years: None,
        accept: &arguments.accept,
        speed: arguments.speed,
    };
    let mut progress = CommandProgress::default();
    let report = run(job, &mut progress);
    progress.bar.clear();
    let report = report?;
    print(&report, &packs)?;
    Ok(report.summary())
}

fn print(report: &SyncReport, packs: &Path) -> Result<(), Failure> {
    let SyncReport { outcome, changes } = report;
    let mut out = Out::new();
    out.line(describe(&outcome.dataset))?;
    out.line(format_args!(
        "{} calls, {} projects resumed from an interrupted sync",
        outcome.calls, outcome.resumed
    ))?;
    write_diff(changes, &mut out)?;
    for (what, rejected) in [
        ("in quarantine, previous figures kept", &outcome.quarantined),
        ("left out", &outcome.skipped),
    ] {
        for fund in rejected {
            out.line(format_args!("{what}: {} ({})", fund.code, fund.reason))?;
        }
    }
    if !outcome.quarantined.is_empty() {
        out.line("check these funds at the SEC; `--accept CODE` takes the fetched figures")?;
    }
    out.line(format_args!("written to {}", Generations::of(packs).file().display()))?;
    out.finish()
}

fn years_before(date: Date, years: u8) -> Date {
    date.saturating_sub(jiff::Span::new().years(years))
}

/// Current date in Thailand.
pub(crate) fn bangkok_date(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::fixed(Offset::constant(7))).date()
}

/// A bar on a terminal, else a line at most every ten seconds.
struct CommandProgress {
    bar: ProgressBar,
    clock: std::sync::Arc<dyn panoply_contract::clock::Clock>,
    last_line: Option<Duration>,
}

const LINE_INTERVAL: Duration = Duration::from_secs(10);

impl Default for CommandProgress {
    fn default() -> Self {
        Self { bar: ProgressBar::new(""), clock: app::clock(), last_line: None }
    }
}

impl Progress for CommandProgress {
    fn step(&mut self, done: usize, total: usize, what: &str) {
        self.bar.show_as(&format!("{done}/{total} {what}"), done as u64, total as u64);
        let now = self.clock.monotonic();
        let due = self.last_line.is_none_or(|last| now.saturating_sub(last) >= LINE_INTERVAL);
        if due && !self.bar.is_enabled() {
            self.last_line = Some(now);
            notice(format_args!("sync: {done} of {total} projects, {what}"));
        }
    }
}
