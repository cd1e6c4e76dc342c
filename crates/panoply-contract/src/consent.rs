//! User consent: lets a caller that lacks one permission make a change after the user at the client
//! has approved exactly what was displayed.
//!
//! A tool declares the permission and phrases the question; the transport delivers it (in MCP:
//! elicitation). The server writes the text. A fingerprint identifies the displayed data; the
//! handler compares it inside the transaction of the change.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;

use crate::permission::Grants;

/// The permission of a tool that user consent can replace.
#[derive(Clone, Copy, Debug)]
pub struct ConsentRule {
    /// The permission that the caller may lack.
    pub permission: &'static str,
    /// Permissions still required, so that read-only callers cannot ask.
    pub needs: &'static [&'static str],
    /// Alternative for the user; a hint that starts with a verb.
    pub other_ways: &'static str,
}

impl ConsentRule {
    /// Whether consent is the only thing these grants lack for `required`.
    pub fn covers(&self, grants: &Grants, required: &[&str]) -> bool {
        grants.missing(required) == [self.permission] && grants.allow_all(self.needs)
    }
}

/// A question for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The whole text, written by the server. Quoted data are marked.
    pub message: String,
    /// Fingerprint of all data the change would touch, as displayed.
    pub subject: String,
}

/// Outcome of a question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// Approved.
    Accepted,
    /// Declined.
    Declined,
    /// Dismissed without an answer.
    Cancelled,
    /// No answer before the timeout.
    Unanswered,
    /// The client could not display it.
    Undelivered,
    /// Sent with the reply to this call; the client repeats the call with the answer.
    Deferred,
    /// The answer belongs to another question, or the data have changed since.
    Stale,
}

/// Asks the user at the client. The answer never passes through a tool.
pub trait Elicitor: Send + Sync + 'static {
    /// Asks and waits at most `limit` for the answer.
    fn ask(&self, question: Question, limit: Duration) -> BoxFuture<'_, Answer>;
}

/// Consent given to a call. Only the pipeline creates it.
#[derive(Clone, Debug)]
pub struct Consent {
    subject: Arc<str>,
}

impl Consent {
    pub(crate) fn to(question: &Question) -> Self {
        Self { subject: question.subject.as_str().into() }
    }

    /// Fingerprint of the displayed data.
    pub fn subject(&self) -> &str {
        &self.subject
    }
}

/// Callers with an open question. One question per caller at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenQuestions(Arc<Mutex<HashSet<String>>>);

impl OpenQuestions {
    /// Registers a question until the guard is dropped; `None` while one is open.
    pub(crate) fn open(&self, partition: &str) -> Option<OpenQuestion> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = open.insert(partition.to_owned());
        is_first.then(|| OpenQuestion { all: self.clone(), partition: partition.to_owned() })
    }
}

/// Guard of an open question.
pub(crate) struct OpenQuestion {
    all: OpenQuestions,
    partition: String,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.partition);
    }
}
