//! `create-cards`: makes up to 500 notes and their cards in one go, and says of each what happened; one that cannot be made does not stop the others.

use panoply_contract::prelude::*;
use serde_json::json;

use super::notes::{NoteInput, duplicate_warning, duplicates_of};
use super::service::{
    APPROVE, Change, NoemaService, exact_evidence, require_permission, with_next,
};
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::error::NoemaError;

const SPEC: ToolSpec = ToolSpec {
    name: "create-cards",
    title: "Create many cards",
    description: Description {
        does: "Makes up to 500 notes and their cards in one go, and says of each what happened; one that cannot be made does not stop the others.",
        when: "Use this to turn a text, a list or an answer of another tool into cards. For files use `import-cards`.",
        returns: "Returns an item for each note, in order, with its card ids or why it failed, and one action id that takes all of them back.",
        asks: &["Make cards of this vocabulary list", "Turn these 40 facts into cards"],
    },
    version: "1.0.0",
    aliases: &["batch-create-cards"],
    permissions: &["cards:create"],
    category: Category::Mutation,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "two notes, one of them empty", params: r##"{"deckId": "deck_456", "notes": [{"front": "6 × 6", "back": "36"}, {"front": ""}]}"##, expect: Expect::Data(r##"{"made": 1, "failed": 1}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1", "notes": [{"front": "a"}]}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["cards", "content"],
    rate_limit: Some(RateLimit { max_calls: 60, window: Duration::from_secs(60) }),
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
    /// The deck they go into.
    deck_id: DeckId,
    /// The notes.
    #[schemars(length(min = 1, max = 500))]
    notes: Vec<NoteInput>,
    /// Whether somebody has to approve them before they are studied.
    #[serde(default = "yes")]
    draft: bool,
}

const fn yes() -> bool {
    true
}

/// What was made.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// One for each note, in order.
    items: Vec<Row>,
    /// How many notes were made.
    made: usize,
    /// How many could not be made.
    failed: usize,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// What happened to one note.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Its cards; empty when it was not made.
    card_ids: Vec<CardId>,
    /// Why it was not made; null when it was.
    message: Option<String>,
    /// A card whose first field is the same; null when there is none.
    duplicate_of: Option<CardId>,
}

/// See the module.
pub(super) struct CreateCards {
    pub(super) service: NoemaService,
}

impl Tool for CreateCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        if !params.draft {
            require_permission(cx, APPROVE, "making cards that are no drafts")?;
        }
        let deck = params.deck_id.domain();
        let name = self.service.read(|reader| Ok(collection::regular_deck(reader, deck)?.name))?;
        let summary = format!("made {} notes in `{name}`", params.notes.len());
        self.service.change(
            cx,
            SPEC.name,
            &summary,
            |writer, now| {
                let mut items = Vec::with_capacity(params.notes.len());
                for note in params.notes {
                    let new = note.into_new(deck, params.draft);
                    let duplicate_of =
                        duplicates_of(writer, new.fields.first().map_or("", String::as_str))?
                            .into_iter()
                            .next();
                    items.push(match collection::add_note(writer, new, now) {
                        Ok((_, cards)) => Row {
                            card_ids: cards.iter().map(|card| CardId::of(card.id)).collect(),
                            message: None,
                            duplicate_of,
                        },
                        Err(NoemaError::Store(cause)) => return Err(NoemaError::Store(cause)),
                        Err(problem) => Row {
                            card_ids: Vec::new(),
                            message: Some(problem.to_string()),
                            duplicate_of,
                        },
                    });
                }
                Ok(items)
            },
            |items, change| {
                let made = items.iter().filter(|item| item.message.is_none()).count();
                let failed = items.len() - made;
                let verb = if cx.dry_run { "Would make" } else { "Made" };
                let text = format!("{verb} {made} of {} notes in `{name}`.", items.len());
                let fine = u64::try_from(made).unwrap_or(u64::MAX);
                let whole = u64::try_from(items.len()).unwrap_or(u64::MAX);
                let ids: Vec<&CardId> =
                    items.iter().flat_map(|item| &item.card_ids).take(500).collect();
                let approve = (!cx.dry_run && params.draft && !ids.is_empty()).then(|| {
                    NextAction::new(
                        "approve-drafts",
                        json!({"cardIds": ids}),
                        "let the learner approve them",
                    )
                });
                let doubles: Vec<CardId> =
                    items.iter().filter_map(|item| item.duplicate_of.clone()).collect();
                let undo = change.undo();
                let evidence = exact_evidence("the new notes").complete(fine, whole);
                let mut reply = Reply::new(Output { items, made, failed, change }, text, evidence);
                if !doubles.is_empty() {
                    reply = reply.warn(duplicate_warning(&doubles));
                }
                Ok(with_next(reply, approve.into_iter().chain(undo)))
            },
        )
    }
}
