//! What can go wrong, for three readers: the agent (code, hint), the person (message), us (cause).

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

/// The boxed cause of an error, for the log only.
pub type Cause = Box<dyn Error + Send + Sync>;

/// A call that failed. Made by the domain's translation or by the pipeline, dressed by the
/// pack's [`Dialect`](crate::dialect::Dialect).
#[derive(Debug)]
pub struct ToolError {
    /// What kind of failure; decides class and whether to retry.
    pub kind: ErrorKind,
    /// A stable code, `UPPER_SNAKE`.
    pub code: Cow<'static, str>,
    /// A sentence for a person: a lower-case fragment that names the offending value.
    pub message: String,
    /// What to do next; starts with a verb.
    pub hint: Option<String>,
    /// Facts that a program can use.
    pub details: Map<String, Value>,
    /// Everything wrong with the input, not only the first thing.
    pub problems: Vec<Problem>,
    /// How long to wait before another try, where waiting helps.
    pub retry_after: Option<Duration>,
    /// For the log, never for the wire.
    pub cause: Option<Cause>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum ErrorKind {
    /// The input breaks the schema or a rule about input.
    Validation,
    /// The input is fine but the domain says no.
    Business,
    /// What was named does not exist.
    NotFound,
    /// It clashes with what is stored or running.
    Conflict,
    /// The caller may not.
    Forbidden,
    /// Too often.
    RateLimited,
    /// The tool no longer exists.
    Removed,
    /// Took too long.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// Our fault.
    System,
    /// The server's storage is damaged, full, read-only or gone: nothing helps until the operator
    /// acts.
    Storage,
}

/// The three classes the contract tells apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorClass {
    /// A problem of the user's input.
    Validation,
    /// A rule of the domain.
    Business,
    /// A problem of the infrastructure.
    System,
}

impl ErrorClass {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Validation, Self::Business, Self::System];

    /// Its name in replies and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Business => "business",
            Self::System => "system",
        }
    }
}

/// One thing wrong with the input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// Where: a JSON pointer into the input; empty for the whole of it.
    pub pointer: String,
    /// What is wrong, in a few words.
    pub message: String,
    /// The value that was seen, shortened.
    pub seen: Value,
    /// What was expected there.
    pub expected: String,
    /// A value that would work there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

impl ErrorKind {
    /// The class this kind belongs to.
    pub const fn class(self) -> ErrorClass {
        match self {
            Self::Validation => ErrorClass::Validation,
            Self::Business
            | Self::NotFound
            | Self::Conflict
            | Self::Forbidden
            | Self::RateLimited
            | Self::Removed
            | Self::Cancelled => ErrorClass::Business,
            Self::Timeout | Self::System | Self::Storage => ErrorClass::System,
        }
    }

    /// Whether the same call may succeed later.
    pub const fn retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Timeout | Self::System)
    }
}

impl ToolError {
    /// An error of any kind.
    pub fn new(
        kind: ErrorKind,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            code: code.into(),
            message: message.into(),
            hint: None,
            details: Map::new(),
            problems: Vec::new(),
            retry_after: None,
            cause: None,
        }
    }

    /// The input breaks a rule.
    pub fn validation(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Validation, code, message)
    }

    /// The domain says no.
    pub fn business(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Business, code, message)
    }

    /// What was named does not exist.
    pub fn not_found(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, code, message)
    }

    /// It clashes with what is stored.
    pub fn conflict(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, code, message)
    }

    /// Our fault. The message is for the log only; the caller gets a fixed one with the trace id.
    pub fn system(message: impl Into<String>) -> Self {
        let cause: Cause = message.into().into();
        Self::new(ErrorKind::System, "INTERNAL_ERROR", "the server failed to answer this call")
            .hint("try again; if it fails again, report the trace id to the operator")
            .cause(cause)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a fact that a program can use.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds one thing wrong with the input.
    #[must_use]
    pub fn problem(mut self, problem: Problem) -> Self {
        self.problems.push(problem);
        self
    }

    /// Adds the cause, for the log.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Says when to try again.
    #[must_use]
    pub const fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// `details` as they go over the wire: with problems and waiting time, `None` when empty.
    pub fn wire_details(&self) -> Option<Value> {
        let mut details = self.details.clone();
        if !self.problems.is_empty() {
            details.insert(
                "problems".to_owned(),
                serde_json::to_value(&self.problems).unwrap_or_default(),
            );
        }
        if let Some(wait) = self.retry_after {
            let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            details.insert("retryAfterMs".to_owned(), millis.into());
        }
        (!details.is_empty()).then_some(Value::Object(details))
    }

    /// The chain of causes, for the log.
    pub fn cause_chain(&self) -> String {
        let mut chain = Vec::new();
        let mut next = self.cause.as_deref().map(|cause| cause as &dyn Error);
        while let Some(cause) = next {
            chain.push(cause.to_string());
            next = cause.source();
        }
        chain.join(": ")
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl Error for ToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_error_keeps_its_cause_off_the_wire() {
        let error = ToolError::system("disk /var/lib/secret.db is full");
        assert!(!error.message.contains("secret"));
        assert_eq!(error.wire_details(), None);
        assert_eq!(error.cause_chain(), "disk /var/lib/secret.db is full");
    }

    #[test]
    fn waiting_time_and_problems_travel_in_the_details() {
        let error = ToolError::new(ErrorKind::RateLimited, "RATE_LIMITED", "too many calls")
            .retry_after(Duration::from_millis(1500));
        assert_eq!(error.wire_details(), Some(serde_json::json!({"retryAfterMs": 1500})));
    }
}
