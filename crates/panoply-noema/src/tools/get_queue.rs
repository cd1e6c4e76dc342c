//! `get-queue`: shows what is waiting for today in the order it will be asked, without answers, and how the limits of the day shape it.

use panoply_contract::params::Limit;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::wire::{CardId, CardState, DeckId};
use crate::collection;
use crate::queue::DayQueue;
use crate::render;

const SPEC: ToolSpec = ToolSpec {
    name: "get-queue",
    title: "Get the queue",
    description: Description {
        does: "Shows what is waiting for today in the order it will be asked, without answers, and how the limits of the day shape it.",
        when: "Use this to plan or to explain what comes. To study use `get-next-card`.",
        returns: "Returns counts and the first cards of the queue with their fronts.",
        asks: &["What will I be asked today?", "How many cards are left?"],
    },
    version: "1.0.0",
    aliases: &["get-srs-schedule"],
    permissions: &["schedule:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "decks", "schedule", "reviews"],
    examples: &[
        Example { shows: "everything", params: r##"{"limit": 5}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a deck", params: r##"{"deckId": "deck_456", "limit": 1}"##, expect: Expect::Data(r##"{"cards": [{"cardId": "card_123"}]}"##) },
    ],
    tags: &["scheduling", "learning"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// What is studied.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it.
    deck_id: Option<DeckId>,
    /// How many cards to return at most.
    #[serde(default)]
    limit: Limit,
}

/// The queue.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Cards in steps that are due.
    learning: usize,
    /// Reviews for today, within the limits.
    reviews: usize,
    /// New cards for today, within the limits.
    new: usize,
    /// Cards in steps that are due within twenty minutes.
    soon: usize,
    /// The first of them, in order.
    cards: Vec<Row>,
}

/// A card, without its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The card.
    card_id: CardId,
    /// The front as text, shortened.
    front: String,
    /// Where it stands.
    state: CardState,
}

/// See the module.
pub(super) struct GetQueue {
    pub(super) service: NoemaService,
}

impl Tool for GetQueue {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let (day, cards) = self.service.read(|reader| {
            let root = params.deck_id.as_ref().map(DeckId::domain);
            let day = self.service.queue_cache.day(reader, root, now, DayQueue::clone)?;
            let mut cards = Vec::new();
            for waiting in day.at(now).in_order().take(params.limit.get()) {
                let card = collection::card(reader, waiting.card)?;
                let (note, note_type) = collection::note_and_type(reader, card.note)?;
                let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
                cards.push(Row {
                    card_id: CardId::of(card.id),
                    front: render::strip_html(&sides.front).chars().take(160).collect(),
                    state: CardState::in_phase(card.schedule.phase),
                });
            }
            Ok((day, cards))
        })?;
        let queue = day.at(now);
        let text = format!(
            "{} in steps, {} reviews, {} new.",
            queue.learning.len(),
            queue.reviews,
            queue.new
        );
        let next = (!queue.is_empty()).then(|| {
            let arguments = params
                .deck_id
                .as_ref()
                .map_or_else(|| json!({}), |deck| json!({"deckId": deck.as_str()}));
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
}
