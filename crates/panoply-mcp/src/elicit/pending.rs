//! Elicitation over HTTP before 2026-07-28: the request is sent on the event stream of the call,
//! and the response arrives as a separate POST.
//!
//! A response is accepted only from the asked caller, under an unguessable id. It must reach the
//! process that asked: a load balancer must pin a client (`Mcp-Session-Id`) to one replica.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::consent::{Answer, Elicitor, Question};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{form, parse_answer};

/// Questions without a response yet.
#[derive(Default)]
pub(crate) struct Pending(Mutex<HashMap<String, PendingQuestion>>);

struct PendingQuestion {
    partition: String,
    result: oneshot::Sender<Option<Value>>,
}

/// JSON-RPC response of a client.
#[derive(Deserialize)]
struct Response {
    id: String,
    result: Option<Value>,
    error: Option<IgnoredAny>,
    method: Option<IgnoredAny>,
}

impl Pending {
    /// Creates an elicitor for one call, and the channel of the messages to send for it.
    pub(crate) fn elicitor(
        self: &Arc<Self>,
        partition: String,
    ) -> (Arc<dyn Elicitor>, mpsc::UnboundedReceiver<Value>) {
        let (outgoing, messages) = mpsc::unbounded_channel();
        let pending = Arc::clone(self);
        (Arc::new(StreamElicitor { pending, partition, outgoing }), messages)
    }

    /// Delivers a response; returns false if no question of this caller is pending under its id.
    pub(crate) fn take_response(&self, body: &[u8], partition: &str) -> bool {
        if self.lock().is_empty() {
            return false;
        }
        let Ok(response) = serde_json::from_slice::<Response>(body) else { return false };
        if response.method.is_some() || response.result.is_some() == response.error.is_some() {
            return false;
        }
        let mut waiting = self.lock();
        if waiting.get(&response.id).is_none_or(|one| one.partition != partition) {
            return false;
        }
        // The call may have timed out meanwhile; the answer is then dropped.
        waiting.remove(&response.id).is_some_and(|one| one.result.send(response.result).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, PendingQuestion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Elicits on the event stream of one call.
struct StreamElicitor {
    pending: Arc<Pending>,
    partition: String,
    outgoing: mpsc::UnboundedSender<Value>,
}

impl Elicitor for StreamElicitor {
    fn ask(&self, question: Question, limit: Duration) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let id = format!("elicit-{}", Uuid::new_v4());
            let (result, answered) = oneshot::channel();
            let waiting = PendingQuestion { partition: self.partition.clone(), result };
            self.pending.lock().insert(id.clone(), waiting);
            let _forget = RemoveOnDrop { pending: &self.pending, id: &id };
            let mut message = form(&question);
            if let Some(fields) = message.as_object_mut() {
                fields.insert("jsonrpc".to_owned(), "2.0".into());
                fields.insert("id".to_owned(), id.as_str().into());
            }
            if self.outgoing.send(message).is_err() {
                return Answer::Undelivered;
            }
            match tokio::time::timeout(limit, answered).await {
                Ok(Ok(Some(result))) => parse_answer(&result),
                Ok(Ok(None) | Err(_)) => Answer::Undelivered,
                Err(_elapsed) => {
                    let params = json!({"requestId": id, "reason": "no answer in time"});
                    let cancelled = json!({
                        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
                    });
                    // The client may have disconnected.
                    let _gone = self.outgoing.send(cancelled);
                    Answer::Unanswered
                }
            }
        })
    }
}

/// Removes the pending question when its call ends.
struct RemoveOnDrop<'a> {
    pending: &'a Pending,
    id: &'a str,
}

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        self.pending.lock().remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn response_is_accepted_once_and_only_from_the_asked_caller() {
        let pending = Arc::new(Pending::default());
        let (elicitor, mut messages) = pending.elicitor("key:a".to_owned());
        let question = Question { message: "Approve?".to_owned(), subject: "s".to_owned() };
        let asking =
            tokio::spawn(async move { elicitor.ask(question, Duration::from_secs(60)).await });
        let asked = messages.recv().await.unwrap();
        assert_eq!(asked["params"]["message"], "Approve?");
        let response =
            |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}});
        let good = response(&asked["id"]).to_string();
        let wrong = [
            response(&json!("elicit-0")).to_string(),
            response(&json!(1)).to_string(),
            json!({"jsonrpc": "2.0", "id": asked["id"]}).to_string(),
            json!({"id": asked["id"], "method": "ping", "result": {"action": "accept"}})
                .to_string(),
            "not JSON".to_owned(),
        ];
        for body in &wrong {
            assert!(!pending.take_response(body.as_bytes(), "key:a"), "{body}");
        }
        assert!(!pending.take_response(good.as_bytes(), "key:b"));
        assert!(pending.take_response(good.as_bytes(), "key:a"));
        assert!(!pending.take_response(good.as_bytes(), "key:a"));
        assert_eq!(asking.await.unwrap(), Answer::Accepted);
    }

    #[tokio::test]
    async fn unanswered_question_times_out_and_is_cancelled() {
        let pending = Arc::new(Pending::default());
        let (elicitor, mut messages) = pending.elicitor("key:a".to_owned());
        let question = Question { message: "Approve?".to_owned(), subject: "s".to_owned() };
        let answer = elicitor.ask(question, Duration::from_millis(20)).await;
        assert_eq!(answer, Answer::Unanswered);
        let asked = messages.recv().await.unwrap();
        let cancelled = messages.recv().await.unwrap();
        assert_eq!(cancelled["params"]["requestId"], asked["id"]);
        assert!(pending.lock().is_empty());
    }
}
