//! `notifications/progress` for calls with a progress token.
//!
//! A handler must never wait for a slow client: updates pass through a bounded queue, and those
//! that do not fit are dropped. Queued updates are sent before the reply.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use panoply_contract::context::ProgressSink;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::context::Surface;

const QUEUE_CAPACITY: usize = 64;
/// Maximum delay of the reply by the last updates.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Progress channel of one call.
pub(crate) struct Progress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    sender: mpsc::Sender<Update>,
    updates: mpsc::Receiver<Update>,
}

struct Update {
    done: u64,
    total: Option<u64>,
    message: String,
}

impl Progress {
    /// Opens a channel if the request carries a progress token.
    pub(crate) fn requested(request: &RequestContext<RoleServer>) -> Option<Self> {
        let token = request.meta.get_progress_token()?;
        let (sender, updates) = mpsc::channel(QUEUE_CAPACITY);
        Some(Self { peer: request.peer.clone(), token, sender, updates })
    }

    /// Returns the sink for the handler's updates.
    pub(crate) fn sink(&self) -> Arc<dyn ProgressSink> {
        Arc::new(Sink(self.sender.clone()))
    }

    /// Runs a call and forwards its progress.
    pub(crate) async fn while_running<T>(
        self,
        surface: &Surface,
        call: impl Future<Output = T>,
    ) -> T {
        let ended = CancellationToken::new();
        let mut call = pin!(call);
        let mut forwarding = pin!(forward(self.peer, self.token, self.updates, ended.clone()));
        let outcome = tokio::select! {
            biased;
            outcome = &mut call => outcome,
            () = &mut forwarding => return call.await,
        };
        ended.cancel();
        // On timeout the reply is sent without the remaining updates.
        surface.deliver(FLUSH_TIMEOUT, forwarding).await;
        outcome
    }
}

struct Sink(mpsc::Sender<Update>);

impl ProgressSink for Sink {
    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        // The queue is full: the client is slow and receives a later update instead.
        let _dropped = self.0.try_send(Update { done, total, message: message.to_owned() });
    }
}

async fn forward(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut updates: mpsc::Receiver<Update>,
    ended: CancellationToken,
) {
    let mut last = None;
    loop {
        let update = tokio::select! {
            biased;
            update = updates.recv() => update,
            () = ended.cancelled() => None,
        };
        let Some(update) = update else { return };
        // The protocol requires strictly increasing values.
        if last.is_some_and(|last| update.done <= last) {
            continue;
        }
        last = Some(update.done);
        if peer.notify_progress(update.notification(token.clone())).await.is_err() {
            return;
        }
    }
}

impl Update {
    #[expect(clippy::cast_precision_loss, reason = "the protocol counts in doubles")]
    fn notification(self, token: ProgressToken) -> ProgressNotificationParam {
        let mut notification = ProgressNotificationParam::new(token, self.done as f64);
        notification.total = self.total.map(|total| total as f64);
        notification.message = (!self.message.is_empty()).then_some(self.message);
        notification
    }
}
