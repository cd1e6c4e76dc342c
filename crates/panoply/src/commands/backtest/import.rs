//! `panoply backtest import`: imports files of backtest engines and completes their runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use panoply_backtest::columns;
use panoply_backtest::event::Guid;
use panoply_backtest::import::format::Format;
use panoply_backtest::import::mapped::Mapping;
use panoply_backtest::import::{self, Currencies, Import, ImportControl, SourceFormat};
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::timestamp::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{failed, print_run, unread};
use crate::app;
use crate::cli::{BacktestFormat, BacktestImport};
use crate::failure::Failure;
use crate::out::{Out, notice};
use crate::progress_bar::ProgressBar;

/// What `--run` says: one description for all events, or one for each of several runs.
#[derive(Default)]
struct Description {
    run: Option<Guid>,
    header: RunHeader,
    headers: BTreeMap<Guid, RunHeader>,
}

pub(super) fn run(arguments: &BacktestImport, store: Arc<dyn Store>) -> Result<Value, Failure> {
    let description = arguments.run.as_deref().map(described).transpose()?.unwrap_or_default();
    if is_parquet(&arguments.files)? {
        return import_parquet(arguments, store, description);
    }
    let mapping = arguments.map.as_deref().map(mapping).transpose()?;
    let readings: Vec<SourceFormat<'_>> = arguments
        .files
        .iter()
        .map(|file| reading(file, arguments.format, mapping.as_ref()))
        .collect::<Result<_, _>>()?;
    let own_names = readings.iter().all(|one| matches!(one, SourceFormat::Known(Format::Native)));
    let run = match description.run {
        Some(run) => run,
        // Native events carry their run ids.
        None if own_names => Guid::new(0),
        None => run_of_content(&arguments.files, &arguments.currency)?,
    };
    if let (Some((file, _)), false) = (
        arguments.files.iter().zip(&readings).find(|(_, one)| !is_of_engine(one)),
        arguments.currency.is_empty(),
    ) {
        return Err(Failure::usage(format!(
            "`{}` names its currencies itself: --currency is for files of engines",
            file.display()
        ))
        .hint(
            "set the property `Currency` of its events, in a mapping with {\"value\": \"USD\"}",
        ));
    }
    let described: Vec<Guid> = description.headers.keys().copied().collect();
    let mut import =
        new_import(store, description).with_currencies(currencies(&arguments.currency)?);
    for (file, reading) in arguments.files.iter().zip(&readings) {
        let source = opened(file)?;
        let size = source.metadata().map_or(0, |metadata| metadata.len());
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let symbol = arguments.symbol.as_deref().unwrap_or(&stem);
        let mut bar = ProgressBar::new("reading");
        let mut progress = |bytes| bar.show(bytes, size);
        let mut watch = ImportControl { progress: &mut progress, stop: &|| false };
        let source = BufReader::with_capacity(1 << 20, source);
        let read = import::read(source, reading, run, symbol, &mut import, &mut watch);
        bar.clear();
        read.map_err(|error| Failure::work(format!("`{}`: {error}", file.display())))?;
    }
    complete(arguments, import, &described)
}

/// Whether a file has the output of an engine, which may name no currencies.
const fn is_of_engine(format: &SourceFormat<'_>) -> bool {
    !matches!(
        format,
        SourceFormat::Known(Format::Native)
            | SourceFormat::MappedCsv(_)
            | SourceFormat::MappedJsonl(_)
    )
}

/// Reads `--currency`.
fn currencies(given: &[String]) -> Result<Currencies, Failure> {
    let mut currencies = Currencies::default();
    for own in given {
        let (symbol, currency) =
            own.rsplit_once('=').map_or((None, own.as_str()), |(a, b)| (Some(a), b));
        let before = match symbol {
            None => currencies.default.replace(currency.to_owned()),
            Some(symbol) => currencies.by_symbol.insert(symbol.to_owned(), currency.to_owned()),
        };
        if currency.is_empty() || symbol == Some("") || before.is_some() {
            return Err(Failure::usage(format!("`--currency {own}` is empty or given twice"))
                .hint("for example --currency USD --currency USDJPY=JPY"));
        }
    }
    Ok(currencies)
}

fn new_import(store: Arc<dyn Store>, description: Description) -> Import {
    let Description { run, header, headers } = description;
    let clock = app::clock();
    let now = i64::try_from(clock.now().as_nanosecond()).unwrap_or(i64::MAX);
    let monotonic = Arc::new(move || clock.monotonic());
    Import::new(store, run, header, Timestamp::from_nanos(now), monotonic).with_headers(headers)
}

/// Whether all files are Parquet. Some and some not cannot be merged in order of arrival.
fn is_parquet(files: &[std::path::PathBuf]) -> Result<bool, Failure> {
    let mut parquet = 0;
    for file in files {
        let mut head = [0; 4];
        let read = opened(file)?.read(&mut head).map_err(|error| unread(file, &error))?;
        parquet += usize::from(head.get(..read) == Some(b"PAR1"));
    }
    if parquet > 0 && parquet < files.len() {
        return Err(Failure::usage("Parquet files are imported without others")
            .hint("import the other files into a run of their own"));
    }
    Ok(parquet > 0)
}

fn import_parquet(
    arguments: &BacktestImport,
    store: Arc<dyn Store>,
    description: Description,
) -> Result<Value, Failure> {
    let described: Vec<Guid> = description.headers.keys().copied().collect();
    let mut import = new_import(store, description);
    let mut control = ImportControl { progress: &mut |_| {}, stop: &|| false };
    let files: Vec<&Path> = arguments.files.iter().map(std::path::PathBuf::as_path).collect();
    columns::read(&files, &mut import, &mut control).map_err(failed)?;
    complete(arguments, import, &described)
}

/// Reads `--run`: the description of one run, or a list with one for each run by its id.
fn described(file: &Path) -> Result<Description, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| unread(file, &error))?;
    let about = |what: String| Failure::usage(format!("`{}`: {what}", file.display()));
    let json: Value =
        serde_json::from_str(&text).map_err(|error| about(format!("not JSON: {error}")))?;
    let Value::Array(list) = json else {
        let (run, header) = one_description(json).map_err(about)?;
        return Ok(Description { run, header, ..Description::default() });
    };
    let mut headers = BTreeMap::new();
    for (place, one) in list.into_iter().enumerate() {
        let wrong = |what: String| about(format!("description {}: {what}", place + 1));
        let (run, header) = one_description(one).map_err(wrong)?;
        let run = run.ok_or_else(|| wrong("`runId` is missing".to_owned()))?;
        if headers.insert(run, header).is_some() {
            return Err(wrong(format!("run {run} is described twice")));
        }
    }
    Ok(Description { headers, ..Description::default() })
}

fn one_description(json: Value) -> Result<(Option<Guid>, RunHeader), String> {
    let run = match json.get("runId").and_then(Value::as_str) {
        None => None,
        Some(id) => Some(Guid::parse(id).ok_or_else(|| format!("`runId` is `{id}`, not a GUID"))?),
    };
    let header = serde_json::from_value(json).map_err(|error| error.to_string())?;
    Ok((run, header))
}

fn mapping(file: &Path) -> Result<Mapping, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| unread(file, &error))?;
    Mapping::parse(&text).map_err(|error| {
        Failure::usage(format!("`{}`: {error}", file.display()))
            .hint("see docs/packs/backtest.md for what a mapping says")
    })
}

/// Detects the format of a file before anything is written.
fn reading<'a>(
    file: &Path,
    format: BacktestFormat,
    mapping: Option<&'a Mapping>,
) -> Result<SourceFormat<'a>, Failure> {
    let mut head = Vec::new();
    opened(file)?.take(64 << 10).read_to_end(&mut head).map_err(|error| unread(file, &error))?;
    if let Some(mapping) = mapping {
        let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head).trim_ascii_start();
        let is_json = matches!(text.first(), Some(b'{' | b'['));
        return Ok(if is_json {
            SourceFormat::MappedJsonl(mapping)
        } else {
            SourceFormat::MappedCsv(mapping)
        });
    }
    let format = match format {
        BacktestFormat::Native => Format::Native,
        BacktestFormat::Nautilus => Format::Nautilus,
        BacktestFormat::Freqtrade => Format::Freqtrade,
        BacktestFormat::Lean => Format::Lean,
        BacktestFormat::BacktestingPy => Format::BacktestingPy,
        BacktestFormat::Stocksharp => Format::StockSharp,
        BacktestFormat::Backtrader => Format::Backtrader,
        BacktestFormat::Vectorbt => Format::Vectorbt,
        BacktestFormat::Auto => Format::detect(&head).map_err(|seen| {
            let known: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
            Failure::usage(format!("`{}` is in no known format: {seen}", file.display())).hint(
                format!(
                    "name one of {} with --format, or say which column is what with --map",
                    known.join(", ")
                ),
            )
        })?,
    };
    Ok(SourceFormat::Known(format))
}

/// Derives a run id from the content of the files, so that a repeated import is detected.
fn run_of_content(files: &[std::path::PathBuf], currencies: &[String]) -> Result<Guid, Failure> {
    /// UUID namespace of derived run ids; generated once.
    const SPACE: Guid = Guid::new(0x6f1c_2a57_3f0b_4d0e_9a55_70e2_6f3a_b0c1);
    let mut hash = Sha256::new();
    currencies.iter().for_each(|currency| hash.update(currency));
    for file in files {
        let mut source = BufReader::with_capacity(1 << 20, opened(file)?);
        loop {
            let bytes = source.fill_buf().map_err(|error| unread(file, &error))?;
            if bytes.is_empty() {
                break;
            }
            hash.update(bytes);
            let read = bytes.len();
            source.consume(read);
        }
        hash.update([0]);
    }
    let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Guid::named(SPACE, &digits))
}

fn opened(file: &Path) -> Result<File, Failure> {
    File::open(file).map_err(|error| unread(file, &error))
}

/// Completes the runs unless `--open` is given; prints their content, and which of the runs that
/// `--run` describes are not in the files.
fn complete(
    arguments: &BacktestImport,
    mut import: Import,
    described: &[Guid],
) -> Result<Value, Failure> {
    let acknowledged = import.acknowledge().map_err(failed)?;
    for id in described {
        if !acknowledged.iter().any(|(run, _)| run == id) {
            notice(format_args!("run {id} is described by --run, but no event names it"));
        }
    }
    for (line, reason) in import.unassigned() {
        notice(format_args!("line {line}: {reason}"));
    }
    if acknowledged.is_empty() {
        return Err(Failure::work("no line gave an event, so there is no run"));
    }
    if arguments.open {
        for (id, events) in &acknowledged {
            notice(format_args!("run {id} is open with {events} events"));
        }
        let runs = acknowledged.iter().map(|(id, events)| json!([id.to_string(), events]));
        return Ok(json!({"open": runs.collect::<Vec<_>>()}));
    }
    let mut bar = ProgressBar::new("sealing");
    let sealed =
        import.seal(&mut |done, total| bar.show(done, total), &|| false).map_err(failed)?;
    bar.clear();
    let mut out = Out::new();
    for (id, report) in &sealed {
        if arguments.json {
            out.json(&json!({"runId": id.to_string(), "report": report}))?;
        } else {
            print_run(&mut out, *id, report)?;
        }
    }
    out.finish()?;
    let runs = sealed.iter().map(|(id, report)| json!({"runId": id.to_string(), "report": report}));
    Ok(json!({"sealed": runs.collect::<Vec<_>>()}))
}
