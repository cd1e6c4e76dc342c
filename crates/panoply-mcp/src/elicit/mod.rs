//! Elicitation: questions to the user, in each form that the protocol versions define.
//!
//! - Over stdio the server sends `elicitation/create` and waits for the response.
//! - Over HTTP before 2026-07-28 the request is sent on the event stream of the call, and the
//!   response arrives as a separate POST ([`pending`]).
//! - Since 2026-07-28 the result of the call requests input, and the client calls again with the
//!   answer ([`round_trip`]).
//!
//! The contract is independent of the form: it passes a [`Question`] and gets an [`Answer`].

pub(crate) mod pending;
pub(crate) mod round_trip;
pub(crate) mod session_id;
pub(crate) mod signed_state;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::consent::{Answer, Elicitor, Question};
use rmcp::model::{CallToolRequestParams, ClientCapabilities, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::context::{RequestInfo, Surface};
use crate::server::Inner;

use round_trip::RoundTrip;

/// Attaches an elicitor to a call handled by rmcp, if it may need consent and the client can ask.
pub(crate) fn attach(
    server: &Inner,
    info: &mut RequestInfo<'_>,
    request: &mut CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) {
    if !server.needs_consent(&request.name, info.parts)
        || !context.client_capabilities().as_ref().is_some_and(supports_forms)
    {
        return;
    }
    let is_stateless = info.version.as_ref().is_some_and(|version| !version.has_initialize());
    if is_stateless {
        let partition = info.parts.and_then(crate::context::partition).unwrap_or_default();
        let round_trip = Arc::new(RoundTrip::new(
            Arc::clone(&server.signer),
            Arc::clone(server.kernel.clock()),
            partition,
            request.input_responses.take(),
            request.request_state.take(),
        ));
        info.elicitor = Some(Arc::clone(&round_trip) as Arc<dyn Elicitor>);
        info.round_trip = Some(round_trip);
    } else if let Surface::Lines(session) = &server.surface {
        let (peer, ending) = (context.peer.clone(), session.ending.clone());
        info.elicitor = Some(Arc::new(SessionElicitor { peer, ending }));
    }
}

/// Whether a client supports forms. An empty object means forms: 2025-06-18 has no other mode.
pub(crate) fn supports_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities
        .elicitation
        .as_ref()
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// Builds `elicitation/create` for a yes/no question: a form without fields.
fn form(question: &Question) -> Value {
    let schema = json!({"type": "object", "properties": {}});
    let params = json!({"mode": "form", "message": question.message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

/// Maps the result of `elicitation/create`.
fn parse_answer(result: &Value) -> Answer {
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => Answer::Accepted,
        Some("decline") => Answer::Declined,
        Some("cancel") => Answer::Cancelled,
        Some(_) | None => Answer::Undelivered,
    }
}

/// Elicits within a bidirectional session.
struct SessionElicitor {
    peer: Peer<RoleServer>,
    /// Cancelled when the input has ended: no answer can arrive.
    ending: CancellationToken,
}

impl Elicitor for SessionElicitor {
    fn ask(&self, question: Question, limit: Duration) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let asked = request(&self.peer, form(&question), limit);
            let asked = tokio::select! {
                biased;
                asked = asked => asked,
                () = self.ending.cancelled() => return Answer::Undelivered,
            };
            match asked {
                Ok(result) => parse_answer(&result),
                Err(Unanswered::InTime) => Answer::Unanswered,
                Err(Unanswered::Failed(reason)) => {
                    tracing::warn!(reason, "elicitation failed");
                    Answer::Undelivered
                }
            }
        })
    }
}

/// Failure of a request to the client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// Timed out; the client received a cancellation.
    #[error("timed out")]
    InTime,
    /// The client returned an error or disconnected.
    #[error("{0}")]
    Failed(String),
}

/// Sends a request to the client and waits for its result.
pub(crate) async fn request(
    peer: &Peer<RoleServer>,
    request: Value,
    limit: Duration,
) -> Result<Value, Unanswered> {
    let failed = |error: &dyn std::fmt::Display| Unanswered::Failed(error.to_string());
    let request: ServerRequest = serde_json::from_value(request).map_err(|error| failed(&error))?;
    let options = PeerRequestOptions::with_timeout(limit);
    let sent = peer.send_cancellable_request(request, options).await;
    let sent = sent.map_err(|error| failed(&error))?;
    match sent.await_response().await {
        Ok(result) => serde_json::to_value(result).map_err(|error| failed(&error)),
        Err(ServiceError::Timeout { .. }) => Err(Unanswered::InTime),
        Err(error) => Err(failed(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_supports_forms_unless_it_announces_url_mode_only() {
        let cases = [
            (json!({}), false),
            (json!({"sampling": {}}), false),
            (json!({"elicitation": {}}), true),
            (json!({"elicitation": {"form": {}}}), true),
            (json!({"elicitation": {"form": {}, "url": {}}}), true),
            (json!({"elicitation": {"url": {}}}), false),
        ];
        for (capabilities, expected) in cases {
            let parsed: ClientCapabilities = serde_json::from_value(capabilities.clone()).unwrap();
            assert_eq!(supports_forms(&parsed), expected, "{capabilities}");
        }
    }

    #[test]
    fn only_a_plain_accept_is_consent() {
        let cases = [
            (json!({"action": "accept"}), Answer::Accepted),
            (json!({"action": "accept", "content": {}}), Answer::Accepted),
            (json!({"action": "decline"}), Answer::Declined),
            (json!({"action": "cancel"}), Answer::Cancelled),
            (json!({"action": "ACCEPT"}), Answer::Undelivered),
            (json!({"action": true}), Answer::Undelivered),
            (json!({}), Answer::Undelivered),
            (json!(null), Answer::Undelivered),
        ];
        for (result, expected) in cases {
            assert_eq!(parse_answer(&result), expected, "{result}");
        }
    }
}
