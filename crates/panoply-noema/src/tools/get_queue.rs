//! `get-queue`: returns today's queue in order, without answers.

use panoply_contract::params::Limit;
use panoply_contract::prelude::*;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::specs::QUERY;
use super::wire::{CardId, CardState, DeckId, deck_arguments};
use crate::collection;
use crate::queue::DayQueue;
use crate::{html, render};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-queue",
    title: "Get the queue",
    description: Description {
        does: "Returns today's queue in order, without answers, within the daily limits.",
        when: "Use this to plan or to explain the queue. To study use `get-next-card`.",
        returns: "Returns counts and the first cards of the queue with their fronts.",
        asks: &["What will I be asked today?", "How many cards are left?"],
    },
    aliases: &["get-srs-schedule"],
    permissions: &["schedule:read"],
    data: &["cards", "decks", "schedule", "reviews"],
    examples: &[
        Example {
            shows: "everything",
            params: r##"{"limit": 5}"##,
            expect: Expect::Data(r##"{}"##),
        },
        Example {
            shows: "a deck",
            params: r##"{"deckId": "deck_456", "limit": 1}"##,
            expect: Expect::Data(r##"{"cards": [{"cardId": "card_123"}]}"##),
        },
    ],
    tags: &["scheduling", "learning"],
    ..QUERY
}
.checked();

/// The deck or session to study.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Maximum number of cards.
    #[serde(default)]
    limit: Limit,
}

/// The queue.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Due learning cards.
    learning: usize,
    /// Reviews today, within the limits.
    reviews: usize,
    /// New cards today, within the limits.
    new: usize,
    /// Learning cards due within 20 minutes.
    soon: usize,
    /// The first cards in order.
    cards: Vec<Row>,
}

/// A card without its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Card.
    card_id: CardId,
    /// Front as plain text, truncated.
    front: String,
    /// Study state of the card.
    state: CardState,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let (day, cards) = service.read(|reader| {
        let root = params.deck_id.as_ref().map(DeckId::domain);
        let day = service.queue_cache.day(reader, root, now, DayQueue::clone)?;
        let mut cards = Vec::new();
        for waiting in day.at(now).in_order().take(params.limit.get()) {
            let card = collection::card(reader, waiting.card)?;
            let (note, note_type) = collection::note_and_type(reader, card.note)?;
            let sides = render::sides_of(&note_type, &note, &card);
            cards.push(Row {
                card_id: CardId::of(card.id),
                front: html::shown(&sides.front).chars().take(160).collect(),
                state: CardState::in_phase(card.schedule.phase),
            });
        }
        Ok((day, cards))
    })?;
    let queue = day.at(now);
    let text =
        format!("{} learning, {} reviews, {} new.", queue.learning.len(), queue.reviews, queue.new);
    let next = (!queue.is_empty()).then(|| {
        let arguments = deck_arguments(params.deck_id.as_ref());
        NextAction::new("get-next-card", arguments, "ask the first one")
    });
    let change = queue.next_step.map_or(NextChange::WithNextAction, changes_at);
    let output = Output {
        learning: queue.learning.len(),
        reviews: queue.reviews,
        new: queue.new,
        soon: queue.learn_ahead.len(),
        cards,
    };
    Ok(with_next(Reply::new(output, text, exact_evidence("the queue").changes(change)), next))
}
