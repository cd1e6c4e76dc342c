//! Time limits for the bodies of gRPC streams.
//!
//! Reflection and health read their request while they answer it, so the admission layer cannot
//! buffer it as it does on other routes. Without a limit, a client that neither
//! sends nor ends its stream would hold a connection indefinitely.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Body as _, Frame, SizeHint};
use tokio::time::Sleep;

/// Timeout of a request body, as on other routes.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(12);
/// Timeout of a reply body. The health `Watch` stream never ends by itself; its clients reconnect.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// Applies the timeouts to the request and reply bodies.
pub(crate) async fn limit(request: Request, next: Next) -> Response {
    let request = request.map(|body| TimedBody::wrap(body, REQUEST_TIMEOUT));
    next.run(request).await.map(|body| TimedBody::wrap(body, REPLY_TIMEOUT))
}

/// A body that fails after its deadline.
struct TimedBody {
    body: Body,
    deadline: Pin<Box<Sleep>>,
}

impl TimedBody {
    fn wrap(body: Body, limit: Duration) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::new(Self { body, deadline: Box::pin(tokio::time::sleep(limit)) })
    }
}

impl http_body::Body for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.deadline.as_mut().poll(cx).is_ready() {
            let timeout = std::io::Error::from(std::io::ErrorKind::TimedOut);
            return Poll::Ready(Some(Err(axum::Error::new(timeout))));
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
    async fn silent_body_fails_at_the_timeout() {
        let silent = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        let started = tokio::time::Instant::now();
        let read = axum::body::to_bytes(TimedBody::wrap(silent, SHORT), 1024).await;
        assert!(read.is_err());
        assert!(started.elapsed() >= SHORT);
    }

    #[tokio::test]
    async fn slow_bytes_do_not_extend_the_timeout() {
        let trickle = futures::stream::unfold((), |()| async {
            tokio::time::sleep(SHORT / 8).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(b"x")), ()))
        });
        let body = TimedBody::wrap(Body::from_stream(trickle), SHORT);
        let started = tokio::time::Instant::now();
        assert!(axum::body::to_bytes(body, 1 << 20).await.is_err());
        assert!(started.elapsed() >= SHORT);
    }
}
