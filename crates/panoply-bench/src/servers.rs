//! The compared servers, configured as in production.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::serve::ListenerExt;
use futures::future::BoxFuture;
use panoply_contract::audit::{AuditEntry, AuditFilter, AuditLog, AuditRow};
use panoply_contract::clock::Clock;
use panoply_contract::error::ToolError;
use panoply_contract::kernel::{Kernel, KernelServices, Settings};
use panoply_contract::observe::Observer;
use panoply_mcp::McpServer;
use panoply_mcp::auth::LocalOwner;
use panoply_mcp::observe::{self, CallLog, LogFormat, LogGuard, LogSettings};
use panoply_mcp::transport::http::HttpOptions;
use panoply_store::{SqliteAuditLog, SystemClock};
use rmcp::service::serve_directly;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::bare::Bare;
use crate::{Outcome, echo};

/// Optional parts of the pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instrumentation {
    /// The audit log in SQLite.
    pub(crate) audit: bool,
    /// The log, two lines per call.
    pub(crate) log: bool,
}

impl Instrumentation {
    /// As in production.
    pub(crate) const PRODUCTION: Self = Self { audit: true, log: true };
    /// Neither.
    pub(crate) const BARE: Self = Self { audit: false, log: false };
}

/// A kernel with the measured tools. The log is written until the guard is dropped.
pub(crate) fn kernel(
    instrumentation: Instrumentation,
    home: &Path,
) -> Outcome<(Arc<Kernel>, Option<LogGuard>)> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let guard = if instrumentation.log {
        let clock = Arc::clone(&clock);
        let settings = LogSettings { format: LogFormat::Json, filter: "info".to_owned(), clock };
        Some(observe::start(settings)?)
    } else {
        None
    };
    let audit: Arc<dyn AuditLog> = if instrumentation.audit {
        Arc::new(SqliteAuditLog::open(&home.join("audit.db"))?)
    } else {
        Arc::new(DiscardAuditLog)
    };
    let observers: Vec<Arc<dyn Observer>> =
        if instrumentation.log { vec![Arc::new(CallLog)] } else { Vec::new() };
    let world = KernelServices { audit, observers, ..KernelServices::in_memory(clock) };
    let kernel = Kernel::new(vec![echo::pack()], world, Settings::default())
        .map_err(|violations| format!("{violations:?}"))?;
    Ok((kernel, guard))
}

/// An audit log that discards its entries.
struct DiscardAuditLog;

impl AuditLog for DiscardAuditLog {
    fn ready(&self) -> Result<(), ToolError> {
        Ok(())
    }

    fn append(&self, _entry: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn read(&self, _filter: AuditFilter) -> BoxFuture<'static, Result<Vec<AuditRow>, ToolError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// Panoply over a byte stream.
pub(crate) async fn panoply_lines<R, W>(kernel: Arc<Kernel>, input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = McpServer::new(kernel, "panoply-bench");
    let limits = panoply_mcp::transport::LineLimits::default();
    server.serve_lines(input, output, limits, CancellationToken::new()).await;
}

/// Panoply over standard input and output.
pub(crate) async fn panoply_stdio(kernel: Arc<Kernel>) {
    McpServer::new(kernel, "panoply-bench").serve_stdio(CancellationToken::new()).await;
}

/// Plain rmcp over a byte stream.
pub(crate) async fn bare_lines<R, W>(input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let _ = serve_directly(Bare::new(), (input, output), None).waiting().await;
}

/// Panoply over HTTP; the future serves until it is dropped.
pub(crate) async fn panoply_http(
    kernel: Arc<Kernel>,
) -> Outcome<(SocketAddr, BoxFuture<'static, ()>)> {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = HttpOptions::new(listen, Arc::new(LocalOwner));
    let server = McpServer::new(kernel, "panoply-bench");
    let bound = server.bind_http(options, CancellationToken::new()).await?;
    Ok((bound.address(), Box::pin(bound.serve())))
}

/// Plain rmcp over HTTP.
pub(crate) async fn bare_http() -> Outcome<(SocketAddr, BoxFuture<'static, ()>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    // As in Panoply; otherwise Nagle's algorithm would dominate the comparison.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let serve = async move {
        let _ = axum::serve(listener, Bare::new().router()).await;
    };
    Ok((address, Box::pin(serve)))
}
