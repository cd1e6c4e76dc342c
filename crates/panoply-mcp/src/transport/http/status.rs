//! Health, readiness, metrics and OAuth resource metadata.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode, Uri};
use panoply_contract::context::Caller;
use rmcp::model::ErrorCode;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::admission::AdmissionLayer;
use super::reply;
use crate::auth::Issuer;

/// Result of a readiness check, as `/readyz` reports it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Readiness {
    /// Problems; empty when the server is ready.
    pub problems: Vec<ReadinessProblem>,
}

/// One problem. It is public, so it contains no path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReadinessProblem {
    /// Affected component, such as a pack or the audit log.
    pub name: String,
    /// Stable code, such as `DISK_FULL`.
    pub code: String,
    /// Short description.
    pub reason: String,
    /// Whether the whole server is affected; otherwise it is degraded.
    pub blocking: bool,
}

impl Readiness {
    fn answer(&self) -> (StatusCode, Value) {
        let blocking = self.problems.iter().find(|problem| problem.blocking);
        let (status, word) = match (blocking, self.problems.first()) {
            (None, None) => return (StatusCode::OK, json!({"status": "ready"})),
            (None, Some(_)) => (StatusCode::OK, "degraded"),
            (Some(_), _) => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
        };
        let reason = blocking.or(self.problems.first()).map(|problem| &problem.reason);
        let list: Vec<_> = self
            .problems
            .iter()
            .map(|one| json!({"name": one.name, "code": one.code, "reason": one.reason}))
            .collect();
        (status, json!({"status": word, "reason": reason, "problems": list}))
    }
}

type Ready = Arc<dyn Fn() -> Readiness + Send + Sync>;

/// Timeout of the file checks.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// Runs the file checks on the blocking pool: a hanging disk must not block the workers. One
/// check at a time, so that probes do not accumulate threads.
struct Probe {
    ready: Ready,
    looking: Arc<Semaphore>,
}

impl Probe {
    async fn answer(&self) -> (StatusCode, Value) {
        let look = async {
            let turn = Arc::clone(&self.looking).acquire_owned().await.ok()?;
            let ready = Arc::clone(&self.ready);
            let look = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                ready()
            });
            look.await.ok()
        };
        match tokio::time::timeout(PROBE_TIMEOUT, look).await {
            Ok(Some(readiness)) => readiness.answer(),
            Ok(None) | Err(_) => {
                let reason = "the files of the server do not answer";
                (StatusCode::SERVICE_UNAVAILABLE, json!({"status": "not ready", "reason": reason}))
            }
        }
    }
}

/// `/healthz`: the process runs. `/readyz`: it can serve, and is not draining.
pub(super) fn health(ready: Ready, ending: [CancellationToken; 2]) -> Router {
    let probe = Arc::new(Probe { ready, looking: Arc::new(Semaphore::new(1)) });
    let readiness = move || {
        let (probe, is_ending) =
            (Arc::clone(&probe), ending.iter().any(CancellationToken::is_cancelled));
        async move {
            let stopping = json!({"status": "not ready", "reason": "stopping"});
            let (status, text) = if is_ending {
                (StatusCode::SERVICE_UNAVAILABLE, stopping)
            } else {
                probe.answer().await
            };
            reply::json(status, text.to_string())
        }
    };
    Router::new()
        .route(
            "/healthz",
            get(async || reply::json(StatusCode::OK, json!({"status": "ok"}).to_string())),
        )
        .route("/readyz", get(readiness))
}

/// `/metrics`. Behind authentication it is refused to callers of a tenant: it shows the usage of
/// all. On the admin address there is no caller.
pub(super) fn metrics(render: Arc<dyn Fn() -> String + Send + Sync>) -> Router {
    let page = move |caller: Option<Extension<Caller>>| {
        if let Some(Err(error)) = caller.map(|Extension(caller)| caller.require_metrics()) {
            let refusal =
                reply::refusal(StatusCode::FORBIDDEN, ErrorCode::INVALID_REQUEST, error.message);
            return std::future::ready(refusal);
        }
        let mut response = Response::new(axum::body::Body::from(render()));
        let text = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, text);
        std::future::ready(response)
    };
    Router::new().route("/metrics", get(page))
}

/// Protected resource metadata (RFC 9728) of the server and of each pack.
pub(super) fn resource_metadata(front: &Arc<AdmissionLayer>) -> Router {
    const BASE: &str = "/.well-known/oauth-protected-resource";
    let whole = {
        let front = Arc::clone(front);
        move || std::future::ready(metadata(front.access.issuer(), "/mcp"))
    };
    let of_pack = {
        let front = Arc::clone(front);
        move |Path(pack): Path<String>| {
            std::future::ready(metadata(front.access.issuer(), &format!("/mcp/{pack}")))
        }
    };
    Router::new()
        .route(BASE, get(whole.clone()))
        .route(&format!("{BASE}/mcp"), get(whole))
        .route(&format!("{BASE}/mcp/{{pack}}"), get(of_pack))
}

fn metadata(issuer: Option<&Issuer>, path: &str) -> Response {
    let Some(issuer) = issuer else {
        return reply::refusal(
            StatusCode::NOT_FOUND,
            ErrorCode::INVALID_REQUEST,
            "this server has no token issuer; use an API key, if it asks for credentials",
        );
    };
    let document = json!({
        "resource": issuer.resource_at(path),
        "authorization_servers": [issuer.issuer],
        "scopes_supported": issuer.scopes,
        "bearer_methods_supported": ["header"],
        "resource_name": "Panoply",
    });
    let mut response = reply::json(StatusCode::OK, document.to_string());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
    response
}

/// 404 with the list of endpoints.
pub(super) async fn not_found(uri: Uri) -> Response {
    let path: String = uri.path().chars().take(80).collect();
    let message =
        format!("nothing is at `{path}`; the server is at `/mcp`, one pack at `/mcp/{{pack}}`");
    reply::refusal(StatusCode::NOT_FOUND, ErrorCode::INVALID_REQUEST, message)
}
