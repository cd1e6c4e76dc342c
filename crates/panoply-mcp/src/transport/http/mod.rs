//! Streamable HTTP: `/mcp` for all packs, `/mcp/{pack}` for one, and operator endpoints.
//!
//! Stateless: any replica answers any request. A request passes, in this order: the connection
//! and its limits ([`accept`], [`connections`]), `Host` and `Origin` ([`gate`], [`guard`]),
//! credentials, body and concurrency ([`admission`], [`caps`]), and its route.

mod accept;
mod admission;
mod apps;
mod caps;
mod connections;
mod console;
mod events;
mod gate;
mod guard;
mod idle_timeout;
mod mcp_route;
mod refused_logins;
mod reply;
mod status;
mod stream_credential;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use panoply_contract::kernel::Kernel;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::auth::Admission;
use crate::transport::tool_call::AnswerToolCalls;

use admission::AdmissionLayer;
pub use guard::{BadHostRule, BadOriginRule};
use refused_logins::RefusedLogins;
pub use status::{Readiness, ReadinessProblem};
pub use stream_credential::CredentialEnded;

/// Options of an HTTP server.
pub struct HttpOptions {
    /// Listen address. Port 0 picks a free port.
    pub listen: SocketAddr,
    /// Additional allowed host names: `tools.example.com`, or with a port to allow only that
    /// port.
    pub allowed_hosts: Vec<String>,
    /// Allowed origins: `https://app.example.com`, with `:*` for any port.
    pub allowed_origins: Vec<String>,
    /// Second address for `/healthz`, `/readyz` and `/metrics`, without credentials. It has its
    /// own connection limit.
    pub admin: Option<SocketAddr>,
    /// Authentication.
    pub access: Arc<dyn Admission>,
    /// Resource limits.
    pub limits: HttpLimits,
    /// Readiness problems, for `/readyz`.
    pub ready: Arc<dyn Fn() -> Readiness + Send + Sync>,
    /// Text of `/metrics`.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Additional public routes.
    pub public: Router,
    /// Additional authenticated routes. The [`Caller`] is an extension of the request, and the
    /// body is buffered.
    ///
    /// [`Caller`]: panoply_contract::context::Caller
    pub protected: Router,
    /// The same for routes that stream and limit their body themselves.
    pub streaming: Router,
    /// Cancelled when the server drains but still accepts: `/readyz` returns 503, and HTTP/1
    /// clients get `Connection: close`.
    pub draining: CancellationToken,
    /// Cancelled to stop waiting for requests in flight.
    pub force: CancellationToken,
}

impl HttpOptions {
    /// Defaults: always ready, no metrics, no additional routes.
    pub fn new(listen: SocketAddr, access: Arc<dyn Admission>) -> Self {
        Self {
            listen,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            admin: None,
            access,
            limits: HttpLimits::default(),
            ready: Arc::new(Readiness::default),
            metrics: Arc::new(String::new),
            public: Router::new(),
            protected: Router::new(),
            streaming: Router::new(),
            draining: CancellationToken::new(),
            force: CancellationToken::new(),
        }
    }
}

/// Resource limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Concurrent connections; a further one evicts the connection that is idle longest.
    pub connections: usize,
    /// Connections per address, except loopback; further ones are closed at once.
    pub connections_per_address: usize,
    /// Concurrent requests; further ones get 503 with `Retry-After`.
    pub requests: usize,
    /// Concurrent requests per caller; further ones get 503 with `Retry-After`.
    pub requests_per_caller: usize,
    /// Burst of invalid credentials per address, refilled by one per second; further ones get 429.
    pub bad_credentials: u32,
    /// Maximum bytes of a body.
    pub body: usize,
    /// Total bytes of incomplete bodies.
    pub unread_bodies: usize,
    /// Maximum bytes of all headers of a request.
    pub headers: usize,
    /// Timeout of the headers.
    pub header_time: Duration,
    /// Timeout of the body.
    pub body_time: Duration,
    /// Idle timeout of a connection without requests.
    pub idle: Duration,
    /// Timeout until the reply starts.
    pub reply_time: Duration,
    /// Timeout of a blocked write.
    pub write_stall: Duration,
    /// Shutdown grace of requests in flight.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 2048,
            connections_per_address: 256,
            requests: 1024,
            requests_per_caller: 256,
            bad_credentials: 20,
            body: 4 * 1024 * 1024,
            unread_bodies: 256 * 1024 * 1024,
            headers: 64 * 1024,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(12),
            idle: Duration::from_secs(60),
            reply_time: Duration::from_secs(90),
            write_stall: Duration::from_secs(12),
            // Slightly more than the longest deadline of a tool.
            drain: Duration::from_secs(65),
        }
    }
}

/// Startup failure.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// A non-loopback address without authentication.
    #[error(
        "refusing to listen on `{0}` without keys or a token issuer: every client that reaches it would be the owner; create a key, set an issuer, or listen on 127.0.0.1"
    )]
    Unprotected(SocketAddr),
    /// An allowed host name without authentication.
    #[error(
        "refusing to serve `{0}` without keys or a token issuer: every client that reaches it by that name would be the owner; create a key, set an issuer, or drop the name"
    )]
    UnprotectedName(String),
    /// Invalid host name in the settings.
    #[error(transparent)]
    Host(#[from] BadHostRule),
    /// Invalid origin in the settings.
    #[error(transparent)]
    Origin(#[from] BadOriginRule),
    /// The address cannot be bound.
    #[error("cannot listen on `{address}`")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Cause.
        source: io::Error,
    },
}

impl HttpError {
    /// Whether the settings are invalid, which is exit status 2.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Unprotected(_) | Self::UnprotectedName(_) | Self::Host(_) | Self::Origin(_) => {
                true
            }
            Self::Bind { .. } => false,
        }
    }
}

/// A bound server; [`HttpServer::serve`] starts it.
pub struct HttpServer {
    address: SocketAddr,
    admin_address: Option<SocketAddr>,
    listeners: Vec<accept::Listener>,
    refused: Arc<RefusedLogins>,
    stop: CancellationToken,
    force: CancellationToken,
}

/// Connection limit of the admin address; probes and a scraper need few.
const ADMIN_CONNECTIONS: usize = 64;

impl HttpServer {
    /// Binds the ports. `all` serves `/mcp`, and each of `packs` serves `/mcp/{name}`.
    pub(crate) async fn bind<H>(
        all: H,
        packs: BTreeMap<&'static str, H>,
        options: HttpOptions,
        kernel: Arc<Kernel>,
        stop: CancellationToken,
    ) -> Result<Self, HttpError>
    where
        H: ServerHandler + AnswerToolCalls + Clone,
    {
        if options.access.is_open() {
            if !options.listen.ip().is_loopback() {
                return Err(HttpError::Unprotected(options.listen));
            }
            if !options.allowed_hosts.is_empty() {
                return Err(HttpError::UnprotectedName(options.allowed_hosts.join("`, `")));
            }
        }
        let (force, draining) = (options.force.clone(), options.draining.clone());
        let mut listeners = Vec::new();
        let mut admin_address = None;
        if let Some(listen) = options.admin {
            let (socket, address) = bind(listen).await?;
            let guard = guard::Guard::for_operators(address, &options.allowed_hosts)?;
            let router = operators(&options, &stop).fallback(status::not_found);
            let limits = HttpLimits { connections: ADMIN_CONNECTIONS, ..options.limits };
            let gate = gate::Gate { router, guard, draining: draining.clone() };
            listeners.push(accept::Listener { socket, gate, limits });
            admin_address = Some(address);
        }
        let (socket, address) = bind(options.listen).await?;
        let limits = options.limits;
        let guard = guard::Guard::new(address, &options.allowed_hosts, &options.allowed_origins)?;
        let refused = Arc::new(RefusedLogins::new(kernel));
        let router = router(all, packs, options, &refused, &stop);
        let gate = gate::Gate { router, guard, draining };
        listeners.push(accept::Listener { socket, gate, limits });
        Ok(Self { address, admin_address, listeners, refused, stop, force })
    }

    /// The bound address.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The bound admin address, if configured.
    pub const fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// Serves until `stop` is cancelled and requests in flight are answered.
    pub async fn serve(self) {
        let (stop, force) = (self.stop, self.force);
        let serving = self.listeners.into_iter();
        let serving = serving.map(|listener| accept::serve(listener, stop.clone(), force.clone()));
        tokio::select! {
            _ended = futures::future::join_all(serving) => {}
            () = self.refused.close_windows() => {}
        }
        self.refused.close_window().await;
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), HttpError> {
    let failed = |source| HttpError::Bind { address, source };
    let socket = TcpListener::bind(address).await.map_err(failed)?;
    let bound = socket.local_addr().map_err(failed)?;
    Ok((socket, bound))
}

fn operators(options: &HttpOptions, stop: &CancellationToken) -> Router {
    let (ready, metrics) = (Arc::clone(&options.ready), Arc::clone(&options.metrics));
    status::health(ready, [stop.clone(), options.draining.clone()]).merge(status::metrics(metrics))
}

fn router<H>(
    all: H,
    packs: BTreeMap<&'static str, H>,
    options: HttpOptions,
    refused: &Arc<RefusedLogins>,
    stop: &CancellationToken,
) -> Router
where
    H: ServerHandler + AnswerToolCalls + Clone,
{
    let front = Arc::new(AdmissionLayer::new(options.access, options.limits, Arc::clone(refused)));
    let whole = mcp_route::routes(all, packs, &front)
        .merge(status::metrics(options.metrics))
        .merge(options.protected)
        .layer(middleware::from_fn_with_state(Arc::clone(&front), admission::admit_buffered));
    let streaming = options
        .streaming
        .layer(middleware::from_fn_with_state(Arc::clone(&front), admission::admit_streaming));
    let open = status::health(options.ready, [stop.clone(), options.draining])
        .merge(status::resource_metadata(&front))
        .merge(apps::routes())
        .merge(console::routes())
        .merge(options.public);
    let router = whole.merge(streaming).merge(open).fallback(status::not_found);
    tracing::debug!(paths = paths(&router).join(" "), "routes");
    router
}

/// The paths of all routes, sorted. axum publishes them in the debug form of a router only.
fn paths(router: &Router) -> Vec<String> {
    let shown = format!("{router:?}");
    let paths: BTreeSet<&str> = shown.split('"').filter(|text| text.starts_with('/')).collect();
    paths.into_iter().map(str::to_owned).collect()
}
