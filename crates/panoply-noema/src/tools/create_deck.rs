//! `create-deck`: creates a deck and its missing parents, or a filtered deck.

use panoply_contract::prelude::*;

use super::service::{Change, NoemaService, exact_evidence, now};
use super::specs::MUTATION;
use super::wire::{DeckView, OptionsPatch, OptionsView};
use crate::collection::{self, DeckChanges};
use crate::deck::{DeckName, DeckOptions, Filter};
use crate::error::NoemaError;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "create-deck",
    title: "Create a deck",
    description: Description {
        does: "Creates a deck and its missing parents; with a search it becomes a filtered deck.",
        when: "Use this before adding cards on a new subject, or to save a search for study. Check with `search-decks` first whether the deck exists.",
        returns: "Returns the new deck with its id and options, and an action id that undoes it.",
        asks: &["Make a deck for Thai verbs", "Make a deck of all my difficult cards"],
    },
    permissions: &["decks:create"],
    data: &["decks"],
    examples: &[
        Example { shows: "a deck inside another", params: r##"{"name": "Languages::Thai", "options": {"newPerDay": 10}}"##, expect: Expect::Data(r##"{"deck": {"name": "Languages::Thai"}}"##) },
        Example { shows: "a filtered deck", params: r##"{"name": "Hard ones", "search": "prop:lapses>=3"}"##, expect: Expect::Data(r##"{"deck": {"search": "prop:lapses>=3"}}"##) },
        Example { shows: "a name that is taken", params: r##"{"name": "math deck"}"##, expect: Expect::Error("DECK_EXISTS") },
    ],
    tags: &["decks", "content"],
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// The object to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Name with its parents, joined by `::`.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// Description.
    #[schemars(length(max = 2000))]
    #[serde(default)]
    description: String,
    /// Deck options; omitted ones have their defaults.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    options: Option<OptionsPatch>,
    /// Makes it a filtered deck of the cards that match this query, in Anki's search syntax.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-listed" = false))]
    search: Option<String>,
    /// Maximum number of cards in a filtered deck.
    #[schemars(range(min = 1, max = 9999))]
    #[serde(default = "default_search_limit")]
    #[schemars(extend("x-listed" = false))]
    search_limit: u32,
}

const fn default_search_limit() -> u32 {
    100
}

/// The deck.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The deck after the change.
    deck: DeckView,
    /// Effective options of the deck.
    options: OptionsView,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let name = DeckName::parse(&params.name).map_err(NoemaError::from)?;
    let options = match params.options {
        Some(patch) => Some(patch.apply(DeckOptions::default(), now(cx))?),
        None => None,
    };
    let filter = params.search.map(|search| Filter { search, limit: params.search_limit });
    let changes =
        DeckChanges { name: None, description: Some(params.description), options, filter };
    let summary = format!("created the deck `{name}`");
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| {
            let deck = collection::create_deck(writer, &name, changes, now)?;
            let options = collection::options_of(writer, deck.id)?;
            Ok((deck, options))
        },
        |(deck, options), change| {
            let text = format!(
                "{} the deck `{}`.",
                if cx.dry_run { "Would create" } else { "Created" },
                deck.name
            );
            let view = DeckView::from(&deck);
            let output = Output { deck: view, options: OptionsView::from(&options), change };
            let mut reply = Reply::new(output, text, exact_evidence("the new deck"));
            if deck.filter.is_none() {
                reply = reply.needing("the facts to learn, for `create-cards` or `import-cards`");
            }
            Ok(reply)
        },
    )
}
