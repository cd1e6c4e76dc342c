//! Signs checkpoints of the audit log and sends them to a file or a server.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use panoply_contract::clock::Clock as _;
use panoply_store::audit_log::{self, BadKey, ChainHash, Head, SigningKey};
use panoply_store::{Home, SystemClock};
use serde::{Deserialize, Serialize};

use crate::config::AuditSettings;

/// Timeout of one POST.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Initial delay of the exponential backoff.
const BACKOFF: Duration = Duration::from_millis(500);

/// Destination of checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sink {
    /// Appended to a file.
    File(PathBuf),
    /// Posted to a URL, one per request.
    Http(String),
}

impl Sink {
    /// Parses a URL, or a path relative to the home.
    pub(crate) fn parse(text: &str, home: &Path) -> Self {
        if text.starts_with("http://") || text.starts_with("https://") {
            Self::Http(text.to_owned())
        } else {
            Self::File(home.join(text))
        }
    }

    /// Sends a checkpoint; retries a failed POST, `attempts` times in total.
    pub(crate) fn send(&self, note: &str, attempts: u32) -> Result<(), String> {
        let url = match self {
            Self::File(file) => {
                return audit_log::append_checkpoint(file, note)
                    .map_err(|error| format!("cannot write `{}`: {error}", file.display()));
            }
            Self::Http(url) => url,
        };
        let settings = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .user_agent(concat!("panoply/", env!("CARGO_PKG_VERSION")))
            .build();
        let agent: ureq::Agent = settings.into();
        let mut attempt = 1;
        loop {
            let request = agent.post(url).content_type("text/plain; charset=utf-8");
            let refused = match request.send(note) {
                Ok(reply) if reply.status().is_success() => return Ok(()),
                Ok(reply) => format!("status {}", reply.status()),
                Err(error) => error.to_string(),
            };
            if attempt >= attempts {
                return Err(format!("the server for checkpoints did not take one: {refused}"));
            }
            std::thread::sleep(BACKOFF * 2_u32.saturating_pow(attempt - 1));
            attempt += 1;
        }
    }
}

/// Loads the signing key of this home; generates it on first use.
pub(crate) fn signing_key(home: &Home, settings: &AuditSettings) -> Result<SigningKey, BadKey> {
    match &settings.signing_key {
        // A key outside the home is never generated: a new one would not verify old checkpoints.
        Some(file) => SigningKey::open(&home.folder().join(file)),
        None => SigningKey::open_or_create(&home.audit_signing_key()),
    }
}

/// State of the last checkpoint, persisted for `panoply doctor` and the next start.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct CheckpointState {
    /// Row number of the last sent checkpoint.
    pub(crate) sequence: u64,
    /// Hash of that row.
    pub(crate) hash: Option<ChainHash>,
    /// Time of that checkpoint.
    pub(crate) at: Option<Timestamp>,
    /// Error of the last failed attempt since.
    pub(crate) error: Option<String>,
}

impl CheckpointState {
    /// Reads the state; default if the file is missing.
    pub(crate) fn read(home: &Home) -> Self {
        let text = fs::read(home.checkpoint_state()).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Best effort: the state is informational.
    fn write(&self, home: &Home) {
        let (file, partial) = (home.checkpoint_state(), home.folder().join(".audit-checkpoint"));
        let text = serde_json::to_vec(self).unwrap_or_default();
        let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, &file));
        if let Err(error) = written {
            tracing::warn!(%error, "what became of the last checkpoint cannot be kept");
        }
    }
}

/// Sends checkpoints of one log.
pub(crate) struct Checkpointer {
    home: Home,
    key: SigningKey,
    sink: Sink,
    state: CheckpointState,
}

impl Checkpointer {
    /// Creates a checkpointer that signs with `key` and sends to `sink`.
    pub(crate) fn new(home: Home, key: SigningKey, sink: Sink) -> Self {
        let state = CheckpointState::read(&home);
        Self { home, key, sink, state }
    }

    /// Row number of the last sent checkpoint.
    pub(crate) const fn last(&self) -> u64 {
        self.state.sequence
    }

    /// Returns the current head of the log.
    pub(crate) fn head(&self) -> Result<Option<Head>, String> {
        audit_log::head(&self.home.audit_log()).map_err(|error| error.chain())
    }

    /// Signs and sends this head.
    pub(crate) fn send(&mut self, head: Head, attempts: u32) -> Result<(), String> {
        let now = SystemClock::new().now();
        let sent = self.sink.send(&self.key.sign(head, now), attempts);
        self.state = match &sent {
            Ok(()) => CheckpointState {
                sequence: head.sequence,
                hash: Some(head.hash),
                at: Some(now),
                error: None,
            },
            Err(error) => CheckpointState { error: Some(error.clone()), ..self.state.clone() },
        };
        self.state.write(&self.home);
        sent
    }
}
