//! Multi-round-trip elicitation since 2026-07-28 (SEP-2322): the result requests input, and a
//! second call carries the answers. The server holds no state between the two.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::clock::Clock;
use panoply_contract::consent::{Answer, Elicitor, Question};
use rmcp::model::{InputRequiredResult, InputResponses};
use serde_json::{Map, Value, json};

use super::signed_state::StateSigner;
use super::{form, parse_answer};

/// Key of the consent question in `inputRequests`.
const KEY: &str = "consent";

/// Elicitation state of one call.
pub(crate) struct RoundTrip {
    signer: Arc<StateSigner>,
    clock: Arc<dyn Clock>,
    partition: String,
    responses: Option<InputResponses>,
    state: Option<String>,
    /// Replaces the result of the call.
    required: Mutex<Option<InputRequiredResult>>,
}

impl RoundTrip {
    pub(crate) fn new(
        signer: Arc<StateSigner>,
        clock: Arc<dyn Clock>,
        partition: String,
        responses: Option<InputResponses>,
        state: Option<String>,
    ) -> Self {
        Self { signer, clock, partition, responses, state, required: Mutex::default() }
    }

    /// Takes the input-required result, if the call needs input.
    pub(crate) fn take_required(&self) -> Option<InputRequiredResult> {
        self.required.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn answer(&self, question: &Question, limit: Duration) -> Answer {
        // Bound to caller, subject and message: the state of another question does not verify.
        let bound = format!("{}\n{}\n{}", self.partition, question.subject, question.message);
        let now = self.clock.now().as_second();
        match (&self.responses, &self.state) {
            (Some(responses), Some(state)) => {
                let expiry = self.signer.verify(state, &bound).and_then(|text| text.parse().ok());
                match (expiry, responses.get(KEY)) {
                    (Some(expiry), Some(answer)) if now < expiry => parse_answer(answer),
                    (Some(_), None) => Answer::Undelivered,
                    (Some(_) | None, _) => Answer::Stale,
                }
            }
            _ => {
                let limit = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
                let state = self.signer.sign(&now.saturating_add(limit).to_string(), &bound);
                let requests = Map::from_iter([(KEY.to_owned(), form(question))]);
                let required = required(requests, state).ok();
                let answer = required.as_ref().map_or(Answer::Undelivered, |_| Answer::Deferred);
                *self.required.lock().unwrap_or_else(PoisonError::into_inner) = required;
                answer
            }
        }
    }
}

impl Elicitor for RoundTrip {
    fn ask(&self, question: Question, limit: Duration) -> BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(self.answer(&question, limit)))
    }
}

/// Builds an input-required result: requests by key, and the state to return.
pub(crate) fn required(
    requests: Map<String, Value>,
    state: Option<String>,
) -> serde_json::Result<InputRequiredResult> {
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let (Some(state), Some(fields)) = (state, result.as_object_mut()) {
        fields.insert("requestState".to_owned(), state.into());
    }
    serde_json::from_value(result)
}

#[cfg(test)]
mod tests {
    use panoply_contract::testing::{FixedClock, noon};

    use super::*;

    fn question(subject: &str) -> Question {
        Question { message: "Approve 1 card?".to_owned(), subject: subject.to_owned() }
    }

    #[test]
    fn answer_is_bound_to_caller_and_question_and_expires() {
        let (signer, clock) = (Arc::new(StateSigner::random()), FixedClock::at(noon()));
        let limit = Duration::from_secs(60);
        let round = |partition: &str, state: Option<String>, action: Option<&str>| {
            let responses = action
                .map(|action| InputResponses::from([(KEY.to_owned(), json!({"action": action}))]));
            let clock: Arc<dyn Clock> = clock.clone();
            RoundTrip::new(Arc::clone(&signer), clock, partition.to_owned(), responses, state)
        };
        let first = round("key:a", None, None);
        assert_eq!(first.answer(&question("s"), limit), Answer::Deferred);
        let required = first.take_required().unwrap();
        let state = required.request_state.clone();
        let shown = serde_json::to_value(&required.input_requests).unwrap();
        assert_eq!(shown[KEY]["params"]["message"], "Approve 1 card?");
        let later = |partition, action, subject| {
            round(partition, state.clone(), Some(action)).answer(&question(subject), limit)
        };
        assert_eq!(later("key:a", "accept", "s"), Answer::Accepted);
        assert_eq!(later("key:a", "decline", "s"), Answer::Declined);
        assert_eq!(later("key:a", "accept", "changed"), Answer::Stale);
        assert_eq!(later("key:b", "accept", "s"), Answer::Stale);
        // An answer without state is ignored, and the question is asked.
        assert_eq!(
            round("key:a", None, Some("accept")).answer(&question("s"), limit),
            Answer::Deferred
        );
        clock.advance(limit);
        assert_eq!(later("key:a", "accept", "s"), Answer::Stale);
    }
}
