//! `update-deck`: renames or moves a deck, changes its description, its options (desired retention, steps, limits, rollover, leeches, weights) or a filtered deck's search.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{Change, NoemaService, exact_evidence, now, with_next};
use super::wire::{DeckId, DeckView, OptionsPatch, OptionsView};
use crate::collection::{self, DeckChanges};
use crate::deck::{DeckName, Filter};
use crate::error::NoemaError;

const SPEC: ToolSpec = ToolSpec {
    name: "update-deck",
    title: "Change a deck",
    description: Description {
        does: "Renames or moves a deck, changes its description, its options (desired retention, steps, limits, rollover, leeches, weights) or a filtered deck's search.",
        when: "Use this to set how a deck is studied, for example after `get-study-guidance` or `optimize-parameters`. Decks under it move along with a new name.",
        returns: "Returns the deck as it is now with the options that hold in it, and an action id that takes it back.",
        asks: &["Set my retention for anatomy to 95 %", "Give me only 5 new cards a day"],
    },
    version: "1.0.0",
    aliases: &["adjust-difficulty"],
    permissions: &["decks:update"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["decks", "cards", "schedule"],
    examples: &[
        Example { shows: "another retention", params: r##"{"deckId": "deck_456", "options": {"desiredRetention": 0.85}}"##, expect: Expect::Data(r##"{"options": {"desiredRetention": 0.85}, "dryRun": true}"##) },
        Example { shows: "another name", params: r##"{"deckId": "deck_457", "name": "World capitals"}"##, expect: Expect::Data(r##"{"deck": {"name": "World capitals"}}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1", "name": "X"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["decks", "scheduling"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// What to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The deck.
    deck_id: DeckId,
    /// A new name, with the names above it joined by `::`.
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    /// A new description.
    #[schemars(length(max = 2000))]
    description: Option<String>,
    /// Options to change; what is left out stays as it is.
    options: Option<OptionsPatch>,
    /// A new search for a filtered deck, in Anki's syntax.
    #[schemars(length(min = 1, max = 1000))]
    search: Option<String>,
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
pub(super) struct UpdateDeck {
    pub(super) service: NoemaService,
}

impl Tool for UpdateDeck {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.deck_id.domain();
        let (before, options) = self.service.read(|reader| {
            Ok((collection::deck(reader, id)?, collection::options_of(reader, id)?))
        })?;
        let name =
            params.name.as_deref().map(DeckName::parse).transpose().map_err(NoemaError::from)?;
        let options = params.options.map(|patch| patch.apply(options, now(cx))).transpose()?;
        let limit = before.filter.as_ref().map_or(100, |filter| filter.limit);
        let filter = match params.search {
            Some(_) if before.filter.is_none() => {
                return Err(ToolError::business(
                    "NOT_FILTERED",
                    format!("deck `{}` is not filtered", before.name),
                )
                .hint("make a filtered deck with `create-deck` and a search"));
            }
            search => search.map(|search| Filter { search, limit }),
        };
        let changes = DeckChanges { name, description: params.description, options, filter };
        let summary = format!("changed the deck `{}`", before.name);
        self.service.change(cx, SPEC.name, &summary, |writer, now| {
                let deck = collection::update_deck(writer, id, changes, now)?;
                let options = collection::options_of(writer, deck.id)?;
                Ok((deck, options))
            }, |(deck, options), change| {
        let text = format!(
            "{} the deck `{}`.",
            if cx.dry_run { "Would change" } else { "Changed" },
            deck.name
        );
        let undo = change.undo();
        let retention_changed = options.desired_retention.to_bits()
            != collection::options_among(&before, &[]).desired_retention.to_bits();
        let next = retention_changed.then(|| {
            NextAction::new(
                "forecast-reviews",
                json!({"deckId": params.deck_id.as_str()}),
                "see what is coming with the new options",
            )
        });
        let output =
            Output { deck: DeckView::from(&deck), options: OptionsView::from(&options), change };
        let reply = Reply::new(output, text, exact_evidence("the changed deck"))
            .assuming("new options hold for answers from now on; cards already scheduled move only with `reschedule-cards`");
        Ok(with_next(reply, next.into_iter().chain(undo)))
})
    }
}
