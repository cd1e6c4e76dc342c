//! The requests of a session that wait for their reply.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The ids that wait for a reply, each with what stops the work on it.
#[derive(Default)]
pub(super) struct InFlight {
    waiting: Mutex<HashMap<RequestId, CancellationToken>>,
    ended: Notify,
}

impl InFlight {
    /// Notes a request and gives what will be cancelled with it; an id that is there already is
    /// refused.
    pub(super) fn begin(&self, id: &RequestId) -> Option<CancellationToken> {
        let mut waiting = self.waiting();
        if waiting.contains_key(id) {
            return None;
        }
        let cancel = CancellationToken::new();
        waiting.insert(id.clone(), cancel.clone());
        Some(cancel)
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

    /// Waits until there are fewer than `limit`.
    pub(super) async fn wait_below(&self, limit: usize) {
        while self.waiting().len() >= limit {
            self.ended.notified().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
