//! Makes signed checkpoints of the audit log and sends them to a file or a server.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use panoply_contract::clock::Clock as _;
use panoply_store::audit_log::{self, BadKey, ChainHash, Head, SigningKey};
use panoply_store::{Home, SystemClock};
use serde::{Deserialize, Serialize};

use crate::config::AuditSettings;

/// How long a server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The wait before the second attempt; it doubles with each.
const BACKOFF: Duration = Duration::from_millis(500);

/// Where checkpoints go.
#[derive(Clone, Debug, PartialEq)]
pub enum Sink {
    /// They are appended to a file.
    File(PathBuf),
    /// They are posted to a URL, one in a request.
    Http(String),
}

impl Sink {
    /// A URL, or a path that is relative to the home.
    pub fn parse(text: &str, home: &Path) -> Self {
        if text.starts_with("http://") || text.starts_with("https://") {
            Self::Http(text.to_owned())
        } else {
            Self::File(home.join(text))
        }
    }

    /// Sends a note; a server that does not take it is asked again, `attempts` times in all.
    pub fn send(&self, note: &str, attempts: u32) -> Result<(), String> {
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

/// The key that signs checkpoints of this home, made at its first use.
pub fn signing_key(home: &Home, settings: &AuditSettings) -> Result<SigningKey, BadKey> {
    match &settings.signing_key {
        // A key that is kept elsewhere was made on purpose; another one would verify nothing.
        Some(file) => SigningKey::open(&home.folder().join(file)),
        None => SigningKey::open_or_create(&home.audit_signing_key()),
    }
}

/// What became of the last checkpoint, kept for `panoply doctor` and the next start.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct CheckpointState {
    /// The last row that a sent checkpoint names.
    pub sequence: u64,
    /// Its hash.
    pub hash: Option<ChainHash>,
    /// When that was.
    pub at: Option<Timestamp>,
    /// Why no later one could be sent.
    pub error: Option<String>,
}

impl CheckpointState {
    /// What was kept; nothing if there is no such file.
    pub fn read(home: &Home) -> Self {
        let text = fs::read(home.checkpoint_state()).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Best effort: it is kept to be shown, and the log does not depend on it.
    fn write(&self, home: &Home) {
        let (file, partial) = (home.checkpoint_state(), home.folder().join(".audit-checkpoint"));
        let text = serde_json::to_vec(self).unwrap_or_default();
        let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, &file));
        if let Err(error) = written {
            tracing::warn!(%error, "what became of the last checkpoint cannot be kept");
        }
    }
}

/// Makes checkpoints of one log.
pub struct Checkpointer {
    home: Home,
    key: SigningKey,
    sink: Sink,
    state: CheckpointState,
}

impl Checkpointer {
    /// Signs with `key` and sends to `sink`.
    pub fn new(home: Home, key: SigningKey, sink: Sink) -> Self {
        let state = CheckpointState::read(&home);
        Self { home, key, sink, state }
    }

    /// The last row that a sent checkpoint names.
    pub const fn last(&self) -> u64 {
        self.state.sequence
    }

    /// Where the log ends now.
    pub fn head(&self) -> Result<Option<Head>, String> {
        audit_log::head(&self.home.audit_log()).map_err(|error| error.chain())
    }

    /// Signs this head and sends it.
    pub fn send(&mut self, head: Head, attempts: u32) -> Result<(), String> {
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
