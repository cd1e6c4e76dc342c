//! How far long work is, on one line of a terminal; nothing anywhere else.

use std::io::{self, IsTerminal as _, Write as _};

/// Back to the beginning of the line, with nothing left on it.
const ANEW: &str = "\r\x1b[K";

/// A bar on standard error.
pub(crate) struct Bar {
    what: String,
    shown: bool,
    last: u64,
}

impl Bar {
    /// A bar with these words before it.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), shown: io::stderr().is_terminal(), last: u64::MAX }
    }

    /// Moves it, where the percentage changes.
    pub(crate) fn show(&mut self, done: u64, total: u64) {
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(100).min(100);
        if self.shown && percent != self.last {
            self.last = percent;
            let full = usize::try_from(percent / 5).unwrap_or_default();
            let bar = "=".repeat(full);
            let _ = write!(io::stderr(), "{ANEW}{} [{bar:<20}] {percent} %", self.what);
        }
    }

    /// Moves it under other words.
    pub(crate) fn show_as(&mut self, what: &str, done: u64, total: u64) {
        if self.what != what {
            what.clone_into(&mut self.what);
            self.last = u64::MAX;
        }
        self.show(done, total);
    }

    /// Takes it away.
    pub(crate) fn clear(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "{ANEW}");
        }
    }
}
