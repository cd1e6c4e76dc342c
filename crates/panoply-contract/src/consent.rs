//! Consent of a person: lets a caller without one permission have a change made, once the person
//! at the client has agreed to exactly what was shown.
//!
//! A tool names the permission and asks the question; the transport carries it (in MCP:
//! elicitation). The text is the server's own. What was shown is fixed by a fingerprint, which the
//! handler compares inside the transaction of its change.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;

use crate::permission::Grants;

/// Which permission of a tool a person's consent can stand in for.
#[derive(Clone, Copy, Debug)]
pub struct ConsentRule {
    /// The permission that the caller may lack.
    pub permission: &'static str,
    /// What the caller needs all the same, so that somebody who may only look cannot ask.
    pub needs: &'static [&'static str],
    /// How else a person can have it done; a hint that starts with a verb.
    pub other_ways: &'static str,
}

impl ConsentRule {
    /// Whether consent is all that a caller with these grants lacks of `required`.
    pub fn covers(&self, grants: &Grants, required: &[&str]) -> bool {
        grants.missing(required) == [self.permission] && grants.allow_all(self.needs)
    }
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The whole text, written by the server. Quoted data are marked as such.
    pub message: String,
    /// Fingerprint of everything the change would touch, as it was when it was shown.
    pub subject: String,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The person agreed.
    Accepted,
    /// The person said no.
    Declined,
    /// The person closed the question.
    Cancelled,
    /// Nobody answered in time.
    Unanswered,
    /// The client could not show it.
    Undelivered,
    /// It goes out with the reply to this call; the client calls again with the answer.
    Deferred,
    /// The answer belongs to another question, or what was shown has changed since.
    Stale,
}

/// A way to ask the person at the client. The answer never passes through a tool.
pub trait Elicitor: Send + Sync + 'static {
    /// Asks, and waits for the answer no longer than `limit`.
    fn ask(&self, question: Question, limit: Duration) -> BoxFuture<'_, Answer>;
}

/// The consent that a call was given; made by the pipeline alone.
#[derive(Clone, Debug)]
pub struct Consent {
    subject: Arc<str>,
}

impl Consent {
    pub(crate) fn to(question: &Question) -> Self {
        Self { subject: question.subject.as_str().into() }
    }

    /// The fingerprint of what was shown.
    pub fn subject(&self) -> &str {
        &self.subject
    }
}

/// The callers whose question is open. One at a time each: a person is not asked in parallel.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenQuestions(Arc<Mutex<HashSet<String>>>);

impl OpenQuestions {
    /// Opens the question of a caller until the guard is dropped; `None` while one is open.
    pub(crate) fn open(&self, partition: &str) -> Option<OpenQuestion> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = open.insert(partition.to_owned());
        is_first.then(|| OpenQuestion { all: self.clone(), partition: partition.to_owned() })
    }
}

/// A question that is open.
pub(crate) struct OpenQuestion {
    all: OpenQuestions,
    partition: String,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.partition);
    }
}
