//! Operator settings: the table `[pack.ttm]` of the configuration.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::embedder_choice::EmbedderChoice;
use crate::answer::TAU;

/// Operator settings.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Confidence threshold of `rag_answer`, from 0 to 1.
    pub answer_conf_tau: f64,
    /// Chat model that writes answers; without one, answers are extractive.
    pub chat: Option<Endpoint>,
    /// Directories whose files may be read; default `ttm/inbox` of the home directory.
    pub roots: Option<Vec<PathBuf>>,
    /// Resource limits of document ingestion.
    pub ingest: IngestSettings,
    /// Embedder of the search.
    pub embedder: EmbedderChoice,
}

/// Resource limits of `ingest_run` per file.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct IngestSettings {
    /// Maximum file size in MB.
    pub file_mb: Option<u64>,
    /// Maximum number of pages.
    pub pages: Option<u32>,
    /// Memory of a reader process in MB.
    pub memory_mb: Option<u64>,
    /// CPU seconds of a reader process.
    pub cpu_seconds: Option<u64>,
    /// Wall-clock seconds per file.
    pub wall_seconds: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            answer_conf_tau: TAU,
            chat: None,
            roots: None,
            ingest: IngestSettings::default(),
            embedder: EmbedderChoice::default(),
        }
    }
}

/// A server with OpenAI's API.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Base URL up to the version, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// Model name.
    pub model: String,
    /// Environment variable with the API key, if required.
    pub key_env: Option<String>,
    /// Request timeout.
    #[serde(default = "twenty")]
    pub timeout_seconds: u64,
}

const fn twenty() -> u64 {
    20
}

/// Maximum request timeout: tool calls are aborted after a minute.
const MAX_TIMEOUT_SECONDS: u64 = 50;

impl Endpoint {
    /// Returns the request timeout.
    pub const fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    /// Returns all errors; `place` is the path in the configuration.
    pub(super) fn errors(&self, place: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        if !["http://", "https://"].iter().any(|start| self.base_url.starts_with(start)) {
            wrong.push(format!("`{place}.base_url` is `{}`, not an http address", self.base_url));
        }
        if self.model.trim().is_empty() {
            wrong.push(format!("`{place}.model` is empty"));
        }
        if !(1..=MAX_TIMEOUT_SECONDS).contains(&self.timeout_seconds) {
            wrong.push(format!(
                "`{place}.timeout_seconds` is {}, not from 1 to {MAX_TIMEOUT_SECONDS}",
                self.timeout_seconds
            ));
        }
        wrong
    }
}

/// Invalid settings.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct BadSettings(pub Vec<String>);

impl Settings {
    /// Validates the settings.
    pub fn check(&self) -> Result<(), BadSettings> {
        let mut wrong = Vec::new();
        if !(0.0..=1.0).contains(&self.answer_conf_tau) {
            wrong.push(format!("`answer_conf_tau` is {}, not from 0 to 1", self.answer_conf_tau));
        }
        if let Some(chat) = &self.chat {
            wrong.extend(chat.errors("chat"));
        }
        wrong.extend(self.embedder.errors());
        if wrong.is_empty() { Ok(()) } else { Err(BadSettings(wrong)) }
    }
}
