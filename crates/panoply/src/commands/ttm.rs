//! `panoply ttm`: imports papers and documents, and checks the pack.

mod eval;
mod ingest;
mod papers;

use std::process::ExitCode;
use std::sync::Arc;

use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::Scope;
use panoply_contract::pipeline::{self, Request};
use panoply_ttm::search::PaperImport;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{LogReader, Session, block_on, call, start_log};
use crate::app::App;
use crate::cli::{Ttm, TtmAsk, TtmSearch};
use crate::failure::Failure;
use crate::out::{BAD, BOLD, FAINT, GOOD, Out};
use crate::stores;

/// Status 1 when a check fails.
pub(super) fn run(command: &Ttm, session: &Session) -> Result<ExitCode, Failure> {
    match command {
        Ttm::Ask(arguments) => ask(arguments, session),
        Ttm::Search(arguments) => search(arguments, session),
        Ttm::ImportPapers(arguments) => papers::import(arguments, session),
        Ttm::Eval(arguments) => eval::run(arguments, session),
        Ttm::Ingest(arguments) => ingest::ingest(arguments, session),
        Ttm::Jobs(arguments) => ingest::jobs(arguments, session),
        Ttm::ReadDocument(arguments) => ingest::read(arguments),
        Ttm::Doctor { json } => doctor(*json, session),
    }
}

/// Tool arguments of the given flags.
fn of_given<const N: usize>(given: [(&str, Option<Value>); N]) -> Value {
    given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The same call as an agent's.
fn ask(arguments: &TtmAsk, session: &Session) -> Result<ExitCode, Failure> {
    let given = [
        ("question", Some(json!(arguments.question.join(" ")))),
        ("lang", arguments.lang.map(|lang| json!(word(lang)))),
        ("retrieval", arguments.top_k.map(|top_k| json!({"top_k": top_k}))),
    ];
    call::run_with(session, "rag_answer", of_given(given), arguments.json)
}

fn search(arguments: &TtmSearch, session: &Session) -> Result<ExitCode, Failure> {
    let given = [
        ("query", Some(json!(arguments.query.join(" ")))),
        ("lang", Some(json!(word(arguments.lang)))),
        ("top_k", Some(json!(arguments.top_k))),
        ("filters", arguments.kind.map(|kind| json!({"type": word(kind)}))),
    ];
    let envelope = call::answer(session, "hybrid_search", of_given(given))?;
    if arguments.json {
        return call::show(&envelope, true, false);
    }
    match &envelope {
        Envelope::Result { structured: Some(reply), is_error: false, .. } => {
            let mut out = Out::new();
            for line in lines_of(&reply.value()) {
                out.line(line)?;
            }
            out.finish()?;
            Ok(ExitCode::SUCCESS)
        }
        // Errors are printed as by `panoply call`.
        Envelope::Result { .. } | Envelope::Refusal { .. } => call::show(&envelope, false, false),
    }
}

/// Name of a choice, which is the same on the command line and in the tool.
fn word(choice: impl clap::ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Formats a hit in two lines: title and explanation.
fn lines_of(reply: &Value) -> Vec<String> {
    let text = |value: &Value, member: &str| {
        value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let hits = reply.get("hits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let widest = hits.iter().map(|hit| text(hit, "id").chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for hit in hits {
        let score = hit.get("score").and_then(Value::as_f64).unwrap_or_default();
        let [id, kind, title] = ["id", "type", "title"].map(|member| text(hit, member));
        lines.push(format!("{score:.2}  {BOLD}{id:<widest$}{BOLD:#}  {kind:<11}  {title}"));
        let snippet = marked(&text(hit, "snippet").replace('\n', " "));
        if !snippet.is_empty() {
            lines.push(format!("      {snippet} {FAINT}[{}]{FAINT:#}", text(hit, "source")));
        }
    }
    if hits.is_empty() {
        lines.push("nothing was found; try other words or leave --kind out".to_owned());
    }
    let notice = reply.pointer("/notice/en").and_then(Value::as_str);
    lines.extend(notice.map(|notice| format!("{FAINT}{notice}{FAINT:#}")));
    lines
}

/// Prints text between `**` in bold.
fn marked(snippet: &str) -> String {
    let pieces = snippet.split("**").enumerate().map(|(place, piece)| {
        if place % 2 == 1 { format!("{BOLD}{piece}{BOLD:#}") } else { piece.to_owned() }
    });
    pieces.collect()
}

fn user_store(session: &Session) -> Result<Arc<dyn PaperImport>, Failure> {
    Ok(stores::papers(&session.required_home()?))
}

/// A self-check.
struct Check {
    shows: &'static str,
    tool: &'static str,
    input: Value,
    /// List in the reply and its minimum length.
    needs: (&'static str, usize),
}

/// Self-checks of the pack.
fn checks() -> [Check; 4] {
    [
        Check {
            shows: "the graph is walked",
            tool: "query_kg",
            input: json!({"start": {"type": "herb", "id": "ฟ้าทะลายโจร"}, "pattern": "herb->indication"}),
            needs: ("/paths", 3),
        },
        Check {
            shows: "safety is looked up",
            tool: "find_contraindications",
            input: json!({"herb_ids": ["H:turmeric"], "drugs": ["warfarin"]}),
            needs: ("/results", 3),
        },
        Check {
            shows: "search finds a herb and what is around it",
            tool: "hybrid_search",
            input: json!({"query": "ฟ้าทะลายโจร", "lang": "th", "top_k": 10}),
            needs: ("/hits", 5),
        },
        Check {
            shows: "a question is answered with citations",
            tool: "rag_answer",
            input: json!({"question": "สรรพคุณของฟ้าทะลายโจรคืออะไร?"}),
            needs: ("/citations", 3),
        },
    ]
}

fn doctor(as_json: bool, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    let _log = start_log(&config, LogReader::Person)?;
    let app = App::open(&config)?;
    let mut lines = Vec::new();
    for check in checks() {
        let (pointer, needed) = check.needs;
        let cx = CallContext::local(Arc::clone(app.kernel.clock()), TraceId::new(Uuid::new_v4()));
        let request = Request { tool: check.tool, input: check.input, scope: &Scope::All };
        let (found, audited) = match block_on(pipeline::call(&app.kernel, request, cx))? {
            Envelope::Result { structured: Some(reply), is_error: false, .. } => {
                let reply = reply.value();
                let list = reply.pointer(pointer).and_then(Value::as_array);
                (list.map_or(0, Vec::len), reply.pointer("/audit/out_hash").is_some())
            }
            // A missing tool is a failed check.
            Envelope::Result { .. } | Envelope::Refusal { .. } => (0, false),
        };
        lines.push((check.shows, check.tool, found, needed, found >= needed && audited));
    }
    app.close();
    let papers =
        user_store(session)?.papers().map_err(|error| Failure::work(error.to_string()))?.len();
    let well = lines.iter().all(|line| line.4);
    let mut out = Out::new();
    if as_json {
        let checks: Vec<Value> = lines
            .iter()
            .map(|(shows, tool, found, needed, ok)| {
                json!({"shows": shows, "tool": tool, "found": found, "needed": needed, "ok": ok})
            })
            .collect();
        let status = if well { "ok" } else { "error" };
        out.json(&json!({"status": status, "checks": checks, "importedPapers": papers}))?;
    } else {
        for (shows, tool, found, needed, ok) in &lines {
            let (style, word) = if *ok { (GOOD, "ok") } else { (BAD, "no") };
            out.line(format_args!(
                "{style}{word}{style:#}  {shows}: `{tool}` gave {found}, at least {needed} expected"
            ))?;
        }
        out.line(format_args!("    {papers} papers of your own"))?;
    }
    out.finish()?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
