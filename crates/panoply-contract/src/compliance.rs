//! The contract's verification checklist, line by line, for every tool.
//!
//! Some lines are decided by types and by [`static_violations`] when a tool is registered; the
//! rest need the tool to be called, which [`check`] does with the tool's own examples.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::context::CallContext;
use crate::dialect::{AUDIT_KEY, Envelope, HINTS_KEY, METADATA_KEY};
use crate::hints::AgentHints;
use crate::ids::TraceId;
use crate::kernel::{Kernel, Scope};
use crate::pipeline::{self, Request};
use crate::registry::ToolEntry;
use crate::schema;
use crate::spec::{Expect, ToolSpec};

/// The lines of the checklist, in its order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Line {
    /// Unique name in kebab-case, or the published name of the pack's spec.
    UniqueName,
    /// A clear description of more than 50 characters.
    Description,
    /// All parameters validated.
    Parameters,
    /// Permissions declared.
    Permissions,
    /// Category declared.
    Category,
    /// Response time declared.
    ResponseTime,
    /// Cacheable only where it may be.
    Cacheable,
    /// A time to live where cacheable.
    CacheTtl,
    /// Idempotent declared, and true where the tool is cached.
    Idempotent,
    /// At least one example.
    Example,
    /// At least one tag.
    Tag,
    /// The handler returns the contract's structure.
    ToolResult,
    /// Hints in every response.
    Hints,
    /// Confidence computed.
    Confidence,
    /// Source quality present.
    SourceQuality,
    /// Validity period present.
    ValidityPeriod,
    /// Context needed present.
    ContextNeeded,
    /// Assumptions present.
    Assumptions,
    /// Risk factors present.
    RiskFactors,
    /// Dependencies present.
    Dependencies,
    /// Estimated impact with benefit, effort and roi.
    EstimatedImpact,
    /// Preference alignment present.
    PreferenceAlignment,
    /// Reasoning present.
    Reasoning,
    /// All metadata fields.
    Metadata,
    /// Errors are structured.
    ErrorHandling,
    /// Calls are logged.
    Logging,
    /// Calls are counted.
    Metrics,
    /// Its examples hold.
    Tests,
    /// It is in the registry.
    Registered,
}

impl Line {
    /// Every line, in the checklist's order.
    pub const ALL: [Self; 29] = [
        Self::UniqueName,
        Self::Description,
        Self::Parameters,
        Self::Permissions,
        Self::Category,
        Self::ResponseTime,
        Self::Cacheable,
        Self::CacheTtl,
        Self::Idempotent,
        Self::Example,
        Self::Tag,
        Self::ToolResult,
        Self::Hints,
        Self::Confidence,
        Self::SourceQuality,
        Self::ValidityPeriod,
        Self::ContextNeeded,
        Self::Assumptions,
        Self::RiskFactors,
        Self::Dependencies,
        Self::EstimatedImpact,
        Self::PreferenceAlignment,
        Self::Reasoning,
        Self::Metadata,
        Self::ErrorHandling,
        Self::Logging,
        Self::Metrics,
        Self::Tests,
        Self::Registered,
    ];

    /// `C01` to `C29`.
    pub fn code(self) -> String {
        let place = Self::ALL.iter().position(|line| *line == self).unwrap_or_default() + 1;
        format!("C{place:02}")
    }

    /// What the line demands, in a few words.
    pub const fn demand(self) -> &'static str {
        match self {
            Self::UniqueName => "unique name of lower-case words",
            Self::Description => "description over 50 characters",
            Self::Parameters => "all parameters validated and documented",
            Self::Permissions => "permissions defined and grantable",
            Self::Category => "category specified",
            Self::ResponseTime => "response time specified",
            Self::Cacheable => "cacheable set correctly",
            Self::CacheTtl => "time to live if cacheable",
            Self::Idempotent => "idempotent set correctly",
            Self::Example => "at least one example",
            Self::Tag => "at least one tag",
            Self::ToolResult => "handler returns the result structure",
            Self::Hints => "agentHints always included",
            Self::Confidence => "confidence calculated",
            Self::SourceQuality => "sourceQuality specified",
            Self::ValidityPeriod => "validityPeriod specified",
            Self::ContextNeeded => "contextNeeded present",
            Self::Assumptions => "assumptions present",
            Self::RiskFactors => "riskFactors present",
            Self::Dependencies => "dependencies present",
            Self::EstimatedImpact => "estimatedImpact with benefit, effort, roi",
            Self::PreferenceAlignment => "preferenceAlignment present",
            Self::Reasoning => "reasoning included",
            Self::Metadata => "all metadata fields populated",
            Self::ErrorHandling => "errors are structured",
            Self::Logging => "calls are audited and observed",
            Self::Metrics => "metrics emitted",
            Self::Tests => "every example holds",
            Self::Registered => "registered under its name and aliases",
        }
    }
}

/// A line that a tool breaks.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Violation {
    /// The tool.
    pub tool: String,
    /// The line's code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    #[serde(skip)]
    line: Line,
}

impl Violation {
    /// `tool` breaks `line`.
    pub fn new(tool: &str, line: Line, message: impl Into<String>) -> Self {
        Self { tool: tool.to_owned(), code: line.code(), message: message.into(), line }
    }

    /// The line that is broken.
    pub const fn line(&self) -> Line {
        self.line
    }
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.code, self.tool, self.message)
    }
}

/// Every tool against every line.
#[derive(Debug, Serialize)]
pub struct Matrix {
    /// Codes of the lines with what they demand.
    pub lines: BTreeMap<String, &'static str>,
    /// The tools that were checked.
    pub tools: Vec<String>,
    /// What they break; a cell that is not here holds.
    pub violations: Vec<Violation>,
}

impl Matrix {
    /// Whether `tool` keeps `line`.
    pub fn holds(&self, tool: &str, line: Line) -> bool {
        !self.violations.iter().any(|violation| violation.tool == tool && violation.line == line)
    }
}

/// What can be seen without calling the tool. `checked()` makes most of these compile errors;
/// this catches specs that were made at run time, and what only the schemas show.
pub fn static_violations(spec: &'static ToolSpec, input: &Value, output: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    if let Some(breach) = spec.breach() {
        found.push(Violation::new(spec.name, line_of(breach), breach));
    }
    for example in spec.examples {
        if let Err(error) = serde_json::from_str::<Value>(example.params) {
            found.push(Violation::new(
                spec.name,
                Line::Example,
                format!("`{}` is not JSON: {error}", example.params),
            ));
        }
        if let Expect::Data(expected) = example.expect
            && let Err(error) = serde_json::from_str::<Value>(expected)
        {
            found.push(Violation::new(
                spec.name,
                Line::Example,
                format!("`{expected}` is not JSON: {error}"),
            ));
        }
    }
    for complaint in schema::lint(input, true) {
        found.push(Violation::new(
            spec.name,
            Line::Parameters,
            format!("input schema {complaint}"),
        ));
    }
    if input.get("additionalProperties") != Some(&Value::Bool(false)) {
        let message =
            "unknown arguments are let through; derive the parameters with `deny_unknown_fields`";
        found.push(Violation::new(spec.name, Line::Parameters, message));
    }
    for pointer in schema::unbounded_numbers(input) {
        found.push(Violation::new(
            spec.name,
            Line::Parameters,
            format!("`{pointer}` has no minimum and maximum"),
        ));
    }
    for complaint in schema::lint(output, false) {
        found.push(Violation::new(
            spec.name,
            Line::ToolResult,
            format!("output schema {complaint}"),
        ));
    }
    found
}

/// The checklist line behind a breach found while compiling: breaches start with their field.
fn line_of(breach: &str) -> Line {
    match breach.split(':').next().unwrap_or_default() {
        "name" | "deprecated" => Line::UniqueName,
        "title" | "description" => Line::Description,
        "version" => Line::Metadata,
        "permissions" => Line::Permissions,
        "tags" => Line::Tag,
        "examples" => Line::Example,
        "cache" if breach.contains("time to live") => Line::CacheTtl,
        "cache" if breach.contains("vary") => Line::Idempotent,
        "cache" => Line::Cacheable,
        _ => Line::Category,
    }
}

/// Checks every tool of the kernel: calls each with its own examples (mutations as a dry run)
/// and with nonsense, and looks at what comes back.
pub async fn check(kernel: &Kernel) -> Matrix {
    let mut violations = Vec::new();
    for entry in kernel.registry().get_all() {
        violations.extend(kernel.registry().validate(entry));
        violations.extend(registration(kernel, entry));
        violations.extend(behaviour(kernel, entry).await);
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

async fn behaviour(kernel: &Kernel, entry: &ToolEntry) -> Vec<Violation> {
    let spec = entry.spec;
    let mut found = Vec::new();
    let calls_before = entry.meter.snapshot().calls;
    let mut shown = 0_u64;
    let mut last_audit = Value::Null;
    for example in spec.examples {
        let Ok(params) = serde_json::from_str::<Value>(example.params) else { continue };
        let envelope = replay(kernel, spec, params).await;
        shown += 1;
        if let Some(message) = mismatch(&envelope, &example.expect) {
            found.push(Violation::new(
                spec.name,
                Line::Tests,
                format!("example \"{}\": {message}", example.shows),
            ));
        }
        found.extend(envelope_violations(kernel, spec, &envelope));
        last_audit = part(&envelope, AUDIT_KEY, "audit").unwrap_or(last_audit);
    }
    let nonsense = replay(kernel, spec, json!({"no such argument": true})).await;
    if !is_structured_error(&nonsense) {
        found.push(Violation::new(
            spec.name,
            Line::ErrorHandling,
            "nonsense did not give a structured error",
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

/// Calls a tool as the local owner; a mutation only as a dry run.
pub async fn replay(kernel: &Kernel, spec: &ToolSpec, params: Value) -> Envelope {
    let trace = TraceId::new(uuid::Uuid::from_u128(1));
    let mut cx = CallContext::local(Arc::clone(kernel.clock()), trace);
    cx.agent_id = "contract-check".to_owned();
    cx.dry_run = spec.category.mutates();
    pipeline::call(kernel, Request { tool: spec.name, input: params, scope: &Scope::All }, cx).await
}

/// Why an envelope is not what an example promises.
pub fn mismatch(envelope: &Envelope, expect: &Expect) -> Option<String> {
    match (expect, envelope) {
        (
            Expect::Data(expected),
            Envelope::Result { structured: Some(structured), is_error: false, .. },
        ) => {
            let expected: Value = serde_json::from_str(expected).ok()?;
            let data = if contract_shaped(structured) {
                structured.get("data").unwrap_or(structured)
            } else {
                structured
            };
            contains(data, &expected, "")
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

/// The error code of an envelope, in whichever shape the pack's dialect has.
pub fn error_code(envelope: &Envelope) -> Option<String> {
    let code = match envelope {
        Envelope::Result { meta, is_error: true, .. } => {
            meta.get(crate::dialect::ERROR_KEY)?.pointer("/error/code")?
        }
        Envelope::Result { .. } => return None,
        Envelope::Refusal { data, .. } => data.get("code")?,
    };
    code.as_str().map(str::to_owned)
}

fn is_structured_error(envelope: &Envelope) -> bool {
    error_code(envelope).is_some()
}

/// Where `seen` lacks what `expected` has. Objects may have more members, arrays not.
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

fn envelope_violations(
    kernel: &Kernel,
    spec: &'static ToolSpec,
    envelope: &Envelope,
) -> Vec<Violation> {
    if let Envelope::Result { text, .. } = envelope
        && text.is_empty()
    {
        return vec![Violation::new(spec.name, Line::ToolResult, "an empty text")];
    }
    if matches!(envelope, Envelope::Refusal { .. }) {
        return Vec::new();
    }
    let mut found = Vec::new();
    match part(envelope, HINTS_KEY, "agentHints") {
        None => found.push(Violation::new(spec.name, Line::Hints, "no agentHints")),
        Some(hints) => {
            found.extend(hint_violations(spec, &hints));
            found.extend(unfollowable(kernel, spec, &hints));
        }
    }
    let metadata = part(envelope, METADATA_KEY, "metadata").unwrap_or_default();
    for field in
        ["toolVersion", "timestamp", "executionTime", "serviceVersion", "traceId", "correlationId"]
    {
        if metadata.get(field).is_none_or(Value::is_null) {
            found.push(Violation::new(spec.name, Line::Metadata, format!("no `{field}`")));
        }
    }
    found
}

/// A part of the contract, wherever the pack's dialect puts it.
fn part(envelope: &Envelope, meta_key: &str, member: &str) -> Option<Value> {
    let Envelope::Result { structured, meta, .. } = envelope else { return None };
    meta.get(meta_key)
        .or_else(|| structured.as_ref().and_then(|body| body.get(member)))
        .or_else(|| meta.get(crate::dialect::ERROR_KEY).and_then(|body| body.get(member)))
        .cloned()
}

/// Suggestions that could not be followed as they stand.
fn unfollowable(kernel: &Kernel, spec: &'static ToolSpec, hints: &Value) -> Vec<Violation> {
    let actions = hints.get("suggestedNextActions").and_then(Value::as_array);
    let broken = |action: &&Value| {
        let name = action.get("action").and_then(Value::as_str).unwrap_or_default();
        let arguments = action.get("data").cloned().unwrap_or_default();
        !kernel.registry().get(name).is_some_and(|entry| entry.input.is_valid(&arguments))
    };
    let broken = actions.into_iter().flatten().filter(broken);
    broken
        .map(|action| {
            Violation::new(spec.name, Line::Hints, format!("cannot be followed: {action}"))
        })
        .collect()
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
        Ok(hints) if !hints.reasoning.starts_with("confidence ") => {
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
