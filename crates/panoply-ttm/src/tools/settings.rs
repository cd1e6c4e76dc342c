//! What an operator can set for this pack: the table `[pack.ttm]` of the settings file.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::embedder_choice::EmbedderChoice;
use crate::answer::TAU;

/// The settings.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The confidence below which `rag_answer` withholds its answer, from 0 to 1.
    pub answer_conf_tau: f64,
    /// A language model that writes answers from what was found; without it they are quoted.
    pub chat: Option<Endpoint>,
    /// Folders whose files a call may name; `ttm/inbox` of the home when not set.
    pub roots: Option<Vec<PathBuf>>,
    /// What taking documents in may use.
    pub ingest: IngestSettings,
    /// Where the vectors of the search come from.
    pub embedder: EmbedderChoice,
}

/// What reading one file of `ingest_run` may use; the usual where nothing is set.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct IngestSettings {
    /// The largest file, in MB.
    pub file_mb: Option<u64>,
    /// The most pages of a file.
    pub pages: Option<u32>,
    /// Memory of a reading process, in MB.
    pub memory_mb: Option<u64>,
    /// Seconds of work of a reading process.
    pub cpu_seconds: Option<u64>,
    /// Seconds on the clock for one file.
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

/// A server that speaks the protocol of OpenAI.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Its address up to the version, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// The environment variable that holds the key, where one is needed.
    pub key_env: Option<String>,
    /// Who takes longer has failed.
    #[serde(default = "twenty")]
    pub timeout_seconds: u64,
}

const fn twenty() -> u64 {
    20
}

/// The longest that a server may be waited for: a call is given up after a minute.
const MAX_TIMEOUT_SECONDS: u64 = 50;

impl Endpoint {
    /// How long it is waited for.
    pub const fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    /// Everything that is wrong with it, where it stands in the settings as `place`.
    pub(super) fn wrong(&self, place: &str) -> Vec<String> {
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

/// Everything that is wrong with the settings.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct BadSettings(pub Vec<String>);

impl Settings {
    /// Says everything that is wrong.
    pub fn check(&self) -> Result<(), BadSettings> {
        let mut wrong = Vec::new();
        if !(0.0..=1.0).contains(&self.answer_conf_tau) {
            wrong.push(format!("`answer_conf_tau` is {}, not from 0 to 1", self.answer_conf_tau));
        }
        if let Some(chat) = &self.chat {
            wrong.extend(chat.wrong("chat"));
        }
        wrong.extend(self.embedder.wrong());
        if wrong.is_empty() { Ok(()) } else { Err(BadSettings(wrong)) }
    }
}
