//! `prepare-offline-study`: today's cards with their answers, for a device without a connection.

use panoply_contract::prelude::*;

use super::media_view::{self, MediaView, OcclusionView, SpeechView};
use super::preview::{Preview, previews};
use super::service::{NoemaService, exact_evidence, now};
use super::specs::QUERY;
use super::wire::{CardId, CardState, DeckId, side};
use crate::collection;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids;
use crate::occlusion::Occlusion;
use crate::render;
use crate::review::{ReviewToken, Side};
use crate::store::StoreReader;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "prepare-offline-study",
    title: "Prepare offline study",
    description: Description {
        does: "Returns today's cards in order with fronts, answers and a token each, so that a device can ask them without a connection.",
        when: "Use this for an app that keeps cards on a device; in a conversation use `get-next-card`, which does not contain the answer. Send the reviews with `submit-offline-reviews`.",
        returns: "Returns up to 50 cards, whether more follow, and how many there are.",
        asks: &["Let me study on the train"],
    },
    permissions: &["reviews:read", "cards:read"],
    response_time: ResponseTime::Medium,
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "a deck", params: r##"{"deckId": "deck_456", "limit": 1}"##, expect: Expect::Data(r##"{"cards": [{"cardId": "card_123", "front": "What is 7 × 8?"}]}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["learning", "scheduling"],
    ..QUERY
}
.checked();

/// The cards to take along.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Maximum number of cards.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// Cards to pass over: `nextOffset` of the page before.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    offset: usize,
}

const fn default_limit() -> usize {
    50
}

/// Cards with their answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The cards in the order of the queue.
    cards: Vec<OfflineCard>,
    /// Cards of today.
    total: usize,
    /// Whether more follow.
    has_more: bool,
    /// The `offset` of the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

/// Size of the cards of a page. A page has at least one card, of whatever size.
const PAGE_BYTES: usize = 50_000;
/// Both sides of the largest card, as text and as HTML.
const LARGEST_CARD_BYTES: usize = 300_000;

/// One card with both sides.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OfflineCard {
    /// Card.
    card_id: CardId,
    /// Deck.
    deck: String,
    /// Study state of the card.
    state: CardState,
    /// Front as plain text.
    front: String,
    /// Front as HTML if it contains markup.
    #[serde(skip_serializing_if = "Option::is_none")]
    front_html: Option<String>,
    /// Back as plain text.
    back: String,
    /// Back as HTML if it contains markup.
    #[serde(skip_serializing_if = "Option::is_none")]
    back_html: Option<String>,
    /// The answer that the learner types; absent if none is typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// Media of both sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    media: Vec<MediaView>,
    /// Regions of an image occlusion; absent for other cards. A page hides those with `hidden`.
    #[serde(skip_serializing_if = "Option::is_none")]
    occlusion: Option<OcclusionView>,
    /// Texts of the front to speak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    front_speech: Vec<SpeechView>,
    /// Texts of the back to speak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    back_speech: Vec<SpeechView>,
    /// Effect of each rating, if the card were reviewed now.
    previews: Vec<Preview>,
    /// Pass it to `submit-offline-reviews`.
    token: String,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let output = service.read(|reader| {
        let root = params.deck_id.as_ref().map(DeckId::domain);
        let (ids, total) = service.queue_cache.day(reader, root, now, |day| {
            let queue = day.at(now);
            let page = queue.in_order().skip(params.offset).take(params.limit);
            (page.map(|waiting| waiting.card).collect::<Vec<_>>(), queue.len())
        })?;
        let (mut cards, mut bytes, mut next) = (Vec::with_capacity(ids.len()), 0, params.offset);
        for id in ids {
            match offline_card(reader, id, now) {
                // A card without its note blocks nothing.
                Err(NoemaError::NoteNotFound(_) | NoemaError::CardNotFound(_)) => {}
                card => {
                    let card = card?;
                    let size = serde_json::to_string(&card).map_or(0, |json| json.len());
                    if !cards.is_empty() && bytes + size > PAGE_BYTES {
                        break;
                    }
                    bytes += size;
                    cards.push(card);
                }
            }
            next += 1;
        }
        let has_more = next < total;
        Ok(Output { cards, total, has_more, next_offset: has_more.then_some(next) })
    })?;
    let text = match output.total {
        0 => "No card is due now.".to_owned(),
        total => format!("{} of today's {total} cards, with their answers.", output.cards.len()),
    };
    let evidence = exact_evidence("the queue").changes(NextChange::WithNextAction);
    Ok(Reply::new(output, text, evidence).up_to_bytes(LARGEST_CARD_BYTES))
}

fn offline_card(reader: &dyn StoreReader, id: ids::CardId, now: Micros) -> Result<OfflineCard> {
    let card = collection::card(reader, id)?;
    let (note, note_type) = collection::note_and_type(reader, card.note)?;
    let sides = render::sides_of(&note_type, &note, &card);
    let scheduler = collection::options_of(reader, card.deck)?.scheduler(reader.learner_zone()?);
    let (mut media, _) = media_view::referenced(reader, &sides.front, "")?;
    media.extend(media_view::referenced(reader, &sides.back, &sides.front)?.0);
    let token = ReviewToken { side: Side::Back, card: id, sequence: card.sequence, shown: now };
    let front_speech = media_view::speech(&sides.front);
    let back_speech = media_view::speech(&sides.back);
    let (front, front_html) = side(sides.front);
    let (back, back_html) = side(sides.back);
    Ok(OfflineCard {
        card_id: CardId::of(id),
        deck: collection::deck(reader, card.deck)?.name.to_string(),
        state: CardState::in_phase(card.schedule.phase),
        front,
        front_html,
        back,
        back_html,
        expected: sides.typed,
        media,
        occlusion: Occlusion::of(&note_type, &note.fields, card.ordinal)
            .as_ref()
            .map(OcclusionView::of),
        front_speech,
        back_speech,
        previews: previews(&scheduler, &card, now).into_iter().map(Preview::brief).collect(),
        token: token.sign(&reader.secret()?)?,
    })
}
