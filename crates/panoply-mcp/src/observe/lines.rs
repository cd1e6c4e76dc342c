//! The log itself: JSON lines or text on standard error, written by a thread of its own.
//!
//! A call must not wait for whoever reads the log, so lines go through a bounded queue. When
//! it is full they are dropped and counted. Dropping the [`LogGuard`] writes what is queued;
//! keep it in `main` until the end.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender, TrySendError};
use std::time::Duration;

use panoply_contract::clock::Clock;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// One JSON object a line, for programs.
    #[default]
    Json,
    /// For people.
    Text,
}

/// What is logged and how.
pub struct LogSettings {
    /// How lines look.
    pub format: LogFormat,
    /// Which events, in the syntax of `RUST_LOG`: `info`, or `warn,panoply=debug`.
    pub filter: String,
    /// The time in each line.
    pub clock: Arc<dyn Clock>,
}

/// Writes what is still queued when dropped.
#[must_use = "dropping it ends the log"]
pub struct LogGuard {
    queue: SyncSender<Entry>,
}

/// The filter is not in the syntax of `RUST_LOG`, or a log has been started before.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Said with the reason.
    #[error("log filter is not understood: {0}; write `info`, or `warn,panoply=debug`")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// There is one log a process.
    #[error("a log has been started before")]
    Started,
    /// The system has no thread left.
    #[error("the thread of the log could not be started")]
    Thread(#[from] io::Error),
}

const QUEUED_LINES: usize = 8192;
const LONGEST_BATCH: usize = 64 * 1024;
/// How long the end of the process waits for whoever reads the log.
const LAST_LINES: Duration = Duration::from_millis(100);

/// rmcp warns about each call that failed and calls a client that left an error; both are
/// in our own log, with more in them.
const QUIET: &str = "rmcp=off";

/// Starts the log of this process, on standard error.
pub fn start(settings: LogSettings) -> Result<LogGuard, LogError> {
    let filter = if settings.filter.contains("rmcp") {
        EnvFilter::try_new(&settings.filter)?
    } else {
        EnvFilter::try_new(format!("{},{QUIET}", settings.filter))?
    };
    let (writer, guard) = queue(io::stderr())?;
    let registry = tracing_subscriber::registry().with(filter);
    let started = match settings.format {
        LogFormat::Json => registry.with(JsonLines { writer, clock: settings.clock }).try_init(),
        LogFormat::Text => registry
            .with(
                tracing_subscriber::fmt::layer()
                    .with_writer(writer)
                    .with_ansi(io::stderr().is_terminal())
                    .without_time(),
            )
            .try_init(),
    };
    started.map_err(|_| LogError::Started)?;
    Ok(guard)
}

/// One event as one JSON object. Handwritten because it runs twice in every call.
struct JsonLines {
    writer: QueueWriter,
    clock: Arc<dyn Clock>,
}

impl<S: Subscriber> Layer<S> for JsonLines {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut line = Line(String::with_capacity(384));
        let _infallible = write!(line.0, "{{\"ts\":\"{:.6}\"", self.clock.now());
        line.text("level", metadata.level().as_str());
        line.text("target", metadata.target());
        event.record(&mut line);
        line.0.push_str("}\n");
        self.writer.send(line.0.into_bytes());
    }
}

struct Line(String);

impl Line {
    fn name(&mut self, name: &str) {
        self.0.push_str(",\"");
        self.0.push_str(name);
        self.0.push_str("\":");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        push_json_string(&mut self.0, value);
    }

    fn plain(&mut self, name: &str, value: impl fmt::Display) {
        self.name(name);
        let _infallible = write!(self.0, "{value}");
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.plain(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.plain(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.plain(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.plain(field.name(), value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field.name(), &format!("{value:?}"));
    }
}

/// A JSON string. Control characters are escaped, so a line stays one line.
fn push_json_string(line: &mut String, text: &str) {
    line.push('"');
    for character in text.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            control if control < ' ' || control == '\u{7f}' => {
                let _infallible = write!(line, "\\u{:04x}", u32::from(control));
            }
            other => line.push(other),
        }
    }
    line.push('"');
}

enum Entry {
    Line(Vec<u8>),
    /// Answered when everything before it has been written.
    Flush(SyncSender<()>),
}

/// The end of the queue that events are put into.
#[derive(Clone)]
struct QueueWriter {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

impl QueueWriter {
    fn send(&self, line: Vec<u8>) {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(Entry::Line(line)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Write for QueueWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.send(line.to_vec());
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

impl Drop for LogGuard {
    fn drop(&mut self) {
        let (written, wait) = mpsc::sync_channel(1);
        // A full queue means that nobody reads the log, and then nobody misses its end.
        if self.queue.try_send(Entry::Flush(written)).is_ok() {
            let _in_time: Result<(), RecvTimeoutError> = wait.recv_timeout(LAST_LINES);
        }
    }
}

fn queue(output: impl Write + Send + 'static) -> io::Result<(QueueWriter, LogGuard)> {
    let (queue, entries) = mpsc::sync_channel(QUEUED_LINES);
    let dropped = Arc::new(AtomicU64::new(0));
    let writer = QueueWriter { queue: queue.clone(), dropped: Arc::clone(&dropped) };
    std::thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write_entries(output, &entries, &dropped))?;
    Ok((writer, LogGuard { queue }))
}

fn write_entries(mut output: impl Write, entries: &mpsc::Receiver<Entry>, dropped: &AtomicU64) {
    let mut batch = Vec::with_capacity(LONGEST_BATCH);
    while let Ok(first) = entries.recv() {
        let mut waiting = Vec::new();
        for entry in std::iter::once(first).chain(std::iter::from_fn(|| entries.try_recv().ok())) {
            match entry {
                Entry::Line(line) => batch.extend_from_slice(&line),
                Entry::Flush(written) => waiting.push(written),
            }
            if batch.len() >= LONGEST_BATCH {
                break;
            }
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            batch.extend_from_slice(
                format!("{{\"level\":\"WARN\",\"message\":\"log lines lost\",\"lost\":{lost}}}\n")
                    .as_bytes(),
            );
        }
        // A closed standard error is no reason to stop serving.
        let _unread = output.write_all(&batch).and_then(|()| output.flush());
        batch.clear();
        for written in waiting {
            let _gone = written.try_send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use panoply_contract::testing::{FixedClock, noon};
    use serde_json::Value;
    use std::sync::Mutex;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(events: impl FnOnce()) -> Vec<Value> {
        let memory = Memory::default();
        let (writer, guard) = queue(memory.clone()).unwrap();
        let layer = JsonLines { writer, clock: FixedClock::at(noon()) };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), events);
        let (written, wait) = mpsc::sync_channel(1);
        guard.queue.send(Entry::Flush(written)).unwrap();
        wait.recv_timeout(Duration::from_secs(30)).unwrap();
        let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn an_event_is_one_json_object_whatever_its_fields_hold() {
        let nasty = "quote \" slash \\ line\nnul \0 tab\t ไทย \u{2028}";
        let lines = logged(|| {
            tracing::warn!(text = nasty, number = 5, ratio = 0.5, yes = true, "it's done");
        });
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["text"], nasty);
        assert_eq!(lines[0]["level"], "WARN");
        assert_eq!(lines[0]["message"], "it's done");
        assert_eq!(
            (&lines[0]["number"], &lines[0]["ratio"], &lines[0]["yes"]),
            (&5.into(), &0.5.into(), &true.into())
        );
        assert_eq!(lines[0]["ts"], format!("{:.6}", noon()));
    }

    #[test]
    fn lines_keep_their_order() {
        let lines = logged(|| (0..1000).for_each(|number| tracing::info!(number)));
        let numbers: Vec<u64> = lines.iter().map(|line| line["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
    }
}
