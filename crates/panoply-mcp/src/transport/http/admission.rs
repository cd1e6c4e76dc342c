//! Admission: authentication, body limits, concurrency caps; then the route.
//!
//! The order matters: unauthenticated clients cannot make the server buffer bodies, and a slow
//! body holds no concurrency permit, only its connection and its bytes, until `body_time`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures::FutureExt as _;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use http::StatusCode;
use http::request::Parts;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use panoply_contract::context::Provenance;
use rmcp::model::ErrorCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::caps::{CapReached, Caps};
use super::connections::Connection;
use super::gate::guard_body;
use super::refused_logins::RefusedLogins;
use super::stream_credential::checked_body;
use super::{HttpLimits, reply};
use crate::auth::{Admission, Admitted, Credential, NotAdmitted};

/// Streamed requests get one permit for this many of the other requests.
const STREAM_SHARE: usize = 4;

/// State shared by all protected routes.
pub(super) struct AdmissionLayer {
    pub(super) access: Arc<dyn Admission>,
    pub(super) limits: HttpLimits,
    caps: Caps,
    /// Caps of requests with a streamed body, which holds its permit until its client has sent
    /// everything: slow streams must not use up the permits of other requests.
    stream_caps: Caps,
    bad_credentials: BadCredentials,
    refused: Arc<RefusedLogins>,
}

impl AdmissionLayer {
    pub(super) fn new(
        access: Arc<dyn Admission>,
        limits: HttpLimits,
        refused: Arc<RefusedLogins>,
    ) -> Self {
        let caps = Caps::new(limits.requests, limits.requests_per_caller, limits.unread_bodies);
        let share = |permits: usize| permits.div_ceil(STREAM_SHARE);
        let stream_caps = Caps::new(share(limits.requests), share(limits.requests_per_caller), 0);
        let bad_credentials = BadCredentials::new(limits.bad_credentials);
        Self { access, limits, caps, stream_caps, bad_credentials, refused }
    }

    /// Authenticates a request.
    async fn admit(&self, parts: &Parts) -> Result<Admitted, Response> {
        let path = parts.uri.path();
        let credential = Credential::of(&parts.headers, path);
        let denied = match self.access.admit(credential).await {
            Ok(mut admitted) => {
                // Rows cannot be changed, so those of a person who can be erased have no address.
                if admitted.caller.tenants.person.is_local() {
                    admitted.caller.provenance.address = address(parts);
                }
                return Ok(admitted);
            }
            Err(denied) => denied,
        };
        let address = address(parts);
        if let Some(reason) = denied.audit_code() {
            let key = credential.known_key_id(&denied).map(|id| format!("key {id}").into());
            self.refused.record(reason, Provenance { address, credential: key }).await;
        }
        if matches!(denied, NotAdmitted::Invalid(_))
            && let Some(address) = address
            && self.bad_credentials.is_over_budget(address).await
        {
            return Err(reply::throttled("too many bad keys from this address"));
        }
        tracing::info!(?denied, path, ?address, "turned away");
        Err(reply::denied(&denied, self.access.issuer(), path))
    }

    /// Buffers a body within the limits of length, time and total memory.
    async fn read(&self, parts: &Parts, mut body: Body) -> Result<Body, Response> {
        if body.is_end_stream() {
            return Ok(body);
        }
        if body.size_hint().lower() > to_u64(self.limits.body) {
            return Err(self.too_long());
        }
        let reading = parts.extensions.get::<Arc<Connection>>().map(|one| one.reading());
        let mut collecting = Box::pin(self.collect(&mut body));
        let collected = match (&mut collecting).now_or_never() {
            Some(collected) => collected,
            None => match tokio::time::timeout(self.limits.body_time, collecting).await {
                Ok(collected) => collected,
                Err(_elapsed) => {
                    let message = "the body took too long to arrive";
                    Err(refusal(StatusCode::REQUEST_TIMEOUT, message))
                }
            },
        };
        drop(reading);
        collected.map(Body::from)
    }

    async fn collect(&self, body: &mut Body) -> Result<Bytes, Response> {
        let mut first = Bytes::new();
        let mut all = BytesMut::new();
        let mut memory: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_broken| {
                refusal_with(
                    StatusCode::BAD_REQUEST,
                    ErrorCode::PARSE_ERROR,
                    "the body ended early",
                )
            })?;
            let Ok(data) = frame.into_data() else { continue };
            if first.len() + all.len() + data.len() > self.limits.body {
                return Err(self.too_long());
            }
            let is_whole = body.is_end_stream();
            if first.is_empty() && all.is_empty() && is_whole {
                return Ok(data);
            }
            let piece = self.caps.buffer(data.len()).map_err(full)?;
            match &mut memory {
                Some(memory) => memory.merge(piece),
                None => memory = Some(piece),
            }
            if first.is_empty() && all.is_empty() {
                first = data;
            } else {
                if !first.is_empty() {
                    all.extend_from_slice(&std::mem::take(&mut first));
                }
                all.extend_from_slice(&data);
            }
        }
        Ok(if all.is_empty() { first } else { all.freeze() })
    }

    fn too_long(&self) -> Response {
        let most = self.limits.body;
        let message =
            format!("the body is longer than {most} bytes; send less, or in several calls");
        refusal(StatusCode::PAYLOAD_TOO_LARGE, message)
    }
}

/// Returns the peer address of the request.
fn address(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<Arc<Connection>>().map(|one| one.address)
}

/// Admits a request with a buffered body.
pub(super) async fn admit_buffered(
    State(front): State<Arc<AdmissionLayer>>,
    request: Request,
    next: Next,
) -> Response {
    answer(&front, request, next, true).await.unwrap_or_else(|refusal| refusal)
}

/// Admits a request whose route streams the body.
pub(super) async fn admit_streaming(
    State(front): State<Arc<AdmissionLayer>>,
    request: Request,
    next: Next,
) -> Response {
    answer(&front, request, next, false).await.unwrap_or_else(|refusal| refusal)
}

async fn answer(
    front: &AdmissionLayer,
    request: Request,
    next: Next,
    is_whole: bool,
) -> Result<Response, Response> {
    let (mut parts, mut body) = request.into_parts();
    let Admitted { caller, proof } = front.admit(&parts).await?;
    let caps = if is_whole {
        body = front.read(&parts, body).await?;
        &front.caps
    } else {
        body = checked_body(Arc::clone(&front.access), &parts, &caller, body);
        &front.stream_caps
    };
    let working = caps.work(&caller.partition).map_err(full)?;
    parts.extensions.insert(caller);
    parts.extensions.insert(proof);
    Ok(guard_body(next.run(Request::from_parts(parts, body)).await, working))
}

fn full(full: CapReached) -> Response {
    reply::busy(match full {
        CapReached::Server => "too many requests at a time; try again in a second",
        CapReached::Caller => "too many requests of yours at a time; wait for some of them",
    })
}

fn refusal(status: StatusCode, message: impl Into<String>) -> Response {
    refusal_with(status, ErrorCode::INVALID_REQUEST, message)
}

fn refusal_with(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Response {
    reply::refusal(status, code, message)
}

/// Rate limit of invalid credentials per address. Valid credentials from the same address are
/// not affected: behind a proxy all clients share one address.
struct BadCredentials {
    budget: DefaultKeyedRateLimiter<IpAddr>,
    /// Refusals currently delayed.
    delayed: Semaphore,
}

/// Delay of a refusal after the budget is exhausted.
const REFUSAL_DELAY: Duration = Duration::from_secs(1);
/// Maximum number of delayed refusals; further ones are sent at once.
const MAX_DELAYED: usize = 256;
/// Number of tracked addresses above which those with a full budget are removed.
const MAX_ADDRESSES: usize = 10_000;

impl BadCredentials {
    fn new(burst: u32) -> Self {
        let burst = std::num::NonZeroU32::new(burst).unwrap_or(std::num::NonZeroU32::MIN);
        let quota = Quota::per_second(std::num::NonZeroU32::MIN).allow_burst(burst);
        Self { budget: RateLimiter::keyed(quota), delayed: Semaphore::new(MAX_DELAYED) }
    }

    /// Counts an invalid credential and delays the refusal if the budget is exhausted.
    async fn is_over_budget(&self, address: IpAddr) -> bool {
        if self.budget.len() > MAX_ADDRESSES {
            self.budget.retain_recent();
        }
        if self.budget.check_key(&address).is_ok() {
            return false;
        }
        if let Ok(_place) = self.delayed.try_acquire() {
            tokio::time::sleep(REFUSAL_DELAY).await;
        }
        true
    }
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
