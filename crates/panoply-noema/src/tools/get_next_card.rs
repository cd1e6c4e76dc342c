//! `get-next-card`: returns the front of the next card in the queue and a token to reveal it.

use panoply_contract::prelude::*;
use panoply_contract::reply::Attachment;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::media_view::{self, MediaView, OcclusionView, SpeechView};
use super::service::{NoemaService, exact_evidence, now, with_next};
use super::specs::QUERY;
use super::wire::{CardId, CardState, DeckId, SessionId, side, timestamp};
use crate::collection;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids;
use crate::occlusion::Occlusion;
use crate::queue;
use crate::render;
use crate::review::{ReviewToken, Side};
use crate::store::StoreReader;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-next-card",
    title: "Get the next card",
    description: Description {
        does: "Returns the front of the next card in queue order and a token to reveal it. The reply does not contain the answer.",
        when: "Use this to ask the learner. Wait for the answer, then call `reveal-answer` with the token.",
        returns: "Returns the front, the token and the cards remaining today; or no card and the time of the next one.",
        asks: &["Ask me the next card", "What is next?"],
    },
    aliases: &["review-next-card"],
    permissions: &["reviews:read"],
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "the next of a deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{"card": {"cardId": "card_123", "front": "What is 7 × 8?"}}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["learning", "scheduling"],
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/noema-review-v1.html",
        invoking: "Fetching the next card…",
        invoked: "Next card",
    }),
    ..QUERY
}
.checked();

/// The deck or session to study.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks; omit it with a session.
    deck_id: Option<DeckId>,
    /// The session, if any.
    session_id: Option<SessionId>,
}

/// The next card and the queue counts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The card; null if the queue is empty.
    card: Option<NextCard>,
    /// Due learning cards, including this one.
    learning: usize,
    /// Reviews remaining today, including this one.
    reviews: usize,
    /// New cards remaining today, including this one.
    new: usize,
    /// Time of the next card if none is due now; absent if none will come.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_at: Option<String>,
    /// Drafts that wait for the approval of a person; absent if a card is returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    drafts: Option<i64>,
    /// Cards in this deck or collection; 0 if cards must be created or imported first; absent if a card is returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    cards: Option<i64>,
}

/// The front of a card.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NextCard {
    /// Card.
    card_id: CardId,
    /// Deck.
    deck: String,
    /// Front as plain text.
    front: String,
    /// Front as HTML if it contains markup; absent otherwise, and if it has more than 24 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    front_html: Option<String>,
    /// Media that the front shows; small pictures and sounds are also content of the reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    media: Vec<MediaView>,
    /// Regions of an image occlusion; absent for other cards. A page hides those with `hidden`.
    #[serde(skip_serializing_if = "Option::is_none")]
    occlusion: Option<OcclusionView>,
    /// Texts to speak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    speech: Vec<SpeechView>,
    /// Whether the learner types the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    type_answer: bool,
    /// Study state of the card.
    state: CardState,
    /// Pass it to `reveal-answer`.
    token: String,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let (counts, shown, finished, outlook) = service.read(|reader| {
        let session = match &params.session_id {
            Some(id) => Some(
                reader
                    .session(id.domain())?
                    .filter(|session| session.ended.is_none())
                    .ok_or(NoemaError::SessionNotFound(id.domain()))?,
            ),
            None => None,
        };
        let deck = params
            .deck_id
            .as_ref()
            .map(DeckId::domain)
            .or_else(|| session.as_ref().and_then(|session| session.deck));
        let finished = session.is_some_and(|session| {
            session.card_limit.is_some_and(|limit| session.answered >= limit)
        });
        let (counts, first) = service.queue_cache.day(reader, deck, now, |day| {
            let queue = day.at(now);
            let first: Vec<_> = queue
                .in_order()
                .take(MAX_SKIPPED + 1)
                .map(|waiting| {
                    let deck = day.deck_name(waiting.deck).map(ToString::to_string);
                    (waiting.card, deck)
                })
                .collect();
            let learning = queue.learning.len() + queue.learn_ahead.len();
            ((learning, queue.reviews, queue.new, queue.next_step), first)
        })?;
        let next = if finished { None } else { first_shown(reader, first, now)? };
        let outlook = match next {
            Some(_) => None,
            None => Some(queue::outlook(reader, deck, now)?),
        };
        Ok((counts, next, finished, outlook))
    })?;
    let (next, attachments) = shown.unzip();
    let (learning, reviews, new, next_step) = counts;
    let next_at = outlook.and_then(|outlook| next_step.into_iter().chain(outlook.next).min());
    let next_at = next_at.map(timestamp);
    let text = match (&next, &outlook) {
        (Some(card), _) => card.front.clone(),
        _ if finished => "This session's cards are done.".to_owned(),
        (None, outlook) => idle_text(next_at.as_deref(), &outlook.unwrap_or_default()),
    };
    let suggestion = suggestion(next.as_ref(), params.session_id.as_ref(), outlook.as_ref());
    let evidence = exact_evidence("the queue").changes(NextChange::WithNextAction);
    let drafts = outlook.map(|outlook| outlook.drafts);
    let cards = outlook.map(|outlook| outlook.cards);
    let empty = cards == Some(0);
    let output = Output { card: next, learning, reviews, new, next_at, drafts, cards };
    let mut reply = Reply::new(output, text, evidence);
    if empty {
        reply = reply.needing("facts to learn: create a deck with `create-deck` and cards with `create-cards`, or import a file with `import-package` or `import-cards`");
    }
    let reply = media_view::attach(reply, attachments.unwrap_or_default());
    Ok(with_next(reply, suggestion))
}

/// The call that follows.
fn suggestion(
    next: Option<&NextCard>,
    session: Option<&SessionId>,
    outlook: Option<&queue::Outlook>,
) -> Option<NextAction> {
    match (next, session) {
        // Followed blindly, a call of `reveal-answer` would spare the learner the question.
        (Some(_), _) => None,
        (None, Some(session)) => Some(NextAction::new(
            "end-session",
            json!({"sessionId": session.as_str()}),
            "summarise the session",
        )),
        (None, None) if outlook.is_some_and(|outlook| outlook.drafts > 0) => Some(NextAction::new(
            "search-cards",
            json!({"query": "is:draft"}),
            "show the drafts, so that the learner can approve them",
        )),
        (None, None) if outlook.is_some_and(|outlook| outlook.cards == 0) => None,
        (None, None) => Some(NextAction::new("forecast-reviews", json!({}), "see the forecast")),
    }
}

/// The text when no card is due.
fn idle_text(next_at: Option<&str>, outlook: &queue::Outlook) -> String {
    if outlook.cards == 0 {
        return "There are no cards yet. Create a deck and cards, or import an Anki package or a text file.".to_owned();
    }
    let next = match next_at {
        Some(at) => format!(" The next one comes at {at}."),
        None => " No other card is scheduled.".to_owned(),
    };
    let drafts = match outlook.drafts {
        0 => String::new(),
        1 => " 1 draft waits for the learner's approval.".to_owned(),
        many => format!(" {many} drafts wait for the learner's approval."),
    };
    format!("No card is due now.{next}{drafts}")
}

/// Damaged cards that are passed over, so that none of them blocks the queue.
const MAX_SKIPPED: usize = 3;

/// A front with its small media.
type ShownCard = (NextCard, Vec<Attachment>);

/// The first card that can be shown. A card without its note is passed over.
fn first_shown(
    reader: &dyn StoreReader,
    cards: Vec<(ids::CardId, Option<String>)>,
    now: Micros,
) -> Result<Option<ShownCard>> {
    for (card, deck) in cards {
        match next_card(reader, card, deck, now) {
            Err(NoemaError::NoteNotFound(_) | NoemaError::CardNotFound(_)) => {}
            shown => return shown.map(Some),
        }
    }
    Ok(None)
}

fn next_card(
    reader: &dyn StoreReader,
    id: ids::CardId,
    deck: Option<String>,
    now: Micros,
) -> Result<ShownCard> {
    let card = collection::card(reader, id)?;
    let (note, note_type) = collection::note_and_type(reader, card.note)?;
    let sides = render::sides_of(&note_type, &note, &card);
    let (media, mut attachments) = media_view::referenced(reader, &sides.front, "")?;
    let occlusion = Occlusion::of(&note_type, &note.fields, card.ordinal);
    if occlusion.is_some() {
        // The picture without its masks would show the answer.
        attachments.clear();
    }
    let speech = media_view::speech(&sides.front);
    let (front, front_html) = side(sides.front);
    let token = ReviewToken { side: Side::Front, card: id, sequence: card.sequence, shown: now };
    let deck = match deck {
        Some(deck) => deck,
        // A filtered deck shows cards of any deck.
        None => collection::deck(reader, card.deck)?.name.to_string(),
    };
    let next = NextCard {
        card_id: CardId::of(id),
        deck,
        front,
        front_html,
        media,
        occlusion: occlusion.as_ref().map(OcclusionView::of),
        speech,
        type_answer: sides.typed.is_some(),
        state: CardState::in_phase(card.schedule.phase),
        token: token.sign(&reader.secret()?)?,
    };
    Ok((next, attachments))
}
