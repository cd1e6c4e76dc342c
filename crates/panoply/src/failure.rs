//! Why a command could not do its work, and the status the process ends with.

use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use panoply_contract::registry::nearest;
use panoply_store::StoreError;

/// A command that failed: what is wrong, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
    store: Option<Arc<StoreError>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// Asked for something that makes no sense: status 2, as clap's own errors.
    Usage,
    /// Asked for something that did not work: status 1.
    Work,
}

impl Failure {
    /// The command line or the settings are at fault; status 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, message: message.into(), hint: None, store: None }
    }

    /// What was asked for did not work; status 1.
    pub fn work(message: impl Into<String>) -> Self {
        Self { kind: Kind::Work, message: message.into(), hint: None, store: None }
    }

    /// There is no `what` of this name; says which one is nearest.
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

    /// Says what to do about it; starts with a verb.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the error of the file that is behind it.
    #[must_use]
    pub fn of_store(mut self, error: StoreError) -> Self {
        self.store = Some(Arc::new(error));
        self
    }

    /// The error of the file that is behind it.
    pub fn store(&self) -> Option<&Arc<StoreError>> {
        self.store.as_ref()
    }

    /// Whether the command line or the settings are at fault.
    pub fn is_usage(&self) -> bool {
        self.kind == Kind::Usage
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The status of the process.
    pub fn status(&self) -> ExitCode {
        match self.kind {
            Kind::Usage => ExitCode::from(2),
            Kind::Work => ExitCode::FAILURE,
        }
    }

    /// Says it on standard error and gives the status.
    pub fn report(&self) -> ExitCode {
        // Where standard error is closed, the status has to say it all.
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
    fn the_nearest_name_is_offered() {
        let near = Failure::unknown("pack", "rmff", ["cgt", "rmf"], "list them");
        assert_eq!(near.what_to_do(), Some("did you mean `rmf`?"));
        let far = Failure::unknown("pack", "zzzzzz", ["cgt", "rmf"], "list them");
        assert_eq!(far.what_to_do(), Some("list them"));
    }
}
