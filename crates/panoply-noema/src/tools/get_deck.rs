//! `get-deck`: shows one deck with its options, its counts and what is due in the next week.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, changes_at, exact_evidence, now, with_next};
use super::wire::{CountsView, DeckId, DeckView, OptionsView};
use crate::collection;
use crate::statistics;

const SPEC: ToolSpec = ToolSpec {
    name: "get-deck",
    title: "Get a deck",
    description: Description {
        does: "Shows one deck with its options, its counts and what is due in the next week.",
        when: "Use this when the learner asks how a deck is set up or how much work it is. The cards themselves are found with `search-cards`.",
        returns: "Returns the deck, the options that hold in it and where they come from, its counts and a forecast of seven days.",
        asks: &["How is my Thai deck set up?", "How many new cards a day do I have?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["decks:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::For(Duration::from_secs(30)),
    idempotent: true,
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "a deck by its id", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{"deck": {"deckId": "deck_456", "name": "Math Deck"}}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_999"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["decks", "learning"],
    rate_limit: Some(RateLimit { max_calls: 600, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which deck.
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
    /// The deck itself.
    deck: DeckView,
    /// The options that hold in it.
    options: OptionsView,
    /// Whether the options are its own; otherwise those of a deck above it or the defaults.
    own_options: bool,
    /// Its cards, with those of the decks under it.
    counts: CountsView,
    /// Cards due on each of the next seven days; today, with what is overdue, is first.
    due_in_days: Vec<u32>,
}

/// See the module.
pub(super) struct GetDeck {
    pub(super) service: NoemaService,
}

impl Tool for GetDeck {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let (deck, options, counts, due) = self.service.read(|reader| {
            let deck = collection::deck(reader, params.deck_id.domain())?;
            let (decks, options) = statistics::scope(reader, Some(deck.id))?;
            let counts = statistics::counts(reader, &reader.decks()?, now)?;
            let due = statistics::forecast(reader, &decks, options.calendar(), now, 7)?;
            let own = counts.get(&deck.id).copied().unwrap_or_default();
            Ok((deck, options, own, due))
        })?;
        let text = format!(
            "`{}` has {} cards: {} due today, {} new. Desired retention {}.",
            deck.name, counts.cards, counts.due, counts.new, options.desired_retention
        );
        let evidence =
            exact_evidence("the deck").changes(changes_at(options.calendar().next_start(now)));
        let id = DeckId::of(deck.id);
        let next =
            NextAction::new("get-next-card", json!({"deckId": id.as_str()}), "study this deck");
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
}
