//! `get-deck`: returns one deck with its options, counts and a forecast of seven days.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::specs::QUERY;
use super::wire::{CountsView, DeckId, DeckView, OptionsView};
use crate::collection;
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-deck",
    title: "Get a deck",
    description: Description {
        does: "Returns one deck with its options, counts and the cards due in the next week.",
        when: "Use this when the learner asks how a deck is configured or how much work it is. Find its cards with `search-cards`.",
        returns: "Returns the deck, its effective options, its counts and a forecast of seven days.",
        asks: &["How is my Thai deck set up?", "How many new cards a day do I have?"],
    },
    permissions: &["decks:read"],
    cache: CachePolicy::For(Duration::from_secs(30)),
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "a deck by its id", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{"deck": {"deckId": "deck_456", "name": "Math Deck"}}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_999"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["decks", "learning"],
    ..QUERY
}
.checked();

/// The deck to use.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The deck.
    deck_id: DeckId,
}

/// The deck.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The deck.
    deck: DeckView,
    /// Effective options of the deck.
    options: OptionsView,
    /// Whether the options are its own; otherwise inherited or default.
    own_options: bool,
    /// Card counts, including subdecks.
    counts: CountsView,
    /// Cards due on each of the next seven days; the first is today, including overdue cards.
    due_in_days: Vec<u32>,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let (deck, options, calendar, counts, due) = service.read(|reader| {
        let deck = collection::deck(reader, params.deck_id.domain())?;
        let (decks, options) = statistics::scope(reader, Some(deck.id))?;
        let counts = statistics::counts(reader, &reader.decks()?, now)?;
        let calendar = options.calendar(reader.learner_zone()?);
        let due = statistics::forecast(reader, &decks, calendar, now, 7)?;
        let own = counts.get(&deck.id).copied().unwrap_or_default();
        Ok((deck, options, calendar, own, due))
    })?;
    let text = format!(
        "`{}` has {} cards: {} due today, {} new. Desired retention {}.",
        deck.name, counts.cards, counts.due, counts.new, options.desired_retention
    );
    let evidence = exact_evidence("the deck").changes(changes_at(calendar.next_start(now)));
    let id = DeckId::of(deck.id);
    let next = NextAction::new("get-next-card", json!({"deckId": id.as_str()}), "study this deck");
    let output = Output {
        own_options: deck.options.is_some(),
        deck: DeckView::from(&deck),
        options: OptionsView::from(&options),
        counts: counts.into(),
        due_in_days: due,
    };
    let reply = Reply::new(output, text, evidence);
    Ok(with_next(reply, (counts.due + counts.new > 0).then_some(next)))
}
