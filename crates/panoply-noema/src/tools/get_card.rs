//! `get-card`: shows one card in full: both sides, its fields and tags, its schedule, its log and what it was before it was changed.

use panoply_contract::prelude::*;
use std::collections::BTreeMap;

use panoply_contract::hints::RelatedResource;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now};
use super::wire::{CardId, DeckId, ScheduleView, timestamp};
use crate::collection;
use crate::numbers::round_to;
use crate::render;

const SPEC: ToolSpec = ToolSpec {
    name: "get-card",
    title: "Get a card",
    description: Description {
        does: "Shows one card in full: both sides, its fields and tags, its schedule, its log and what it was before it was changed.",
        when: "Use this to explain, check or change a card. Not while the learner is being asked: it shows the answer; study with `get-next-card`.",
        returns: "Returns the card with its note, its version for `update-card`, its schedule, the chance of recall now and its last reviews.",
        asks: &["Show me that card", "Why does this card come back so often?"],
    },
    version: "1.0.0",
    aliases: &["get-card-by-id"],
    permissions: &["cards:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::For(Duration::from_secs(60)),
    idempotent: true,
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "a card by its id", params: r##"{"cardId": "card_123"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "deckId": "deck_456", "fields": {"Front": "What is 7 × 8?", "Back": "56"}, "version": 1}"##) },
        Example { shows: "a card that is not there", params: r##"{"cardId": "card_999"}"##, expect: Expect::Error("CARD_NOT_FOUND") },
    ],
    tags: &["cards", "content"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Which card.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The card.
    card_id: CardId,
}

/// The card.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Its id.
    card_id: CardId,
    /// Its deck.
    deck_id: DeckId,
    /// The deck's name.
    deck_name: String,
    /// The type of its note.
    note_type: String,
    /// The fields of its note, by name.
    fields: BTreeMap<String, String>,
    /// The tags of its note.
    tags: Vec<String>,
    /// The front as text.
    front: String,
    /// The back as text.
    back: String,
    /// From 1 to 7; 0 for none.
    flag: u8,
    /// Counts changes of the content; give it to `update-card`.
    version: i64,
    /// When it comes back.
    schedule: ScheduleView,
    /// The chance that it would be recalled now; null for a card never answered.
    recall_now: Option<f64>,
    /// Other cards of the same note.
    siblings: Vec<CardId>,
    /// Its last answers, latest first, at most 20.
    log: Vec<LogRow>,
    /// What the note was before, latest first, at most 10.
    history: Vec<PastRow>,
    /// Where the note comes from; null if nobody said.
    source: Option<String>,
}

/// An answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LogRow {
    /// When.
    at: String,
    /// From 1 (again) to 4 (easy); 0 for a change by hand.
    rating: u8,
    /// Days when positive, seconds when negative.
    interval: i64,
    /// Milliseconds it took.
    taken_ms: i64,
}

/// What the note was.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PastRow {
    /// The version it was.
    version: i64,
    /// Its fields, in order.
    fields: Vec<String>,
    /// When it was replaced.
    replaced: String,
}

/// See the module.
pub(super) struct GetCard {
    pub(super) service: NoemaService,
}

impl Tool for GetCard {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let output = self.service.read(|reader| {
            let card = collection::card(reader, params.card_id.domain())?;
            let (note, note_type) = collection::note_and_type(reader, card.note)?;
            let deck = reader.deck(card.deck)?;
            let scheduler = collection::options_of(reader, card.deck)?.scheduler();
            let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
            let log = reader.reviews_of(card.id)?;
            let siblings = reader.cards_of(note.id)?;
            Ok(Output {
                deck_id: DeckId::of(card.deck),
                deck_name: deck.map(|deck| deck.name.to_string()).unwrap_or_default(),
                note_type: note_type.name,
                fields: note_type.fields.into_iter().zip(note.fields).collect(),
                tags: note.tags,
                front: render::strip_html(&sides.front),
                back: render::strip_html(&sides.back),
                flag: card.flag,
                version: note.version,
                schedule: ScheduleView::of(&card, now),
                recall_now: scheduler
                    .retrievability(&card.schedule, now)
                    .map(|recall| round_to(recall, 4)),
                siblings: siblings
                    .iter()
                    .filter(|other| other.id != card.id)
                    .map(|other| CardId::of(other.id))
                    .collect(),
                log: log
                    .iter()
                    .rev()
                    .take(20)
                    .map(|review| LogRow {
                        at: timestamp(review.id.0.saturating_mul(1000)),
                        rating: review.rating,
                        interval: review.interval,
                        taken_ms: review.taken_ms,
                    })
                    .collect(),
                history: reader
                    .past_contents(note.id)?
                    .into_iter()
                    .take(10)
                    .map(|past| PastRow {
                        version: past.version,
                        fields: past.fields,
                        replaced: timestamp(past.replaced),
                    })
                    .collect(),
                source: note.source,
                card_id: CardId::of(card.id),
            })
        })?;
        let text = format!("Card `{}` in `{}`: {}", output.card_id, output.deck_name, output.front);
        let edit = json!({"cardId": output.card_id.as_str(), "version": output.version, "tags": output.tags});
        let related = RelatedResource {
            kind: "deck".to_owned(),
            id: output.deck_id.to_string(),
            label: output.deck_name.clone(),
            relevance: 1.0,
            metadata: serde_json::Map::new(),
        };
        Ok(Reply::new(output, text, exact_evidence("stored card")).related(related).next(
            NextAction::new("update-card", edit, "change its content")
                .priority(panoply_contract::hints::Level::Low),
        ))
    }
}
