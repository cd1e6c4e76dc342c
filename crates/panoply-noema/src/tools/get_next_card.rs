//! `get-next-card`: gives the front of the card that is to be asked now, in the true order of the queue, with a token to turn it. The answer is not in the reply.

use panoply_contract::hints::{ActionCategory, Dependency, DependencyKind, Level};
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::wire::{CardId, CardState, DeckId, SessionId, timestamp};
use crate::collection;
use crate::error::NoemaError;
use crate::fsrs::Micros;
use crate::ids;
use crate::render;
use crate::review::{ReviewToken, Side};
use crate::store::StoreReader;

const SPEC: ToolSpec = ToolSpec {
    name: "get-next-card",
    title: "Get the next card",
    description: Description {
        does: "Gives the front of the card that is to be asked now, in the true order of the queue, with a token to turn it. The answer is not in the reply.",
        when: "Use this to ask the learner. Let them answer, then call `reveal-answer` with the token.",
        returns: "Returns the front, the token, what is left for today; or no card and when the next one comes.",
        asks: &["Ask me the next card", "What is next?"],
    },
    version: "1.0.0",
    aliases: &["review-next-card"],
    permissions: &["reviews:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "the next of a deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{"card": {"cardId": "card_123", "front": "What is 7 × 8?"}}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["learning", "scheduling"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/noema-review-v1.html",
        invoking: "Taking the next card…",
        invoked: "Next card",
    }),
}
.checked();

/// What is studied.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it; a session knows its own.
    deck_id: Option<DeckId>,
    /// The session, if there is one.
    session_id: Option<SessionId>,
}

/// The next card.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The card; null when nothing is left.
    card: Option<NextCard>,
    /// Cards in steps that are due, with this one.
    learning: usize,
    /// Reviews left for today, with this one.
    reviews: usize,
    /// New cards left for today, with this one.
    new: usize,
    /// When the next card comes, if nothing is left now; null if nothing is scheduled today.
    next_at: Option<String>,
}

/// A card, from its front.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NextCard {
    /// The card.
    card_id: CardId,
    /// Its deck.
    deck: String,
    /// The front as text.
    front: String,
    /// The front as HTML, where it has markup; null where it has none.
    front_html: Option<String>,
    /// Whether the answer is to be typed.
    type_answer: bool,
    /// Where it stands.
    state: CardState,
    /// Give it to `reveal-answer`.
    token: String,
}

/// See the module.
pub(super) struct GetNextCard {
    pub(super) service: NoemaService,
}

impl Tool for GetNextCard {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let (counts, next, finished) = self.service.read(|reader| {
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
            let (counts, first) = self.service.queue_cache.day(reader, deck, now, |day| {
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
            None => "Nothing is left for now.".to_owned(),
        };
        let suggestion = match (&next, &params.session_id) {
            (Some(card), _) => Some(
                NextAction::new(
                    "reveal-answer",
                    json!({"token": card.token}),
                    "turn the card once the learner has answered",
                )
                .priority(Level::High)
                .category(ActionCategory::Learning),
            ),
            (None, Some(session)) => Some(NextAction::new(
                "end-session",
                json!({"sessionId": session.as_str()}),
                "sum the session up",
            )),
            (None, None) => {
                Some(NextAction::new("forecast-reviews", json!({}), "see what is coming"))
            }
        };
        let evidence = exact_evidence("the queue").changes(NextChange::WithNextAction);
        let (learning, reviews, new, next_step) = counts;
        let output =
            Output { card: next, learning, reviews, new, next_at: next_step.map(timestamp) };
        let mut reply = Reply::new(output, text, evidence);
        reply.notes.dependencies.push(Dependency {
            action: "submit-review".to_owned(),
            depends_on: vec!["reveal-answer".to_owned()],
            kind: DependencyKind::Required,
            reason: Some("a card is rated after its answer was seen".to_owned()),
        });
        Ok(with_next(reply, suggestion))
    }
}

fn next_card(
    reader: &dyn StoreReader,
    id: ids::CardId,
    deck: Option<String>,
    now: Micros,
) -> Result<NextCard, NoemaError> {
    let card = collection::card(reader, id)?;
    let (note, note_type) = collection::note_and_type(reader, card.note)?;
    let sides = render::sides(&note_type, &note.fields, &note.tags, card.ordinal);
    let front = render::strip_html(&sides.front);
    let showing = ReviewToken { side: Side::Front, card: id, sequence: card.sequence, shown: now };
    let deck = match deck {
        Some(deck) => deck,
        // A filtered deck shows cards of any.
        None => collection::deck(reader, card.deck)?.name.to_string(),
    };
    Ok(NextCard {
        card_id: CardId::of(id),
        deck,
        front_html: (front != sides.front).then_some(sides.front),
        front,
        type_answer: sides.typed.is_some(),
        state: CardState::in_phase(card.schedule.phase),
        token: showing.sign(&reader.secret()?),
    })
}
