//! `import-cards`: imports notes from CSV, TSV, JSON or Markdown in one undoable batch.

use super::import_export::{BadRow, TextFormatParam, read_text};
use super::notes::duplicates_of;
use super::service::{APPROVE, Change, NoemaService, require_permission};
use super::specs::{MUTATION, per_minute};
use super::wire::DeckId;
use crate::collection::{self, DeckChanges, NewNote};
use crate::deck::DeckName;
use crate::error::{NoemaError, Result};
use crate::fsrs::Micros;
use crate::ids;
use crate::numbers::len_to_u64;
use crate::store::StoreWriter;
use crate::text_notes;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "import-cards",
    title: "Import cards",
    description: Description {
        does: "Imports notes from CSV, TSV, JSON or Markdown in one batch that can be undone.",
        when: "Use this for files and long lists, after `preview-import`. For Anki packages use `import-package`.",
        returns: "Returns the number of created notes and cards, the rejected rows, and one action id that undoes the import.",
        asks: &["Import this CSV", "Add my vocabulary file"],
    },
    permissions: &["cards:import"],
    response_time: ResponseTime::Slow,
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "two rows", params: r##"{"deckId": "deck_456", "content": "2+2,4\n3+3,6"}"##, expect: Expect::Data(r##"{"notes": 2, "cards": 2}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1", "content": "a,b"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["content", "imports"],
    rate_limit: per_minute(30),
    ..MUTATION
}
.checked();

/// The text to import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Deck of the cards.
    deck_id: Option<DeckId>,
    /// Or its name such as `Languages::Thai`; created if it does not exist.
    #[schemars(length(min = 1, max = 400))]
    deck_name: Option<String>,
    /// The text to import.
    #[schemars(length(min = 1, max = 3000000))]
    content: Option<String>,
    /// Or a file on this machine that contains it.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
    /// Format of the text.
    #[serde(default)]
    format: TextFormatParam,
    /// Whether the cards need approval before they are studied.
    #[serde(default)]
    draft: bool,
    /// Skip notes whose first field already exists.
    #[serde(default = "default_true")]
    skip_duplicates: bool,
}

const fn default_true() -> bool {
    true
}

/// The outcome of the call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Number of created notes.
    notes: usize,
    /// Number of created cards.
    cards: usize,
    /// Number of skipped duplicates.
    duplicates: usize,
    /// Rejected rows, at most 50.
    bad_rows: Vec<BadRow>,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    if !params.draft {
        require_permission(cx, APPROVE, "importing cards that are not drafts")?;
    }
    let target = target(service, params.deck_id.as_ref(), params.deck_name.as_deref())?;
    let name = target.name().clone();
    let content = read_text(params.content, params.path.as_deref(), &service.roots)?;
    let parsed = text_notes::parse(&content, params.format.of(&content));
    let total = parsed.notes.len() + parsed.bad.len();
    let unreadable: Vec<BadRow> = parsed.bad.into_iter().map(BadRow::from).collect();
    let summary = format!("imported {} notes into `{name}`", parsed.notes.len());
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| {
            let deck = target.deck(writer, now)?;
            let (mut notes, mut cards, mut duplicates) = (0, 0, 0);
            let mut bad_rows = unreadable;
            for (row, note) in parsed.notes {
                if params.skip_duplicates && !duplicates_of(writer, &note.front)?.is_empty() {
                    duplicates += 1;
                    continue;
                }
                let form = note.form();
                let new = NewNote {
                    note_type: form.note_type().id,
                    fields: collection::fields_of(form, note.front, note.back, &[], note.extra),
                    tags: note.tags,
                    deck,
                    draft: params.draft,
                    source: None,
                };
                match collection::add_note(writer, new, now) {
                    Ok((_, made)) => {
                        notes += 1;
                        cards += made.len();
                    }
                    Err(NoemaError::Store(cause)) => return Err(NoemaError::Store(cause)),
                    Err(problem) => bad_rows.push(BadRow { row, problem: problem.to_string() }),
                }
            }
            Ok((notes, cards, duplicates, bad_rows))
        },
        |(notes, cards, duplicates, mut bad_rows), change| {
            bad_rows.truncate(50);
            let text = format!(
                "{} {notes} notes with {cards} cards into `{name}`; {duplicates} already exist.",
                if cx.dry_run { "Would import" } else { "Imported" }
            );
            let succeeded = len_to_u64(notes + duplicates);
            let evidence = Evidence::from(Source::new(SourceClass::Exact, "the created notes"))
                .complete(succeeded, len_to_u64(total));
            Ok(Reply::new(Output { notes, cards, duplicates, bad_rows, change }, text, evidence))
        },
    )
}

/// Deck of the imported notes.
enum Target {
    There(ids::DeckId, DeckName),
    ToBeMade(DeckName),
}

impl Target {
    const fn name(&self) -> &DeckName {
        match self {
            Self::There(_, name) | Self::ToBeMade(name) => name,
        }
    }

    fn deck(&self, writer: &mut dyn StoreWriter, now: Micros) -> Result<ids::DeckId> {
        match self {
            Self::There(id, _) => Ok(*id),
            Self::ToBeMade(name) => {
                Ok(collection::create_deck(writer, name, DeckChanges::default(), now)?.id)
            }
        }
    }
}

fn target(
    service: &NoemaService,
    id: Option<&DeckId>,
    name: Option<&str>,
) -> Result<Target, ToolError> {
    match (id, name) {
        (Some(id), None) => {
            let deck = service.read(|reader| collection::regular_deck(reader, id.domain()))?;
            Ok(Target::There(deck.id, deck.name))
        }
        (None, Some(name)) => {
            let name = DeckName::parse(name).map_err(NoemaError::from)?;
            let found = service.read(|reader| match collection::deck_by_name(reader, &name)? {
                Some(deck) => collection::regular_deck(reader, deck.id).map(Some),
                None => Ok(None),
            })?;
            Ok(match found {
                Some(deck) => Target::There(deck.id, deck.name),
                None => Target::ToBeMade(name),
            })
        }
        _ => Err(ToolError::validation("ONE_DECK", "expected either `deckId` or `deckName`")
            .hint("name the deck with `deckName`, or take its id from `list-decks`")),
    }
}
