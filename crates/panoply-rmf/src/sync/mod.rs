//! Sync with the Thai SEC's Open API, version 2.
//!
//! Side effects go through traits: [`Http`] fetches, [`Timer`] waits, [`Journal`] records completed
//! projects, [`Progress`] reports. A sync is resumable and can be tested without network or clock.
//!
//! Rules: figures belong to the named share class, never to the first one; a registered fund
//! without NAV stays; fields missing from the new API (AIMC classifications) keep their value; every
//! row is checked against a schema, and a fund whose figures fail a gate keeps the previous ones;
//! nothing changes when more than a tenth of the funds vanish or fail.

mod client;
mod fetch;
mod fields;
mod gates;
#[cfg(feature = "tools")]
mod live;
mod merge;
mod schema;

use std::time::Duration;

use jiff::civil::Date;

use self::client::Client;
pub use self::client::{MIN_CALL_INTERVAL, SyncError};
use self::fetch::{NavRange, fetch_project, fetch_universe};
#[cfg(feature = "tools")]
pub use self::live::{HttpClient, SystemTimer};
use self::merge::{is_registered, merge};
use crate::catalog::FundCatalog;
use crate::dataset::{Dataset, Provenance};
use crate::fund::Fund;

/// Base URL of the API.
pub const BASE_URL: &str = "https://api.sec.or.th";
/// Header of the API key.
pub const KEY_HEADER: &str = "Ocp-Apim-Subscription-Key";
/// Days of NAV history to fetch for a new fund.
const FIRST_NAV_DAYS: i64 = 400;
/// Days to fetch again, because the source restates NAVs.
const OVERLAP_DAYS: i64 = 7;

/// HTTP transport.
pub trait Http {
    /// Sends a GET request.
    fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, TransportError>;
}

/// HTTP response.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// `Retry-After`, where present.
    pub retry_after: Option<Duration>,
    /// Body.
    pub body: String,
}

/// No response: connection failure or timeout.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no response: {0}")]
pub struct TransportError(pub String);

/// Clock and sleep of a sync.
pub trait Timer {
    /// Monotonic time since an arbitrary start.
    fn elapsed(&self) -> Duration;
    /// Blocks for `wait`.
    fn sleep(&self, wait: Duration);
}

/// Records fetched projects, so that an interrupted sync resumes.
pub trait Journal {
    /// Loads an entry.
    fn load(&self, name: &str) -> Option<String>;
    /// Saves an entry.
    fn save(&mut self, name: &str, text: &str) -> std::io::Result<()>;
    /// Deletes all entries.
    fn clear(&mut self) -> std::io::Result<()>;
}

/// Receives the progress of a sync.
pub trait Progress {
    /// Reports `done` of `total` projects and the current one.
    fn step(&mut self, done: usize, total: usize, what: &str);
}

/// Input of a sync.
#[derive(Clone, Copy, Debug)]
pub struct SyncRequest<'a> {
    /// Current figures.
    pub catalog: &'a FundCatalog,
    /// Current date in Thailand.
    pub today: Date,
    /// First date of NAVs to fetch; default: from each fund's latest NAV.
    pub since: Option<Date>,
    /// First date of the NAV history to have. It is fetched once for all funds; the dataset records
    /// it, and later syncs fetch what is new.
    pub history_from: Option<Date>,
    /// Current time, ISO 8601, recorded in the dataset.
    pub now: &'a str,
    /// Codes of funds whose fetched figures are taken though they fail a gate.
    pub accept: &'a [String],
}

/// A fund whose fetched figures were rejected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rejected {
    /// Fund code.
    pub code: String,
    /// Reasons, joined by semicolons.
    pub reason: String,
}

/// Result of a sync.
#[derive(Debug)]
pub struct SyncOutcome {
    /// New figures.
    pub dataset: Dataset,
    /// Codes of new funds.
    pub added: Vec<String>,
    /// Codes of vanished funds.
    pub vanished: Vec<String>,
    /// New funds left out, with the reason.
    pub skipped: Vec<Rejected>,
    /// Known funds that keep their previous figures, with the reason.
    pub quarantined: Vec<Rejected>,
    /// Projects taken from the journal of an interrupted sync.
    pub resumed: usize,
    /// Number of API calls.
    pub calls: u64,
}

/// Fetches all figures and merges them. Writes nothing but the journal.
pub fn sync(
    request: &SyncRequest<'_>,
    http: &mut dyn Http,
    timer: &dyn Timer,
    journal: &mut dyn Journal,
    progress: &mut dyn Progress,
) -> Result<SyncOutcome, SyncError> {
    let mut client = Client::new(http, timer);
    begin(request, journal)?;
    progress.step(0, 0, "the register of funds");
    let projects = fetch_universe(&mut client)?;
    reject_shrunken_universe(request.catalog, &projects)?;
    let total = projects.len();
    let mut funds = Vec::new();
    let (mut skipped, mut quarantined, mut resumed) = (Vec::new(), Vec::new(), 0);
    for (done, project) in projects.iter().enumerate() {
        progress.step(done, total, &project.id);
        let known = journal.load(&project.id).and_then(|text| Dataset::read(text.as_bytes()).ok());
        if let Some(known) = known {
            resumed += 1;
            funds.extend(known.funds);
            continue;
        }
        let range = NavRange { from: first_day(request, &project.id), to: request.today };
        let rows = fetch_project(&mut client, project, range)?;
        let merged = merge(request, project, &rows);
        // A rejected project is fetched again by the next attempt.
        if merged.quarantined.is_empty() && merged.skipped.is_empty() {
            let packed = Dataset::new(Provenance::default(), merged.funds.clone()).packed();
            journal.save(&project.id, &packed).map_err(SyncError::journal)?;
        }
        skipped.extend(merged.skipped);
        quarantined.extend(merged.quarantined);
        funds.extend(merged.funds);
    }
    reject_widespread_failure(&quarantined, funds.len())?;
    progress.step(total, total, "done");
    let provenance = Provenance {
        source: "Thai SEC Open API v2 (api.sec.or.th)".to_owned(),
        licence: request.catalog.provenance.licence.clone(),
        fetched_at: request.now.to_owned(),
        history_from: history_of(request).map(|date| date.to_string()).unwrap_or_default(),
    };
    let dataset = Dataset::new(provenance, funds);
    let (added, vanished) = differences(request.catalog, &dataset);
    let calls = client.calls();
    Ok(SyncOutcome { dataset, added, vanished, skipped, quarantined, resumed, calls })
}

/// Discards the journal of another day or another request.
fn begin(request: &SyncRequest<'_>, journal: &mut dyn Journal) -> Result<(), SyncError> {
    const RUN: &str = "run";
    let since = request.since.map(|date| date.to_string()).unwrap_or_default();
    let history = missing_history(request).map(|date| date.to_string()).unwrap_or_default();
    let run = format!("{} {since} {history} {}", request.today, request.catalog.checksum);
    if journal.load(RUN).as_deref() != Some(run.as_str()) {
        journal.clear().map_err(SyncError::journal)?;
        journal.save(RUN, &run).map_err(SyncError::journal)?;
    }
    Ok(())
}

/// First NAV date to fetch. Share classes that carry the figures of another class are fetched in
/// full.
fn first_day(request: &SyncRequest<'_>, project: &str) -> Date {
    let known: Vec<&Fund> =
        request.catalog.funds().iter().filter(|fund| fund.fund_id == project).collect();
    let last_known = known
        .iter()
        .filter_map(|fund| fund.nav.latest())
        .map(|point| days_before(point.date, OVERLAP_DAYS))
        .min()
        .filter(|_| !known.iter().any(|fund| fund.shares_figures()));
    // A class that takes its own figures must not end up with a shorter history.
    let first_known = known.iter().filter_map(|fund| fund.nav.points().first());
    let first_known = first_known.map(|point| point.date).min();
    let recent = days_before(request.today, FIRST_NAV_DAYS);
    let long_ago = history_of(request).map_or(recent, |from| from.min(recent));
    let in_full = first_known.map_or(long_ago, |first| first.min(long_ago));
    request.since.or_else(|| missing_history(request)).or(last_known).unwrap_or(in_full)
}

/// First date of the history that the dataset has.
fn known_history(request: &SyncRequest<'_>) -> Option<Date> {
    request.catalog.provenance.history_from.parse().ok()
}

/// First date of the wanted history, if the dataset does not reach back to it.
fn missing_history(request: &SyncRequest<'_>) -> Option<Date> {
    let known = known_history(request);
    request.history_from.filter(|wanted| known.is_none_or(|known| *wanted < known))
}

/// First date of the history after this sync.
fn history_of(request: &SyncRequest<'_>) -> Option<Date> {
    [known_history(request), request.since, request.history_from].into_iter().flatten().min()
}

fn days_before(date: Date, days: i64) -> Date {
    date.saturating_sub(jiff::Span::new().days(days))
}

/// More than a tenth vanishing is a fault of the source.
fn reject_shrunken_universe(
    catalog: &FundCatalog,
    projects: &[fetch::Project],
) -> Result<(), SyncError> {
    let registered = catalog.funds().iter().filter(|fund| is_registered(projects, fund)).count();
    let (before, gone) = (catalog.funds().len(), catalog.funds().len() - registered);
    if gone * 10 > before { Err(SyncError::UniverseShrank { before, gone }) } else { Ok(()) }
}

/// More than a tenth failing is a fault of the source, or a change of its format.
fn reject_widespread_failure(quarantined: &[Rejected], total: usize) -> Result<(), SyncError> {
    let failed = quarantined.len();
    if failed * 10 <= total {
        return Ok(());
    }
    let example = quarantined.iter().take(3).map(|fund| format!("{}: {}", fund.code, fund.reason));
    let example = example.collect::<Vec<_>>().join("; ");
    Err(SyncError::TooManyQuarantined { failed, total, example })
}

fn differences(catalog: &FundCatalog, dataset: &Dataset) -> (Vec<String>, Vec<String>) {
    let codes = |funds: &[Fund]| {
        funds.iter().map(|fund| fund.symbol.clone()).collect::<std::collections::BTreeSet<_>>()
    };
    let (before, after) = (codes(catalog.funds()), codes(&dataset.funds));
    let added = after.difference(&before).cloned().collect();
    let vanished = before.difference(&after).cloned().collect();
    (added, vanished)
}
