//! What commands print: colours only where a person looks, and no panic when nobody reads.
//!
//! `panoply tools | head -1` closes our standard output early. That is not an error: the rest
//! is not wanted, so it is not written.

use std::fmt::Display;
use std::io::{self, IsTerminal, StdoutLock, Write};

use anstream::AutoStream;
use clap::builder::styling::{AnsiColor, Style};

use crate::failure::Failure;

/// Headings and names.
pub const BOLD: Style = Style::new().bold();
/// What matters less.
pub const FAINT: Style = Style::new().dimmed();
/// What is well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What needs a look.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// What is wrong.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Standard output, held by one command.
pub struct Out {
    stream: AutoStream<StdoutLock<'static>>,
    reader_gone: bool,
}

impl Out {
    /// Takes standard output. anstream leaves colours out when it is not a terminal, and when
    /// `NO_COLOR` or a dumb terminal says so.
    pub fn new() -> Self {
        Self { stream: AutoStream::auto(io::stdout().lock()), reader_gone: false }
    }

    /// Whether a person looks at it.
    pub fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Writes one line.
    pub fn line(&mut self, text: impl Display) -> Result<(), Failure> {
        self.write(format_args!("{text}\n"))
    }

    /// Writes a value as indented JSON.
    pub fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::work(format!("cannot be written as JSON: {error}")))?;
        self.line(text)
    }

    /// Writes text as it is.
    pub fn write(&mut self, text: impl Display) -> Result<(), Failure> {
        if self.reader_gone {
            return Ok(());
        }
        self.checked(|stream| write!(stream, "{text}"))
    }

    /// To be called at the end: a full disk shows itself only here.
    pub fn finish(mut self) -> Result<(), Failure> {
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

/// Says something to the person who started us, on standard error.
pub fn notice(text: impl Display) {
    // Nobody may be listening; that must not stop the work.
    let _ = writeln!(anstream::stderr(), "{text}");
}
