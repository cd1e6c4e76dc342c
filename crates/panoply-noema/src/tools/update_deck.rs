//! `update-deck`: changes the name, description, options or search of a deck.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{Change, NoemaService, exact_evidence, now, with_next};
use super::specs::MUTATION;
use super::wire::{DeckId, DeckView, OptionsPatch, OptionsView};
use crate::collection::{self, DeckChanges};
use crate::deck::{DeckName, Filter};
use crate::error::NoemaError;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "update-deck",
    title: "Change a deck",
    description: Description {
        does: "Renames or moves a deck, changes its description, its options (desired retention, steps, limits, rollover, leeches, weights) or a filtered deck's search.",
        when: "Use this to set how a deck is studied, for example after `get-study-guidance` or `optimize-parameters`. Renaming it renames its subdecks.",
        returns: "Returns the changed deck with its effective options, and an action id that undoes it.",
        asks: &["Set my retention for anatomy to 95 %", "Give me only 5 new cards a day"],
    },
    aliases: &["adjust-difficulty"],
    permissions: &["decks:update"],
    data: &["decks", "cards", "schedule"],
    examples: &[
        Example { shows: "another retention", params: r##"{"deckId": "deck_456", "options": {"desiredRetention": 0.85}}"##, expect: Expect::Data(r##"{"options": {"desiredRetention": 0.85}}"##) },
        Example { shows: "another name", params: r##"{"deckId": "deck_457", "name": "World capitals"}"##, expect: Expect::Data(r##"{"deck": {"name": "World capitals"}}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1", "name": "X"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["decks", "scheduling"],
    ..MUTATION
}
.checked();

/// The change to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The deck.
    deck_id: DeckId,
    /// New name with its parents, joined by `::`.
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    /// New description.
    #[schemars(length(max = 2000))]
    description: Option<String>,
    /// Options to change; omitted ones stay unchanged.
    options: Option<OptionsPatch>,
    /// New search of a filtered deck, in Anki's search syntax.
    #[schemars(length(min = 1, max = 1000))]
    search: Option<String>,
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
    let id = params.deck_id.domain();
    let (before, options) = service
        .read(|reader| Ok((collection::deck(reader, id)?, collection::options_of(reader, id)?)))?;
    let name = params.name.as_deref().map(DeckName::parse).transpose().map_err(NoemaError::from)?;
    let options = params.options.map(|patch| patch.apply(options, now(cx))).transpose()?;
    let limit = before.filter.as_ref().map_or(100, |filter| filter.limit);
    let filter = match params.search {
        Some(_) if before.filter.is_none() => {
            return Err(ToolError::business(
                "NOT_FILTERED",
                format!("deck `{}` is not filtered", before.name),
            )
            .hint("create a filtered deck with `create-deck` and a search"));
        }
        search => search.map(|search| Filter { search, limit }),
    };
    let changes = DeckChanges { name, description: params.description, options, filter };
    let summary = format!("changed the deck `{}`", before.name);
    service.change(cx, SPEC.name, &summary, |writer, now| {
            let deck = collection::update_deck(writer, id, changes, now)?;
            let options = collection::options_of(writer, deck.id)?;
            Ok((deck, options))
        }, |(deck, options), change| {
    let text = format!(
        "{} the deck `{}`.",
        if cx.dry_run { "Would change" } else { "Changed" },
        deck.name
    );
    let retention_changed = options.desired_retention.to_bits()
        != collection::options_among(&before, &[]).desired_retention.to_bits();
    let next = retention_changed.then(|| {
        NextAction::new(
            "forecast-reviews",
            json!({"deckId": params.deck_id.as_str()}),
            "see the forecast with the new options",
        )
    });
    let output =
        Output { deck: DeckView::from(&deck), options: OptionsView::from(&options), change };
    let reply = Reply::new(output, text, exact_evidence("the changed deck"))
        .assuming("new options apply to future reviews; `reschedule-cards` applies them to scheduled cards");
    Ok(with_next(reply, next))
})
}
