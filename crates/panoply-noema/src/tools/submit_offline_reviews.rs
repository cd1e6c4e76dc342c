//! `submit-offline-reviews`: records reviews made on a device without a connection.

use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::pluralize;
use super::service::{Change, NoemaService, exact_evidence, now, with_next};
use super::specs::MUTATION;
use super::wire::{CardId, RatingParam};
use crate::error::NoemaError;
use crate::fsrs::Micros;
use crate::numbers::len_to_u64;
use crate::review::offline::{OfflineReview, Recorded, record_offline};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "submit-offline-reviews",
    title: "Submit offline reviews",
    description: Description {
        does: "Records reviews that were made without a connection, at the time they were made. A card that was reviewed elsewhere since is scheduled again in order of time. Repeating the call is idempotent.",
        when: "Use this when a device is back, with the tokens of `prepare-offline-study` and the learner's own ratings.",
        returns: "Returns what became of each review, in order, and one action id that undoes all of them.",
        asks: &["Send what I studied on the train"],
    },
    permissions: &["reviews:create"],
    data: &["cards", "decks", "schedule", "reviews"],
    examples: &[
        Example { shows: "one review", params: r##"{"reviews": [{"token": "back.123.0.1794744000000000.0ddd65d6a106a34153a8b2d0", "rating": "good", "at": "2026-11-15T12:00:00Z"}]}"##, expect: Expect::Data(r##"{"reviews": [{"cardId": "card_123", "outcome": "scheduled"}]}"##) },
        Example { shows: "a foreign token is reported, the others are recorded", params: r##"{"reviews": [{"token": "back.123.0.0.beef", "rating": "good", "at": "2026-11-15T12:00:00Z"}]}"##, expect: Expect::Data(r##"{"recorded": 0, "reviews": [{"outcome": "failed"}]}"##) },
    ],
    tags: &["learning", "scheduling"],
    ..MUTATION
}
.checked();

/// Reviews of a device.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The reviews.
    #[schemars(length(min = 1, max = 200))]
    reviews: Vec<ReviewParam>,
    /// What the clock of the device shows when this is sent; a wrong clock is corrected by it.
    #[schemars(length(max = 40))]
    sent_at: Option<String>,
}

/// A review.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ReviewParam {
    /// Token from `prepare-offline-study`; one card may be reviewed several times with it.
    #[schemars(length(min = 1, max = 200), regex(pattern = r"^[0-9A-Za-z._-]+$"))]
    token: String,
    /// How well the card was recalled.
    rating: RatingParam,
    /// When, by the clock of the device, such as `2026-11-15T12:00:00.250Z`.
    #[schemars(length(max = 40))]
    at: String,
    /// Answer time in milliseconds.
    #[schemars(range(min = 0, max = 3600000))]
    taken_ms: Option<i64>,
}

/// The outcome of the call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// What became of each review, in the order given.
    reviews: Vec<Item>,
    /// Number of reviews that are in the log now and were not before.
    recorded: usize,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

/// What became of one review.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// Card; null if the token is not valid.
    card_id: Option<CardId>,
    /// Outcome.
    outcome: Outcome,
    /// Code of the failure; null otherwise. `BAD_TOKEN` is a review of another person.
    code: Option<String>,
    /// Reason of the failure; null otherwise.
    message: Option<String>,
}

/// What became of a review.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// It scheduled the card.
    Scheduled,
    /// The card was reviewed elsewhere later; its schedule was computed again in order of time.
    Merged,
    /// It is in the log; the card was reset or imported since, which decides its schedule.
    Logged,
    /// It was recorded before.
    Repeated,
    /// It was not recorded; see the message.
    Failed,
}

impl From<Recorded> for Outcome {
    fn from(recorded: Recorded) -> Self {
        match recorded {
            Recorded::Scheduled => Self::Scheduled,
            Recorded::Merged => Self::Merged,
            Recorded::Logged => Self::Logged,
            Recorded::Repeated => Self::Repeated,
        }
    }
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let reviews = reviews(&params, now(cx))?;
    let summary = format!("recorded {} made offline", pluralize(reviews.len(), "review"));
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| {
            let mut items = vec![None; reviews.len()];
            let mut in_order: Vec<usize> = (0..reviews.len()).collect();
            in_order.sort_by_key(|place| reviews.get(*place).map(|review| review.at));
            for place in in_order {
                let (Some(review), Some(item)) = (reviews.get(place), items.get_mut(place)) else {
                    continue;
                };
                *item = Some(match record_offline(writer, review, now) {
                    Ok((card, recorded)) => Item {
                        card_id: Some(CardId::of(card)),
                        outcome: recorded.into(),
                        code: None,
                        message: None,
                    },
                    Err(NoemaError::Store(cause)) => return Err(NoemaError::Store(cause)),
                    Err(problem) => {
                        let message = Some(problem.to_string());
                        let code = Some(ToolError::from(problem).code.into_owned());
                        Item { card_id: None, outcome: Outcome::Failed, code, message }
                    }
                });
            }
            Ok(items.into_iter().flatten().collect::<Vec<_>>())
        },
        |items, change| Ok(shape(items, change, cx.dry_run)),
    )
}

/// The reviews with their times by the clock of the server.
fn reviews(params: &Params, now: Micros) -> Result<Vec<OfflineReview<'_>>, ToolError> {
    let slow_by = match &params.sent_at {
        Some(sent) => now - time("sentAt", sent)?,
        None => 0,
    };
    params
        .reviews
        .iter()
        .map(|review| {
            let device_time = time("at", &review.at)?;
            Ok(OfflineReview {
                token: &review.token,
                rating: review.rating.domain(),
                device_time,
                at: device_time.saturating_add(slow_by),
                taken_ms: review.taken_ms,
            })
        })
        .collect()
}

fn time(name: &str, text: &str) -> Result<Micros, ToolError> {
    text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_microsecond).map_err(|_| {
        ToolError::validation("BAD_TIME", format!("`{name}` is no time: `{text}`"))
            .hint("write it as `2026-11-15T12:00:00Z`")
    })
}

fn shape(reviews: Vec<Item>, change: Change, dry_run: bool) -> Reply<Output> {
    let count = |wanted| reviews.iter().filter(|item| item.outcome == wanted).count();
    let (failed, repeated) = (count(Outcome::Failed), count(Outcome::Repeated));
    let recorded = reviews.len() - failed - repeated;
    let done = if dry_run { "Dry run: would record" } else { "Recorded" };
    let mut text = format!("{done} {recorded} of {}.", pluralize(reviews.len(), "review"));
    let notes = [
        (count(Outcome::Merged), "merged with later reviews of another device"),
        (count(Outcome::Logged), "logged only, since the card was reset or imported later"),
        (repeated, "recorded before"),
        (failed, "failed"),
    ];
    for (number, what) in notes.iter().filter(|(number, _)| *number > 0) {
        text.push_str(&format!(" {number} {what}."));
    }
    let (succeeded, total) = (reviews.len() - failed, reviews.len());
    let evidence = exact_evidence("the recorded reviews")
        .complete(len_to_u64(succeeded), len_to_u64(total))
        .changes(NextChange::WithNextAction);
    let next = NextAction::new("prepare-offline-study", json!({}), "take the cards of now along");
    with_next(Reply::new(Output { reviews, recorded, change }, text, evidence), [next])
}
