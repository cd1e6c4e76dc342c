//! Server-sent events for a call that elicits before it replies.
//!
//! A comment is sent every few seconds, so that no proxy closes the connection while the user
//! decides. A disconnect cancels the call.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// A running call and the messages that precede its reply.
pub(super) struct ElicitingCall {
    /// Future of the reply.
    pub(super) reply: JoinHandle<serde_json::Result<Vec<u8>>>,
    /// Messages before the reply.
    pub(super) messages: UnboundedReceiver<Value>,
    /// Cancels the call on disconnect.
    pub(super) gone: DropGuard,
}

/// Builds the stream that starts with `first` and ends with the reply.
pub(super) fn stream_of(first: Value, asking: ElicitingCall) -> Response {
    let state = Some((Some(first), asking));
    let events = stream::unfold(state, |state| async {
        let (first, mut asking) = state?;
        if let Some(first) = first {
            return Some((event(&first.to_string().into_bytes()), Some((None, asking))));
        }
        tokio::select! {
            biased;
            Some(message) = asking.messages.recv() => {
                Some((event(&message.to_string().into_bytes()), Some((None, asking))))
            }
            reply = &mut asking.reply => {
                asking.gone.disarm();
                Some((event(&reply_or_nothing(reply)), None))
            }
            () = tokio::time::sleep(KEEP_ALIVE) => {
                Some((Bytes::from_static(b":\n\n"), Some((None, asking))))
            }
        }
    });
    let events = futures::StreamExt::map(events, Ok::<_, Infallible>);
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let buffering = HeaderName::from_static("x-accel-buffering");
    headers.insert(buffering, HeaderValue::from_static("no"));
    response
}

/// JSON without line feeds fits in one `data` line.
fn event(message: &[u8]) -> Bytes {
    if message.is_empty() {
        return Bytes::from_static(b":\n\n");
    }
    [b"event: message\ndata: ".as_slice(), message, b"\n\n"].concat().into()
}

/// The handler catches panics and encodes JSON, so failure is theoretical: the stream then ends
/// without a reply.
fn reply_or_nothing(reply: Result<serde_json::Result<Vec<u8>>, tokio::task::JoinError>) -> Vec<u8> {
    match reply {
        Ok(Ok(message)) => message,
        Ok(Err(error)) => {
            tracing::error!(%error, "a reply could not be written as JSON");
            Vec::new()
        }
        Err(error) => {
            tracing::error!(%error, "a call ended without a reply");
            Vec::new()
        }
    }
}
