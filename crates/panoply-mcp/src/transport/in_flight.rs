//! The requests of a session that wait for their reply.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The ids that wait for a reply, each with what stops the work on it.
#[derive(Default)]
pub(super) struct InFlight {
    waiting: Mutex<Waiting>,
    ended: Notify,
}

#[derive(Default)]
struct Waiting {
    all: HashMap<RequestId, CancellationToken>,
    /// Those whose reply is a list or a document.
    lists: HashSet<RequestId>,
}

impl Waiting {
    fn remove(&mut self, id: &RequestId) -> Option<CancellationToken> {
        if !self.lists.is_empty() {
            self.lists.remove(id);
        }
        self.all.remove(id)
    }
}

impl InFlight {
    /// Notes a request and gives what will be cancelled with it; an id that is there already is
    /// refused.
    pub(super) fn begin(&self, id: &RequestId) -> Option<CancellationToken> {
        let mut waiting = self.waiting();
        if waiting.all.contains_key(id) {
            return None;
        }
        let cancel = CancellationToken::new();
        waiting.all.insert(id.clone(), cancel.clone());
        Some(cancel)
    }

    /// The same for a request whose reply is a list or a document.
    pub(super) fn begin_list(&self, id: &RequestId) -> Option<()> {
        self.begin(id)?;
        self.waiting().lists.insert(id.clone());
        Some(())
    }

    /// Forgets a request that was answered.
    pub(super) fn end(&self, id: &RequestId) {
        self.waiting().remove(id);
        self.ended.notify_one();
    }

    /// Forgets a request that nobody wants any more, and stops the work on it.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(cancel) = self.waiting().remove(id) {
            cancel.cancel();
        }
        self.ended.notify_one();
    }

    /// Waits until there are fewer than `limit`, and fewer than `lists` of those with large replies.
    pub(super) async fn wait_below(&self, limit: usize, lists: usize) {
        let is_full = |waiting: MutexGuard<'_, Waiting>| {
            waiting.all.len() >= limit || waiting.lists.len() >= lists
        };
        while is_full(self.waiting()) {
            self.ended.notified().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
