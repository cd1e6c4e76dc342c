//! Errors with three audiences: the agent (code, hint), the user (message), the operator (cause).

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

/// The boxed cause of an error, for the log only.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Error of a call. Created by a pack's error translation or by the pipeline, encoded by the pack's
/// [`Dialect`](crate::dialect::Dialect).
#[derive(Debug)]
pub struct ToolError {
    /// Decides the class and whether to retry.
    pub kind: ErrorKind,
    /// A stable code, `UPPER_SNAKE`.
    pub code: Cow<'static, str>,
    /// Message for the user: a lower-case fragment that names the offending value.
    pub message: String,
    /// Suggested remedy; starts with a verb.
    pub hint: Option<String>,
    /// Machine-readable details.
    pub details: Map<String, Value>,
    /// All problems of the input, not only the first.
    pub problems: Vec<Problem>,
    /// Delay before a retry, where waiting helps.
    pub retry_after: Option<Duration>,
    /// For the log only; never sent to callers.
    pub cause: Option<Cause>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
pub enum ErrorKind {
    /// The input breaks the schema or a rule about input.
    Validation,
    /// The input is valid but violates a domain rule.
    Business,
    /// The named item does not exist.
    NotFound,
    /// Conflicts with stored data or a running call.
    Conflict,
    /// The caller lacks a permission.
    Forbidden,
    /// The rate limit is exceeded.
    RateLimited,
    /// The tool no longer exists.
    Removed,
    /// The deadline passed.
    Timeout,
    /// The caller cancelled.
    Cancelled,
    /// An internal error.
    System,
    /// The server's storage is damaged, full, read-only or missing: the operator must act.
    Storage,
}

/// The three error classes of the contract.
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

/// One problem of the input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// JSON pointer into the input; empty for the whole input.
    pub pointer: String,
    /// Short description.
    pub message: String,
    /// The received value, truncated.
    pub seen: Value,
    /// The expected value, in words.
    pub expected: String,
    /// A valid value.
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

    /// The input is invalid.
    pub fn validation(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Validation, code, message)
    }

    /// A domain rule is violated.
    pub fn business(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Business, code, message)
    }

    /// The named item does not exist.
    pub fn not_found(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, code, message)
    }

    /// Conflicts with stored data.
    pub fn conflict(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, code, message)
    }

    /// An internal error. The message is logged; the caller receives a fixed text.
    pub fn system(message: impl Into<String>) -> Self {
        let cause: Cause = message.into().into();
        Self::new(ErrorKind::System, "INTERNAL_ERROR", "the server failed to answer this call")
            .hint("try again; if it fails again, report the trace id to the operator")
            .cause(cause)
    }

    /// Adds a suggested remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a machine-readable detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a problem of the input.
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

    /// Sets the delay before a retry.
    #[must_use]
    pub const fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// `details` as sent to callers, with problems and retry delay; `None` when empty.
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
    fn the_cause_of_a_system_error_is_not_sent() {
        let error = ToolError::system("disk /var/lib/secret.db is full");
        assert!(!error.message.contains("secret"));
        assert_eq!(error.wire_details(), None);
        assert_eq!(error.cause_chain(), "disk /var/lib/secret.db is full");
    }

    #[test]
    fn details_contain_retry_delay_and_problems() {
        let error = ToolError::new(ErrorKind::RateLimited, "RATE_LIMITED", "too many calls")
            .retry_after(Duration::from_millis(1500));
        assert_eq!(error.wire_details(), Some(serde_json::json!({"retryAfterMs": 1500})));
    }
}
