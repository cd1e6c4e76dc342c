//! `agentHints` as they go over the wire: eleven required fields, and the recommended ones.
//!
//! The numbers in here are computed by [`calculus`](crate::calculus) and nowhere else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the agent should know about an answer, and could do next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHints {
    /// Calls worth making next, best first.
    pub suggested_next_actions: Vec<SuggestedAction>,
    /// Things this answer is about.
    pub related_resources: Vec<RelatedResource>,
    /// How likely the data answer the question correctly and completely.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// How reliable the sources are.
    pub source_quality: SourceQuality,
    /// How long all this holds.
    pub validity_period: ValidityPeriod,
    /// What would have made the answer better.
    pub context_needed: Vec<String>,
    /// Defaults that were applied.
    pub assumptions: Vec<String>,
    /// What could be wrong with acting on it.
    pub risk_factors: Vec<RiskFactor>,
    /// Which actions come before which.
    pub dependencies: Vec<Dependency>,
    /// What following the first suggestion would bring and cost.
    pub estimated_impact: EstimatedImpact,
    /// How suggestions sit with stored preferences.
    pub preference_alignment: Vec<PreferenceAlignment>,
    /// How the numbers came about.
    pub reasoning: String,
    /// What to be careful about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Other ways that were considered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Limits on the suggestions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// When and by what these hints were made; left out where the reply's metadata stand beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<HintsMetadata>,
}

/// When and by what hints were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HintsMetadata {
    /// ISO 8601, UTC.
    pub generated_at: String,
    /// The pack.
    pub generated_by: String,
}

/// How urgent a suggestion is.
#[derive(
    Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Now, or harm is done.
    Critical,
    /// Soon.
    High,
    /// When convenient.
    Medium,
    /// Optional.
    Low,
}

/// What a suggestion is good for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionCategory {
    /// See more.
    Exploration,
    /// Do better.
    Optimization,
    /// Mend something.
    Correction,
    /// Learn.
    Learning,
}

/// A call worth making next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedAction {
    /// The name of a tool.
    pub action: String,
    /// How urgent it is.
    pub priority: Level,
    /// The arguments to call it with.
    pub data: Map<String, Value>,
    /// What it would do, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How long it usually takes, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_time: Option<f64>,
    /// What it costs, in dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<f64>,
    /// What it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ActionCategory>,
    /// Actions that must complete first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prerequisites: Vec<String>,
    /// What will have happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Whether it can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
    /// How sure we are of this suggestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: Option<f64>,
}

/// Something the answer is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedResource {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// How close it is to the question.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub relevance: f64,
    /// Category, quality, freshness and the like.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// How reliable the sources are.
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

/// How long hints hold.
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

/// Something that could be wrong with acting on an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RiskFactor {
    /// What it touches.
    #[serde(rename = "type")]
    pub kind: RiskKind,
    /// Probability times impact, as a word.
    pub severity: Level,
    /// What the risk is.
    pub description: String,
    /// How likely it is.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// How bad it would be.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub impact: f64,
    /// What helps against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
}

/// What a risk touches.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RiskKind {
    /// Speed.
    Performance,
    /// Being right.
    Accuracy,
    /// Money.
    Cost,
    /// Effort to understand.
    Complexity,
    /// How it feels.
    UserExperience,
}

/// Which actions come before which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// The later action.
    pub action: String,
    /// What comes before it.
    pub depends_on: Vec<String>,
    /// How strict that is.
    #[serde(rename = "type")]
    pub kind: DependencyKind,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How strict a dependency is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DependencyKind {
    /// It will not work otherwise.
    Required,
    /// It works better.
    Recommended,
    /// A matter of taste.
    Optional,
}

/// What following the first suggestion would bring and cost.
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
    /// What would move.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub affected_metrics: Vec<String>,
}

/// How a suggestion sits with a stored preference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreferenceAlignment {
    /// Which suggestion.
    pub action: String,
    /// Which preference.
    pub preference: String,
    /// The score as a word.
    pub alignment: Alignment,
    /// From -1 (conflict) to 1 (strong).
    #[schemars(range(min = -1.0, max = 1.0))]
    pub score: f64,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// How well something fits a preference.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Alignment {
    /// Just what they want.
    Strong,
    /// Rather.
    Moderate,
    /// A little.
    Weak,
    /// Neither.
    Neutral,
    /// Against it.
    Conflict,
}

/// What to be careful about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// What kind of trouble.
    #[serde(rename = "type")]
    pub kind: WarningKind,
    /// How bad.
    pub severity: Level,
    /// For people.
    pub message: String,
    /// What it concerns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related_ids: Vec<String>,
    /// What would mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_fix: Option<String>,
    /// Whether a tool can mend it by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_fixable: Option<bool>,
}

/// Kinds of trouble.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WarningKind {
    /// Input or data look wrong.
    Validation,
    /// The same thing twice.
    Duplicate,
    /// Two things disagree.
    Conflict,
    /// On its way out.
    Deprecation,
    /// Slow.
    Performance,
}

/// Another way that was considered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Alternative {
    /// What it is.
    pub approach: String,
    /// How sure we are of it.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// Why it exists.
    pub reasoning: String,
    /// For it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pros: Vec<String>,
    /// Against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cons: Vec<String>,
    /// What it would bring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub estimated_impact: Option<f64>,
}
