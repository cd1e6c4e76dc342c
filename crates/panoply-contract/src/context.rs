//! Context of a call: caller, time, ids, cancellation and progress.

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
use crate::ids::{CallId, CorrelationId, TraceId};
use crate::mutation::Mutation;
use crate::permission::{Grants, Profile};
use crate::pipeline::LimitScope;
use crate::tenant::{DataVersions, Principal, Tenants};

/// Passed to every handler together with its parameters.
#[derive(Clone)]
pub struct CallContext {
    /// The caller and its permissions.
    pub caller: Caller,
    /// The session, where the transport has one.
    pub session_id: Option<String>,
    /// Links related requests.
    pub correlation_id: CorrelationId,
    /// Correlates everything caused by this request.
    pub trace_id: TraceId,
    /// The client program.
    pub agent_id: String,
    /// Its version.
    pub agent_version: String,
    /// When the request was made.
    pub timestamp: Timestamp,
    /// Other data from the transport.
    pub metadata: Map<String, Value>,
    /// Language of the reply.
    pub lang: Lang,
    /// Whether the caller named no language, so that a preferred one applies.
    pub lang_is_default: bool,
    /// Dry run: previews a mutation without changing data.
    pub dry_run: bool,
    /// Idempotency key: a retried mutation runs once.
    pub idempotency_key: Option<String>,
    /// Id of a mutating call or its dry run, made by the server.
    pub call_id: Option<CallId>,
    /// The mutation whose record the store commits; `None` for queries and dry runs.
    pub mutation: Option<Arc<Mutation>>,
    /// Triggered when the caller cancels or the deadline passes.
    pub cancel: CancellationToken,
    /// Overrides the tool's deadline: a command-line user waits for the import of a gigabyte.
    pub deadline: Option<Duration>,
    /// Receives progress if the caller requested it.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// Asks the user at the client, if the client supports it.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// The user's consent, for a caller without the tool's permission.
    pub consent: Option<Consent>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl CallContext {
    /// Context of a call by the local owner; the transport sets further fields.
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
            lang_is_default: true,
            dry_run: false,
            idempotency_key: None,
            call_id: None,
            mutation: None,
            cancel: CancellationToken::new(),
            deadline: None,
            progress: None,
            elicitor: None,
            consent: None,
            clock,
        }
    }

    /// The user; `None` for the system itself.
    pub fn user_id(&self) -> Option<&str> {
        self.caller.principal.as_ref().map(Principal::as_str)
    }

    /// Fails once the call is cancelled. Call it inside long loops.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            Err(ToolError::new(ErrorKind::Cancelled, "CANCELLED", "the call was cancelled"))
        } else {
            Ok(())
        }
    }

    /// Reports progress; free when the caller did not request it.
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

/// The identity and permissions of a caller.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Who calls, by the verified token or key; `None` for the system itself.
    pub principal: Option<Principal>,
    /// The credential within its tenant ([`Tenants::partition`]): separates the caches,
    /// idempotency keys and audit rows of callers.
    pub partition: String,
    /// Whose data the calls read and change.
    pub tenants: Tenants,
    /// Versions of those data, as of the admission.
    pub data_versions: DataVersions,
    /// Whether the caller operates the server: sees the metrics and the audit rows of all tenants.
    pub operator: bool,
    /// Granted permissions.
    pub grants: Grants,
    /// Address and credential, for the audit log.
    pub provenance: Provenance,
}

/// Origin of a call: the client's address and credential. Both are shared per connection and key,
/// so that a call copies no text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The peer address of the HTTP connection; `None` for stdio and the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// `key NAME (ID)` or `issuer URL`; never the secret. `None` for the local owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<Arc<str>>,
}

impl Caller {
    /// The user who started the program on this machine.
    pub fn local_owner() -> Self {
        Self::local(Profile::Owner)
    }

    /// A local program that acts for the owner with the permissions of a profile. Only the owner
    /// shares a partition with the command line.
    pub fn local(profile: Profile) -> Self {
        let partition = match profile {
            Profile::Owner => "local".to_owned(),
            Profile::Agent | Profile::Reader | Profile::Operator => {
                format!("local:{}", profile.as_str())
            }
        };
        Self {
            principal: Some(Principal::local()),
            partition,
            tenants: Tenants::default(),
            data_versions: DataVersions::default(),
            operator: matches!(profile, Profile::Owner | Profile::Operator),
            grants: Grants::of(profile),
            provenance: Provenance::default(),
        }
    }

    /// Refuses callers who may not see how the whole server is used: those of a tenant other than
    /// the local one, unless they operate the server.
    pub fn require_metrics(&self) -> Result<(), ToolError> {
        if self.operator || self.tenants == Tenants::default() {
            return Ok(());
        }
        let message = "the metrics are of all tenants, and this caller is of one";
        Err(ToolError::new(ErrorKind::Forbidden, "FORBIDDEN", message)
            .hint("see your own calls with `get-audit-trail`, or use a key of an operator"))
    }

    /// Refuses callers who may not see who has an account: all but operators and the owner of the
    /// home.
    pub fn require_users(&self) -> Result<(), ToolError> {
        let is_owner = self.tenants == Tenants::default() && self.grants.allow("users:admin");
        if self.grants.allow("users:read") && (self.operator || is_owner) {
            return Ok(());
        }
        let message = "the users of this server are shown to its operators only";
        Err(ToolError::new(ErrorKind::Forbidden, "FORBIDDEN", message)
            .hint("use a key with the profile `operator`"))
    }

    /// Whose budget of rate limits the calls use.
    pub fn limit_scope(&self) -> LimitScope<'_> {
        match self.tenants.person.is_local() {
            true => LimitScope::Credential(&self.partition),
            false => LimitScope::Person(&self.tenants.person),
        }
    }
}

/// Receives progress of a long call.
pub trait ProgressSink: Send + Sync + 'static {
    /// Reports `done` of `total` with a message.
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
    /// The language of a BCP 47 locale such as `th-TH`; English for unsupported languages.
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
