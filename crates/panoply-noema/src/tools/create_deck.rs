//! `create-deck`: makes a deck, and the decks above it that are missing; with a search it becomes a filtered deck.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{Change, NoemaService, exact_evidence, now, with_next};
use super::wire::{DeckView, OptionsPatch, OptionsView};
use crate::collection::{self, DeckChanges};
use crate::deck::{DeckName, DeckOptions, Filter};
use crate::error::NoemaError;

const SPEC: ToolSpec = ToolSpec {
    name: "create-deck",
    title: "Create a deck",
    description: Description {
        does: "Makes a deck, and the decks above it that are missing; with a search it becomes a filtered deck.",
        when: "Use this before you add cards about something new, or to save a search that is studied often. Ask `search-decks` first whether there is one.",
        returns: "Returns the new deck with its id and options, and an action id that takes it back.",
        asks: &["Make a deck for Thai verbs", "Make a deck of all my difficult cards"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["decks:create"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["decks"],
    examples: &[
        Example { shows: "a deck inside another", params: r##"{"name": "Languages::Thai", "options": {"newPerDay": 10}}"##, expect: Expect::Data(r##"{"deck": {"name": "Languages::Thai"}, "dryRun": true}"##) },
        Example { shows: "a filtered deck", params: r##"{"name": "Hard ones", "search": "prop:lapses>=3"}"##, expect: Expect::Data(r##"{"deck": {"search": "prop:lapses>=3"}}"##) },
        Example { shows: "a name that is taken", params: r##"{"name": "math deck"}"##, expect: Expect::Error("DECK_EXISTS") },
    ],
    tags: &["decks", "content"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// What to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The name, with the names above it joined by `::`.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// What it is for.
    #[schemars(length(max = 2000))]
    #[serde(default)]
    description: String,
    /// How it is studied; what is left out has its default.
    #[serde(default)]
    options: Option<OptionsPatch>,
    /// Makes a filtered deck of the cards that this search finds, in Anki's syntax.
    #[schemars(length(min = 1, max = 1000))]
    search: Option<String>,
    /// How many cards a filtered deck shows at most.
    #[schemars(range(min = 1, max = 9999))]
    #[serde(default = "default_limit")]
    search_limit: u32,
}

const fn default_limit() -> u32 {
    100
}

/// The deck.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The deck as it is now.
    deck: DeckView,
    /// The options that hold in it.
    options: OptionsView,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct CreateDeck {
    pub(super) service: NoemaService,
}

impl Tool for CreateDeck {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let name = DeckName::parse(&params.name).map_err(NoemaError::from)?;
        let options = match params.options {
            Some(patch) => Some(patch.apply(DeckOptions::default(), now(cx))?),
            None => None,
        };
        let filter = params.search.map(|search| Filter { search, limit: params.search_limit });
        let changes =
            DeckChanges { name: None, description: Some(params.description), options, filter };
        let summary = format!("made the deck `{name}`");
        self.service.change(
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
                    if cx.dry_run { "Would make" } else { "Made" },
                    deck.name
                );
                let view = DeckView::from(&deck);
                let next = (!cx.dry_run && deck.filter.is_none()).then(|| {
                    let arguments =
                        json!({"deckId": view.deck_id.as_str(), "front": "2 + 2", "back": "4"});
                    NextAction::new("create-card", arguments, "add a card to it")
                });
                let undo = change.undo();
                let output = Output { deck: view, options: OptionsView::from(&options), change };
                Ok(with_next(
                    Reply::new(output, text, exact_evidence("the new deck")),
                    next.into_iter().chain(undo),
                ))
            },
        )
    }
}
