//! Output of a stdio session: whole lines, in order, flushed.
//!
//! A reply is written by its own task, under a lock: a writer task would cost a thread wake-up
//! per reply. Only bytes that the output does not accept at once are left to a writer task.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncWrite;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Buffered bytes above which senders wait.
const MAX_BUFFERED_BYTES: usize = 1 << 20;
/// Bytes of waiting replies above which no further request is read.
const MAX_QUEUED_BYTES: usize = 8 << 20;
/// Unsent bytes above which a reply is replaced by an error: requests that were already read may
/// still produce replies of any size.
const MAX_UNSENT_BYTES: usize = 32 << 20;

/// The output is closed.
#[derive(Debug)]
pub(super) struct Closed;

/// Shared output of a session.
pub(super) struct Output<W>(Arc<Shared<W>>);

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Shared<W> {
    state: Mutex<State<W>>,
    /// Notified when bytes are buffered or the output is closed.
    work: Notify,
    /// Notified when the buffer is below its limit.
    room: Notify,
    /// Bytes of waiting replies.
    queued: AtomicUsize,
    /// Cancelled when the output fails.
    stop: CancellationToken,
}

struct State<W> {
    output: W,
    waiting: BytesMut,
    /// The writer task is polling. The output stores only the last waker, so no other task may poll
    /// it until the writer task is done.
    busy: bool,
    ended: Ended,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Ended {
    No,
    /// Buffered bytes are still written.
    Closing,
    Broken,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Output<W> {
    /// Wraps an output. Cancels `stop` when it fails. The task ends after [`Output::close`].
    pub(super) fn new(output: W, stop: CancellationToken) -> (Self, JoinHandle<()>) {
        let state =
            Mutex::new(State { output, waiting: BytesMut::new(), busy: false, ended: Ended::No });
        let (work, room) = (Notify::new(), Notify::new());
        let queued = AtomicUsize::new(0);
        let output = Self(Arc::new(Shared { state, work, room, queued, stop }));
        let task = tokio::spawn(output.clone().write_buffered());
        (output, task)
    }

    /// Writes one line when the buffer has room, or `instead` if too many bytes are unsent.
    pub(super) async fn send(
        &self,
        line: Vec<u8>,
        instead: impl FnOnce() -> Bytes,
    ) -> Result<(), Closed> {
        let length = line.len();
        let queued = self.0.queued.fetch_add(length, Ordering::Relaxed) + length;
        let _queued = Queued { length, queued: &self.0.queued };
        let line = if queued > MAX_UNSENT_BYTES { instead() } else { Bytes::from(line) };
        self.wait_for_room().await;
        self.send_now(&line)
    }

    /// Writes one line, or a part of it; the rest is buffered.
    pub(super) fn send_now(&self, line: &[u8]) -> Result<(), Closed> {
        let mut state = self.state();
        if state.ended == Ended::Broken {
            return Err(Closed);
        }
        state.waiting.extend_from_slice(line);
        if state.busy {
            return Ok(());
        }
        match state.poll_write_all(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => Ok(()),
            Poll::Ready(Err(error)) => {
                self.fail(state, &error);
                Err(Closed)
            }
            Poll::Pending => {
                state.busy = true;
                self.0.work.notify_one();
                Ok(())
            }
        }
    }

    /// Waits while the buffer is above its limit.
    pub(super) async fn wait_for_room(&self) {
        loop {
            let room = self.0.room.notified();
            if self.state().waiting.len() <= MAX_BUFFERED_BYTES {
                return;
            }
            room.await;
        }
    }

    /// Waits while the waiting replies are above their limit.
    pub(super) async fn wait_for_backlog(&self) {
        loop {
            let room = self.0.room.notified();
            let queued = self.0.queued.load(Ordering::Relaxed);
            if self.state().ended == Ended::Broken
                || (queued <= MAX_QUEUED_BYTES && self.state().waiting.len() <= MAX_BUFFERED_BYTES)
            {
                return;
            }
            room.await;
        }
    }

    /// Ends the writer task after the buffered bytes are written.
    pub(super) fn close(&self) {
        let mut state = self.state();
        if state.ended == Ended::No {
            state.ended = Ended::Closing;
        }
        self.0.work.notify_one();
    }

    async fn write_buffered(self) {
        loop {
            let written = poll_fn(|cx| {
                let mut state = self.state();
                let outcome = state.poll_write_all(cx);
                state.busy = outcome.is_pending();
                if state.waiting.len() <= MAX_BUFFERED_BYTES {
                    self.0.room.notify_waiters();
                }
                outcome
            });
            if let Err(error) = written.await {
                self.fail(self.state(), &error);
            }
            if self.state().ended != Ended::No {
                return;
            }
            self.0.work.notified().await;
        }
    }

    /// A disconnect is not an error: the session ends as if the input had been closed.
    fn fail(&self, mut state: MutexGuard<'_, State<W>>, error: &io::Error) {
        tracing::info!(%error, "output is closed");
        state.ended = Ended::Broken;
        state.waiting = BytesMut::new();
        drop(state);
        self.0.room.notify_waiters();
        self.0.work.notify_one();
        self.0.stop.cancel();
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a waiting reply until dropped.
struct Queued<'a> {
    length: usize,
    queued: &'a AtomicUsize,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.queued.fetch_sub(self.length, Ordering::Relaxed);
    }
}

impl<W: AsyncWrite + Unpin> State<W> {
    fn poll_write_all(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            match ready!(Pin::new(&mut self.output).poll_write(cx, &self.waiting))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.waiting.advance(written),
            }
        }
        Pin::new(&mut self.output).poll_flush(cx)
    }
}

/// Timeout of the final write to a peer that does not read.
pub(super) const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt, BufReader};

    #[tokio::test]
    async fn lines_stay_whole_and_ordered_with_a_slow_reader() {
        let (client, server) = tokio::io::duplex(16);
        let (output, task) = Output::new(server, CancellationToken::new());
        for n in 0..200 {
            output.send_now(format!("line {n} of two hundred\n").as_bytes()).unwrap();
        }
        output.close();
        let mut lines = BufReader::new(client).lines();
        for n in 0..200 {
            let line = lines.next_line().await.unwrap().unwrap();
            assert_eq!(line, format!("line {n} of two hundred"));
        }
        task.await.unwrap();
    }

    /// Like standard output that is not a pipe: accepts bytes at once, completes later, and wakes
    /// only the last waker.
    #[derive(Default)]
    struct DoneLater {
        taken: Arc<Mutex<Vec<u8>>>,
        working: Option<Pin<Box<tokio::time::Sleep>>>,
    }

    impl AsyncWrite for DoneLater {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            ready!(self.as_mut().poll_flush(cx))?;
            self.taken.lock().unwrap().extend_from_slice(bytes);
            self.working = Some(Box::pin(tokio::time::sleep(Duration::from_millis(5))));
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            if let Some(working) = &mut self.working {
                ready!(working.as_mut().poll(cx));
            }
            self.working = None;
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.poll_flush(cx)
        }
    }

    #[tokio::test]
    async fn line_queued_during_a_flush_is_written() {
        let slow = DoneLater::default();
        let taken = Arc::clone(&slow.taken);
        let (output, task) = Output::new(slow, CancellationToken::new());
        for n in 0..5 {
            output.send_now(format!("{n}\n").as_bytes()).unwrap();
            // The writer task now waits for the flush.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        output.close();
        tokio::time::timeout(Duration::from_secs(30), task).await.unwrap().unwrap();
        assert_eq!(*taken.lock().unwrap(), b"0\n1\n2\n3\n4\n");
    }

    #[tokio::test]
    async fn senders_wait_while_the_peer_does_not_read() {
        let (client, server) = tokio::io::duplex(16);
        let (output, _task) = Output::new(server, CancellationToken::new());
        output.send_now(&vec![b'x'; MAX_BUFFERED_BYTES + 100]).unwrap();
        let mut second = Box::pin(output.send(b"y\n".to_vec(), Bytes::new));
        assert!(futures::poll!(&mut second).is_pending());
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            BufReader::new(client).read_until(b'y', &mut all).await.unwrap();
            all.len()
        });
        second.await.unwrap();
        assert_eq!(reading.await.unwrap(), MAX_BUFFERED_BYTES + 101);
    }

    #[tokio::test]
    async fn broken_output_stops_the_session_and_wakes_senders() {
        let (client, server) = tokio::io::duplex(16);
        let stop = CancellationToken::new();
        let (output, task) = Output::new(server, stop.clone());
        output.send_now(&vec![b'x'; MAX_BUFFERED_BYTES + 100]).unwrap();
        let waiting = output.send(b"y\n".to_vec(), Bytes::new);
        drop(client);
        assert!(waiting.await.is_err());
        assert!(stop.is_cancelled());
        task.await.unwrap();
    }
}
