//! A run: one execution of a strategy, and the metadata of its event log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::Guid;
use crate::performance::RunSummary;
use crate::timestamp::Timestamp;

/// The life cycle of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Open: accepts events, cannot be queried.
    Running,
    /// Sealed: can be queried, never changes.
    Completed,
}

impl Status {
    /// The stored and published word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
        }
    }

    /// The status stored as `word`.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Running, Self::Completed].into_iter().find(|status| status.as_str() == word)
    }
}

/// Metadata of a run: the content of a `RUN.json`. Members without a meaning here are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunHeader {
    /// Start of the simulated period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    /// End of the simulated period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    /// SHA-256 of the strategy's configuration, in hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy_config_hash: Option<String>,
    /// The strategy's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy_name: Option<String>,
    /// The strategy's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// The engine that executed the strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The parameters of the strategy in this run, such as those of an optimisation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// Labels, such as the name of a sweep or of a walk-forward fold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Value>,
    /// All other members.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl RunHeader {
    /// The parameters and the configuration by dotted name; a parameter takes precedence.
    pub fn settings(&self) -> BTreeMap<String, Value> {
        let mut settings = BTreeMap::new();
        for source in [&self.config, &self.parameters].into_iter().flatten() {
            add_settings("", source, &mut settings);
        }
        settings
    }

    /// The declared period. A missing or unreadable bound is unbounded.
    pub fn period(&self) -> (Timestamp, Timestamp) {
        let read = |text: &Option<String>| {
            text.as_deref().and_then(|text| Timestamp::parse_bound(text).ok())
        };
        (
            read(&self.start_time).unwrap_or(Timestamp::MIN),
            read(&self.end_time).unwrap_or(Timestamp::MAX),
        )
    }

    /// Fills the missing fields of this header from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            start_time: self.start_time.or(other.start_time),
            end_time: self.end_time.or(other.end_time),
            strategy_config_hash: self.strategy_config_hash.or(other.strategy_config_hash),
            strategy_name: self.strategy_name.or(other.strategy_name),
            config: self.config.or(other.config),
            source: self.source.or(other.source),
            parameters: self.parameters.or(other.parameters),
            tags: self.tags.or(other.tags),
            other: other.other.into_iter().chain(self.other).collect(),
        }
    }
}

/// Adds the members of nested objects under their dotted names.
fn add_settings(prefix: &str, value: &Value, settings: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let separator = if prefix.is_empty() { "" } else { "." };
                add_settings(&format!("{prefix}{separator}{name}"), value, settings);
            }
        }
        other => {
            settings.insert(prefix.to_owned(), other.clone());
        }
    }
}

/// The catalog entry of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The run's id.
    pub id: Guid,
    /// The life cycle state.
    pub status: Status,
    /// The run's metadata.
    pub header: RunHeader,
    /// When the run was created in the store.
    pub created_at: Timestamp,
    /// Number of events; of an open run, of acknowledged events.
    pub events: u64,
    /// Times of the first and the last event, once sealed.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The key figures, once sealed.
    pub summary: Option<RunSummary>,
}
