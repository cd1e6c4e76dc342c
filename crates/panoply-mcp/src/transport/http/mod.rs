//! Streamable HTTP: `/mcp` for all packs, `/mcp/{pack}` for one, and what operators need.
//!
//! Stateless: any replica answers any request. A request passes, in this order: the connection
//! and its limits ([`accept`], [`connections`]), `Host` and `Origin` ([`gate`], [`guard`]),
//! credentials, body and concurrency ([`admission`], [`caps`]), and its route.

mod accept;
mod admission;
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

use std::collections::BTreeMap;
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

/// How an HTTP server is set up.
pub struct HttpOptions {
    /// Where to listen. Port 0 picks a free one.
    pub listen: SocketAddr,
    /// Names this server is reached by, beside those of its own address: `tools.example.com`,
    /// or with a port to allow only that one.
    pub allowed_hosts: Vec<String>,
    /// Web pages that may use it: `https://app.example.com`, with `:*` for any port.
    pub allowed_origins: Vec<String>,
    /// Where `/healthz`, `/readyz` and `/metrics` are served as well, without credentials.
    /// Clients of the first address cannot use up the connections of this one.
    pub admin: Option<SocketAddr>,
    /// Who may use it.
    pub access: Arc<dyn Admission>,
    /// What it takes before it says no.
    pub limits: HttpLimits,
    /// What keeps the server from its work, for `/readyz`.
    pub ready: Arc<dyn Fn() -> Readiness + Send + Sync>,
    /// The text of `/metrics`.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// More routes for everybody, beside the console and what operators ask.
    pub public: Router,
    /// More routes for callers that proved who they are. Their [`Caller`] is an extension
    /// of the request, and the body has arrived whole.
    ///
    /// [`Caller`]: panoply_contract::context::Caller
    pub protected: Router,
    /// The same for routes that read their body as a stream and limit it themselves.
    pub streaming: Router,
    /// Cancelled when the server was asked to end but still accepts: `/readyz` is 503 from then
    /// on, and HTTP/1 clients are told to close.
    pub draining: CancellationToken,
    /// Cancelled when requests in flight are no longer waited for.
    pub force: CancellationToken,
}

impl HttpOptions {
    /// A server that is always ready, measures nothing and has no routes of its own.
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

/// What a server takes before it says no.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Connections at a time; one more closes the one that has been idle longest.
    pub connections: usize,
    /// Connections from one address, unless it is a loopback address; more are closed at once.
    pub connections_per_address: usize,
    /// Requests at work at a time; more get 503 with `Retry-After`.
    pub requests: usize,
    /// Requests of one caller at work at a time; more get 503 with `Retry-After`.
    pub requests_per_caller: usize,
    /// Bad keys and tokens an address may send at once, and then one a second; more get 429.
    pub bad_credentials: u32,
    /// Bytes of a body.
    pub body: usize,
    /// Bytes of all bodies that have begun to arrive and are not complete.
    pub unread_bodies: usize,
    /// Bytes of all headers of a request.
    pub headers: usize,
    /// Time for the headers, counted from the first wait for them.
    pub header_time: Duration,
    /// Time for the body.
    pub body_time: Duration,
    /// How long a connection may stay open without a request.
    pub idle: Duration,
    /// Time until the reply starts.
    pub reply_time: Duration,
    /// How long a client may refuse to take bytes we have for it.
    pub write_stall: Duration,
    /// How long requests in flight may take once the server was told to end.
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
            // The longest deadline of a tool, and a little more.
            drain: Duration::from_secs(65),
        }
    }
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// It would have let in everybody who can reach it.
    #[error(
        "refusing to listen on `{0}` without keys or a token issuer: everybody who reaches it would be the owner; create a key, set an issuer, or listen on 127.0.0.1"
    )]
    Unprotected(SocketAddr),
    /// It is reached by a name, so by others, and would have let them all in.
    #[error(
        "refusing to serve `{0}` without keys or a token issuer: everybody who reaches it by that name would be the owner; create a key, set an issuer, or drop the name"
    )]
    UnprotectedName(String),
    /// A name in the settings is not one.
    #[error(transparent)]
    Host(#[from] BadHostRule),
    /// An origin in the settings is not one.
    #[error(transparent)]
    Origin(#[from] BadOriginRule),
    /// The address is taken, or not ours.
    #[error("cannot listen on `{address}`")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

impl HttpError {
    /// Whether the settings are at fault, which is exit status 2.
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Unprotected(_) | Self::UnprotectedName(_) | Self::Host(_) | Self::Origin(_) => {
                true
            }
            Self::Bind { .. } => false,
        }
    }
}

/// A server that has its port and serves when told to.
pub struct HttpServer {
    address: SocketAddr,
    admin_address: Option<SocketAddr>,
    listeners: Vec<accept::Listener>,
    refused: Arc<RefusedLogins>,
    stop: CancellationToken,
    force: CancellationToken,
}

/// Connections to the admin address; probes and a scraper need few.
const ADMIN_CONNECTIONS: usize = 64;

impl HttpServer {
    /// Takes the ports. `all` answers at `/mcp`, and each of `packs` at `/mcp/{name}`.
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

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where operators ask, if that is an address of its own.
    pub const fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// Serves until `stop` is cancelled and the requests in flight are answered.
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
        .merge(console::routes())
        .merge(options.public);
    whole.merge(streaming).merge(open).fallback(status::not_found)
}
