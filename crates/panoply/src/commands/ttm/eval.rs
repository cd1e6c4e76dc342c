//! `panoply ttm eval`: measures search and answers.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use panoply_contract::dialect::Envelope;
use serde_json::{Map, Value, json};

use super::super::{Session, call};
use crate::cli::TtmEval;
use crate::failure::Failure;
use crate::out::notice;
use crate::stores;

pub(super) fn run(arguments: &TtmEval, session: &Session) -> Result<ExitCode, Failure> {
    let envelope = call::answer(session, "eval_run", input(arguments)?)?;
    if let (Some(file), Envelope::Result { structured: Some(reply), is_error: false, .. }) =
        (&arguments.report, &envelope)
    {
        write_report(file, &reply.value(), session)?;
        notice(format_args!("the report is in {}", file.display()));
    }
    call::show(&envelope, arguments.json, false)
}

fn input(arguments: &TtmEval) -> Result<Value, Failure> {
    let mut params = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        params.extend(value.map(|value| (name.to_owned(), value)));
    };
    set("k", arguments.k.map(Value::from));
    set("seed", arguments.seed.map(Value::from));
    set("limit", arguments.limit.map(Value::from));
    set("split", arguments.split.clone().map(Value::from));
    if let Some(file) = &arguments.file {
        let lines = fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("`{}`: {error}", file.display())))?;
        set("lines", Some(Value::from(lines)));
    }
    let set = match (&arguments.set, &arguments.file) {
        (Some(set), _) => set.as_str(),
        (None, Some(_)) => "custom",
        (None, None) => "curated",
    };
    let mut input =
        Map::from_iter([("set".to_owned(), json!(set)), ("params".to_owned(), params.into())]);
    if !arguments.metrics.is_empty() {
        input.insert("metrics".to_owned(), json!(arguments.metrics));
    }
    Ok(Value::Object(input))
}

/// Writes Markdown, or JSON for the extension `.json`.
fn write_report(file: &Path, reply: &Value, session: &Session) -> Result<(), Failure> {
    let id = reply.get("report_uri").and_then(Value::as_str);
    let id = id.and_then(|uri| uri.rsplit('/').next()).unwrap_or_default();
    let reports = stores::reports(&session.required_home()?);
    let kept = reports.report(id).map_err(|error| Failure::work(error.to_string()))?;
    let kept = kept.ok_or_else(|| Failure::work(format!("the report `{id}` was not kept")))?;
    let is_json = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    let text = if is_json { kept.json } else { kept.markdown };
    fs::write(file, text)
        .map_err(|error| Failure::work(format!("`{}` cannot be written: {error}", file.display())))
}
