//! `predict-retention`: predicts the probability of recall of cards at a date.

use panoply_contract::prelude::*;
use serde_json::json;

use super::batch::CardIds;
use super::service::{NoemaService, memory_evidence, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::fsrs::DAY;
use crate::numbers::{len_to_f64, round_to};
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "predict-retention",
    title: "Predict retention",
    description: Description {
        does: "Predicts the probability of recall of cards at a date, from their memory state and the weights of their deck.",
        when: "Use this to see what the learner would know in an exam, or which cards are fading. It evaluates the curve at that date, not at the next interval.",
        returns: "Returns the expected share recalled, the weakest cards, and the accuracy of past predictions for this learner.",
        asks: &["How much of this deck would I know on Friday?", "Which cards am I forgetting?"],
    },
    permissions: &["schedule:read"],
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "a deck now", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a card that does not exist", params: r##"{"cardIds": ["card_999"]}"##, expect: Expect::Error("CARD_NOT_FOUND") },
    ],
    tags: &["scheduling", "analytics"],
    ..ANALYSIS
}
.checked();

/// The cards and the date.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Only these cards.
    card_ids: Option<CardIds>,
    /// Days from now.
    #[schemars(range(min = 0, max = 3650))]
    #[serde(default)]
    in_days: u32,
}

/// The prediction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Number of cards with a memory state.
    cards: usize,
    /// Expected share recalled; null without such cards.
    expected_recall: Option<f64>,
    /// Expected number of cards recalled.
    expected_recalled: f64,
    /// Cards with the lowest probability, at most 20.
    weakest: Vec<Row>,
    /// Number of reviews the predictions were compared with.
    log_size: u64,
    /// RMSE between predicted and observed recall in the learner's log, over bins.
    log_rmse: f64,
}

/// A card with its probability of recall.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Card.
    card_id: CardId,
    /// Probability of recall.
    recall: f64,
    /// Stability in days: the time until the probability of recall falls to 90 %.
    stability_days: f64,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let at = now + i64::from(params.in_days) * DAY;
    let (mut rows, calibration) = service.read(|reader| {
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
            let scheduler = own.unwrap_or_default().scheduler(reader.learner_zone()?);
            if let Some(recall) = scheduler.retrievability(&card.schedule, at) {
                rows.push(Row {
                    card_id: CardId::of(card.id),
                    recall,
                    stability_days: round_to(memory.stability, 3),
                });
            }
        }
        let log = reader.log(now - 730 * DAY, now, deck.map(|_| decks.as_slice()))?;
        let logs = statistics::review_logs(&log, options.calendar(reader.learner_zone()?));
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
            "show the weakest cards",
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
