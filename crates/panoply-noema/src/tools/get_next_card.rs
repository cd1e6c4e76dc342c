//! `get-next-card`: returns the front of the next card in the queue and a token to reveal it.

use panoply_contract::hints::{ActionCategory, Dependency, DependencyKind, Level};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::specs::QUERY;
use super::wire::{CardId, CardState, DeckId, SessionId, timestamp};
use crate::collection;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids;
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
    /// Time of the next card if the queue is empty; null if none is scheduled today.
    next_at: Option<String>,
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
    /// Front as HTML if it contains markup; null otherwise.
    front_html: Option<String>,
    /// Whether the learner types the answer.
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
    let (counts, next, finished) = service.read(|reader| {
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
            let first = queue.in_order().next().map(|waiting| {
                let deck = day.deck_name(waiting.deck).map(ToString::to_string);
                (waiting.card, deck)
            });
            let learning = queue.learning.len() + queue.learn_ahead.len();
            ((learning, queue.reviews, queue.new, queue.next_step), first)
        })?;
        let first = first.filter(|_| !finished);
        let next = first.map(|(card, deck)| next_card(reader, card, deck, now)).transpose()?;
        Ok((counts, next, finished))
    })?;
    let text = match &next {
        Some(card) => card.front.clone(),
        None if finished => "This session's cards are done.".to_owned(),
        None => "No card is due now.".to_owned(),
    };
    let suggestion = match (&next, &params.session_id) {
        (Some(card), _) => Some(
            NextAction::new(
                "reveal-answer",
                json!({"token": card.token}),
                "reveal the card once the learner has answered",
            )
            .priority(Level::High)
            .category(ActionCategory::Learning),
        ),
        (None, Some(session)) => Some(NextAction::new(
            "end-session",
            json!({"sessionId": session.as_str()}),
            "summarise the session",
        )),
        (None, None) => Some(NextAction::new("forecast-reviews", json!({}), "see the forecast")),
    };
    let evidence = exact_evidence("the queue").changes(NextChange::WithNextAction);
    let (learning, reviews, new, next_step) = counts;
    let output = Output { card: next, learning, reviews, new, next_at: next_step.map(timestamp) };
    let mut reply = Reply::new(output, text, evidence);
    reply.notes.dependencies.push(Dependency {
        action: "submit-review".to_owned(),
        depends_on: vec!["reveal-answer".to_owned()],
        kind: DependencyKind::Required,
        reason: Some("a card is rated after its answer was seen".to_owned()),
    });
    Ok(with_next(reply, suggestion))
}

fn next_card(
    reader: &dyn StoreReader,
    id: ids::CardId,
    deck: Option<String>,
    now: Micros,
) -> Result<NextCard> {
    let card = collection::card(reader, id)?;
    let (note, note_type) = collection::note_and_type(reader, card.note)?;
    let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
    let front = render::strip_html(&sides.front);
    let token = ReviewToken { side: Side::Front, card: id, sequence: card.sequence, shown: now };
    let deck = match deck {
        Some(deck) => deck,
        // A filtered deck shows cards of any deck.
        None => collection::deck(reader, card.deck)?.name.to_string(),
    };
    Ok(NextCard {
        card_id: CardId::of(id),
        deck,
        front_html: (front != sides.front).then_some(sides.front),
        front,
        type_answer: sides.typed.is_some(),
        state: CardState::in_phase(card.schedule.phase),
        token: token.sign(&reader.secret()?)?,
    })
}
