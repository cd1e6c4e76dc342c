//! Brings the figures up to date from the Thai SEC's Open API, version 2.
//!
//! Everything from outside comes through traits: [`Http`] fetches, [`Pace`] waits, [`Journal`]
//! remembers what is done already, [`Progress`] is told. So a sync can be interrupted and taken
//! up again, and tested without a network or a clock.
//!
//! The rules: figures are taken of the share class that is named, never of the first one; a
//! registered fund stays though its NAV is missing; what the new API no longer has (AIMC
//! classes) is kept; and when more than a tenth of the funds vanish, nothing is changed.

mod client;
mod fields;
mod gather;
#[cfg(feature = "tools")]
mod live;
mod merge;

use std::time::Duration;

use jiff::civil::Date;

use self::client::Client;
pub use self::client::{LEAST_GAP, SyncError};
use self::gather::{Asked, gather, universe};
#[cfg(feature = "tools")]
pub use self::live::{LiveHttp, LivePace};
use self::merge::{kept_of, merge};
use crate::book::Book;
use crate::dataset::{About, Dataset};
use crate::fund::Fund;

/// Where the API is.
pub const BASE_URL: &str = "https://api.sec.or.th";
/// The header that carries the key.
pub const KEY_HEADER: &str = "Ocp-Apim-Subscription-Key";
/// Days of NAV to fetch for a fund that is new to us.
const FIRST_NAV_DAYS: i64 = 400;
/// Days to fetch again, because the source restates figures now and then.
const OVERLAP_DAYS: i64 = 7;

/// Fetches a page.
pub trait Http {
    /// What is at `path` with these arguments.
    fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, NoAnswer>;
}

/// What a server answered.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// How long to wait, where the server says so.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: String,
}

/// No answer at all: no connection, or none in time.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no answer: {0}")]
pub struct NoAnswer(pub String);

/// Time, as far as a sync needs it.
pub trait Pace {
    /// Time since some fixed moment.
    fn elapsed(&self) -> Duration;
    /// Waits.
    fn sleep(&self, wait: Duration);
}

/// Remembers what a sync has fetched, so that the next one need not fetch it again.
pub trait Journal {
    /// What was saved under this name.
    fn load(&self, name: &str) -> Option<String>;
    /// Saves a text under a name.
    fn save(&mut self, name: &str, text: &str) -> std::io::Result<()>;
    /// Forgets everything.
    fn clear(&mut self) -> std::io::Result<()>;
}

/// Is told how far a sync is.
pub trait Progress {
    /// `done` of `total`, and what is being fetched.
    fn step(&mut self, done: usize, total: usize, what: &str);
}

/// What to bring up to date, and when it is.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The figures we have.
    pub book: &'a Book,
    /// The day it is in Thailand.
    pub today: Date,
    /// Fetch NAVs from this day on; from each fund's last one unless told.
    pub since: Option<Date>,
    /// The moment, ISO 8601, for the record.
    pub now: &'a str,
}

/// What a sync brought.
#[derive(Debug)]
pub struct Synced {
    /// The new figures.
    pub dataset: Dataset,
    /// Codes that are new.
    pub added: Vec<String>,
    /// Codes that are gone.
    pub vanished: Vec<String>,
    /// Codes of new funds whose level of risk is not published, which we cannot list yet.
    pub skipped: Vec<String>,
    /// Projects that an earlier, interrupted sync had fetched already.
    pub resumed: usize,
    /// How many calls it took.
    pub calls: u64,
}

/// Fetches everything and puts it together. Nothing is written but the journal.
pub fn sync(
    order: &Order<'_>,
    http: &mut dyn Http,
    pace: &dyn Pace,
    journal: &mut dyn Journal,
    progress: &mut dyn Progress,
) -> Result<Synced, SyncError> {
    let mut client = Client::new(http, pace);
    begin(order, journal)?;
    progress.step(0, 0, "the register of funds");
    let projects = universe(&mut client)?;
    refuse_a_shrunken_universe(order.book, &projects)?;
    let total = projects.len();
    let mut funds = Vec::new();
    let (mut skipped, mut resumed) = (Vec::new(), 0);
    for (done, project) in projects.iter().enumerate() {
        progress.step(done, total, &project.id);
        let known = journal.load(&project.id).and_then(|text| Dataset::read(text.as_bytes()).ok());
        if let Some(known) = known {
            resumed += 1;
            funds.extend(known.funds);
            continue;
        }
        let asked = Asked { from: first_day(order, &project.id), to: order.today };
        let gathered = gather(&mut client, project, asked)?;
        let merged = merge(order.book, project, &gathered, order.now);
        skipped.extend(merged.skipped);
        let packed = Dataset::new(About::default(), merged.funds.clone()).packed();
        journal.save(&project.id, &packed).map_err(SyncError::journal)?;
        funds.extend(merged.funds);
    }
    progress.step(total, total, "done");
    let about = About {
        source: "Thai SEC Open API v2 (api.sec.or.th)".to_owned(),
        licence: order.book.about.licence.clone(),
        fetched_at: order.now.to_owned(),
    };
    let dataset = Dataset::new(about, funds);
    let (added, vanished) = differences(order.book, &dataset);
    Ok(Synced { dataset, added, vanished, skipped, resumed, calls: client.calls() })
}

/// A journal of another day or another order is of no use.
fn begin(order: &Order<'_>, journal: &mut dyn Journal) -> Result<(), SyncError> {
    const RUN: &str = "run";
    let since = order.since.map(|date| date.to_string()).unwrap_or_default();
    let run = format!("{} {since} {}", order.today, order.book.checksum);
    if journal.load(RUN).as_deref() != Some(run.as_str()) {
        journal.clear().map_err(SyncError::journal)?;
        journal.save(RUN, &run).map_err(SyncError::journal)?;
    }
    Ok(())
}

/// The day of the last NAV we have and can go on from. The NAVs of share classes that carry the
/// figures of another one are fetched anew.
fn first_day(order: &Order<'_>, project: &str) -> Date {
    let known: Vec<&Fund> =
        order.book.funds().iter().filter(|fund| fund.fund_id == project).collect();
    let last_known = known
        .iter()
        .filter_map(|fund| fund.nav.latest())
        .map(|point| days_before(point.date, OVERLAP_DAYS))
        .min()
        .filter(|_| !known.iter().any(|fund| fund.shares_figures()));
    order.since.or(last_known).unwrap_or_else(|| days_before(order.today, FIRST_NAV_DAYS))
}

fn days_before(date: Date, days: i64) -> Date {
    date.saturating_sub(jiff::Span::new().days(days))
}

/// More than a tenth gone is a fault of the source, not of the funds.
fn refuse_a_shrunken_universe(book: &Book, projects: &[gather::Project]) -> Result<(), SyncError> {
    let kept = book.funds().iter().filter(|fund| kept_of(projects, fund)).count();
    let (before, gone) = (book.funds().len(), book.funds().len() - kept);
    if gone * 10 > before { Err(SyncError::Shrunk { before, gone }) } else { Ok(()) }
}

fn differences(book: &Book, dataset: &Dataset) -> (Vec<String>, Vec<String>) {
    let codes = |funds: &[Fund]| {
        funds.iter().map(|fund| fund.symbol.clone()).collect::<std::collections::BTreeSet<_>>()
    };
    let (before, after) = (codes(book.funds()), codes(&dataset.funds));
    let added = after.difference(&before).cloned().collect();
    let vanished = before.difference(&after).cloned().collect();
    (added, vanished)
}
