//! `end-session`: ends a study session and returns its summary.

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::pluralize;
use super::service::{Change, NoemaService, exact_evidence};
use super::specs::MUTATION;
use super::wire::SessionId;
use crate::error::NoemaError;
use crate::numbers::{round_to, to_f64};
use crate::queue;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "end-session",
    title: "End a session",
    description: Description {
        does: "Ends a study session and summarises it: reviews, share recalled, time and cards remaining today.",
        when: "Use this when the learner stops or the queue is empty.",
        returns: "Returns the summary of the session and the cards remaining.",
        asks: &["I am done for today"],
    },
    permissions: &["sessions:update"],
    data: &["sessions"],
    examples: &[
        Example { shows: "the sample session", params: r##"{"sessionId": "session_789"}"##, expect: Expect::Data(r##"{"sessionId": "session_789"}"##) },
        Example { shows: "a session that does not exist", params: r##"{"sessionId": "session_1"}"##, expect: Expect::Error("SESSION_NOT_FOUND") },
    ],
    tags: &["learning", "analytics"],
    ..MUTATION
}
.checked();

/// The session to end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The session.
    session_id: SessionId,
}

/// Summary of the session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The session.
    session_id: SessionId,
    /// Number of reviews.
    answered: u32,
    /// Share of reviews that were recalled; null without reviews.
    recalled: Option<f64>,
    /// Answer time in minutes.
    minutes: f64,
    /// Cards remaining today.
    left: usize,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let id = params.session_id.domain();
    service.change(
        cx,
        SPEC.name,
        "ended a session",
        |writer, now| {
            let mut session = writer
                .session(id)?
                .filter(|session| session.ended.is_none())
                .ok_or(NoemaError::SessionNotFound(id))?;
            session.ended = Some(now);
            writer.put_session(&session)?;
            let left = queue::build(writer, session.deck, now)?.at(now).len();
            Ok((session, left))
        },
        |(session, left), change| {
            let recalled = (session.answered > 0)
                .then(|| round_to(f64::from(session.passed) / f64::from(session.answered), 4));
            let share = recalled
                .map(|share| format!(", {:.0} % recalled", share * 100.0))
                .unwrap_or_default();
            let text = format!(
                "{} answers{share}; {} left for today.",
                session.answered,
                pluralize(left, "card")
            );
            let evidence = exact_evidence("the session").sampled(Sample::Proportion {
                successes: u64::from(session.passed),
                n: u64::from(session.answered),
            });
            let next = NextAction::new("get-progress", json!({}), "see how study goes");
            let output = Output {
                session_id: params.session_id,
                answered: session.answered,
                recalled,
                minutes: round_to(to_f64(session.taken_ms) / 60_000.0, 1),
                left,
                change,
            };
            Ok(Reply::new(output, text, evidence).next(next))
        },
    )
}
