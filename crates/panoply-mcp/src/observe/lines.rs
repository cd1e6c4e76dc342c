//! Log setup: JSON lines or text on standard error.
//!
//! A call must not wait for the log reader, so lines pass through a queue with its own writer
//! thread. Dropping the [`LogGuard`] flushes the queue; hold it in `main` until the end.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use panoply_contract::clock::Clock;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::queue::{self, LogGuard, QueueWriter};

/// Log format.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// One JSON object per line, for programs.
    #[default]
    Json,
    /// For people.
    Text,
}

/// Log settings.
pub struct LogSettings {
    /// Format of the lines.
    pub format: LogFormat,
    /// Filter in the syntax of `RUST_LOG`: `info`, or `warn,panoply=debug`.
    pub filter: String,
    /// Clock for the timestamps.
    pub clock: Arc<dyn Clock>,
}

/// Log setup failure.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter is not in the syntax of `RUST_LOG`.
    #[error("invalid log filter: {0}; write `info`, or `warn,panoply=debug`")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// The process already has a log.
    #[error("the log has already been started")]
    Started,
    /// The writer thread could not be started.
    #[error("cannot start the log thread")]
    Thread(#[from] io::Error),
}

/// rmcp logs each failed call and each disconnect as a warning or error; the call log records
/// both with more detail.
const QUIET_TARGETS: &str = "rmcp=off";

/// Starts the log of this process.
pub fn start(settings: LogSettings) -> Result<LogGuard, LogError> {
    let filter = if settings.filter.contains("rmcp") {
        EnvFilter::try_new(&settings.filter)?
    } else {
        EnvFilter::try_new(format!("{},{QUIET_TARGETS}", settings.filter))?
    };
    let (writer, guard) = queue::start(io::stderr())?;
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

/// Formats an event as one JSON object. Hand-written because it runs twice in every call.
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
        self.writer.send(line.0.as_bytes());
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

/// Writes a JSON string. Control characters are escaped, so an event stays on one line.
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

#[cfg(test)]
mod tests {
    use super::queue::tests::Memory;
    use super::*;
    use panoply_contract::testing::{FixedClock, noon};
    use serde_json::Value;

    fn logged(events: impl FnOnce()) -> Vec<Value> {
        let memory = Memory::default();
        let (writer, guard) = queue::start(memory.clone()).unwrap();
        let layer = JsonLines { writer, clock: FixedClock::at(noon()) };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), events);
        guard.flush_now();
        let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn every_event_is_one_json_object() {
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
}
