//! `delete-deck`: deletes a deck with the decks under it and all their cards; they can be brought back for 30 days.

use super::service::{Change, NoemaService, exact_evidence, now, with_next};
use super::wire::{DeckId, timestamp};
use crate::collection;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "delete-deck",
    title: "Delete a deck",
    description: Description {
        does: "Deletes a deck with the decks under it and all their cards; they can be brought back for 30 days.",
        when: "Use this only when the learner asks for it. To stop studying a deck without losing it, suspend its cards with `suspend-cards`.",
        returns: "Returns how many decks and cards were deleted, and an action id that brings them back.",
        asks: &["Delete my old French deck"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["decks:delete"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["decks", "cards", "schedule"],
    examples: &[
        Example { shows: "a deck and its cards", params: r##"{"deckId": "deck_457"}"##, expect: Expect::Data(r##"{"decks": 1, "dryRun": true}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["decks", "content"],
    rate_limit: Some(RateLimit { max_calls: 300, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations { destructive: true, open_world: false },
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

/// What was deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Decks, with those under it.
    decks: usize,
    /// Cards.
    cards: usize,
    /// Until when they can be brought back.
    restorable_until: String,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct DeleteDeck {
    pub(super) service: NoemaService,
}

impl Tool for DeleteDeck {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let id = params.deck_id.domain();
        let name = self.service.read(|reader| Ok(collection::deck(reader, id)?.name))?;
        let summary = format!("deleted the deck `{name}`");
        self.service.change(
            cx,
            SPEC.name,
            &summary,
            |writer, now| collection::delete_deck(writer, id, now),
            |(decks, cards), change| {
                let text = format!(
                    "{} `{name}`: {decks} decks, {cards} cards.",
                    if cx.dry_run { "Would delete" } else { "Deleted" }
                );
                let undo = change.undo();
                let output = Output {
                    decks,
                    cards,
                    restorable_until: timestamp(now(cx) + collection::DELETED_RETENTION),
                    change,
                };
                Ok(with_next(Reply::new(output, text, exact_evidence("the deleted deck")), undo))
            },
        )
    }
}
