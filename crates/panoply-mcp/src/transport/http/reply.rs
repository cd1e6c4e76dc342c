//! Error responses before any handler: a status and a JSON-RPC error body.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::model::ErrorCode;

use crate::auth::{Issuer, NotAdmitted};
use crate::transport::frame::{MissingId, Rejection};

/// Error response for a request whose id was not parsed.
pub(super) fn refusal(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Response {
    let rejection = Rejection { id: None, code, message: message.into() };
    rejected(status, &rejection, MissingId::Omitted)
}

/// Error response for a rejected message.
pub(super) fn rejected(
    status: StatusCode,
    rejection: &Rejection,
    missing_id: MissingId,
) -> Response {
    json(status, rejection.to_json(missing_id).to_string())
}

pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// 503 with `Retry-After`.
pub(super) fn busy(message: &str) -> Response {
    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::INTERNAL_ERROR, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// 429 for an address with too many failed logins.
pub(super) fn throttled(message: &str) -> Response {
    let mut response = refusal(StatusCode::TOO_MANY_REQUESTS, ErrorCode::INVALID_REQUEST, message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// 401, 403 or 503 for a failed authentication.
pub(super) fn denied(denied: &NotAdmitted, issuer: Option<&Issuer>, path: &str) -> Response {
    let mut response = refusal(denied.status(), ErrorCode::INVALID_REQUEST, denied.message());
    match denied.challenge(issuer, path) {
        Some(challenge) => response.headers_mut().insert(WWW_AUTHENTICATE, challenge),
        None => response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5")),
    };
    response
}

/// Representation of an unreadable id for the client's protocol version.
pub(super) fn missing_id(headers: &HeaderMap) -> MissingId {
    let version = headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    version.map_or(MissingId::Null, MissingId::for_version)
}
