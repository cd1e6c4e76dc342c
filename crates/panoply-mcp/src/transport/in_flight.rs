//! Requests in flight of a stdio session.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Ids in flight, each with its cancellation token.
#[derive(Default)]
pub(super) struct InFlight {
    waiting: Mutex<Waiting>,
    ended: Notify,
}

#[derive(Default)]
struct Waiting {
    all: HashMap<RequestId, CancellationToken>,
    /// Ids whose reply is a list or a resource.
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
    /// Registers a request and returns its cancellation token; `None` for a duplicate id.
    pub(super) fn begin(&self, id: &RequestId) -> Option<CancellationToken> {
        let mut waiting = self.waiting();
        if waiting.all.contains_key(id) {
            return None;
        }
        let cancel = CancellationToken::new();
        waiting.all.insert(id.clone(), cancel.clone());
        Some(cancel)
    }

    /// The same for a request whose reply is a list or a resource.
    pub(super) fn begin_list(&self, id: &RequestId) -> Option<()> {
        self.begin(id)?;
        self.waiting().lists.insert(id.clone());
        Some(())
    }

    /// Removes an answered request.
    pub(super) fn end(&self, id: &RequestId) {
        self.waiting().remove(id);
        self.ended.notify_one();
    }

    /// Removes a request and cancels its work.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(cancel) = self.waiting().remove(id) {
            cancel.cancel();
        }
        self.ended.notify_one();
    }

    /// Waits until fewer than `limit` requests, and fewer than `lists` with large replies, remain.
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
