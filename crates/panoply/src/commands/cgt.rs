//! `panoply cgt`: UK Capital Gains Tax on the command line.
//!
//! Each command calls a tool through the pipeline. Only PDF and HTML reports are generated
//! directly: they are files, which agents cannot use.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use panoply_cgt::engine::report::Rounding;
use panoply_cgt::engine::{Options, SameDaySplit};
use panoply_cgt::tools::{DocumentFormat, ReportRequest, Settings, render_report};
use panoply_contract::dialect::Envelope;
use serde_json::{Map, Value, json};

use super::{Session, call};
use crate::cli::{Cgt, CgtExplain, CgtFx, CgtImport, CgtOptions, CgtReport, CgtRounding, CgtSplit};
use crate::failure::Failure;
use crate::out::{FAINT, Out, notice};

/// Status 1 when a tool fails, 2 for an invalid command line.
pub(super) fn run(command: &Cgt, session: &Session) -> Result<ExitCode, Failure> {
    match command {
        Cgt::Parse(parse) => {
            let input = json!({"cgt_content": joined(&parse.files)?});
            call::run_with(session, "parse_transactions", input, parse.json)
        }
        Cgt::Report(report) => run_report(report, session),
        Cgt::Explain(explain) => run_explain(explain, session),
        Cgt::Import(import) => run_import(import, session),
        Cgt::Fx(fx) => run_fx(fx, session),
    }
}

fn run_report(report: &CgtReport, session: &Session) -> Result<ExitCode, Failure> {
    let content = joined(&report.files)?;
    let documents = [(&report.pdf, DocumentFormat::Pdf), (&report.html, DocumentFormat::Html)];
    let documents = documents.into_iter().filter_map(|(path, form)| Some((path.as_deref()?, form)));
    let documents: Vec<(&Path, DocumentFormat)> = documents.collect();
    if !documents.is_empty() {
        return print_documents(report, &content, &documents, session);
    }
    let mut input = arguments(&content, &report.options);
    if let Some(year) = report.year {
        input.insert("year".to_owned(), year.into());
    }
    input.insert("rounding".to_owned(), report.rounding.word().into());
    call::run_with(session, "calculate_report", Value::Object(input), report.json)
}

fn print_documents(
    report: &CgtReport,
    content: &str,
    documents: &[(&Path, DocumentFormat)],
    session: &Session,
) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    let settings = config.pack_settings.get("cgt").cloned().unwrap_or_default();
    let settings: Settings = settings
        .try_into()
        .map_err(|error| Failure::usage(format!("invalid cgt settings: {error}")))?;
    let asked = ReportRequest {
        content,
        year: report.year,
        name: report.name.as_deref(),
        rounding: report.rounding.into(),
        options: Options {
            allow_short: report.options.allow_short,
            same_day_split: report.options.same_day_split.into(),
        },
    };
    for (path, form) in documents {
        let bytes = render_report(&settings, &asked, *form).map_err(|error| {
            let failure = Failure::work(error.message);
            match error.hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        })?;
        write_new(path, &bytes)?;
        notice(format_args!("{FAINT}wrote {}{FAINT:#}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn run_explain(explain: &CgtExplain, session: &Session) -> Result<ExitCode, Failure> {
    let mut input = arguments(&joined(&explain.files)?, &explain.options);
    input.insert("disposal_date".to_owned(), explain.date.clone().into());
    input.insert("ticker".to_owned(), explain.ticker.clone().into());
    call::run_with(session, "explain_matching", Value::Object(input), explain.json)
}

/// Transactions go to standard output or to a file, warnings to standard error.
fn run_import(import: &CgtImport, session: &Session) -> Result<ExitCode, Failure> {
    let mut files = Vec::new();
    for path in &import.files {
        let mut file = json!({"name": path.display().to_string(), "content": text_of(path)?});
        if let Some(object) = file.as_object_mut() {
            if let Some(broker) = &import.broker {
                object.insert("broker".to_owned(), broker.clone().into());
            }
            if let Some(awards) = &import.awards {
                object.insert("awards".to_owned(), text_of(awards)?.into());
            }
        }
        files.push(file);
    }
    let mut lines: Vec<String> = Vec::new();
    let mut offset = 0;
    loop {
        let input = json!({"files": files, "offset": offset});
        if import.json {
            return call::run_with(session, "import_transactions", input, true);
        }
        let envelope = call::answer(session, "import_transactions", input)?;
        let Envelope::Result { structured: Some(reply), is_error: false, .. } = &envelope else {
            return call::show(&envelope, false, false);
        };
        let reply = reply.value();
        lines.extend(reply.pointer("/cgt_content").and_then(Value::as_str).map(str::to_owned));
        match reply.pointer("/page/next_offset").and_then(Value::as_u64) {
            Some(next) => offset = next,
            None => {
                for list in ["warnings", "duplicates"] {
                    let notes = reply.get(list).and_then(Value::as_array).into_iter().flatten();
                    notes
                        .filter_map(Value::as_str)
                        .for_each(|note| notice(format_args!("{list}: {note}")));
                }
                break;
            }
        }
    }
    let text = lines.join("\n");
    match &import.output {
        Some(path) => write_new(path, format!("{text}\n").as_bytes())?,
        None => {
            let mut out = Out::new();
            out.line(text)?;
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
    Map::from_iter([
        ("cgt_content".to_owned(), content.into()),
        ("allow_short".to_owned(), options.allow_short.into()),
        ("same_day_split".to_owned(), options.same_day_split.word().into()),
    ])
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

impl CgtRounding {
    const fn word(self) -> &'static str {
        match self {
            Self::PerLeg => "per_leg",
            Self::Exact => "exact",
            Self::WholePounds => "whole_pounds",
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
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", path.display())))
}

/// Creates a file; never overwrites one.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let tell = |error: std::io::Error| {
        let failure = Failure::work(format!("cannot write `{}`: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => failure.hint("choose another name, or remove it"),
            _ => failure,
        }
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(tell)?;
    file.write_all(bytes).map_err(tell)
}
