//! Standard output of commands: colours only on a terminal, and no panic on a closed pipe.
//!
//! `panoply tools | head -1` closes standard output early. That is not an error: the rest is
//! discarded.

use std::fmt::Display;
use std::io::{self, StdoutLock, Write};

use anstream::AutoStream;
use clap::builder::styling::{AnsiColor, Style};

use crate::failure::Failure;

/// Headings and names.
pub(crate) const BOLD: Style = Style::new().bold();
/// Secondary text.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Warnings.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// The message.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Locked standard output.
pub(crate) struct Out {
    stream: AutoStream<StdoutLock<'static>>,
    reader_gone: bool,
}

impl Out {
    /// Locks standard output. anstream strips colours when it is not a terminal, and for `NO_COLOR`
    /// or a dumb terminal.
    pub(crate) fn new() -> Self {
        Self { stream: AutoStream::auto(io::stdout().lock()), reader_gone: false }
    }

    pub(crate) fn line(&mut self, text: impl Display) -> Result<(), Failure> {
        self.write(format_args!("{text}\n"))
    }

    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::work(format!("cannot be written as JSON: {error}")))?;
        self.line(text)
    }

    pub(crate) fn write(&mut self, text: impl Display) -> Result<(), Failure> {
        if self.reader_gone {
            return Ok(());
        }
        self.checked(|stream| write!(stream, "{text}"))
    }

    /// Flushes. Must be called at the end: a full disk is detected only here.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.checked(AutoStream::flush)
    }

    fn checked(
        &mut self,
        write: impl FnOnce(&mut AutoStream<StdoutLock<'static>>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match write(&mut self.stream) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_gone = true;
                Ok(())
            }
            Err(error) => Err(Failure::work(format!("cannot write to standard output: {error}"))),
        }
    }
}

impl Default for Out {
    fn default() -> Self {
        Self::new()
    }
}

/// Prints a message for the user to standard error.
pub(crate) fn notice(text: impl Display) {
    // A closed standard error must not stop the command.
    let _ = writeln!(anstream::stderr(), "{text}");
}
