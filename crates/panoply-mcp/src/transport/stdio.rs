//! stdio transport: newline-delimited JSON-RPC on standard input and output.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::service::serve_directly;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::lines::{LineLimits, LineTransport};
use super::tool_call::AnswerToolCalls;

/// Grace for calls in flight after a signal. Including the final write, the process exits within
/// half a second.
const STOP_GRACE: Duration = Duration::from_millis(400);

/// Serves one session until its input ends, its output fails, or `stop` is cancelled.
///
/// When the input ends, calls in flight have five seconds to finish (rmcp's drain timeout).
/// The session is served without waiting for `initialize`: rmcp's handshake closes the session
/// when another message comes first, and 2026-07-28 has no handshake.
pub(crate) async fn serve_session<H, R, W>(
    handler: H,
    input: R,
    output: W,
    limits: LineLimits,
    stop: CancellationToken,
    ending: CancellationToken,
) where
    H: ServerHandler + AnswerToolCalls + Clone,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let fast_path = Arc::new(handler.clone());
    let transport = LineTransport::new(input, output, limits, fast_path, stop.clone(), ending);
    let session = serve_directly(handler, transport, None);
    let ended = session.waiting();
    tokio::pin!(ended);
    let ended = tokio::select! {
        ended = &mut ended => Some(ended),
        () = stop.cancelled() => tokio::time::timeout(STOP_GRACE, ended).await.ok(),
    };
    match ended {
        Some(Ok(reason)) => tracing::debug!(?reason, "session ended"),
        Some(Err(error)) => tracing::error!(%error, "session failed"),
        None => tracing::warn!("shutdown timeout with calls in flight"),
    }
}
