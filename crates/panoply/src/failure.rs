//! Errors of commands, with hint and exit status.

use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use panoply_contract::registry::nearest;
use panoply_store::StoreError;

/// Failure of a command: message and hint.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
    store: Option<Arc<StoreError>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Usage error: status 2, like clap's own errors.
    Usage,
    /// Runtime error: status 1.
    Work,
}

impl Failure {
    /// Creates a usage error: invalid command line or settings; status 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, message: message.into(), hint: None, store: None }
    }

    /// Creates a runtime error; status 1.
    pub fn work(message: impl Into<String>) -> Self {
        Self { kind: Kind::Work, message: message.into(), hint: None, store: None }
    }

    /// Creates a usage error for an unknown name, with the most similar known name as the hint.
    pub fn unknown<'a>(
        what: &str,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
        otherwise: &str,
    ) -> Self {
        let shown: String = name.chars().take(100).collect();
        let failure = Self::usage(format!("there is no {what} `{shown}`"));
        match nearest(name, candidates.into_iter()).first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(otherwise),
        }
    }

    /// Sets the hint; it starts with a verb.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Attaches the underlying store error.
    #[must_use]
    pub fn of_store(mut self, error: impl Into<Arc<StoreError>>) -> Self {
        self.store = Some(error.into());
        self
    }

    /// The underlying store error.
    pub fn store(&self) -> Option<&Arc<StoreError>> {
        self.store.as_ref()
    }

    /// Whether this is a usage error.
    pub fn is_usage(&self) -> bool {
        self.kind == Kind::Usage
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The hint.
    pub fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Exit status.
    pub fn status(&self) -> ExitCode {
        match self.kind {
            Kind::Usage => ExitCode::from(2),
            Kind::Work => ExitCode::FAILURE,
        }
    }

    /// Prints the failure to standard error and returns the exit status.
    pub fn report(&self) -> ExitCode {
        // Standard error may be closed; the exit status remains.
        let _ = writeln!(anstream::stderr(), "{self}");
        self.status()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::out::{BAD, FAINT};
        write!(f, "{BAD}error:{BAD:#} {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n{FAINT}hint:{FAINT:#} {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_name_is_suggested() {
        let near = Failure::unknown("pack", "rmff", ["cgt", "rmf"], "list them");
        assert_eq!(near.what_to_do(), Some("did you mean `rmf`?"));
        let far = Failure::unknown("pack", "zzzzzz", ["cgt", "rmf"], "list them");
        assert_eq!(far.what_to_do(), Some("list them"));
    }
}
