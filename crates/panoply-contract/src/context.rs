//! Who is calling, when, under which ids, and how to reach them while they wait.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::consent::{Consent, Elicitor};
use crate::error::{ErrorKind, ToolError};
use crate::ids::{CorrelationId, TraceId};
use crate::mutation::Mutation;
use crate::permission::{Grants, Profile};

/// What every handler receives beside its parameters.
#[derive(Clone)]
pub struct CallContext {
    /// Who is calling and what they may do.
    pub caller: Caller,
    /// The session, where the transport has one.
    pub session_id: Option<String>,
    /// Links related requests.
    pub correlation_id: CorrelationId,
    /// Ties together everything this request caused.
    pub trace_id: TraceId,
    /// The client program.
    pub agent_id: String,
    /// Its version.
    pub agent_version: String,
    /// When the request was made.
    pub timestamp: Timestamp,
    /// Whatever else the transport knows.
    pub metadata: Map<String, Value>,
    /// The language to answer in.
    pub lang: Lang,
    /// Show what a mutation would do, and do nothing.
    pub dry_run: bool,
    /// Makes a repeated mutation happen once.
    pub idempotency_key: Option<String>,
    /// For a call that changes data, unless it is a dry run: what its store commits the record of.
    pub mutation: Option<Arc<Mutation>>,
    /// Fires when the caller gives up or the deadline passes.
    pub cancel: CancellationToken,
    /// How long the caller waits, where that differs from the deadline of the tool: a person at a
    /// command line waits for an import of a gigabyte.
    pub deadline: Option<Duration>,
    /// Where progress goes, when the caller asked for it.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// How to ask the person at the client, where the client can be asked.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// What that person agreed to, for a caller without the permission of the tool.
    pub consent: Option<Consent>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl CallContext {
    /// The context of a call by the local owner; the transport sets what else it knows.
    pub fn local(clock: Arc<dyn Clock>, trace_id: TraceId) -> Self {
        Self {
            caller: Caller::local_owner(),
            session_id: None,
            correlation_id: trace_id,
            trace_id,
            agent_id: "unknown".to_owned(),
            agent_version: "0.0.0".to_owned(),
            timestamp: clock.now(),
            metadata: Map::new(),
            lang: Lang::En,
            dry_run: false,
            idempotency_key: None,
            mutation: None,
            cancel: CancellationToken::new(),
            deadline: None,
            progress: None,
            elicitor: None,
            consent: None,
            clock,
        }
    }

    /// Who the call is for; `None` for the system itself.
    pub fn user_id(&self) -> Option<&str> {
        self.caller.user_id.as_deref()
    }

    /// To be asked inside long loops: an error once nobody waits for the answer any more.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            Err(ToolError::new(ErrorKind::Cancelled, "CANCELLED", "the call was cancelled"))
        } else {
            Ok(())
        }
    }

    /// Tells a waiting caller how far the work is; costs nothing when nobody asked.
    pub fn report_progress(&self, done: u64, total: Option<u64>, message: &str) {
        if let Some(sink) = &self.progress {
            sink.progress(done, total, message);
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("caller", &self.caller.partition)
            .field("trace_id", &self.trace_id)
            .field("agent_id", &self.agent_id)
            .finish_non_exhaustive()
    }
}

/// Someone who calls tools.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user, as the verified token or key says; `None` for the system itself.
    pub user_id: Option<String>,
    /// Keeps limits, caches and idempotency keys of different callers apart.
    pub partition: String,
    /// What they may do.
    pub grants: Grants,
    /// Where they call from and what proved who they are, for the audit log.
    pub provenance: Provenance,
}

/// Where a call came from: the address of the client and the credential it showed. Both are made
/// once, for a connection and for a key, so that a call copies no text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The peer address of the HTTP connection; `None` for stdio and the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// `key NAME (ID)` or `issuer URL`; never the secret. `None` for the local owner.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared_text")]
    pub credential: Option<Arc<str>>,
}

/// Reads and writes shared text as a string.
mod shared_text {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(
        text: &Option<Arc<str>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Arc::from))
    }
}

impl Caller {
    /// Whoever started the program on this machine.
    pub fn local_owner() -> Self {
        Self::local(Profile::Owner)
    }

    /// A program on this machine that acts for the owner, with the rights of a profile. Only the
    /// owner shares a partition with the command line.
    pub fn local(profile: Profile) -> Self {
        let partition = match profile {
            Profile::Owner => "local".to_owned(),
            Profile::Agent | Profile::Reader => format!("local:{}", profile.as_str()),
        };
        let (user_id, grants) = (Some("user_local".to_owned()), Grants::of(profile));
        Self { user_id, partition, grants, provenance: Provenance::default() }
    }
}

/// Receives progress of a long call.
pub trait ProgressSink: Send + Sync + 'static {
    /// `done` of `total`, and what is going on.
    fn progress(&self, done: u64, total: Option<u64>, message: &str);
}

/// The language a reply is written in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Hash)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Thai.
    Th,
}

impl Lang {
    /// The language of a BCP 47 locale such as `th-TH`; English for all we do not speak.
    pub fn of_locale(locale: &str) -> Self {
        let primary = locale.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("th") { Self::Th } else { Self::En }
    }

    /// Its ISO 639 code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Th => "th",
        }
    }
}
