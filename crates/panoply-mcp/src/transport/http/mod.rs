//! Streamable HTTP: `/mcp` for all packs, `/mcp/{pack}` for one, and what operators need.
//!
//! Stateless: any replica answers any request. What rmcp leaves to its user is here: who
//! may connect ([`guard`]), how slowly ([`accept`]), with which credentials
//! ([`crate::auth`]), and what a body that is not JSON is told ([`mcp_route`]).

mod accept;
mod console;
mod guard;
mod mcp_route;
mod reply;
mod stall;
mod status;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::auth::Access;
use crate::transport::tool_call::AnswerToolCalls;

pub use guard::{BadHostRule, BadOriginRule};
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
    /// Who may use it.
    pub access: Access,
    /// What it takes before it says no.
    pub limits: HttpLimits,
    /// What keeps the server from its work, for `/readyz`.
    pub ready: Arc<dyn Fn() -> Readiness + Send + Sync>,
    /// The text of `/metrics`.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// More routes for everybody, beside the console and what operators ask.
    pub public: Router,
    /// More routes for callers that proved who they are. Their [`Caller`] is an extension
    /// of the request.
    ///
    /// [`Caller`]: panoply_contract::context::Caller
    pub protected: Router,
}

impl HttpOptions {
    /// A server that is always ready, measures nothing and has no routes of its own.
    pub fn new(listen: SocketAddr, access: Access) -> Self {
        Self {
            listen,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            access,
            limits: HttpLimits::default(),
            ready: Arc::new(Readiness::default),
            metrics: Arc::new(String::new),
            public: Router::new(),
            protected: Router::new(),
        }
    }
}

/// What a server takes before it says no.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// Connections at a time; more wait to be accepted.
    pub connections: usize,
    /// Requests at a time; more get 503 with `Retry-After`.
    pub requests: usize,
    /// Bytes of a body.
    pub body: usize,
    /// Bytes of all headers of a request.
    pub headers: usize,
    /// Time for the headers, counted from the first wait for them.
    pub header_time: Duration,
    /// Time for the body.
    pub body_time: Duration,
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
            requests: 1024,
            body: 4 * 1024 * 1024,
            headers: 64 * 1024,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(12),
            reply_time: Duration::from_secs(90),
            write_stall: Duration::from_secs(12),
            drain: Duration::from_secs(5),
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
            Self::Unprotected(_) | Self::Host(_) | Self::Origin(_) => true,
            Self::Bind { .. } => false,
        }
    }
}

/// A server that has its port and serves when told to.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    limits: HttpLimits,
    stop: CancellationToken,
}

impl HttpServer {
    /// Takes the port. `all` answers at `/mcp`, and each of `packs` at `/mcp/{name}`.
    pub(crate) async fn bind<H>(
        all: H,
        packs: BTreeMap<&'static str, H>,
        options: HttpOptions,
        stop: CancellationToken,
    ) -> Result<Self, HttpError>
    where
        H: ServerHandler + AnswerToolCalls + Clone,
    {
        if options.access.is_open() && !options.listen.ip().is_loopback() {
            return Err(HttpError::Unprotected(options.listen));
        }
        if options.access.is_open() && !options.allowed_hosts.is_empty() {
            let hosts = options.allowed_hosts.join(", ");
            tracing::warn!(hosts, "whoever reaches this server by these names acts as its owner");
        }
        let bind_failed = |source| HttpError::Bind { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).await.map_err(bind_failed)?;
        let address = listener.local_addr().map_err(bind_failed)?;
        let limits = options.limits;
        let router = router(all, packs, options, address, &stop)?;
        Ok(Self { listener, address, router, limits, stop })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled and the requests in flight are answered.
    pub async fn serve(self) {
        accept::serve(self.listener, self.router, self.limits, self.stop).await;
    }
}

/// What the layers share.
struct Front {
    access: Access,
    guard: guard::Guard,
}

fn router<H>(
    all: H,
    packs: BTreeMap<&'static str, H>,
    options: HttpOptions,
    address: SocketAddr,
    stop: &CancellationToken,
) -> Result<Router, HttpError>
where
    H: ServerHandler + AnswerToolCalls + Clone,
{
    let guard = guard::Guard::new(address, &options.allowed_hosts, &options.allowed_origins)?;
    let front = Arc::new(Front { access: options.access, guard });
    let mcp = mcp_route::routes(all, packs, options.limits, &front);
    let protected = mcp
        .merge(status::metrics(options.metrics))
        .merge(options.protected)
        .layer(middleware::from_fn_with_state(Arc::clone(&front), authenticate));
    let open = status::health(options.ready, stop.clone())
        .merge(status::resource_metadata(&front))
        .merge(console::routes())
        .merge(options.public);
    Ok(protected
        .merge(open)
        .fallback(status::not_found)
        .layer(middleware::from_fn_with_state(front, guard::check)))
}

/// Lets in who proves to be a caller, and hands the caller on.
async fn authenticate(
    State(front): State<Arc<Front>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path().to_owned();
    let (caller, proof) = match front.access.caller(request.headers(), &path).await {
        Ok(admitted) => admitted,
        Err(denied) => {
            tracing::info!(?denied, path, "turned away");
            return reply::denied(&denied, front.access.issuer(), &path);
        }
    };
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(proof);
    next.run(request).await
}
