//! `preview-import`: reads a text or an Anki package and summarises its content without importing
//! it.

use panoply_contract::prelude::*;
use serde_json::json;

use super::import_export::{BadRow, TextFormatParam, read_package};
use super::notes::duplicates_of;
use super::service::NoemaService;
use super::specs::{ANALYSIS, per_minute};
use crate::note::FIELD_SEPARATOR;
use crate::numbers::len_to_u64;
use crate::text_notes;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "preview-import",
    title: "Preview an import",
    description: Description {
        does: "Reads a text (CSV, TSV, JSON, Markdown) or an Anki package and summarises its content without importing it.",
        when: "Use this before `import-cards` or `import-package`, and show the learner the result.",
        returns: "Returns the number of notes, cards and reviews, the first notes, and the rejected rows.",
        asks: &["What is in this file?", "Can you read my Anki deck?"],
    },
    permissions: &["imports:read"],
    response_time: ResponseTime::Slow,
    data: &["cards"],
    examples: &[
        Example { shows: "two rows", params: r##"{"content": "Thailand,Bangkok\nFrance,Paris"}"##, expect: Expect::Data(r##"{"notes": 2, "badRows": []}"##) },
        Example { shows: "a row without a front", params: r##"{"content": "a,b\n,c", "format": "csv"}"##, expect: Expect::Data(r##"{"notes": 1, "badRows": [{"row": 2}]}"##) },
        Example { shows: "nothing given", params: r##"{}"##, expect: Expect::Error("ONE_SOURCE") },
    ],
    tags: &["content", "imports"],
    rate_limit: per_minute(60),
    ..ANALYSIS
}
.checked();

/// The file to preview.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// A text with notes.
    #[schemars(length(max = 3000000))]
    content: Option<String>,
    /// Format of the text.
    #[serde(default)]
    format: TextFormatParam,
    /// The package (.apkg or .colpkg) as base64, up to about 3 MB.
    #[schemars(length(min = 1, max = 4200000))]
    content_base64: Option<String>,
    /// Path of the package on this machine; owner only.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
}

/// The content of the file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Number of notes.
    notes: usize,
    /// Number of cards, for a package.
    cards: usize,
    /// Number of review log entries, for a package.
    reviews: usize,
    /// Number of media files, for a package.
    media: usize,
    /// Deck names, for a package.
    decks: Vec<String>,
    /// The first notes, at most 10.
    first: Vec<NotePreview>,
    /// Rejected rows, at most 50.
    bad_rows: Vec<BadRow>,
    /// Number of notes whose first field already exists.
    duplicates: usize,
}

/// A note.
#[derive(Debug, Serialize, JsonSchema)]
struct NotePreview {
    /// First field.
    front: String,
    /// Second field.
    back: String,
    /// Tags.
    tags: Vec<String>,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let output = match &params.content {
        Some(content) => {
            let parsed = text_notes::parse(content, params.format.of(content));
            let fronts = parsed.notes.iter().map(|(_, note)| note.front.as_str());
            let shown = parsed.notes.iter().take(10).map(|(_, note)| NotePreview {
                front: note.front.clone(),
                back: note.back.clone(),
                tags: note.tags.clone(),
            });
            Output {
                notes: parsed.notes.len(),
                cards: 0,
                reviews: 0,
                media: 0,
                decks: Vec::new(),
                duplicates: duplicates(service, fronts)?,
                first: shown.collect(),
                bad_rows: parsed.bad.into_iter().take(50).map(BadRow::from).collect(),
            }
        }
        None => {
            let package = read_package(
                params.content_base64.as_deref(),
                params.path.as_deref(),
                &service.roots,
            )?;
            let first =
                |fields: &str| fields.split(FIELD_SEPARATOR).next().unwrap_or_default().to_owned();
            let fronts: Vec<String> =
                package.notes.iter().map(|note| first(&note.fields)).collect();
            Output {
                notes: package.notes.len(),
                cards: package.cards.len(),
                reviews: package.reviews.len(),
                media: package.media.len(),
                decks: package.decks.iter().map(|deck| deck.name.clone()).take(100).collect(),
                duplicates: duplicates(service, fronts.iter().map(String::as_str))?,
                first: package
                    .notes
                    .iter()
                    .take(10)
                    .map(|note| NotePreview {
                        front: first(&note.fields),
                        back: note
                            .fields
                            .split(FIELD_SEPARATOR)
                            .nth(1)
                            .unwrap_or_default()
                            .to_owned(),
                        tags: note.tags.split_whitespace().map(str::to_owned).collect(),
                    })
                    .collect(),
                bad_rows: package
                    .left_out
                    .into_iter()
                    .map(|problem| BadRow { row: 0, problem })
                    .take(50)
                    .collect(),
            }
        }
    };
    let text = format!(
        "{} notes readable, {} rows rejected; {} notes already exist.",
        output.notes,
        output.bad_rows.len(),
        output.duplicates
    );
    let (succeeded, bad) = (len_to_u64(output.notes), len_to_u64(output.bad_rows.len()));
    let evidence = Evidence::from(Source::new(SourceClass::UserSupplied, "the given file"))
        .complete(succeeded, succeeded.saturating_add(bad));
    Ok(Reply::new(output, text, evidence).next(NextAction::new(
        "list-decks",
        json!({}),
        "choose the target deck",
    )))
}

fn duplicates<'a>(
    service: &NoemaService,
    fronts: impl Iterator<Item = &'a str>,
) -> Result<usize, ToolError> {
    service.read(|reader| {
        let mut count = 0;
        for front in fronts.take(10_000) {
            count += usize::from(!duplicates_of(reader, front)?.is_empty());
        }
        Ok(count)
    })
}
