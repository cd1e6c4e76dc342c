//! `agentHints` in replies: eleven required fields and the recommended ones.
//!
//! Only [`calculus`](crate::calculus) computes these numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Guidance for the agent about an answer and its next actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHints {
    /// Suggested next calls, best first.
    pub suggested_next_actions: Vec<SuggestedAction>,
    /// Resources related to the answer.
    pub related_resources: Vec<RelatedResource>,
    /// Probability that the data answer the question correctly and completely.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// Reliability of the sources.
    pub source_quality: SourceQuality,
    /// How long the hints are valid.
    pub validity_period: ValidityPeriod,
    /// Missing context that would improve the answer.
    pub context_needed: Vec<String>,
    /// Defaults that were applied.
    pub assumptions: Vec<String>,
    /// Risks of acting on the answer.
    pub risk_factors: Vec<RiskFactor>,
    /// Ordering constraints of the suggested actions.
    pub dependencies: Vec<Dependency>,
    /// Benefit and effort of the first suggestion.
    pub estimated_impact: EstimatedImpact,
    /// Alignment of suggestions with stored preferences.
    pub preference_alignment: Vec<PreferenceAlignment>,
    /// How the numbers were computed.
    pub reasoning: String,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Alternatives that were considered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Limits on the suggestions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// When and by which pack these hints were created; omitted next to the reply's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<HintsMetadata>,
}

/// The hints that a model must see: hosts show it the structured content, not `_meta`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BriefHints {
    /// The first suggestion: tool, arguments and reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The most severe warning or risk of medium severity or worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
}

impl AgentHints {
    /// The next step and the main caution; `None` if there is neither.
    pub fn brief(&self) -> Option<BriefHints> {
        let warnings = self.warnings.iter().map(|warning| (warning.severity, &warning.message));
        let risks = self.risk_factors.iter().map(|risk| (risk.severity, &risk.description));
        let worst = warnings.chain(risks).min_by_key(|(severity, _)| *severity);
        let caution = worst.filter(|(severity, _)| *severity <= Level::Medium);
        let brief = BriefHints {
            next: self.suggested_next_actions.first().map(SuggestedAction::brief),
            caution: caution.map(|(_, text)| text.clone()),
        };
        (brief.next.is_some() || brief.caution.is_some()).then_some(brief)
    }
}

impl SuggestedAction {
    /// Tool, arguments and reason. A long argument, which the caller has just sent, is left out.
    fn brief(&self) -> String {
        const MAX_ARGUMENT_BYTES: usize = 120;
        let shown: Vec<String> = self
            .data
            .iter()
            .map(|(name, value)| {
                let value = value.to_string();
                let value = if value.len() > MAX_ARGUMENT_BYTES { "…" } else { &value };
                format!("\"{name}\":{value}")
            })
            .collect();
        let why = self.description.as_deref().unwrap_or_default();
        format!("{} {{{}}}: {why}", self.action, shown.join(","))
    }
}

/// Creation time and pack of hints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HintsMetadata {
    /// ISO 8601, UTC.
    pub generated_at: String,
    /// The pack.
    pub generated_by: String,
}

/// Priority or severity.
#[derive(
    Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Act now to avoid harm.
    Critical,
    /// Soon.
    High,
    /// When convenient.
    Medium,
    /// Optional.
    Low,
}

/// Category of a suggested action.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionCategory {
    /// Explore further.
    Exploration,
    /// Improve.
    Optimization,
    /// Fix a problem.
    Correction,
    /// Learn.
    Learning,
}

/// A suggested next call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedAction {
    /// The name of a tool.
    pub action: String,
    /// Priority.
    pub priority: Level,
    /// The arguments to call it with.
    pub data: Map<String, Value>,
    /// Reason, for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Usual duration in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_time: Option<f64>,
    /// Cost in dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<f64>,
    /// Category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ActionCategory>,
    /// Actions that must complete first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prerequisites: Vec<String>,
    /// Expected outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Whether it can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
    /// Confidence in this suggestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
}

/// A resource related to the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedResource {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Display name.
    pub label: String,
    /// Relevance to the question.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub relevance: f64,
    /// Further properties such as category, quality or freshness.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Reliability of the sources.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceQuality {
    /// Authoritative and verified.
    High,
    /// Generally reliable.
    Medium,
    /// Uncertain or unverified.
    Low,
    /// Nothing is known about the sources.
    Unknown,
}

/// How long hints are valid.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ValidityPeriod {
    /// For the next action only.
    Immediate,
    /// About five minutes.
    Short,
    /// About an hour.
    Medium,
    /// About a day.
    Long,
    /// Until the context changes.
    Indefinite,
}

/// A risk of acting on an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RiskFactor {
    /// Affected area.
    #[serde(rename = "type")]
    pub kind: RiskKind,
    /// Category of probability times impact.
    pub severity: Level,
    /// Description.
    pub description: String,
    /// Probability.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// Impact.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub impact: f64,
    /// Mitigation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
}

/// Affected area of a risk.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RiskKind {
    /// Performance.
    Performance,
    /// Accuracy.
    Accuracy,
    /// Money.
    Cost,
    /// Complexity.
    Complexity,
    /// User experience.
    UserExperience,
}

/// An ordering constraint between actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// The later action.
    pub action: String,
    /// The actions that must come first.
    pub depends_on: Vec<String>,
    /// Kind of constraint.
    #[serde(rename = "type")]
    pub kind: DependencyKind,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Kind of a dependency.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DependencyKind {
    /// Required.
    Required,
    /// Recommended.
    Recommended,
    /// Optional.
    Optional,
}

/// Benefit and effort of the first suggestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EstimatedImpact {
    /// From 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub benefit: f64,
    /// From 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub effort: f64,
    /// Benefit over effort.
    #[schemars(range(min = 0.0))]
    pub roi: f64,
    /// Affected measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affected_metrics: Vec<String>,
}

/// Alignment of a suggestion with a stored preference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreferenceAlignment {
    /// Which suggestion.
    pub action: String,
    /// Which preference.
    pub preference: String,
    /// Category of the score.
    pub alignment: Alignment,
    /// From -1 (conflict) to 1 (strong).
    #[schemars(range(min = -1.0, max = 1.0))]
    pub score: f64,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// Category of an alignment score.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Alignment {
    /// Strong alignment.
    Strong,
    /// Moderate alignment.
    Moderate,
    /// Weak alignment.
    Weak,
    /// Neutral.
    Neutral,
    /// Conflict.
    Conflict,
}

/// A warning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// Kind of warning.
    #[serde(rename = "type")]
    pub kind: WarningKind,
    /// Severity.
    pub severity: Level,
    /// Message for the user.
    pub message: String,
    /// Affected item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_ids: Vec<String>,
    /// Suggested fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_fix: Option<String>,
    /// Whether a tool can fix it automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_fixable: Option<bool>,
}

/// Kinds of warnings.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WarningKind {
    /// Suspicious input or data.
    Validation,
    /// Duplicate.
    Duplicate,
    /// Conflict.
    Conflict,
    /// Deprecated.
    Deprecation,
    /// Performance problem.
    Performance,
}

/// An alternative that was considered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    /// What it is.
    pub approach: String,
    /// Confidence in it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// Rationale.
    pub reasoning: String,
    /// Arguments in favour.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pros: Vec<String>,
    /// Arguments against.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cons: Vec<String>,
    /// Expected outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub estimated_impact: Option<f64>,
}
