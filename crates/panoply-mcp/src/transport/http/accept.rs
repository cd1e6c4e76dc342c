//! Accepts connections and serves them within limits.
//!
//! axum's own server sets no timeouts, so a client that sends one header per minute holds its
//! connection forever, and it leaves Nagle's algorithm on, which delays streams by 40 ms.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::HttpLimits;
use super::connections::{Connections, Registered, TooMany};
use super::gate::Gate;
use super::idle_timeout::IdleTimeoutStream;

/// Delay before the next accept when file descriptors are exhausted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Timeout of a graceful close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of a graceful close after eviction.
const EVICTION_TIMEOUT: Duration = Duration::from_millis(50);
const MAX_HEADERS: usize = 100;
const MAX_STREAMS: u32 = 128;

pub(super) struct Listener {
    pub(super) socket: TcpListener,
    pub(super) gate: Gate,
    pub(super) limits: HttpLimits,
}

/// Accepts until `stop`, then waits for requests in flight until `force` is cancelled.
pub(super) async fn serve(listener: Listener, stop: CancellationToken, force: CancellationToken) {
    let Listener { socket, gate, limits } = listener;
    let (gate, builder) = (Arc::new(gate), Arc::new(builder(limits)));
    let connections =
        Arc::new(Connections::new(limits.connections, limits.connections_per_address));
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&socket, &connections) => accepted,
        };
        let Some((stream, place)) = accepted else { continue };
        let (builder, gate, stop) = (Arc::clone(&builder), Arc::clone(&gate), stop.clone());
        tasks.spawn(serve_connection(builder, stream, place, gate, limits, stop));
    }
    drop(socket);
    tasks.close();
    tokio::select! {
        () = tasks.wait() => {}
        () = tokio::time::sleep(limits.drain) => {
            tracing::warn!(left = tasks.len(), "shutdown timeout with requests in flight");
        }
        () = force.cancelled() => {
            tracing::warn!(left = tasks.len(), "forced shutdown with requests in flight");
        }
    }
}

async fn accept(
    socket: &TcpListener,
    connections: &Arc<Connections>,
) -> Option<(TcpStream, Registered)> {
    let (stream, peer) = match socket.accept().await {
        Ok(accepted) => accepted,
        Err(error) => {
            // An aborted connection is harmless; a lack of descriptors ends sooner when idle
            // connections are closed.
            tracing::warn!(%error, "could not accept a connection");
            connections.evict_one();
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            return None;
        }
    };
    match connections.register(peer.ip().to_canonical()).await {
        Ok(place) => {
            // Setting an option fails on a socket that the client has closed.
            stream.set_nodelay(true).ok()?;
            Some((stream, place))
        }
        Err(TooMany) => {
            tracing::info!(address = %peer.ip(), "too many connections from one address");
            None
        }
    }
}

async fn serve_connection(
    builder: Arc<auto::Builder<TokioExecutor>>,
    stream: TcpStream,
    place: Registered,
    gate: Arc<Gate>,
    limits: HttpLimits,
    stop: CancellationToken,
) {
    let stream =
        TokioIo::new(IdleTimeoutStream::new(stream, limits.header_time, limits.write_stall));
    let state = Arc::clone(&place.connection);
    let service = service_fn(move |request: Request<Incoming>| {
        let (gate, state) = (Arc::clone(&gate), Arc::clone(&state));
        async move { Ok::<_, Infallible>(gate.answer(&state, request).await) }
    });
    let mut connection = pin!(builder.serve_connection(stream, service));
    let time_to_close = tokio::select! {
        ended = connection.as_mut() => {
            if let Err(error) = ended {
                tracing::debug!(error, "connection ended early");
            }
            return;
        }
        () = stop.cancelled() => limits.drain,
        () = place.connection.idle_for(limits.idle) => CLOSE_TIMEOUT,
        () = place.connection.evicted.cancelled() => EVICTION_TIMEOUT,
    };
    // Sends GOAWAY, or closes after the reply in flight.
    connection.as_mut().graceful_shutdown();
    let closed = tokio::time::timeout(time_to_close, connection).await;
    tracing::debug!(in_time = closed.is_ok(), "connection closed");
}

fn builder(limits: HttpLimits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(MAX_HEADERS)
        .max_buf_size(limits.headers.max(16 * 1024));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(limits.headers).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.header_time)
        .keep_alive_timeout(limits.header_time);
    builder
}
