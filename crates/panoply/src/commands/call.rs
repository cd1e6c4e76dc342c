//! `panoply call`: calls a tool through the same pipeline as an agent.

use std::io::Read as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use panoply_contract::context::{CallContext, ProgressSink};
use panoply_contract::dialect::{ERROR_KEY, Envelope};
use panoply_contract::ids::TraceId;
use panoply_contract::json::Json;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::pipeline::{self, Request};
use panoply_contract::reply::Attachment;
use serde_json::{Map, Value, json};

use super::describe::find;
use super::{LogReader, Session, block_on, start_log};
use crate::app::App;
use crate::arguments::{self, Argument, RawValue};
use crate::cli::{Call, Language};
use crate::config::Config;
use crate::failure::Failure;
use crate::out::{BAD, FAINT, Out, notice};
use crate::progress_bar::ProgressBar;

/// Status 1 when the tool fails, 2 for an invalid command line.
pub(super) fn run(call: &Call, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    let _log = start_log(&config, LogReader::Person)?;
    let app = App::open(&config)?;
    let entry = find(&app.kernel, &call.tool)?;
    if call.idempotency_key.is_some() && !entry.spec.category.mutates() {
        return Err(Failure::usage(format!(
            "`{}` changes nothing, so a key has no use",
            entry.spec.name
        ))
        .hint("omit --idempotency-key"));
    }
    let input = arguments::build(entry.input_schema(), base(call)?, &pairs(call)?)?;
    let request = Request { tool: entry.spec.name, input, scope: &Scope::All };
    let envelope = block_on(pipeline::call(&app.kernel, request, context(call, &app.kernel)))?;
    app.close();
    show(&envelope, call.json, call.meta)
}

/// Calls a tool for another command and prints the reply as `panoply call` does.
pub(super) fn run_with(
    session: &Session,
    tool: &str,
    input: Value,
    json: bool,
) -> Result<ExitCode, Failure> {
    show(&answer(session, tool, input)?, json, false)
}

/// Calls a tool for another command.
pub(super) fn answer(session: &Session, tool: &str, input: Value) -> Result<Envelope, Failure> {
    answer_with(&session.config()?, tool, input)
}

/// The same with modified settings.
pub(super) fn answer_with(config: &Config, tool: &str, input: Value) -> Result<Envelope, Failure> {
    let mut envelopes = answers(config, tool, vec![input])?;
    envelopes.pop().ok_or_else(|| Failure::work(format!("`{tool}` was not called")))
}

/// Calls a tool once for each input, until a call fails; the last reply is then the failure.
pub(super) fn answers(
    config: &Config,
    tool: &str,
    inputs: Vec<Value>,
) -> Result<Vec<Envelope>, Failure> {
    let _log = start_log(config, LogReader::Person)?;
    let app = App::open(config)?;
    let entry = find(&app.kernel, tool)?;
    let call = Call {
        tool: tool.to_owned(),
        input: None,
        arguments: Vec::new(),
        files: Vec::new(),
        json: false,
        meta: false,
        dry_run: false,
        idempotency_key: None,
        lang: Language::En,
    };
    let mut envelopes = Vec::new();
    for input in inputs {
        let request = Request { tool: entry.spec.name, input, scope: &Scope::All };
        let envelope = block_on(pipeline::call(&app.kernel, request, context(&call, &app.kernel)))?;
        let failed =
            matches!(envelope, Envelope::Refusal { .. } | Envelope::Result { is_error: true, .. });
        envelopes.push(envelope);
        if failed {
            break;
        }
    }
    app.close();
    Ok(envelopes)
}

/// Prints a reply. Status 1 when the tool failed.
pub(super) fn show(envelope: &Envelope, json: bool, meta: bool) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    let answered =
        if json { print_json(envelope, meta, &mut out)? } else { print(envelope, &mut out)? };
    out.finish()?;
    Ok(if answered { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Parses the arguments given as JSON.
fn base(call: &Call) -> Result<Map<String, Value>, Failure> {
    let text = match call.input.as_deref() {
        None => return Ok(Map::new()),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
            text
        }
        Some(text) => text.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::usage("the arguments are JSON, but not an object")
            .hint("write them as '{\"limit\": 5}', or use --arg limit=5")),
        Err(error) => Err(Failure::usage(format!("the arguments are not JSON: {error}"))
            .hint("write them as '{\"limit\": 5}', or use --arg limit=5")),
    }
}

fn pairs(call: &Call) -> Result<Vec<Argument>, Failure> {
    let words = call.arguments.iter().map(|text| Argument::parse(text));
    let files = call.files.iter().map(|text| {
        let pair = Argument::parse(text)?;
        let RawValue::Word(path) = &pair.value else { return Ok(pair) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read `{path}`: {error}")))?;
        Ok(Argument { value: RawValue::Text(text), ..pair })
    });
    words.chain(files).collect()
}

fn context(call: &Call, kernel: &Kernel) -> CallContext {
    let trace = TraceId::new(uuid::Uuid::new_v4());
    let mut context = CallContext::local(Arc::clone(kernel.clock()), trace);
    context.agent_id = "panoply-cli".to_owned();
    context.agent_version = env!("CARGO_PKG_VERSION").to_owned();
    context.lang = call.lang.into();
    context.lang_is_default = false;
    context.dry_run = call.dry_run;
    context.idempotency_key.clone_from(&call.idempotency_key);
    context.deadline = Some(CLI_DEADLINE);
    context.progress = Some(Arc::new(Progress(Mutex::new(ProgressBar::new("")))));
    context
}

/// Effectively no deadline: the user sees the progress and can press Ctrl-C.
const CLI_DEADLINE: Duration = Duration::from_secs(24 * 3600);

/// Progress of a long call as a bar.
struct Progress(Mutex<ProgressBar>);

impl ProgressSink for Progress {
    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        let mut bar = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a total there is no percentage.
        bar.show_as(message, if total.is_some() { done } else { 0 }, total.unwrap_or(1));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Prints text, or error and hint. Returns whether the call succeeded.
fn print(envelope: &Envelope, out: &mut Out) -> Result<bool, Failure> {
    match envelope {
        Envelope::Result { text, attachments, is_error: false, .. } => {
            out.line(text)?;
            for attachment in attachments {
                out.line(format_args!("{FAINT}{}{FAINT:#}", attachment_line(attachment)))?;
            }
            Ok(true)
        }
        Envelope::Result { text, meta, .. } => {
            match meta.value(ERROR_KEY).get("error") {
                Some(error) => print_error(error, error.get("message")),
                None => notice(text),
            }
            Ok(false)
        }
        Envelope::Refusal { message, data, .. } => {
            print_error(data, Some(&Value::String(message.clone())));
            Ok(false)
        }
    }
}

fn attachment_line(attachment: &Attachment) -> String {
    match attachment {
        Attachment::Image { bytes, mime_type } => format!("[{mime_type}, {} bytes]", bytes.len()),
        Attachment::Audio { bytes, mime_type } => format!("[{mime_type}, {} bytes]", bytes.len()),
        Attachment::Document { uri, mime_type, text } => {
            format!("[{uri}, {mime_type}, {} bytes]", text.len())
        }
    }
}

/// Prints the members that the errors of all packs have in common.
fn print_error(error: &Value, message: Option<&Value>) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let message = text(message).unwrap_or_default();
    let problems = problem_lines(error);
    // After the colon the message repeats the problems, which are printed separately.
    let headline = match message.split_once(": ") {
        Some((headline, _)) if !problems.is_empty() => headline,
        _ => &message,
    };
    let code = text(error.get("code")).map(|code| format!("{code}: ")).unwrap_or_default();
    notice(format_args!("{BAD}error:{BAD:#} {FAINT}{code}{FAINT:#}{headline}"));
    problems.iter().for_each(notice);
    let hint = text(error.get("hint").or_else(|| error.get("actionableHint")));
    if let Some(hint) = hint.filter(|hint| !message.contains(hint)) {
        notice(format_args!("{FAINT}hint:{FAINT:#} {hint}"));
    }
}

/// Formats the validation problems of the arguments.
fn problem_lines(error: &Value) -> Vec<String> {
    let problems = error.pointer("/details/problems").or_else(|| error.get("problems"));
    let problems = problems.and_then(Value::as_array).into_iter().flatten();
    let line = |problem: &Value| {
        let text = |name: &str| problem.get(name).and_then(Value::as_str);
        let place = match text("pointer")? {
            "" => String::new(),
            pointer => format!("`{pointer}`: "),
        };
        let expected = text("expected").map(|expected| format!("; expected {expected}"));
        let example = problem.get("example").map(|example| format!(", such as {example}"));
        let message = text("message").unwrap_or_default();
        Some(format!(
            "  {place}{message}{}{}",
            expected.unwrap_or_default(),
            example.unwrap_or_default()
        ))
    };
    problems.filter_map(line).collect()
}

/// Prints the structured reply, or the error in the shape of the pack.
fn print_json(envelope: &Envelope, with_meta: bool, out: &mut Out) -> Result<bool, Failure> {
    let (body, meta, answered) = match envelope {
        Envelope::Result { structured, meta, is_error: false, text, .. } => {
            let body = structured.as_ref().map(Json::value);
            (body.unwrap_or_else(|| json!({"text": text})), meta.to_map(), true)
        }
        Envelope::Result { meta, text, .. } => (
            meta.get(ERROR_KEY).map_or_else(|| json!({"error": {"message": text}}), Json::value),
            meta.to_map(),
            false,
        ),
        Envelope::Refusal { message, data, .. } => {
            (json!({"error": {"message": message, "data": data}}), Map::new(), false)
        }
    };
    if with_meta {
        out.json(&json!({"reply": body, "_meta": meta}))?;
    } else {
        out.json(&body)?;
    }
    Ok(answered)
}
