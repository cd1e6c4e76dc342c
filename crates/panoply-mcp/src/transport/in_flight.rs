//! The requests of a session that wait for their reply.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// The ids that wait for a reply.
#[derive(Default)]
pub(super) struct InFlight {
    ids: Mutex<HashSet<RequestId>>,
    ended: Notify,
}

impl InFlight {
    /// Notes a request; an id that is there already is handed back.
    pub(super) fn begin(&self, id: &RequestId) -> Result<(), RequestId> {
        if self.ids().insert(id.clone()) { Ok(()) } else { Err(id.clone()) }
    }

    /// Forgets a request that was answered or cancelled.
    pub(super) fn end(&self, id: &RequestId) {
        self.ids().remove(id);
        self.ended.notify_one();
    }

    /// Waits until there are fewer than `limit`.
    pub(super) async fn wait_below(&self, limit: usize) {
        while self.ids().len() >= limit {
            self.ended.notified().await;
        }
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
