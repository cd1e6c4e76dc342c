//! The outermost layer of every listener.
//!
//! It counts the request on its connection, checks `Host` and `Origin`, answers preflights, and
//! sends `Connection: close` to HTTP/1 clients while the server drains.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Version};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::connections::{Connection, OpenRequest};
use super::guard::Guard;

/// Outermost layer of one listener.
pub(super) struct Gate {
    pub(super) router: Router,
    pub(super) guard: Guard,
    /// Cancelled when the server starts to drain; it may still accept connections.
    pub(super) draining: CancellationToken,
}

impl Gate {
    pub(super) async fn answer(
        &self,
        connection: &Arc<Connection>,
        request: Request<Incoming>,
    ) -> Response<GuardedBody<OpenRequest>> {
        let open = connection.opened();
        let can_close = request.version() <= Version::HTTP_11;
        let mut response = self.pass(connection, request).await;
        if can_close && self.draining.is_cancelled() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response.map(|body| GuardedBody { body, _guard: open })
    }

    async fn pass(
        &self,
        connection: &Arc<Connection>,
        mut request: Request<Incoming>,
    ) -> Response<Body> {
        let origin = match self.guard.check(&request) {
            Ok(origin) => origin,
            Err(refusal) => return *refusal,
        };
        let preflight = origin.as_ref().and_then(|_| super::guard::preflight(&request));
        request.extensions_mut().insert(Arc::clone(connection));
        let mut response = match preflight {
            Some(response) => response,
            None => self.call(request).await,
        };
        if let Some(origin) = origin {
            super::guard::allow_origin(response.headers_mut(), origin);
        }
        response
    }

    async fn call(&self, request: Request<Incoming>) -> Response<Body> {
        match self.router.clone().oneshot(request.map(Body::new)).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Response body that holds a guard until it is sent.
pub(super) struct GuardedBody<T> {
    pub(super) body: Body,
    pub(super) _guard: T,
}

impl<T: Unpin> HttpBody for GuardedBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Attaches `guard` to a streaming response body, so that it lives until the body is sent.
pub(super) fn guard_body<T: Unpin + Send + 'static>(response: Response, guard: T) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| Body::new(GuardedBody { body, _guard: guard }.boxed_unsync()))
}
