//! `GET /noema/media/{name}` of `panoply http`: a picture, sound or video of the caller's notes.
//!
//! It is the MCP resource `noema://media/{name}` with its rules: permission `media:read`, the
//! caller's own collection, known formats only, at most 32 MB. What another tenant has is 404.
//! The bytes are data of the caller, so nothing in them may run: the type is the one of the
//! content, browsers must not guess another, and the policy sandboxes an SVG opened as a page.

use std::ops::Range;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE, RANGE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use panoply_contract::context::{CallContext, Caller};
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::resource::{ResourceBody, ResourceContent};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::user_routes::refusal;

const PREFIX: &str = "/noema/media/";
/// Without a policy in the resource nothing may load either.
const STRICTEST_POLICY: &str = "sandbox; default-src 'none'";
/// Pages of other origins must not embed the file, not even from an open server on loopback.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) fn routes(kernel: &Arc<Kernel>) -> Router {
    Router::new().route("/noema/media/{name}", get(media)).with_state(Arc::clone(kernel))
}

async fn media(
    State(kernel): State<Arc<Kernel>>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    // The name stays percent-encoded, as in the URI of the resource.
    let name = uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let mut cx = CallContext::local(Arc::clone(kernel.clock()), TraceId::new(Uuid::new_v4()));
    cx.caller = caller;
    let found = kernel.read_resource(&Scope::All, &format!("noema://media/{name}"), &cx).await;
    match found {
        Ok(content) => served(content, &headers),
        Err(error) => refused(&error, &cx),
    }
}

fn refused(error: &ToolError, cx: &CallContext) -> Response {
    let status = match error.kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::System | ErrorKind::Storage | ErrorKind::Timeout => {
            let cause = error.cause_chain();
            tracing::error!(trace_id = %cx.trace_id, cause, "a media file could not be read");
            StatusCode::SERVICE_UNAVAILABLE
        }
        ErrorKind::Validation
        | ErrorKind::Business
        | ErrorKind::Conflict
        | ErrorKind::Forbidden
        | ErrorKind::RateLimited
        | ErrorKind::Removed
        | ErrorKind::Cancelled => StatusCode::FORBIDDEN,
    };
    refusal(status, &error.code, &error.message)
}

fn served(content: ResourceContent, headers: &HeaderMap) -> Response {
    let policy = content.meta.get("contentSecurityPolicy").and_then(|policy| policy.as_str());
    let policy = policy.unwrap_or(STRICTEST_POLICY);
    let bytes = match content.body {
        ResourceBody::Bytes(bytes) => bytes,
        ResourceBody::Text(text) => text.into_bytes(),
    };
    let tag = entity_tag(&bytes);
    let header = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let is_known = header(IF_NONE_MATCH).is_some_and(|known| {
        known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
    });
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let range = header(RANGE).filter(|_| header(IF_RANGE).is_none_or(|known| known == tag));
        body(bytes, range)
    };
    let out = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, content.mime_type.as_str()),
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE_POLICY, "same-origin"),
        (CONTENT_DISPOSITION, "inline"),
        // A file can be replaced under its name; the tag makes asking again cheap.
        (CACHE_CONTROL, "private, no-cache"),
        (ACCEPT_RANGES, "bytes"),
        (ETAG, tag.as_str()),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            out.insert(name, value);
        }
    }
    response
}

fn entity_tag(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}\"")
}

/// The whole file, or the range of it that players ask for when a person seeks.
fn body(bytes: Vec<u8>, range: Option<&str>) -> Response {
    let size = bytes.len();
    match range.map_or(Asked::Whole, |range| asked(range, size)) {
        Asked::Whole => Body::from(bytes).into_response(),
        Asked::Nothing => {
            let of = [(CONTENT_RANGE, format!("bytes */{size}"))];
            (StatusCode::RANGE_NOT_SATISFIABLE, of).into_response()
        }
        Asked::Part(part) => {
            let of = format!("bytes {}-{}/{size}", part.start, part.end - 1);
            let part = bytes.get(part).unwrap_or_default().to_vec();
            (StatusCode::PARTIAL_CONTENT, [(CONTENT_RANGE, of)], Body::from(part)).into_response()
        }
    }
}

/// What a `Range` header asks for.
#[derive(Debug, PartialEq)]
enum Asked {
    Whole,
    Part(Range<usize>),
    /// No byte of the file.
    Nothing,
}

/// RFC 9110, section 14: one range of bytes. Anything else is ignored, as it allows.
fn asked(header: &str, size: usize) -> Asked {
    let Some((first, last)) = header.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return Asked::Whole;
    };
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Some(first), None) if last.trim().is_empty() => first..size,
        (None, Some(last)) if first.trim().is_empty() => size.saturating_sub(last)..size,
        _ => return Asked::Whole,
    };
    if range.is_empty() { Asked::Nothing } else { Asked::Part(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_rfc_9110() {
        let cases = [
            ("bytes=0-0", Asked::Part(0..1)),
            ("bytes=2-5", Asked::Part(2..6)),
            ("bytes=2-", Asked::Part(2..10)),
            ("bytes=-3", Asked::Part(7..10)),
            ("bytes=-30", Asked::Part(0..10)),
            ("bytes=8-99999999999999999999", Asked::Whole),
            ("bytes=8-99", Asked::Part(8..10)),
            ("bytes=10-", Asked::Nothing),
            ("bytes=-0", Asked::Nothing),
            ("bytes=5-2", Asked::Whole),
            ("bytes=0-1,4-5", Asked::Whole),
            ("items=0-1", Asked::Whole),
            ("bytes=-", Asked::Whole),
        ];
        for (header, expected) in cases {
            assert_eq!(asked(header, 10), expected, "{header}");
        }
    }
}
