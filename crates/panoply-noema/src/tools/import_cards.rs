//! `import-cards`: takes notes in from a text: CSV, TSV, JSON or Markdown, all in one batch that can be taken back.

use super::desk::{Change, Desk, with_next};
use super::exchange::{BadRow, WireFormat};
use super::notes::like;
use super::wire::DeckId;
use crate::library::{self, NewNote};
use crate::problem::Problem;
use crate::text;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "import-cards",
    title: "Import cards",
    description: Description {
        does: "Takes notes in from a text: CSV, TSV, JSON or Markdown, all in one batch that can be taken back.",
        when: "Use this for files and long lists, after `preview-import`. For packages of Anki use `import-package`.",
        returns: "Returns how many notes and cards were made, the rows that were not, and one action id that takes all of it back.",
        asks: &["Import this CSV", "Add my vocabulary file"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cards:import"],
    category: Category::Mutation,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks", "schedule"],
    examples: &[
        Example { shows: "two rows", params: r##"{"deckId": "deck_456", "content": "2+2,4\n3+3,6"}"##, expect: Expect::Data(r##"{"notes": 2, "cards": 2, "dryRun": true}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1", "content": "a,b"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["content", "imports"],
    rate_limit: Some(RateLimit { max_calls: 30, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// What to take in.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The deck they go into.
    deck_id: DeckId,
    /// The text.
    #[schemars(length(min = 1, max = 3000000))]
    content: String,
    /// How the text is written.
    #[serde(default)]
    format: WireFormat,
    /// Whether somebody has to approve them before they are studied.
    #[serde(default)]
    draft: bool,
    /// Leave out notes whose first field the collection has already.
    #[serde(default = "yes")]
    skip_duplicates: bool,
}

const fn yes() -> bool {
    true
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Notes made.
    notes: usize,
    /// Cards made.
    cards: usize,
    /// Notes left out because they are there already.
    duplicates: usize,
    /// Rows that could not be made, at most 50.
    bad_rows: Vec<BadRow>,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct ImportCards {
    pub(super) desk: Desk,
}

impl Tool for ImportCards {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let deck = params.deck_id.domain();
        let name = self.desk.read(|records| Ok(library::holding_deck(records, deck)?.name))?;
        let parsed = text::parse(&params.content, params.format.of(&params.content));
        let whole = parsed.notes.len() + parsed.bad.len();
        let mut bad_rows: Vec<BadRow> = parsed.bad.into_iter().map(BadRow::from).collect();
        let summary = format!("imported {} notes into `{name}`", parsed.notes.len());
        let ((notes, cards, duplicates), change) =
            self.desk.change(cx, SPEC.name, &summary, |ledger, now| {
                let (mut notes, mut cards, mut duplicates) = (0, 0, 0);
                for (row, note) in parsed.notes {
                    if params.skip_duplicates && !like(ledger, &note.front)?.is_empty() {
                        duplicates += 1;
                        continue;
                    }
                    let form = note.form();
                    let new = NewNote {
                        note_type: form.note_type().id,
                        fields: library::fields_of(form, note.front, note.back, &[], note.extra),
                        tags: note.tags,
                        deck,
                        draft: params.draft,
                        source: None,
                    };
                    match library::add_note(ledger, new, now) {
                        Ok((_, made)) => {
                            notes += 1;
                            cards += made.len();
                        }
                        Err(Problem::Store(cause)) => return Err(Problem::Store(cause)),
                        Err(problem) => bad_rows.push(BadRow { row, problem: problem.to_string() }),
                    }
                }
                Ok((notes, cards, duplicates))
            })?;
        bad_rows.truncate(50);
        let text = format!(
            "{} {notes} notes with {cards} cards into `{name}`; {duplicates} were there already.",
            if cx.dry_run { "Would import" } else { "Imported" }
        );
        let fine = u64::try_from(notes + duplicates).unwrap_or(u64::MAX);
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "the made notes"))
            .complete(fine, u64::try_from(whole).unwrap_or(u64::MAX));
        let undo = change.undo();
        Ok(with_next(
            Reply::new(Output { notes, cards, duplicates, bad_rows, change }, text, evidence),
            undo,
        ))
    }
}
