//! `end-session`: ends a sitting and sums it up: answers, share recalled, time, what is left for today.

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::pluralize;
use super::service::{Change, NoemaService, exact_evidence};
use super::wire::SessionId;
use crate::error::NoemaError;
use crate::numbers::{round_to, to_f64};
use crate::queue;

const SPEC: ToolSpec = ToolSpec {
    name: "end-session",
    title: "End a session",
    description: Description {
        does: "Ends a sitting and sums it up: answers, share recalled, time, what is left for today.",
        when: "Use this when the learner stops or nothing is left.",
        returns: "Returns the sums of the session and what is left.",
        asks: &["I am done for today"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["sessions:update"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["sessions"],
    examples: &[
        Example { shows: "the sample session", params: r##"{"sessionId": "session_789"}"##, expect: Expect::Data(r##"{"sessionId": "session_789", "dryRun": true}"##) },
        Example { shows: "a session that is not there", params: r##"{"sessionId": "session_1"}"##, expect: Expect::Error("SESSION_NOT_FOUND") },
    ],
    tags: &["learning", "analytics"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The session.
    session_id: SessionId,
}

/// The sums.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The session.
    session_id: SessionId,
    /// Answers.
    answered: u32,
    /// Share of answers that were recalled; null without answers.
    recalled: Option<f64>,
    /// Minutes of answering.
    minutes: f64,
    /// Cards left for today.
    left: usize,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct EndSession {
    pub(super) service: NoemaService,
}

impl Tool for EndSession {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.session_id.domain();
        self.service.change(
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
}
