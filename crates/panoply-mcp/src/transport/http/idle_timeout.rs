//! Idle timeouts of a connection: no first bytes, or blocked writes.
//!
//! hyper has a timeout for the headers of a request, but not for the first bytes, by which it
//! detects the HTTP version, nor for blocked writes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Bytes that hyper needs to detect the HTTP version.
const PREFACE: usize = 24;

/// A stream with idle timeouts.
pub(super) struct IdleTimeoutStream<S> {
    stream: S,
    /// Timer until the preface is complete; `None` afterwards.
    opening: Option<Pin<Box<Sleep>>>,
    heard: usize,
    /// Timer of a blocked write.
    stalled: Option<Pin<Box<Sleep>>>,
    patience: Duration,
}

impl<S> IdleTimeoutStream<S> {
    pub(super) fn new(stream: S, opening: Duration, patience: Duration) -> Self {
        let opening = Some(Box::pin(tokio::time::sleep(opening)));
        Self { stream, opening, heard: 0, stalled: None, patience }
    }

    /// Turns a write that is blocked for too long into an error.
    fn watch_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stalled = None;
            self.opening = None;
            return outcome;
        }
        let patience = self.patience;
        let timer = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + patience)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleTimeoutStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let outcome = Pin::new(&mut this.stream).poll_read(cx, buf);
        let Some(opening) = &mut this.opening else { return outcome };
        this.heard += buf.filled().len() - before;
        if this.heard >= PREFACE {
            this.opening = None;
            return outcome;
        }
        if outcome.is_pending() {
            ready!(opening.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleTimeoutStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.watch_write(cx, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.watch_write(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const SOON: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn connection_without_a_preface_times_out() {
        for opening in ["", "P", "PRI * HTTP/2.0"] {
            let (mut client, server) = tokio::io::duplex(64);
            client.write_all(opening.as_bytes()).await.unwrap();
            let mut watched = IdleTimeoutStream::new(server, SOON, LONG);
            let mut said = vec![0; PREFACE];
            let error = watched.read_exact(&mut said).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "opening: {opening:?}");
        }
    }

    #[tokio::test]
    async fn silence_after_the_preface_is_allowed() {
        let (mut client, server) = tokio::io::duplex(64);
        client.write_all(&[b'x'; PREFACE]).await.unwrap();
        let mut watched = IdleTimeoutStream::new(server, SOON, LONG);
        watched.read_exact(&mut [0; PREFACE]).await.unwrap();
        let silence = tokio::time::timeout(SOON * 3, watched.read_u8()).await;
        assert!(silence.is_err(), "the connection should still be waiting");
    }

    #[tokio::test]
    async fn unread_writes_time_out() {
        let (_client, server) = tokio::io::duplex(8);
        let mut watched = IdleTimeoutStream::new(server, LONG, SOON);
        let error = watched.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
