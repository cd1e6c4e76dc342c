//! `/mcp` and `/mcp/{pack}`: answers a call on the fast path, or passes the message to rmcp.
//!
//! Three behaviours differ from rmcp. A body that is not JSON gets 400 with -32700, where rmcp
//! returns 415. `Accept: */*` is honoured. A call that fails for a missing scope gets 403, so
//! that OAuth clients can request more scopes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, Full};
use panoply_contract::context::Caller;
use rmcp::ServerHandler;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::admission::AdmissionLayer;
use super::events::{self, ElicitingCall};
use super::reply;
use crate::auth::{Proof, challenge};
use crate::context::partition;
use crate::elicit::pending::Pending;
use crate::elicit::session_id;
use crate::transport::frame::{self, Frame};
use crate::transport::tool_call::{self, Answer, AnswerToolCalls, ToolCall};

type Service<H> = StreamableHttpService<H, NeverSessionManager>;

struct McpRoute<H> {
    handler: H,
    service: Service<H>,
    front: Arc<AdmissionLayer>,
    /// Pending questions of all endpoints.
    pending: Arc<Pending>,
}

pub(super) fn routes<H>(
    all: H,
    packs: BTreeMap<&'static str, H>,
    front: &Arc<AdmissionLayer>,
) -> Router
where
    H: ServerHandler + AnswerToolCalls + Clone,
{
    let pending = Arc::new(Pending::default());
    let route = |handler: H| {
        let service = service(handler.clone(), front.limits.body);
        let (front, pending) = (Arc::clone(front), Arc::clone(&pending));
        Arc::new(McpRoute { handler, service, front, pending })
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

fn service<H: ServerHandler + Clone>(handler: H, body_limit: usize) -> Service<H> {
    // The guard has checked Host and Origin for all routes. No cancellation token: rmcp answers
    // requests in flight with 500 when it fires.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(body_limit)
        .disable_allowed_hosts();
    StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}

impl<H: ServerHandler + AnswerToolCalls> McpRoute<H> {
    async fn answer(self: Arc<Self>, request: Request) -> Response {
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
        // The admission layer has buffered the body, so this neither waits nor fails.
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(_broken) => return unanswered(StatusCode::BAD_REQUEST),
        };
        let takes_events = accepts(&parts.headers, &["*/*", "text/*", "text/event-stream"]);
        let takes_json = accept_both(&mut parts.headers);
        let call = ToolCall::parse(&body);
        if call.is_none() && self.is_response(&body, &parts) {
            return accepted();
        }
        let session_id = if call.is_none() && self.handler.can_elicit() {
            session_id::for_handshake(&body)
        } else {
            None
        };
        let challenge = call.as_ref().and_then(|call| self.scope_challenge(call, &parts));
        let mut response = match call {
            Some(call) if takes_json && self.handler.accepts(&call, Some(&parts)) => {
                if takes_events && self.handler.may_elicit(&call, Some(&parts)) {
                    self.reply_with_questions(call, parts).await
                } else {
                    let cancel = CancellationToken::new();
                    let answer = self.handler.answer(call, Some(parts), cancel.clone(), None);
                    self.reply_directly(answer, cancel).await
                }
            }
            _ => self.reply_by_rmcp(parts, body).await,
        };
        if let Some(id) = session_id.filter(|_| response.status().is_success()) {
            response.headers_mut().insert(session_id::HEADER, id);
        }
        if let Some(challenge) = challenge {
            *response.status_mut() = StatusCode::FORBIDDEN;
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }

    /// Adds the OAuth challenge with the missing scopes of the tool. The refusal itself comes from
    /// the pipeline.
    fn scope_challenge(&self, call: &ToolCall, parts: &Parts) -> Option<HeaderValue> {
        if parts.extensions.get::<Proof>() != Some(&Proof::Token)
            || self.handler.may_elicit(call, Some(parts))
        {
            return None;
        }
        let missing = self.handler.missing_scopes(&call.name, parts.extensions.get::<Caller>()?);
        let issuer = self.front.access.issuer();
        (!missing.is_empty())
            .then(|| challenge("insufficient_scope", issuer, Some(&missing), parts.uri.path()))
    }

    /// Handles the response to a question, which arrives as a separate POST.
    fn is_response(&self, body: &[u8], parts: &Parts) -> bool {
        partition(parts).is_some_and(|partition| self.pending.take_response(body, &partition))
    }

    /// Handles a call that may elicit: the reply becomes an event stream if it does.
    async fn reply_with_questions(&self, call: ToolCall, parts: Parts) -> Response {
        let cancel = CancellationToken::new();
        let (elicitor, mut messages) = self.pending.elicitor(partition(&parts).unwrap_or_default());
        let answer = self.handler.answer(call, Some(parts), cancel.clone(), Some(elicitor));
        let gone = cancel.drop_guard();
        let mut reply = tokio::spawn(answer);
        tokio::select! {
            biased;
            Some(first) = messages.recv() => {
                events::stream_of(first, ElicitingCall { reply, messages, gone })
            }
            message = &mut reply => {
                gone.disarm();
                message.map_or_else(
                    |_panic| unanswered(StatusCode::INTERNAL_SERVER_ERROR),
                    to_reply,
                )
            }
            () = tokio::time::sleep(self.front.limits.reply_time) => too_slow(),
        }
    }

    async fn reply_by_rmcp(&self, parts: Parts, body: Bytes) -> Response {
        let missing_id = reply::missing_id(&parts.headers);
        let request = http::Request::from_parts(parts, Full::new(body.clone()));
        let Ok(response) =
            tokio::time::timeout(self.front.limits.reply_time, self.service.handle(request)).await
        else {
            return too_slow();
        };
        // The media type is valid, so rmcp's 415 means that the body is not a message.
        if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return response.map(Body::new);
        }
        match frame::parse(body.trim_ascii()) {
            Frame::Rejected(rejection) => {
                reply::rejected(StatusCode::BAD_REQUEST, &rejection, missing_id)
            }
            Frame::Call(_) | Frame::Message(_) | Frame::UnsolicitedReply => reply::refusal(
                StatusCode::BAD_REQUEST,
                ErrorCode::INVALID_REQUEST,
                "this is a reply, and nothing was asked",
            ),
        }
    }

    /// A call that has to wait runs in its own task: a disconnect cancels it cooperatively instead
    /// of dropping it mid-way.
    async fn reply_directly(&self, mut answer: Answer, cancel: CancellationToken) -> Response {
        let message = match tool_call::poll_once(&mut answer) {
            Some(message) => message,
            None => {
                let gone = cancel.drop_guard();
                match tokio::time::timeout(self.front.limits.reply_time, tokio::spawn(answer)).await
                {
                    Ok(Ok(message)) => {
                        gone.disarm();
                        message
                    }
                    Ok(Err(_panic)) => return unanswered(StatusCode::INTERNAL_SERVER_ERROR),
                    Err(_elapsed) => return too_slow(),
                }
            }
        };
        to_reply(message)
    }
}

fn to_reply(message: serde_json::Result<Vec<u8>>) -> Response {
    match message {
        Ok(body) => reply::json(StatusCode::OK, body),
        Err(error) => {
            tracing::error!(%error, "a reply could not be written as JSON");
            unanswered(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// 202 Accepted for notifications and responses.
fn accepted() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
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

fn is_json(headers: &HeaderMap) -> bool {
    let media_type =
        headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Rewrites `Accept` and `Content-Type` for rmcp, which requires both types and lower case.
/// Returns whether the client accepts JSON.
fn accept_both(headers: &mut HeaderMap) -> bool {
    let takes_json = accepts(headers, &["*/*", "application/*", "application/json"]);
    if takes_json {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    takes_json
}

/// Whether one of these media ranges is accepted; a missing header accepts everything.
fn accepts(headers: &HeaderMap, wanted: &[&str]) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*");
    accepted
        .split(',')
        .any(|range| wanted.contains(&range.split(';').next().unwrap_or_default().trim()))
}

fn unknown_pack(name: &str, known: impl Iterator<Item = &'static str>) -> Response {
    let name: String = name.chars().take(80).collect();
    let known = known.collect::<Vec<_>>().join("`, `");
    let message = format!("there is no pack `{name}` here; this server has `{known}`");
    reply::refusal(StatusCode::NOT_FOUND, ErrorCode::INVALID_REQUEST, message)
}
