//! `create-cards`: creates up to 500 notes and their cards and reports an outcome per note.

use panoply_contract::prelude::*;
use serde_json::json;

use super::interfering;
use super::notes::{
    NoteInput, QualityView, duplicate_warning, duplicates_of, quality, quality_warning,
};
use super::service::{
    APPROVE, Change, NoemaService, exact_evidence, now, require_permission, with_next,
};
use super::specs::{MUTATION, per_minute};
use super::wire::{CardId, DeckId};
use crate::collection;
use crate::error::NoemaError;
use crate::numbers::len_to_u64;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "create-cards",
    title: "Create many cards",
    description: Description {
        does: "Creates up to 500 notes and their cards in one change and reports the outcome of each; one failure does not stop the others.",
        when: "Use this to turn a text, a list or an answer of another tool into cards. For files use `import-cards`.",
        returns: "Returns an item per note, in order, with its card ids or the reason of its failure, and one action id that undoes all.",
        asks: &["Make cards of this vocabulary list", "Turn these 40 facts into cards"],
    },
    aliases: &["batch-create-cards"],
    permissions: &["cards:create"],
    data: &["cards", "decks"],
    examples: &[
        Example { shows: "two notes, one of them empty", params: r##"{"deckId": "deck_456", "notes": [{"front": "6 × 6", "back": "36"}, {"front": ""}]}"##, expect: Expect::Data(r##"{"made": 1, "failed": 1}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1", "notes": [{"front": "a"}]}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["cards", "content"],
    rate_limit: per_minute(60),
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// The object to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Deck of the cards.
    deck_id: DeckId,
    /// The notes.
    #[schemars(length(min = 1, max = 500))]
    notes: Vec<NoteInput>,
    /// Whether the cards need approval before they are studied.
    #[serde(default = "default_true")]
    draft: bool,
}

const fn default_true() -> bool {
    true
}

/// The created notes and cards.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Outcome of each note, in input order.
    items: Vec<Row>,
    /// Number of created notes.
    made: usize,
    /// Number of failed notes.
    failed: usize,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

/// Outcome of one note.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// Its cards; empty if it failed.
    card_ids: Vec<CardId>,
    /// Reason of the failure; null otherwise.
    message: Option<String>,
    /// A card whose first field is equal; null if none.
    duplicate_of: Option<CardId>,
    /// Faults of wording that make the cards hard to remember.
    quality: Vec<QualityView>,
}

impl Row {
    fn failed(problem: &NoemaError, duplicate_of: Option<CardId>) -> Self {
        let message = Some(problem.to_string());
        Self { card_ids: Vec::new(), message, duplicate_of, quality: Vec::new() }
    }
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    if !params.draft {
        require_permission(cx, APPROVE, "creating cards that are not drafts")?;
    }
    let deck = params.deck_id.domain();
    // Candidates are searched for before the change: within it each added note would rebuild the
    // text index.
    let notes = params.notes;
    let (name, prepared) = service.read(|reader| {
        let name = collection::regular_deck(reader, deck)?.name;
        let mut prepared = Vec::with_capacity(notes.len());
        for note in notes {
            prepared.push(match note.into_new(reader, deck, params.draft) {
                Ok(new) => Ok((interfering::existing(reader, &new, now(cx))?, new)),
                Err(problem) => Err(problem),
            });
        }
        Ok((name, prepared))
    })?;
    let summary = format!("created {} notes in `{name}`", prepared.len());
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| {
            let mut items = Vec::with_capacity(prepared.len());
            let mut batch = interfering::Batch::default();
            for note in prepared {
                let (interfering, new) = match note {
                    Ok(found) => found,
                    Err(problem) => {
                        items.push(Row::failed(&problem, None));
                        continue;
                    }
                };
                let duplicate_of =
                    duplicates_of(writer, new.fields.first().map_or("", String::as_str))?
                        .into_iter()
                        .next();
                let mut quality = quality(writer, &new)?;
                quality.extend(interfering);
                items.push(match collection::add_note(writer, new, now) {
                    Ok((note, cards)) => {
                        if let Some(note_type) = writer.note_type(note.note_type)? {
                            quality.extend(batch.add(&note_type, &note.fields, &cards));
                        }
                        Row {
                            card_ids: cards.iter().map(|card| CardId::of(card.id)).collect(),
                            message: None,
                            duplicate_of,
                            quality,
                        }
                    }
                    Err(NoemaError::Store(cause)) => return Err(NoemaError::Store(cause)),
                    Err(problem) => Row::failed(&problem, duplicate_of),
                });
            }
            Ok(items)
        },
        |items, change| {
            let made = items.iter().filter(|item| item.message.is_none()).count();
            let failed = items.len() - made;
            let verb = if cx.dry_run { "Would create" } else { "Created" };
            let text = format!("{verb} {made} of {} notes in `{name}`.", items.len());
            let succeeded = len_to_u64(made);
            let total = len_to_u64(items.len());
            let ids: Vec<&CardId> =
                items.iter().flat_map(|item| &item.card_ids).take(500).collect();
            let approve = (!cx.dry_run && params.draft && !ids.is_empty()).then(|| {
                NextAction::new(
                    "approve-drafts",
                    json!({"cardIds": ids}),
                    "ask the learner to approve them",
                )
            });
            let doubles: Vec<CardId> =
                items.iter().filter_map(|item| item.duplicate_of.clone()).collect();
            let faults: Vec<QualityView> =
                items.iter().flat_map(|item| item.quality.clone()).collect();
            let evidence = exact_evidence("the new notes").complete(succeeded, total);
            let mut reply = Reply::new(Output { items, made, failed, change }, text, evidence);
            if !doubles.is_empty() {
                reply = reply.warn(duplicate_warning(&doubles));
            }
            if let Some(warning) = quality_warning(&faults.iter().collect::<Vec<_>>()) {
                reply = reply.warn(warning);
            }
            Ok(with_next(reply, approve))
        },
    )
}
