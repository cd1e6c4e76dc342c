//! A run: one execution of a strategy, with the events it left.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Guid;
use crate::timestamp::Timestamp;

/// Where a run is in its life.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It takes events and answers no questions.
    Running,
    /// It is sealed: it answers questions and never changes.
    Completed,
}

impl Status {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
        }
    }
}

/// What is said about a run beside its events: the content of a `RUN.json`.
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
    /// The engine that ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl RunHeader {
    /// The declared period; an end that is missing or unreadable is open.
    pub fn period(&self) -> (Timestamp, Timestamp) {
        let read =
            |text: &Option<String>| text.as_deref().and_then(|text| Timestamp::parse(text).ok());
        (
            read(&self.start_time).unwrap_or(Timestamp::MIN),
            read(&self.end_time).unwrap_or(Timestamp::MAX),
        )
    }

    /// This header with what `other` says where this one is silent.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            start_time: self.start_time.or(other.start_time),
            end_time: self.end_time.or(other.end_time),
            strategy_config_hash: self.strategy_config_hash.or(other.strategy_config_hash),
            strategy_name: self.strategy_name.or(other.strategy_name),
            config: self.config.or(other.config),
            source: self.source.or(other.source),
        }
    }
}

/// A run as the catalog knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Its name.
    pub id: Guid,
    /// Where it is in its life.
    pub status: Status,
    /// What is said about it.
    pub header: RunHeader,
    /// When it was made known.
    pub created_at: Timestamp,
    /// How many events it has; of an open run, how many were acknowledged.
    pub events: u64,
    /// The first and last event's time, once sealed.
    pub span: Option<(Timestamp, Timestamp)>,
}
