//! Progress of a long call, on its way to a client that asked for it.
//!
//! A handler must never wait for a slow client, so updates go through a small queue and
//! those that do not fit are dropped; the last ones leave before the reply does.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use panoply_contract::context::ProgressSink;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::context::Surface;

/// Updates that wait for the client.
const QUEUE_CAPACITY: usize = 64;
/// How long the reply waits for the last updates.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The road from one call to its client.
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
    /// A road, if the request carries a progress token.
    pub(crate) fn requested(request: &RequestContext<RoleServer>) -> Option<Self> {
        let token = request.meta.get_progress_token()?;
        let (sender, updates) = mpsc::channel(QUEUE_CAPACITY);
        Some(Self { peer: request.peer.clone(), token, sender, updates })
    }

    /// Where the handler drops its updates.
    pub(crate) fn sink(&self) -> Arc<dyn ProgressSink> {
        Arc::new(Sink(self.sender.clone()))
    }

    /// Runs a call and passes on its progress.
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
        // A client that does not take them gets the reply all the same.
        surface.deliver(FLUSH_TIMEOUT, forwarding).await;
        outcome
    }
}

struct Sink(mpsc::Sender<Update>);

impl ProgressSink for Sink {
    fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        // A full queue means a slow client, which will see a later update instead.
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
        // The protocol wants each value to be larger than the one before.
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
