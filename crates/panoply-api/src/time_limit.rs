//! Time limits for the bodies of gRPC streams.
//!
//! Reflection and health read their request while they answer it, so the admission layer cannot
//! wait for the whole of it as it does for other routes. Without a limit, a client that neither
//! sends nor ends its stream would hold a connection for ever.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Body as _, Frame, SizeHint};
use tokio::time::Sleep;

/// From the first wait for a request to its end: as long as other routes wait for a body.
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(12);
/// From the head of a reply to its end. `Watch` of health has no end of its own; its clients
/// reconnect.
pub(crate) const REPLY_TIME: Duration = Duration::from_secs(60);

/// Limits the time of a request's body and of its reply's.
pub(crate) async fn limit(request: Request, next: Next) -> Response {
    let request = request.map(|body| Timed::over(body, REQUEST_TIME));
    next.run(request).await.map(|body| Timed::over(body, REPLY_TIME))
}

/// A body that fails when its time is up.
struct Timed {
    body: Body,
    left: Pin<Box<Sleep>>,
}

impl Timed {
    fn over(body: Body, limit: Duration) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::new(Self { body, left: Box::pin(tokio::time::sleep(limit)) })
    }
}

impl http_body::Body for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.left.as_mut().poll(cx).is_ready() {
            let late = std::io::Error::from(std::io::ErrorKind::TimedOut);
            return Poll::Ready(Some(Err(axum::Error::new(late))));
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(40);

    #[tokio::test]
    async fn a_body_that_never_ends_fails_when_its_time_is_up() {
        let silent = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        let started = tokio::time::Instant::now();
        let read = axum::body::to_bytes(Timed::over(silent, SHORT), 1024).await;
        assert!(read.is_err());
        assert!(started.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn bytes_that_trickle_do_not_extend_the_time() {
        let trickle = futures::stream::unfold((), |()| async {
            tokio::time::sleep(SHORT / 8).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"x")), ()))
        });
        let body = Timed::over(Body::from_stream(trickle), SHORT);
        let started = tokio::time::Instant::now();
        assert!(axum::body::to_bytes(body, 1 << 20).await.is_err());
        assert!(started.elapsed() >= SHORT);
    }
}
