//! `panoply cgt`: UK Capital Gains Tax on the command line.
//!
//! Reports and imports are computed directly, so that files of any size are read and written;
//! the other commands call a tool through the pipeline.

mod portfolio;

use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::civil::Date;
use panoply_cgt::dsl;
use panoply_cgt::engine::report::Rounding;
use panoply_cgt::engine::{Absence, Options, SameDaySplit};
use panoply_cgt::import::decode::decode_owned;
use panoply_cgt::import::{Broker, File, RateChoice, read_all};
use panoply_cgt::security::of_isins;
use panoply_cgt::tax_year::TaxYear;
use panoply_cgt::tools::{
    DocumentFormat, RenderError, ReportRequest, Settings, read_transactions, render_report,
    stored_transactions,
};
use panoply_contract::error::ToolError;
use panoply_contract::tenant::TenantId;
use serde_json::{Map, Value, json};

use super::{Session, call};
use crate::cli::{
    Cgt, CgtExplain, CgtFx, CgtImport, CgtIncome, CgtOptions, CgtReport, CgtRounding, CgtSplit,
};
use crate::failure::Failure;
use crate::out::{FAINT, Out, notice};
use crate::stores;

/// Status 1 when a tool fails, 2 for an invalid command line.
pub(super) fn run(command: &Cgt, session: &Session) -> Result<ExitCode, Failure> {
    match command {
        Cgt::Parse(parse) => {
            let input = json!({"cgt_content": joined(&parse.files)?});
            call::run_with(session, "parse_transactions", input, parse.json)
        }
        Cgt::Report(report) => run_report(report, session),
        Cgt::Explain(explain) => run_explain(explain, session),
        Cgt::Import(import) => run_import(import),
        Cgt::Income(income) => run_income(income, session),
        Cgt::Portfolio(command) => portfolio::run(command, session),
        Cgt::Fx(fx) => run_fx(fx, session),
    }
}

/// Reads files of any size; each format is written as it is made.
fn run_report(report: &CgtReport, session: &Session) -> Result<ExitCode, Failure> {
    let year = report.year.as_deref().map(TaxYear::parse).transpose();
    let request = ReportRequest {
        year: year.map_err(|bad| Failure::usage(bad.to_string()))?,
        name: report.name.as_deref(),
        rounding: report.rounding.into(),
        options: options(&report.options)?,
    };
    let settings = settings(session)?;
    let rows = match &report.portfolio {
        Some(portfolio) => {
            let store = stores::portfolios(&session.required_home()?, &TenantId::local());
            let (rows, notices) = stored_transactions(store, portfolio).map_err(refused)?;
            notices.iter().for_each(|note| notice(format_args!("note: {note}")));
            rows
        }
        None => read_transactions(joined(&report.files)?).map_err(refused)?,
    };
    let files = [
        (&report.pdf, DocumentFormat::Pdf),
        (&report.html, DocumentFormat::Html),
        (&report.csv, DocumentFormat::Csv),
    ];
    let files = files.into_iter().filter_map(|(path, form)| Some((path.as_deref()?, form)));
    let files: Vec<(&Path, DocumentFormat)> = files.collect();
    if files.is_empty() {
        let form = if report.json { DocumentFormat::Json } else { DocumentFormat::Text };
        let mut out = BufWriter::new(std::io::stdout().lock());
        let written = render_report(&settings, &rows, &request, form, &mut out);
        let written = written.and_then(|()| Ok(out.flush()?));
        return match written {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(RenderError::Input(error)) => Err(refused(error)),
            // The reader, such as `head`, has seen enough.
            Err(RenderError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
                Ok(ExitCode::SUCCESS)
            }
            Err(RenderError::Output(error)) => Err(Failure::work(format!("cannot write: {error}"))),
        };
    }
    for (path, form) in files {
        let mut file = BufWriter::new(create_new(path)?);
        let written = render_report(&settings, &rows, &request, form, &mut file);
        let written = written.and_then(|()| Ok(file.flush()?));
        written.map_err(|error| {
            // A partial document could be taken for a whole one.
            let _ = std::fs::remove_file(path);
            match error {
                RenderError::Input(error) => refused(error),
                RenderError::Output(error) => unwritable(path, &error),
            }
        })?;
        notice(format_args!("{FAINT}wrote {}{FAINT:#}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn settings(session: &Session) -> Result<Settings, Failure> {
    let config = session.config()?;
    let settings = config.pack_settings.get("cgt").cloned().unwrap_or_default();
    let home = config.home.folder.as_ref().map(panoply_store::Home::at);
    crate::packs::cgt_settings(&settings, home.as_ref())
}

fn refused(error: ToolError) -> Failure {
    let failure = Failure::work(error.message);
    match error.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn options(given: &CgtOptions) -> Result<Options, Failure> {
    let date = |text: &String| {
        text.parse::<Date>().map_err(|_| {
            Failure::usage(format!("`{text}` is not a date")).hint("write it as 2024-04-06")
        })
    };
    let left = given.left.as_ref().map(date).transpose()?;
    let returned = given.returned.as_ref().map(date).transpose()?;
    if left.zip(returned).is_some_and(|(left, returned)| returned <= left) {
        return Err(Failure::usage("--returned is not after --left"));
    }
    Ok(Options {
        allow_short: given.allow_short,
        same_day_split: given.same_day_split.into(),
        absence: left.map(|left| Absence { left, returned }),
        ..Options::default()
    })
}

fn run_income(income: &CgtIncome, session: &Session) -> Result<ExitCode, Failure> {
    let (name, given) = match &income.portfolio {
        Some(named) => ("portfolio_id", portfolio::id_of(named, session)?),
        None => ("cgt_content", joined(&income.files)?),
    };
    let mut input = Map::new();
    input.insert("year".to_owned(), income.year.clone().into());
    input.insert(name.to_owned(), given.into());
    if let Some(pounds) = &income.other_income {
        input.insert("other_income".to_owned(), pounds.clone().into());
    }
    call::run_with(session, "calculate_investment_income", input.into(), income.json)
}

fn run_explain(explain: &CgtExplain, session: &Session) -> Result<ExitCode, Failure> {
    let mut input = arguments(&joined(&explain.files)?, &explain.options);
    input.insert("disposal_date".to_owned(), explain.date.clone().into());
    input.insert("ticker".to_owned(), explain.ticker.clone().into());
    call::run_with(session, "explain_matching", Value::Object(input), explain.json)
}

/// Transactions go to standard output or to a file, warnings to standard error.
fn run_import(import: &CgtImport) -> Result<ExitCode, Failure> {
    let awards = import.awards.as_deref().map(text_of).transpose()?;
    let mut texts = Vec::new();
    for path in &import.files {
        texts.push((path.display().to_string(), text_of(path)?));
    }
    let mut files = Vec::new();
    for (name, text) in &texts {
        let broker = match import.broker.as_deref() {
            Some(word) => Broker::parse(word),
            None => Broker::recognise(text),
        };
        let known: Vec<&str> = Broker::ALL.iter().map(|broker| broker.as_str()).collect();
        let broker = broker.ok_or_else(|| {
            Failure::work(format!("the broker of `{name}` is not known"))
                .hint(format!("name it with --broker: one of {}", known.join(", ")))
        })?;
        let rates = if import.hmrc_rates { RateChoice::Hmrc } else { RateChoice::Broker };
        files.push(File {
            awards: awards.as_deref(),
            account: import.account.as_deref(),
            rates,
            ..File::new(name, broker, text)
        });
    }
    let mut imported = read_all(&files);
    if import.securities {
        let isins = imported.origins.iter().map(|origin| origin.isin.as_deref());
        let securities = of_isins(&imported.rows, isins);
        imported.rows.extend(securities);
    }
    for (what, count) in &imported.skipped {
        notice(format_args!("{FAINT}skipped: {count} rows of `{what}`{FAINT:#}"));
    }
    for (list, notes) in [("warnings", &imported.warnings), ("duplicates", &imported.duplicates)] {
        notes.iter().for_each(|note| notice(format_args!("{list}: {note}")));
    }
    let lines = imported.rows.iter().map(|row| dsl::line(&row.transaction));
    match (&import.output, import.json) {
        (_, true) => {
            let mut out = Out::new();
            out.json(&json!({
                "cgt_content": lines.collect::<Vec<_>>().join("\n"),
                "count": imported.rows.len(),
                "warnings": imported.warnings,
                "duplicates": imported.duplicates,
                "skipped": imported.skipped,
            }))?;
            out.finish()?;
        }
        (Some(path), false) => {
            let mut file = BufWriter::new(create_new(path)?);
            let tell = |error: std::io::Error| unwritable(path, &error);
            for line in lines {
                writeln!(file, "{line}").map_err(tell)?;
            }
            file.flush().map_err(tell)?;
        }
        (None, false) => {
            let mut out = Out::new();
            for line in lines {
                out.line(line)?;
            }
            out.finish()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn run_fx(fx: &CgtFx, session: &Session) -> Result<ExitCode, Failure> {
    let parts = fx.month.split_once('-');
    let number = |text: &str| text.parse::<u16>().ok();
    let Some((year, month)) = parts.and_then(|(year, month)| Some((number(year)?, number(month)?)))
    else {
        return Err(
            Failure::usage(format!("`{}` is not a month", fx.month)).hint("write it as 2024-03")
        );
    };
    let input = json!({"currency": fx.currency, "year": year, "month": month});
    call::run_with(session, "get_fx_rate", input, fx.json)
}

fn arguments(content: &str, options: &CgtOptions) -> Map<String, Value> {
    let absence = options.left.as_ref().map(|left| match &options.returned {
        Some(returned) => json!({"left": left, "returned": returned}),
        None => json!({"left": left}),
    });
    let absence = absence.map(|absence| ("non_resident".to_owned(), absence));
    let given = [
        ("cgt_content".to_owned(), content.into()),
        ("allow_short".to_owned(), options.allow_short.into()),
        ("same_day_split".to_owned(), options.same_day_split.word().into()),
    ];
    given.into_iter().chain(absence).collect()
}

impl CgtSplit {
    const fn word(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::BeforeTrades => "before_trades",
            Self::AfterTrades => "after_trades",
        }
    }
}

impl From<CgtSplit> for SameDaySplit {
    fn from(split: CgtSplit) -> Self {
        match split {
            CgtSplit::Refuse => Self::Refuse,
            CgtSplit::BeforeTrades => Self::BeforeTrades,
            CgtSplit::AfterTrades => Self::AfterTrades,
        }
    }
}

impl From<CgtRounding> for Rounding {
    fn from(rounding: CgtRounding) -> Self {
        match rounding {
            CgtRounding::PerLeg => Self::PerLeg,
            CgtRounding::Exact => Self::Exact,
            CgtRounding::WholePounds => Self::WholePounds,
        }
    }
}

/// Joins the text of several files; `-` is standard input.
fn joined(paths: &[PathBuf]) -> Result<String, Failure> {
    let texts: Result<Vec<String>, Failure> = paths.iter().map(|path| text_of(path)).collect();
    Ok(texts?.join("\n"))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        return std::io::stdin()
            .read_to_string(&mut text)
            .map(|_| text)
            .map_err(|error| Failure::usage(format!("cannot read standard input: {error}")));
    }
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot read `{}`: {error}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    decode_owned(bytes).map_err(|error| unreadable(&error).hint(error.hint()))
}

/// Creates a file; never overwrites one.
fn create_new(path: &Path) -> Result<std::fs::File, Failure> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let failure = Failure::work(format!("cannot write `{}`: {error}", path.display()));
    match error.kind() {
        ErrorKind::AlreadyExists => failure.hint("choose another name, or remove it"),
        ErrorKind::StorageFull => failure.hint("free some space and run it again"),
        _ => failure,
    }
}
