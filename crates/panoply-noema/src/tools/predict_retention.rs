//! `predict-retention`: predicts the chance of recall of cards at a date, from their memory and the weights of their deck.

use panoply_contract::prelude::*;
use serde_json::json;

use super::batch::CardIds;
use super::service::{NoemaService, memory_evidence, now, with_next};
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::fsrs::DAY;
use crate::numbers::{len_to_f64, round_to};
use crate::statistics;

const SPEC: ToolSpec = ToolSpec {
    name: "predict-retention",
    title: "Predict retention",
    description: Description {
        does: "Predicts the chance of recall of cards at a date, from their memory and the weights of their deck.",
        when: "Use this to see what the learner would know in an exam, or which cards are fading. It evaluates the curve at that date, not at the next interval.",
        returns: "Returns the expected share recalled, the weakest cards, and how far predictions have held for this learner.",
        asks: &["How much of this deck would I know on Friday?", "Which cards am I forgetting?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["schedule:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "a deck now", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a card that is not there", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Error("CARD_NOT_FOUND") },
    ],
    tags: &["scheduling", "analytics"],
    rate_limit: Some(RateLimit { max_calls: 120, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which cards, and when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it.
    deck_id: Option<DeckId>,
    /// Only these cards.
    card_ids: Option<CardIds>,
    /// How many days from now.
    #[schemars(range(min = 0, max = 3650))]
    #[serde(default)]
    in_days: u32,
}

/// The prediction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Cards that have a memory to predict from.
    cards: usize,
    /// The share that would be recalled; null without such cards.
    expected_recall: Option<f64>,
    /// How many cards that is.
    expected_recalled: f64,
    /// The weakest, at most 20.
    weakest: Vec<Row>,
    /// Answers that predictions were compared with.
    log_size: u64,
    /// The distance of predicted from observed recall in the learner's own log, over bins.
    log_rmse: f64,
}

/// A card and its chance of recall.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The card.
    card_id: CardId,
    /// The chance of recall.
    recall: f64,
    /// Days until the chance of recall falls to nine in ten after a review.
    stability_days: f64,
}

/// See the module.
pub(super) struct PredictRetention {
    pub(super) service: NoemaService,
}

impl Tool for PredictRetention {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let at = now + i64::from(params.in_days) * DAY;
        let (mut rows, calibration) = self.service.read(|reader| {
            let (decks, options) = statistics::scope(reader, deck)?;
            let cards = match &params.card_ids {
                Some(ids) => ids
                    .0
                    .iter()
                    .map(|id| collection::card(reader, id.domain()))
                    .collect::<Result<Vec<_>, _>>()?,
                None => reader
                    .answered_cards()?
                    .into_iter()
                    .filter(|card| decks.contains(&card.deck))
                    .collect(),
            };
            let all = reader.decks()?;
            let mut rows = Vec::new();
            for card in cards {
                let Some(memory) = card.schedule.memory else { continue };
                let own = all
                    .iter()
                    .find(|deck| deck.id == card.deck)
                    .map(|deck| collection::options_among(deck, &all));
                let scheduler = own.unwrap_or_default().scheduler();
                if let Some(recall) = scheduler.retrievability(&card.schedule, at) {
                    rows.push(Row {
                        card_id: CardId::of(card.id),
                        recall,
                        stability_days: round_to(memory.stability, 3),
                    });
                }
            }
            let log = reader.log(now - 730 * DAY, now, deck.map(|_| decks.as_slice()))?;
            let logs = statistics::review_logs(&log, options.calendar());
            Ok((rows, statistics::calibration(&logs, &options)))
        })?;
        let cards = rows.len();
        let sum: f64 = rows.iter().map(|row| row.recall).sum();
        let expected_recall = (cards > 0).then(|| round_to(sum / len_to_f64(cards), 4));
        rows.sort_by(|a, b| a.recall.total_cmp(&b.recall));
        rows.truncate(20);
        rows.iter_mut().for_each(|row| row.recall = round_to(row.recall, 4));
        let text = match expected_recall {
            Some(share) => format!(
                "{:.1} % of {cards} cards would be recalled in {} days.",
                share * 100.0,
                params.in_days
            ),
            None => "None of these cards has been answered yet.".to_owned(),
        };
        let weak: Vec<String> = rows
            .iter()
            .map(|row| row.card_id.as_str().trim_start_matches("card_").to_owned())
            .collect();
        let next = (!weak.is_empty()).then(|| {
            NextAction::new(
                "search-cards",
                json!({"query": format!("cid:{}", weak.join(","))}),
                "look at the weakest",
            )
        });
        let output = Output {
            cards,
            expected_recall,
            expected_recalled: round_to(sum, 1),
            weakest: rows,
            log_size: calibration.reviews,
            log_rmse: round_to(calibration.rmse, 4),
        };
        let reply = Reply::new(output, text, memory_evidence(&calibration))
            .assuming("no review happens before that date");
        Ok(with_next(reply, next))
    }
}
