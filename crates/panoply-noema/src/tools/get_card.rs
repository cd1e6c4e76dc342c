//! `get-card`: returns one card with both sides, fields, schedule, review log and edit history.

use panoply_contract::prelude::*;
use std::collections::BTreeMap;

use panoply_contract::hints::RelatedResource;

use super::notes::AnchorParam;
use super::service::{NoemaService, exact_evidence, now};
use super::specs::QUERY;
use super::wire::{CardId, DeckId, ScheduleView, timestamp};
use crate::collection;
use crate::numbers::round_to;
use crate::{html, render};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-card",
    title: "Get a card",
    description: Description {
        does: "Returns one card in full: both sides, fields, tags, schedule, review log and edit history.",
        when: "Use this to explain, check or change a card. It contains the answer, so do not use it while asking the learner: study with `get-next-card`.",
        returns: "Returns the card with its note, its version for `update-card`, its schedule, the current probability of recall and its last reviews.",
        asks: &["Show me that card", "Why does this card come back so often?"],
    },
    aliases: &["get-card-by-id"],
    permissions: &["cards:read"],
    cache: CachePolicy::For(Duration::from_secs(60)),
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "a card by its id", params: r##"{"cardId": "card_123"}"##, expect: Expect::Data(r##"{"cardId": "card_123", "deckId": "deck_456", "fields": {"Front": "What is 7 × 8?", "Back": "56"}, "version": 1}"##) },
        Example { shows: "a card that does not exist", params: r##"{"cardId": "card_999"}"##, expect: Expect::Error("CARD_NOT_FOUND") },
    ],
    tags: &["cards", "content"],
    listing: Listing::Core,
    ..QUERY
}
.checked();

/// The card to use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Card.
    card_id: CardId,
}

/// Card.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Identifier.
    card_id: CardId,
    /// Deck.
    deck_id: DeckId,
    /// Name of the deck.
    deck_name: String,
    /// Note type.
    note_type: String,
    /// Fields of the note by name.
    fields: BTreeMap<String, String>,
    /// Tags of the note.
    tags: Vec<String>,
    /// Front as plain text.
    front: String,
    /// Back as plain text.
    back: String,
    /// Flag from 1 to 7; 0 for none.
    flag: u8,
    /// Content version; pass it to `update-card`.
    version: i64,
    /// Next due time and memory state.
    schedule: ScheduleView,
    /// Current probability of recall; null if never reviewed.
    recall_now: Option<f64>,
    /// Other cards of the same note.
    siblings: Vec<CardId>,
    /// Last reviews, latest first, at most 20.
    log: Vec<LogRow>,
    /// Earlier contents of the note, latest first, at most 10.
    history: Vec<PastRow>,
    /// Origin of the note; null if unknown.
    source: Option<String>,
    /// Place in a document; null if the source is none.
    anchor: Option<AnchorParam>,
}

/// A review.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LogRow {
    /// Timestamp.
    at: String,
    /// Rating from 1 (again) to 4 (easy); 0 for a manual change.
    rating: u8,
    /// Days if positive, seconds if negative.
    interval: i64,
    /// Answer time in milliseconds.
    taken_ms: i64,
}

/// An earlier content of the note.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PastRow {
    /// The earlier version.
    version: i64,
    /// Fields in order.
    fields: Vec<String>,
    /// When it was replaced.
    replaced: String,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let output = service.read(|reader| {
        let card = collection::card(reader, params.card_id.domain())?;
        let (note, note_type) = collection::note_and_type(reader, card.note)?;
        let deck = reader.deck(card.deck)?;
        let scheduler =
            collection::options_of(reader, card.deck)?.scheduler(reader.learner_zone()?);
        let sides = render::sides_of(&note_type, &note, &card);
        let log = reader.reviews_of(card.id)?;
        let siblings = reader.cards_of(note.id)?;
        Ok(Output {
            deck_id: DeckId::of(card.deck),
            deck_name: deck.map(|deck| deck.name.to_string()).unwrap_or_default(),
            note_type: note_type.name,
            fields: note_type.fields.into_iter().zip(note.fields).collect(),
            tags: note.tags,
            front: html::shown(&sides.front),
            back: html::shown(&sides.back),
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
            anchor: AnchorParam::of(note.source.as_deref()),
            source: note.source,
            card_id: CardId::of(card.id),
        })
    })?;
    let text = format!("Card `{}` in `{}`: {}", output.card_id, output.deck_name, output.front);
    let related = RelatedResource {
        kind: "deck".to_owned(),
        id: output.deck_id.to_string(),
        label: output.deck_name.clone(),
        relevance: 1.0,
        metadata: serde_json::Map::new(),
    };
    Ok(Reply::new(output, text, exact_evidence("stored card")).related(related))
}
