//! `panoply describe`: one tool's whole contract.

use std::process::ExitCode;

use panoply_contract::context::{CallContext, Caller};
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::pipeline::{self, Request};
use panoply_contract::registry::ToolEntry;
use panoply_contract::spec::Expect;
use serde_json::{Value, json};

use super::parameters::{self, Parameter};
use super::{Session, block_on};
use crate::app::App;
use crate::cli::Describe;
use crate::failure::Failure;
use crate::out::{BOLD, FAINT, Out};

pub(super) fn run(describe: &Describe, session: &Session) -> Result<ExitCode, Failure> {
    let app = App::in_memory(&session.config()?)?;
    let entry = find(&app.kernel, &describe.tool)?;
    let mut out = Out::new();
    if describe.json {
        out.json(&as_agents_see_it(&app.kernel, entry.spec.name)?)?;
    } else {
        print(entry, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Finds a tool by name or alias; the error suggests a similar name.
pub(super) fn find<'a>(kernel: &'a Kernel, name: &str) -> Result<&'a ToolEntry, Failure> {
    kernel.registry().get(name).ok_or_else(|| {
        let near = kernel.registry().suggest_similar(name, &Caller::local_owner());
        Failure::unknown("tool", name, near, "list them with `panoply tools`")
    })
}

/// The reply of `describe-tool`.
fn as_agents_see_it(kernel: &Kernel, name: &str) -> Result<Value, Failure> {
    let trace = TraceId::new(uuid::Uuid::new_v4());
    let context = CallContext::local(std::sync::Arc::clone(kernel.clock()), trace);
    let input = json!({"name": name});
    let request = Request { tool: "describe-tool", input, scope: &Scope::All };
    match block_on(pipeline::call(kernel, request, context))? {
        Envelope::Result { structured: Some(reply), .. } => {
            Ok(reply.value().get_mut("data").map(Value::take).unwrap_or_default())
        }
        Envelope::Result { text, .. } => Err(Failure::work(text)),
        Envelope::Refusal { message, .. } => Err(Failure::work(message)),
    }
}

fn print(entry: &ToolEntry, out: &mut Out) -> Result<(), Failure> {
    let spec = entry.spec;
    out.line(format_args!("{BOLD}{}{BOLD:#}  {}", spec.name, spec.title))?;
    out.line(format_args!("{FAINT}{}{FAINT:#}\n", facts(entry)))?;
    out.line(&entry.description)?;
    let parameters = parameters::of(entry.input_schema());
    if !parameters.is_empty() {
        out.line(format_args!("\n{BOLD}Arguments{BOLD:#}"))?;
    }
    for parameter in &parameters {
        out.line(format_args!(
            "  {BOLD}{}{BOLD:#}  {FAINT}{}{FAINT:#}",
            parameter.name,
            nature(parameter)
        ))?;
        if !parameter.description.is_empty() {
            out.line(format_args!("      {}", parameter.description))?;
        }
    }
    out.line(format_args!("\n{BOLD}Examples{BOLD:#}"))?;
    for example in spec.examples {
        let outcome = match example.expect {
            Expect::Data(_) => String::new(),
            Expect::Error(code) => format!(" (fails with {code})"),
        };
        out.line(format_args!("  {}{outcome}", example.shows))?;
        out.line(format_args!(
            "      panoply call {} '{}'",
            spec.name,
            example.params.replace('\'', r"'\''")
        ))?;
    }
    Ok(())
}

/// Category and flags of a tool in one line.
pub(super) fn facts(entry: &ToolEntry) -> String {
    let spec = entry.spec;
    let mut facts = vec![
        format!("{} pack", entry.pack),
        format!("{}, {}", spec.category.as_str(), spec.response_time.as_str()),
        format!("version {}", spec.version),
    ];
    facts.extend(spec.cache.ttl().map(|ttl| format!("kept {} s", ttl.as_secs())));
    facts.extend(
        spec.rate_limit.map(|limit| {
            format!("at most {} calls in {} s", limit.max_calls, limit.window.as_secs())
        }),
    );
    if !spec.permissions.is_empty() {
        facts.push(format!("needs {}", spec.permissions.join(", ")));
    }
    if !spec.aliases.is_empty() {
        facts.push(format!("also called {}", spec.aliases.join(", ")));
    }
    facts.extend(spec.deprecated.as_ref().map(|outgoing| {
        format!("refused from {}; use {}", outgoing.removal_date, outgoing.replacement)
    }));
    facts.join(" · ")
}

/// Type of an argument.
pub(super) fn nature(parameter: &Parameter) -> String {
    let default = parameter.default.as_ref().map(|default| format!(", default {default}"));
    let required = if parameter.required { ", required" } else { "" };
    format!("{}{required}{}", parameter.kind, default.unwrap_or_default())
}
