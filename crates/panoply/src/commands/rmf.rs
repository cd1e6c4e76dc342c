//! `panoply rmf`: packs the bundled dataset, syncs a newer one, draws a fund's NAV.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use panoply_contract::operation::OperationSpec;
use panoply_rmf::store::{FundStore, JournalFolder, replace_dataset};
use panoply_rmf::sync::{
    self, BASE_URL, HttpClient, Journal as _, Progress, SyncRequest, SystemTimer,
};
use panoply_rmf::{chart, pack_data};
use serde_json::{Value, json};

use super::{Session, operation};
use crate::app;
use crate::cli::{Rmf, RmfChart, RmfPackData, RmfSync};
use crate::failure::Failure;
use crate::out::Out;
use crate::picture;
use crate::progress_bar::ProgressBar;

pub(super) fn run(rmf: &Rmf, session: &Session) -> Result<ExitCode, Failure> {
    match rmf {
        Rmf::PackData(pack_data) => pack(pack_data)?,
        Rmf::Sync(arguments) => {
            let input = json!({"since": arguments.since.map(|date| date.to_string())});
            operation::run(session, &SYNC, &input, || {
                sync_figures(arguments, session).map(|done| ((), done))
            })?;
        }
        Rmf::Chart(chart) => draw(chart, session)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn pack(arguments: &RmfPackData) -> Result<(), Failure> {
    let dataset = pack_data::pack(&read(&arguments.funds)?, &read(&arguments.navs)?)
        .map_err(|error| Failure::work(error.to_string()))?;
    replace_dataset(&arguments.out, &dataset).map_err(|error| unwritten(&arguments.out, &error))?;
    let mut out = Out::new();
    out.line(format_args!("{} funds in {}", dataset.funds.len(), arguments.out.display()))?;
    out.line(format_args!("sha256 of its figures: {}", dataset.checksum))?;
    out.finish()
}

const SYNC: OperationSpec =
    OperationSpec { name: "rmf/sync", pack: "rmf", permissions: &["funds:import"], data: &["rmf"] };

/// Syncs the dataset and prints the changes.
fn sync_figures(arguments: &RmfSync, session: &Session) -> Result<Value, Failure> {
    let key = session.environment.secret(&arguments.key_env).ok_or_else(|| {
        Failure::usage(format!("the variable `{}` is not set", arguments.key_env))
            .hint("put your key of the SEC's Open API there; get one at secopendata.sec.or.th")
    })?;
    let folder = folder(session)?;
    let place = folder.join(FIGURES);
    let catalog = store(Some(place.clone()))?.catalog();
    let now = app::clock().now();
    let request = SyncRequest {
        catalog: &catalog,
        today: now.to_zoned(TimeZone::fixed(Offset::constant(7))).date(),
        since: arguments.since,
        now: &now.to_string(),
    };
    let mut http = HttpClient::new(arguments.base_url.as_deref().unwrap_or(BASE_URL), key);
    let mut journal = JournalFolder::at(folder.join(JOURNAL));
    let mut bar = SyncProgress(ProgressBar::new(""));
    let synced =
        sync::sync(&request, &mut http, &SystemTimer(app::clock()), &mut journal, &mut bar);
    bar.0.clear();
    let synced = synced.map_err(|error| Failure::work(error.to_string()))?;
    replace_dataset(&place, &synced.dataset).map_err(|error| unwritten(&place, &error))?;
    // The dataset is in place; the next sync discards a remaining journal.
    let _ = journal.clear();
    let mut out = Out::new();
    out.line(format_args!(
        "{} funds, {} calls, {} taken up from an interrupted sync",
        synced.dataset.funds.len(),
        synced.calls,
        synced.resumed
    ))?;
    for (what, codes) in [
        ("new", &synced.added),
        ("gone", &synced.vanished),
        ("without risk level, left out", &synced.skipped),
    ] {
        if !codes.is_empty() {
            out.line(format_args!("{what}: {}", codes.join(", ")))?;
        }
    }
    out.line(format_args!("written to {}", place.display()))?;
    out.finish()?;
    Ok(json!({
        "funds": synced.dataset.funds.len(), "checksum": synced.dataset.checksum,
        "new": synced.added, "gone": synced.vanished, "skipped": synced.skipped,
    }))
}

fn draw(arguments: &RmfChart, session: &Session) -> Result<(), Failure> {
    let file = folder(session).ok().map(|folder| folder.join(FIGURES));
    let catalog = store(file)?.catalog();
    let fund = catalog.find(&arguments.fund).map_err(|error| {
        Failure::usage(error.to_string())
            .hint(format!("did you mean {}?", error.suggestions.join(", ")))
    })?;
    let drawn = chart::nav_chart(fund, arguments.days.into());
    let png = arguments.png || (!arguments.svg && arguments.out.as_deref().is_some_and(is_png));
    let picture = if png {
        picture::png(&drawn).ok_or_else(|| Failure::work("the chart cannot be rendered"))?
    } else {
        chart::svg(&drawn).into_bytes()
    };
    match &arguments.out {
        Some(file) => fs::write(file, picture).map_err(|error| unwritten(file, &error)),
        None if png => Err(Failure::usage("a PNG cannot be printed on a terminal")
            .hint("name a file: --out nav.png")),
        None => {
            let mut out = Out::new();
            out.write(chart::svg(&drawn))?;
            out.finish()
        }
    }
}

fn is_png(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"))
}

/// File of the synced dataset, in the packs' folder.
const FIGURES: &str = "rmf.tsv";
/// Journal of an interrupted sync.
const JOURNAL: &str = "rmf-sync";

fn folder(session: &Session) -> Result<PathBuf, Failure> {
    Ok(session.required_home()?.packs())
}

fn store(file: Option<PathBuf>) -> Result<FundStore, Failure> {
    FundStore::at(file)
        .map_err(|error| Failure::work(format!("cannot read the bundled dataset: {error}")))
}

fn read(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file)
        .map_err(|error| Failure::work(format!("cannot read {}: {error}", file.display())))
}

fn unwritten(file: &Path, error: &io::Error) -> Failure {
    Failure::work(format!("cannot write {}: {error}", file.display()))
}

/// Parses a date argument.
pub(crate) fn date(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "expected a date such as 2025-11-01".to_owned())
}

struct SyncProgress(ProgressBar);

impl Progress for SyncProgress {
    fn step(&mut self, done: usize, total: usize, what: &str) {
        self.0.show_as(&format!("{done}/{total} {what}"), done as u64, total as u64);
    }
}
