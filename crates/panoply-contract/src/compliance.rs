//! The contract's verification checklist for every tool.
//!
//! Types and [`static_violations`] decide some lines when a tool is registered. The others require
//! calls, which [`check`] makes with the tool's own examples.

mod behaviour;
mod suggestions;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

pub use self::behaviour::{EXAMPLE_TIME, check, error_code, mismatch, replay};
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
    /// Every example passes.
    Tests,
    /// Registered.
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

    /// Short description of the requirement.
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

/// A checklist line that a tool violates.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Violation {
    /// The tool.
    pub tool: String,
    /// The line's code.
    pub code: String,
    /// Description of the violation.
    pub message: String,
    #[serde(skip)]
    line: Line,
}

impl Violation {
    /// Creates a violation of `line` by `tool`.
    pub fn new(tool: &str, line: Line, message: impl Into<String>) -> Self {
        Self { tool: tool.to_owned(), code: line.code(), message: message.into(), line }
    }

    /// The violated line.
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
    /// Codes and requirements of the lines.
    pub lines: BTreeMap<String, &'static str>,
    /// The tools that were checked.
    pub tools: Vec<String>,
    /// All violations; a cell without one passes.
    pub violations: Vec<Violation>,
}

impl Matrix {
    /// Whether `tool` satisfies `line`.
    pub fn holds(&self, tool: &str, line: Line) -> bool {
        !self.violations.iter().any(|violation| violation.tool == tool && violation.line == line)
    }
}

/// Violations detectable without calling the tool. `checked()` makes most of these compile errors;
/// this covers specs created at run time and rules about schemas.
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
    for complaint in schema::unbounded(input) {
        found.push(Violation::new(spec.name, Line::Parameters, complaint));
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

/// The checklist line of a breach reported by `ToolSpec::breach`, which starts with the field.
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
