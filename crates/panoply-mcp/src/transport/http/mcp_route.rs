//! `/mcp` and `/mcp/{pack}`: reads the body within its limits and hands it to rmcp.
//!
//! Around rmcp stand three corrections. A body that is not JSON is a 400 with -32700, where
//! rmcp says 415. `Accept: */*` is taken as what it means. A call that failed for want of a
//! scope is a 403, so that OAuth clients know to ask for more.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use rmcp::ServerHandler;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{HttpLimits, reply};
use crate::transport::frame::{self, Frame};
use crate::transport::plain_call::{self, Answer, AnswerPlainCalls, PlainCall};

type Service<H> = StreamableHttpService<H, NeverSessionManager>;

/// Where a handler notes that the caller's scopes did not suffice.
#[derive(Clone, Default)]
pub(crate) struct ScopeChallenge(Arc<OnceLock<Vec<String>>>);

impl ScopeChallenge {
    /// Notes the scopes that would have been needed.
    pub(crate) fn require(&self, scopes: Vec<String>) {
        // The first note stands: one request makes one call.
        let _already_set = self.0.set(scopes);
    }

    fn required(&self) -> Option<&[String]> {
        self.0.get().map(Vec::as_slice)
    }
}

struct McpRoute<H> {
    handler: H,
    service: Service<H>,
    limits: HttpLimits,
    room: Arc<Semaphore>,
}

pub(super) fn routes<H>(
    all: H,
    packs: BTreeMap<&'static str, H>,
    limits: HttpLimits,
    room: Arc<Semaphore>,
) -> Router
where
    H: ServerHandler + AnswerPlainCalls + Clone,
{
    let route = |handler: H| {
        let service = service(handler.clone(), limits);
        Arc::new(McpRoute { handler, service, limits, room: Arc::clone(&room) })
    };
    let all = route(all);
    let packs: Arc<BTreeMap<_, _>> =
        Arc::new(packs.into_iter().map(|(name, handler)| (name, route(handler))).collect());
    let one_pack = move |Path(name): Path<String>, request: Request| {
        let (packs, found) = (Arc::clone(&packs), packs.get(name.as_str()).cloned());
        async move {
            match found {
                Some(route) => route.answer(request).await,
                None => unknown_pack(&name, packs.keys().copied()),
            }
        }
    };
    Router::new()
        .route("/mcp", any(move |request: Request| Arc::clone(&all).answer(request)))
        .route("/mcp/{pack}", any(one_pack))
}

fn service<H: ServerHandler + Clone>(handler: H, limits: HttpLimits) -> Service<H> {
    // Host and Origin have been checked by the guard, for all routes alike. No cancellation
    // token either: rmcp answers 500 to what is in flight when it fires.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(limits.body)
        .disable_allowed_hosts();
    StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}

impl<H: ServerHandler + AnswerPlainCalls> McpRoute<H> {
    async fn answer(self: Arc<Self>, request: Request) -> Response {
        let Ok(_room) = self.room.try_acquire() else {
            return reply::busy("too many requests at a time; try again in a second");
        };
        if request.method() != Method::POST {
            return self.service.handle(request).await.map(Body::new);
        }
        let (mut parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            let message = "send `Content-Type: application/json`";
            return reply::refusal(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ErrorCode::INVALID_REQUEST,
                message,
            );
        }
        let body = match self.read(body).await {
            Ok(body) => body,
            Err(refusal) => return *refusal,
        };
        let takes_json = accept_both(&mut parts.headers);
        let missing_id = reply::missing_id(&parts.headers);
        let challenge = ScopeChallenge::default();
        parts.extensions.insert(challenge.clone());
        if takes_json
            && let Some(call) = PlainCall::parse(&body)
            && self.handler.takes(&call, Some(&parts))
        {
            let cancel = CancellationToken::new();
            let answer = self.handler.answer(call, Some(parts), cancel.clone());
            return challenged(self.reply_plainly(answer, cancel).await, &challenge);
        }
        let request = http::Request::from_parts(parts, Full::new(body.clone()));
        let Ok(response) =
            tokio::time::timeout(self.limits.reply_time, self.service.handle(request)).await
        else {
            return too_slow();
        };
        // The media type is fine, so this is rmcp's word for a body that is not a message.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return match frame::parse(body.trim_ascii()) {
                Frame::Rejected(rejection) => {
                    reply::rejected(StatusCode::BAD_REQUEST, &rejection, missing_id)
                }
                Frame::Call(_) | Frame::Message(_) | Frame::Stray => reply::refusal(
                    StatusCode::BAD_REQUEST,
                    ErrorCode::INVALID_REQUEST,
                    "this is a reply, and nothing was asked",
                ),
            };
        }
        challenged(response.map(Body::new), &challenge)
    }

    /// A call that has to wait runs in a task of its own, so that a client that leaves does not
    /// cut it off in the middle: it is told, and ends where it can.
    async fn reply_plainly(&self, mut answer: Answer, cancel: CancellationToken) -> Response {
        let message = match plain_call::at_once(&mut answer) {
            Some(message) => message,
            None => {
                let gone = cancel.drop_guard();
                match tokio::time::timeout(self.limits.reply_time, tokio::spawn(answer)).await {
                    Ok(Ok(message)) => {
                        gone.disarm();
                        message
                    }
                    Ok(Err(_panic)) => return unanswered(StatusCode::INTERNAL_SERVER_ERROR),
                    Err(_elapsed) => return too_slow(),
                }
            }
        };
        match message {
            Ok(body) => reply::json(StatusCode::OK, body),
            Err(error) => {
                tracing::error!(%error, "a reply could not be written as JSON");
                unanswered(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    async fn read(&self, body: Body) -> Result<Bytes, Box<Response>> {
        let limited = Limited::new(body, self.limits.body);
        match tokio::time::timeout(self.limits.body_time, limited.collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let message = format!(
                    "the body is longer than {} bytes; send less, or in several calls",
                    self.limits.body
                );
                Err(Box::new(reply::refusal(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    ErrorCode::INVALID_REQUEST,
                    message,
                )))
            }
            Ok(Err(_broken)) => {
                let message = "the body ended early";
                Err(Box::new(reply::refusal(
                    StatusCode::BAD_REQUEST,
                    ErrorCode::PARSE_ERROR,
                    message,
                )))
            }
            Err(_elapsed) => {
                let message = "the body took too long to arrive";
                Err(Box::new(reply::refusal(
                    StatusCode::REQUEST_TIMEOUT,
                    ErrorCode::INVALID_REQUEST,
                    message,
                )))
            }
        }
    }
}

fn challenged(mut response: Response, challenge: &ScopeChallenge) -> Response {
    if let Some(scopes) = challenge.required() {
        response.extensions_mut().insert(MissingScopes(scopes.to_vec()));
    }
    response
}

fn too_slow() -> Response {
    let message = "the request took too long";
    reply::refusal(StatusCode::GATEWAY_TIMEOUT, ErrorCode::INTERNAL_ERROR, message)
}

fn unanswered(status: StatusCode) -> Response {
    let message = "the server failed to answer this request";
    reply::refusal(status, ErrorCode::INTERNAL_ERROR, message)
}

/// The scopes a call lacked, for the layer that knows the issuer.
#[derive(Clone)]
pub(super) struct MissingScopes(pub(super) Vec<String>);

fn is_json(headers: &HeaderMap) -> bool {
    let media_type =
        headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// rmcp wants both types named, and the media type in lower case. Says whether JSON is taken.
fn accept_both(headers: &mut HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*");
    let takes_json = ["*/*", "application/*", "application/json"].iter().any(|wanted| {
        accepted
            .split(',')
            .any(|range| range.split(';').next().unwrap_or_default().trim() == *wanted)
    });
    if takes_json {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    takes_json
}

fn unknown_pack(name: &str, known: impl Iterator<Item = &'static str>) -> Response {
    let name: String = name.chars().take(80).collect();
    let known = known.collect::<Vec<_>>().join("`, `");
    let message = format!("there is no pack `{name}` here; this server has `{known}`");
    reply::refusal(StatusCode::NOT_FOUND, ErrorCode::INVALID_REQUEST, message)
}
