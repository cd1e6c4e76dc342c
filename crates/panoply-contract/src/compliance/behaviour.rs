//! The checklist lines that require calling the tools.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::suggestions::SuggestionWalk;
use super::{Line, Matrix, Violation};
use crate::context::{CallContext, Caller};
use crate::dialect::{AUDIT_KEY, ERROR_KEY, Envelope, HINTS_KEY, METADATA_KEY};
use crate::hints::AgentHints;
use crate::ids::TraceId;
use crate::json::Json;
use crate::kernel::{Kernel, Scope};
use crate::pipeline::{self, Request};
use crate::registry::ToolEntry;
use crate::spec::{Expect, ToolSpec};

/// The time for which examples are written: a kernel that is checked shows it, so that an example
/// with a date holds on every day.
pub const EXAMPLE_TIME: Timestamp = Timestamp::constant(1_794_744_000, 0);

/// Checks every tool of the kernel: calls each with its examples (mutations as a dry run) and with
/// invalid input, and verifies the replies.
pub async fn check(kernel: &Kernel) -> Matrix {
    let mut violations = Vec::new();
    let mut walk = SuggestionWalk::default();
    for entry in kernel.registry().get_all() {
        violations.extend(kernel.registry().validate(entry));
        violations.extend(registration(kernel, entry));
        violations.extend(behaviour(kernel, entry, &mut walk).await);
    }
    Matrix {
        lines: Line::ALL.iter().map(|line| (line.code(), line.demand())).collect(),
        tools: kernel.registry().get_all().iter().map(|entry| entry.spec.name.to_owned()).collect(),
        violations,
    }
}

fn registration(kernel: &Kernel, entry: &ToolEntry) -> Vec<Violation> {
    let names = std::iter::once(&entry.spec.name).chain(entry.spec.aliases);
    let lost = names.filter(|name| {
        !kernel.registry().get(name).is_some_and(|found| std::ptr::eq(found, entry))
    });
    lost.map(|name| {
        Violation::new(entry.spec.name, Line::Registered, format!("`{name}` does not lead here"))
    })
    .collect()
}

async fn behaviour(
    kernel: &Kernel,
    entry: &ToolEntry,
    walk: &mut SuggestionWalk,
) -> Vec<Violation> {
    let spec = entry.spec;
    let mut found = Vec::new();
    let calls_before = entry.meter.snapshot().calls;
    let mut shown = 0_u64;
    let mut last_audit = Value::Null;
    let data_before = kernel.epoch(entry, &Caller::local_owner());
    for example in spec.examples {
        let Ok(params) = serde_json::from_str::<Value>(example.params) else { continue };
        let envelope = replay(kernel, spec, params.clone()).await;
        shown += 1;
        if let Some(message) = mismatch(&envelope, &example.expect) {
            found.push(Violation::new(
                spec.name,
                Line::Tests,
                format!("example \"{}\": {message}", example.shows),
            ));
        }
        found.extend(envelope_violations(spec, &envelope));
        found.extend(broken_output_schema(entry, &envelope));
        found.extend(walk.violations(kernel, spec, &params, &envelope).await);
        last_audit = part(&envelope, AUDIT_KEY, "audit").unwrap_or(last_audit);
    }
    if kernel.epoch(entry, &Caller::local_owner()) != data_before {
        found.push(Violation::new(
            spec.name,
            Line::Idempotent,
            "a query or a dry run changed data",
        ));
    }
    let nonsense = replay(kernel, spec, json!({"no such argument": true})).await;
    if !is_structured_error(&nonsense) {
        found.push(Violation::new(
            spec.name,
            Line::ErrorHandling,
            "invalid input did not give a structured error",
        ));
    }
    if entry.meter.snapshot().calls < calls_before + shown + 1 {
        found.push(Violation::new(spec.name, Line::Metrics, "calls were not counted"));
    }
    if last_audit.get("in_hash").is_none() {
        found.push(Violation::new(spec.name, Line::Logging, "calls carry no audit"));
    }
    found
}

/// Checks the reply against the published output schema: strict clients drop a mismatch.
fn broken_output_schema(entry: &ToolEntry, envelope: &Envelope) -> Option<Violation> {
    let Envelope::Result { structured: Some(structured), .. } = envelope else { return None };
    let problem = match jsonschema::validator_for(entry.output_schema()) {
        Ok(validator) => validator.validate(&structured.value()).err()?.to_string(),
        Err(error) => error.to_string(),
    };
    Some(Violation::new(
        entry.spec.name,
        Line::ToolResult,
        format!("breaks its output schema: {problem}"),
    ))
}

/// Calls a tool as the local owner; a mutation only as a dry run.
pub async fn replay(kernel: &Kernel, spec: &ToolSpec, params: Value) -> Envelope {
    let trace = TraceId::new(uuid::Uuid::from_u128(1));
    let mut cx = CallContext::local(Arc::clone(kernel.clock()), trace);
    cx.agent_id = "contract-check".to_owned();
    cx.dry_run = spec.category.mutates();
    // What a tool answers is checked, not how fast a loaded machine is.
    cx.deadline = Some(Duration::from_secs(60));
    pipeline::call(kernel, Request { tool: spec.name, input: params, scope: &Scope::All }, cx).await
}

/// How an envelope differs from an example's expectation.
pub fn mismatch(envelope: &Envelope, expect: &Expect) -> Option<String> {
    match (expect, envelope) {
        (
            Expect::Data(expected),
            Envelope::Result { structured: Some(structured), is_error: false, .. },
        ) => {
            let expected: Value = serde_json::from_str(expected).ok()?;
            let structured = structured.value();
            let data = structured.get("data").filter(|_| contract_shaped(&structured));
            contains(data.unwrap_or(&structured), &expected, "")
        }
        (Expect::Error(code), envelope) => {
            let seen = error_code(envelope);
            (seen.as_deref() != Some(code)).then(|| {
                format!(
                    "expected the error {code}, got {}",
                    seen.unwrap_or_else(|| "none".to_owned())
                )
            })
        }
        (Expect::Data(_), Envelope::Result { text, .. }) => {
            Some(format!("expected data, got {text}"))
        }
        (Expect::Data(_), Envelope::Refusal { message, .. }) => {
            Some(format!("expected data, got {message}"))
        }
    }
}

fn contract_shaped(structured: &Value) -> bool {
    structured.get("agentHints").is_some() && structured.get("metadata").is_some()
}

/// The error code of an envelope in any dialect.
pub fn error_code(envelope: &Envelope) -> Option<String> {
    match envelope {
        Envelope::Result { meta, is_error: true, .. } => {
            meta.value(ERROR_KEY).pointer("/error/code")?.as_str().map(str::to_owned)
        }
        Envelope::Result { .. } => None,
        Envelope::Refusal { data, .. } => data.get("code")?.as_str().map(str::to_owned),
    }
}

fn is_structured_error(envelope: &Envelope) -> bool {
    error_code(envelope).is_some()
}

/// First difference where `seen` does not contain `expected`. Objects may have more members,
/// arrays may not.
fn contains(seen: &Value, expected: &Value, pointer: &str) -> Option<String> {
    match (seen, expected) {
        (Value::Object(seen), Value::Object(expected)) => {
            expected.iter().find_map(|(name, value)| {
                let below = format!("{pointer}/{name}");
                match seen.get(name) {
                    Some(member) => contains(member, value, &below),
                    None => Some(format!("`{below}` is missing")),
                }
            })
        }
        (Value::Array(seen), Value::Array(expected)) if seen.len() == expected.len() => {
            let pairs = seen.iter().zip(expected).enumerate();
            pairs.into_iter().find_map(|(place, (seen, expected))| {
                contains(seen, expected, &format!("{pointer}/{place}"))
            })
        }
        _ if seen == expected => None,
        _ => Some(format!("`{pointer}` is {seen}, expected {expected}")),
    }
}

fn envelope_violations(spec: &'static ToolSpec, envelope: &Envelope) -> Vec<Violation> {
    if let Envelope::Result { text, .. } = envelope
        && text.is_empty()
    {
        return vec![Violation::new(spec.name, Line::ToolResult, "an empty text")];
    }
    if matches!(envelope, Envelope::Refusal { .. }) {
        return Vec::new();
    }
    let mut found = Vec::new();
    match hints_of(envelope) {
        None => found.push(Violation::new(spec.name, Line::Hints, "no agentHints")),
        Some(hints) => {
            found.extend(hint_violations(spec, &hints));
        }
    }
    let metadata = part(envelope, METADATA_KEY, "metadata").unwrap_or_default();
    for field in ["toolVersion", "timestamp", "executionTime", "serviceVersion", "traceId"] {
        if metadata.get(field).is_none_or(Value::is_null) {
            found.push(Violation::new(spec.name, Line::Metadata, format!("no `{field}`")));
        }
    }
    found
}

/// The hints of an envelope in any dialect.
pub(super) fn hints_of(envelope: &Envelope) -> Option<Value> {
    if let Envelope::Refusal { data, .. } = envelope {
        return data.get("agentHints").cloned();
    }
    part(envelope, HINTS_KEY, "agentHints")
}

/// A part of the contract, from wherever the dialect places it.
fn part(envelope: &Envelope, meta_key: &str, member: &str) -> Option<Value> {
    let Envelope::Result { structured, meta, .. } = envelope else { return None };
    let inside = || structured.as_ref().and_then(|body| body.value().get(member).cloned());
    let of_error = || meta.value(ERROR_KEY).get(member).cloned();
    meta.get(meta_key).map(Json::value).or_else(inside).or_else(of_error)
}

fn hint_violations(spec: &'static ToolSpec, hints: &Value) -> Vec<Violation> {
    const FIELDS: [(&str, Line); 12] = [
        ("suggestedNextActions", Line::Hints),
        ("relatedResources", Line::Hints),
        ("confidence", Line::Confidence),
        ("sourceQuality", Line::SourceQuality),
        ("validityPeriod", Line::ValidityPeriod),
        ("contextNeeded", Line::ContextNeeded),
        ("assumptions", Line::Assumptions),
        ("riskFactors", Line::RiskFactors),
        ("dependencies", Line::Dependencies),
        ("estimatedImpact", Line::EstimatedImpact),
        ("preferenceAlignment", Line::PreferenceAlignment),
        ("reasoning", Line::Reasoning),
    ];
    let mut found: Vec<Violation> = FIELDS
        .iter()
        .filter(|(field, _)| hints.get(field).is_none())
        .map(|(field, line)| Violation::new(spec.name, *line, format!("no `{field}`")))
        .collect();
    match serde_json::from_value::<AgentHints>(hints.clone()) {
        Ok(hints) if !(0.0..=1.0).contains(&hints.confidence) => {
            found.push(Violation::new(
                spec.name,
                Line::Confidence,
                format!("confidence {}", hints.confidence),
            ));
        }
        Ok(hints) if !hints.reasoning.contains("Confidence ") => {
            found.push(Violation::new(
                spec.name,
                Line::Reasoning,
                "the reasoning does not say how confidence was computed",
            ));
        }
        Ok(_) => {}
        Err(error) => found.push(Violation::new(spec.name, Line::Hints, error.to_string())),
    }
    found
}
