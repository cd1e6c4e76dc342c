//! The one way out of a session: replies leave whole, in order, and are flushed.
//!
//! A reply is written where it was made, under a lock: a task of its own for that would cost every
//! reply the waking of a thread. Only what the output does not take at once waits for a task.

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

/// More than this waiting for a client that does not read, and nobody may add to it.
const MAX_BUFFERED_BYTES: usize = 1 << 20;
/// More than this in replies that wait to be added, and no further request is read.
const MAX_QUEUED_BYTES: usize = 8 << 20;
/// More than this, and a reply is replaced by an error: requests that were read already may still
/// bring replies of any size.
const MAX_UNSENT_BYTES: usize = 32 << 20;

/// The output is closed.
#[derive(Debug)]
pub(super) struct Closed;

/// The output of a session, shared by all who answer.
pub(super) struct Output<W>(Arc<Shared<W>>);

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Shared<W> {
    state: Mutex<State<W>>,
    /// Something waits to be written, or nothing will be any more.
    work: Notify,
    /// There is room again.
    room: Notify,
    /// Bytes of replies that wait for room.
    queued: AtomicUsize,
    /// Cancelled when the output breaks.
    stop: CancellationToken,
}

struct State<W> {
    output: W,
    waiting: BytesMut,
    /// The task is at it and has left its waker with the output, which keeps only the last one:
    /// nobody else may touch the output until the task is done.
    busy: bool,
    ended: Ended,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Ended {
    No,
    /// What waits is still written.
    Closing,
    Broken,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Output<W> {
    /// Takes an output. Cancels `stop` when it breaks. The task ends after [`Output::close`].
    pub(super) fn new(output: W, stop: CancellationToken) -> (Self, JoinHandle<()>) {
        let state =
            Mutex::new(State { output, waiting: BytesMut::new(), busy: false, ended: Ended::No });
        let (work, room) = (Notify::new(), Notify::new());
        let queued = AtomicUsize::new(0);
        let output = Self(Arc::new(Shared { state, work, room, queued, stop }));
        let task = tokio::spawn(output.clone().write_buffered());
        (output, task)
    }

    /// Writes one line as soon as the output takes it, or `instead` if too many wait already.
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

    /// Writes one line, or what the output takes of it; the rest waits.
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

    /// Waits while a client that does not read has too much waiting for it.
    pub(super) async fn wait_for_room(&self) {
        loop {
            let room = self.0.room.notified();
            if self.state().waiting.len() <= MAX_BUFFERED_BYTES {
                return;
            }
            room.await;
        }
    }

    /// Waits while a client that does not read has more replies coming than memory for them.
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

    /// Lets the task end once all that waits is written.
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

    /// A client that went away is no fault of ours: we end as if it closed our input.
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

/// A reply that waits for room.
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

/// How long closing waits for a peer that does not read.
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

    /// Like standard output where it is not a pipe: takes bytes at once, is done with them later,
    /// and wakes only the last who asked.
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
            // The task waits for the flush now.
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
