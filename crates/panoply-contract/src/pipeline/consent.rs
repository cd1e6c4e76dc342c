//! Obtains user consent for a change that the caller lacks the permission for.
//!
//! Steps: replay a known idempotency key without asking; build the question in the pack's lane,
//! within the tool's deadline; wait for the user outside lane and deadline, with a separate
//! timeout; record the answer; run the change like any other. The claim of the idempotency key is
//! held throughout, so that a retry does not ask again.

use std::sync::Arc;

use serde_json::json;

use super::{Call, Outcome, execute, mutate, within};
use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::consent::{Answer, Consent, ConsentRule, Question};
use crate::error::{ErrorKind, ToolError};
use crate::mutation::Claim;

/// Tool name of a question in the audit log; its row has the trace id of the call.
const AUDIT_NAME: &str = "elicitation/create";

/// Result of obtaining consent.
pub(super) enum Obtained {
    /// The stored reply for the idempotency key.
    Replay(Outcome),
    /// The call with the consent, and its claim.
    Consent(Arc<Call>, Option<Claim>),
}

/// Obtains consent or returns the refusal.
pub(super) async fn obtain(
    call: &Arc<Call>,
    claim: Option<Claim>,
) -> Result<Obtained, Arc<ToolError>> {
    let Some(rule) = call.entry().handler.consent_rule() else {
        return Err(ToolError::system("a tool without a consent rule").into());
    };
    let (question, claim) = match prepare(call, claim).await? {
        Prepared::Replay(outcome) => return Ok(Obtained::Replay(outcome)),
        Prepared::Ask(question, claim) => (question, claim),
    };
    let partition = &call.cx.caller.partition;
    let Some(_open) = call.kernel.open_questions.open(partition) else {
        return Err(already_asking().into());
    };
    let answer = ask(call, &question).await?;
    let refused = refusal(answer, rule);
    if answer != Answer::Deferred {
        record(call, &question, answer, refused.as_ref()).await?;
    }
    if let Some(error) = refused {
        return Err(error.into());
    }
    let mut agreed = Call::clone(call);
    Arc::make_mut(&mut agreed.cx).consent = Some(Consent::to(&question));
    Ok(Obtained::Consent(Arc::new(agreed), claim))
}

enum Prepared {
    Replay(Outcome),
    Ask(Question, Option<Claim>),
}

async fn prepare(call: &Arc<Call>, claim: Option<Claim>) -> Result<Prepared, Arc<ToolError>> {
    let spec = call.entry().spec;
    let own = Arc::clone(call);
    let work = async move {
        Ok(match mutate::replay(&own, claim.as_ref()).await? {
            Some(outcome) => Prepared::Replay(outcome),
            None => Prepared::Ask(execute::question(&own)?, claim),
        })
    };
    let Some(lane) = call.kernel.lane(call.entry()) else {
        return within(&call.cx, spec.name, spec.deadline(), work).await;
    };
    within(&call.cx, spec.name, spec.deadline(), async { lane.run(work).await? }).await
}

async fn ask(call: &Call, question: &Question) -> Result<Answer, ToolError> {
    let Some(elicitor) = &call.cx.elicitor else { return Ok(Answer::Undelivered) };
    tokio::select! {
        biased;
        answer = elicitor.ask(question.clone(), call.kernel.settings.consent_time) => Ok(answer),
        () = call.cx.cancel.cancelled() => Err(execute::cancelled()),
    }
}

/// The error for every answer except approval.
fn refusal(answer: Answer, rule: &ConsentRule) -> Option<ToolError> {
    let forbidden = |code: &'static str, message: &str| {
        let error = ToolError::new(ErrorKind::Forbidden, code, message.to_owned());
        Some(error.hint(rule.other_ways))
    };
    match answer {
        Answer::Accepted => None,
        Answer::Declined => forbidden("APPROVAL_DECLINED", "the person declined; nothing changed"),
        Answer::Cancelled => forbidden(
            "APPROVAL_CANCELLED",
            "the person closed the question without an answer; nothing changed",
        ),
        Answer::Unanswered => forbidden(
            "APPROVAL_UNANSWERED",
            "the question was not answered in time; nothing changed",
        ),
        Answer::Undelivered => forbidden(
            "APPROVAL_UNDELIVERED",
            "the client could not show the question to a person; nothing changed",
        ),
        Answer::Deferred => forbidden(
            "INPUT_REQUIRED",
            "a person has to be asked first; send the call again with the answer",
        ),
        Answer::Stale => Some(stale()),
    }
}

/// The displayed data are outdated.
fn stale() -> ToolError {
    ToolError::conflict(
        "APPROVAL_STALE",
        "what the person was shown has changed since, or the answer is too old; nothing changed",
    )
    .hint("call again: the person is asked about what there is now")
}

fn already_asking() -> ToolError {
    ToolError::conflict("APPROVAL_PENDING", "a question of this caller is still open")
        .hint("wait until the person has answered it, then call again")
}

/// Audit row of a question: fingerprints of question and answer. It is durable before the change
/// runs, so that every approval is recorded.
async fn record(
    call: &Call,
    question: &Question,
    answer: Answer,
    refused: Option<&ToolError>,
) -> Result<(), ToolError> {
    let asked = json!({
        "tool": call.entry().spec.name,
        "message": question.message,
        "subject": question.subject,
    });
    let (asked, _) = Fingerprint::of(&asked)?;
    let (answered, _) = Fingerprint::of(&json!({"action": action(answer)}))?;
    let elapsed = call.kernel.services.clock.monotonic().saturating_sub(call.started);
    let audit = Audit {
        in_hash: asked.hex(),
        out_hash: answered.hex(),
        latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        seed: asked.seed(),
        status: if refused.is_none() { Status::Ok } else { Status::Error },
    };
    let entry = AuditEntry {
        call_id: None,
        tool: AUDIT_NAME.into(),
        ..call.audit_entry(audit, refused, true)
    };
    call.kernel.services.audit.append(entry).await
}

const fn action(answer: Answer) -> &'static str {
    match answer {
        Answer::Accepted => "accept",
        Answer::Declined => "decline",
        Answer::Cancelled => "cancel",
        Answer::Unanswered | Answer::Undelivered | Answer::Deferred | Answer::Stale => "none",
    }
}
