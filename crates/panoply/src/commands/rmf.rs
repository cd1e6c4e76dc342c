//! `panoply rmf`: packs the bundled dataset, syncs a newer one, shows and restores previous ones,
//! draws a fund's NAV.

pub(crate) mod sync;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::civil::Date;
use panoply_contract::operation::OperationSpec;
use panoply_rmf::catalog::{nav_dates, returns_dates};
use panoply_rmf::dataset::Dataset;
use panoply_rmf::diff::{DatasetDiff, diff};
use panoply_rmf::store::{
    FundStore, Generation, GenerationError, Generations, SyncLock, replace_dataset,
};
use panoply_rmf::{chart, pack_data};
use serde_json::{Value, json};

use super::{Session, operation};
use crate::cli::{Rmf, RmfChart, RmfDiff, RmfPackData, RmfRollback};
use crate::failure::Failure;
use crate::out::Out;
use crate::picture;

pub(super) fn run(rmf: &Rmf, session: &Session) -> Result<ExitCode, Failure> {
    match rmf {
        Rmf::PackData(pack_data) => pack(pack_data)?,
        Rmf::Sync(arguments) => {
            let input = json!({"since": arguments.since.map(|date| date.to_string())});
            operation::run(session, &sync::OPERATION, &input, || {
                sync::run_command(arguments, session).map(|done| ((), done))
            })?;
        }
        Rmf::History => history(session)?,
        Rmf::Diff(arguments) => show_diff(arguments, session)?,
        Rmf::Rollback(arguments) => {
            let input = json!({"generation": arguments.generation});
            operation::run(session, &ROLLBACK, &input, || {
                roll_back(arguments, session).map(|done| ((), done))
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

const ROLLBACK: OperationSpec = OperationSpec {
    name: "rmf/rollback",
    pack: "rmf",
    permissions: &["funds:import"],
    data: &["rmf"],
};

/// Lists the previous generations and the active dataset.
fn history(session: &Session) -> Result<(), Failure> {
    let generations = Generations::of(&folder(session)?);
    let mut out = Out::new();
    for generation in generations.list().map_err(|error| unreadable(&error))? {
        let described = match generations.read(&generation) {
            Ok(dataset) => describe(&dataset),
            Err(error) => error.to_string(),
        };
        out.line(format_args!("{:>6}  {described}", generation.number))?;
    }
    match active(&generations)? {
        Some(dataset) => out.line(format_args!("active  {}", describe(&dataset)))?,
        None => out.line("active  the bundled dataset; nothing was synced")?,
    }
    out.finish()
}

/// `403 funds, NAV to 2025-11-10, returns as of 2025-09-30, fetched …`.
fn describe(dataset: &Dataset) -> String {
    let range = |dates: Option<(Date, Date)>| match dates {
        None => "none".to_owned(),
        Some((first, last)) if first == last => last.to_string(),
        Some((first, last)) => format!("{first} to {last}"),
    };
    let quarantined = dataset.funds.iter().filter(|fund| fund.quarantine.is_some()).count();
    format!(
        "{} funds, NAV {}, returns as of {}, {quarantined} in quarantine, fetched {}, sha256 {}",
        dataset.funds.len(),
        range(nav_dates(&dataset.funds)),
        range(returns_dates(&dataset.funds)),
        dataset.provenance.fetched_at,
        dataset.checksum.get(..12).unwrap_or_default(),
    )
}

/// The active synced dataset; `None` when nothing was synced.
pub(super) fn active(generations: &Generations) -> Result<Option<Dataset>, Failure> {
    let damaged = |error: &dyn std::fmt::Display| {
        Failure::work(format!("{} is damaged: {error}", generations.file().display()))
            .hint("restore a previous generation with `panoply rmf rollback`")
    };
    match fs::read(generations.file()) {
        Ok(bytes) => Dataset::read(&bytes).map(Some).map_err(|error| damaged(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(damaged(&error)),
    }
}

/// Prints the differences from one generation to another or to the active dataset.
fn show_diff(arguments: &RmfDiff, session: &Session) -> Result<(), Failure> {
    let generations = Generations::of(&folder(session)?);
    let from = generations.find(arguments.from).map_err(|error| ungenerated(&error))?;
    let before = generations.read(&from).map_err(|error| ungenerated(&error))?;
    let after = match arguments.to {
        Some(number) => {
            let to = generations.find(Some(number)).map_err(|error| ungenerated(&error))?;
            generations.read(&to).map_err(|error| ungenerated(&error))?
        }
        None => active(&generations)?.ok_or_else(|| ungenerated(&GenerationError::None))?,
    };
    let found = diff(&before.funds, &after.funds);
    let mut out = Out::new();
    out.line(format_args!("from    {}", describe(&before)))?;
    out.line(format_args!("to      {}", describe(&after)))?;
    write_diff(&found, &mut out)?;
    out.finish()
}

/// Figures gained, lost and changed, by kind; lost figures by name.
fn write_diff(found: &DatasetDiff, out: &mut Out) -> Result<(), Failure> {
    const NAMED: usize = 20;
    for (what, codes) in [("new", &found.added), ("gone", &found.removed)] {
        if !codes.is_empty() {
            out.line(format_args!("{what}: {}", codes.join(", ")))?;
        }
    }
    let total = found.total();
    out.line(format_args!(
        "figures: {} gained, {} lost, {} changed",
        total.gained, total.lost, total.changed
    ))?;
    for (kind, counts) in &found.by_kind {
        if counts.gained + counts.lost + counts.changed > 0 {
            out.line(format_args!(
                "  {kind}: {} gained, {} lost, {} changed",
                counts.gained, counts.lost, counts.changed
            ))?;
        }
    }
    for (code, figure) in found.lost.iter().take(NAMED) {
        out.line(format_args!("  lost: {code} {figure}"))?;
    }
    if found.lost.len() > NAMED {
        out.line(format_args!("  and {} more", found.lost.len() - NAMED))?;
    }
    Ok(())
}

/// Restores a previous generation.
fn roll_back(arguments: &RmfRollback, session: &Session) -> Result<Value, Failure> {
    let packs = folder(session)?;
    let _lock = lock(&packs)?;
    let generations = Generations::of(&packs);
    let restored =
        generations.rollback(arguments.generation).map_err(|error| ungenerated(&error))?;
    let Generation { number, .. } = restored;
    let mut out = Out::new();
    let now = active(&generations)?.map(|dataset| describe(&dataset)).unwrap_or_default();
    out.line(format_args!("generation {number} is active: {now}"))?;
    out.line("the replaced figures are kept; `panoply rmf history` lists them")?;
    out.finish()?;
    Ok(json!({"generation": number}))
}

/// Takes the lock of a sync.
pub(super) fn lock(packs: &Path) -> Result<SyncLock, Failure> {
    let taken = SyncLock::take(packs).map_err(|error| unwritten(packs, &error))?;
    taken.ok_or_else(|| {
        Failure::work("another sync is running").hint("wait until it has ended, then try again")
    })
}

fn ungenerated(error: &GenerationError) -> Failure {
    Failure::work(error.to_string()).hint("list the generations with `panoply rmf history`")
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::work(format!("the previous generations cannot be read: {error}"))
}

fn draw(arguments: &RmfChart, session: &Session) -> Result<(), Failure> {
    let file = folder(session).ok().map(|folder| folder.join(FIGURES));
    let catalog = store(file)?.catalog();
    let fund = catalog.find(&arguments.fund).map_err(|error| {
        Failure::usage(error.to_string())
            .hint(format!("did you mean {}?", error.suggestions.join(", ")))
    })?;
    let png = arguments.png || (!arguments.svg && arguments.out.as_deref().is_some_and(is_png));
    let language = match arguments.lang {
        crate::cli::Language::En => chart::ChartLanguage::English,
        crate::cli::Language::Th => chart::ChartLanguage::Thai,
    };
    if png && language == chart::ChartLanguage::Thai {
        return Err(Failure::usage("the font of PNG charts has no Thai letters")
            .hint("write SVG: --svg --out nav.svg"));
    }
    let drawn = chart::nav_chart(fund, arguments.days.into(), language, png);
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
