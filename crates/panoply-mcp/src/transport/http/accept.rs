//! The loop that accepts connections, and the patience each of them gets.
//!
//! `axum::serve` sets no timer, so a client that sends one header a minute keeps its
//! connection for ever, and it leaves Nagle's algorithm on, which costs streams 40 ms.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::HttpLimits;
use super::stall::Watched;

/// How long to wait when the system has no file descriptor left for another connection.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(100);
const MOST_HEADERS: usize = 100;
const MOST_STREAMS: u32 = 128;

/// Accepts until `stop`, then waits for what is in flight.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    stop: CancellationToken,
) {
    let builder = Arc::new(builder(limits));
    let room = Arc::new(Semaphore::new(limits.connections));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // The client that gave up is no matter; a lack of descriptors passes.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
                continue;
            }
        };
        let (builder, router, stop) = (Arc::clone(&builder), router.clone(), stop.clone());
        connections.spawn(async move {
            serve_connection(&builder, stream, router, limits, stop).await;
            drop(permit);
        });
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(limits.drain, connections.wait()).await.is_err() {
        tracing::warn!(
            left = connections.len(),
            "requests were still running when the server had to end"
        );
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _peer) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}

async fn serve_connection(
    builder: &auto::Builder<TokioExecutor>,
    stream: TcpStream,
    router: Router,
    limits: HttpLimits,
    stop: CancellationToken,
) {
    let stream = TokioIo::new(Watched::new(stream, limits.header_time, limits.write_stall));
    let mut connection = pin!(builder.serve_connection(stream, TowerToHyperService::new(router)));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "connection ended early");
    }
}

fn builder(limits: HttpLimits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(MOST_HEADERS)
        .max_buf_size(limits.headers.max(16 * 1024));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MOST_STREAMS)
        .max_header_list_size(u32::try_from(limits.headers).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.header_time)
        .keep_alive_timeout(limits.header_time);
    builder
}
