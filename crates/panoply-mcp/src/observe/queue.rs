//! Non-blocking log writer: a bounded buffer and a writer thread.
//!
//! Waking a thread costs more than writing a line, so the thread is woken once per burst and
//! waits for a batch. When the buffer is full, lines are dropped and counted.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

const MAX_BUFFER_BYTES: usize = 4 * 1024 * 1024;
/// Time for which lines are batched before a write.
const BATCH_DELAY: Duration = Duration::from_millis(5);
/// Maximum delay of the process exit by the last write.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(100);

/// Non-blocking writer end.
#[derive(Clone)]
pub(super) struct QueueWriter(Arc<Shared>);

/// Flushes the buffer when dropped.
#[must_use = "dropping it ends the log"]
pub struct LogGuard(Arc<Shared>);

#[derive(Default)]
struct Shared {
    buffer: Mutex<Buffer>,
    filled: Condvar,
    written: Condvar,
}

#[derive(Default)]
struct Buffer {
    lines: Vec<u8>,
    lost: u64,
    /// Flushes are numbered, so that each waiter waits for its own.
    flush_wanted: u64,
    flush_done: u64,
}

/// Starts the writer thread.
pub(super) fn start(output: impl Write + Send + 'static) -> io::Result<(QueueWriter, LogGuard)> {
    let shared = Arc::new(Shared::default());
    let writing = Arc::clone(&shared);
    std::thread::Builder::new().name("log".to_owned()).spawn(move || writing.write_to(output))?;
    Ok((QueueWriter(Arc::clone(&shared)), LogGuard(shared)))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut buffer = self.lock();
        if buffer.lines.len() + line.len() > MAX_BUFFER_BYTES {
            buffer.lost += 1;
            return;
        }
        let first = buffer.lines.is_empty();
        buffer.lines.extend_from_slice(line);
        drop(buffer);
        if first {
            self.filled.notify_one();
        }
    }

    fn write_to(&self, mut output: impl Write) -> ! {
        loop {
            if !self.wait_for_lines() {
                std::thread::sleep(BATCH_DELAY);
            }
            let mut buffer = self.lock();
            let flush = buffer.flush_wanted;
            let lost = std::mem::take(&mut buffer.lost);
            let mut lines = std::mem::take(&mut buffer.lines);
            drop(buffer);
            if lost > 0 {
                let notice = format!(
                    "{{\"level\":\"WARN\",\"message\":\"log lines lost\",\"lost\":{lost}}}\n"
                );
                lines.extend_from_slice(notice.as_bytes());
            }
            // The server continues without a log when standard error is closed.
            let _unread = output.write_all(&lines).and_then(|()| output.flush());
            self.lock().flush_done = flush;
            self.written.notify_all();
        }
    }

    /// Waits for lines; returns true when a flush is pending.
    fn wait_for_lines(&self) -> bool {
        let nothing = |buffer: &mut Buffer| {
            buffer.lines.is_empty() && buffer.flush_wanted == buffer.flush_done
        };
        let waited = self.filled.wait_while(self.lock(), nothing);
        let buffer = waited.unwrap_or_else(PoisonError::into_inner);
        buffer.flush_wanted != buffer.flush_done
    }

    fn flush(&self, patience: Duration) {
        let mut buffer = self.lock();
        buffer.flush_wanted += 1;
        let mine = buffer.flush_wanted;
        self.filled.notify_one();
        let unwritten = |buffer: &mut Buffer| buffer.flush_done < mine;
        // Give up after the timeout: the reader does not read.
        let _in_time = self.written.wait_timeout_while(buffer, patience, unwritten);
    }
}

impl QueueWriter {
    pub(super) fn send(&self, line: &[u8]) {
        self.0.push(line);
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.0.flush(FLUSH_TIMEOUT);
    }
}

impl Write for QueueWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.send(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for QueueWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Captures the written bytes.
    #[derive(Clone, Default)]
    pub(in crate::observe) struct Memory(pub(in crate::observe) Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl LogGuard {
        /// Flushes without a timeout.
        pub(in crate::observe) fn flush_now(&self) {
            self.0.flush(Duration::from_secs(60));
        }
    }

    #[test]
    fn lines_are_written_in_order_without_loss() {
        let memory = Memory::default();
        let (queue, guard) = start(memory.clone()).unwrap();
        let expected: String = (0..10_000).map(|number| format!("{number}\n")).collect();
        for line in expected.lines() {
            queue.send(format!("{line}\n").as_bytes());
        }
        guard.flush_now();
        assert_eq!(String::from_utf8(memory.0.lock().unwrap().clone()).unwrap(), expected);
    }

    #[test]
    fn lines_over_the_buffer_limit_are_counted_as_dropped() {
        let memory = Memory::default();
        let held = memory.0.lock().unwrap();
        let (queue, guard) = start(memory.clone()).unwrap();
        // The reader blocks: one batch is being written, and the buffer fills up.
        for _ in 0..3 * MAX_BUFFER_BYTES / 1024 {
            queue.send(&[b'x'; 1024]);
        }
        assert!(queue.0.lock().lines.len() <= MAX_BUFFER_BYTES);
        drop(held);
        guard.flush_now();
        queue.send(b"on\n");
        guard.flush_now();
        let written = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
        assert!(written.contains("log lines lost"));
        assert!(written.ends_with("on\n"));
    }
}
