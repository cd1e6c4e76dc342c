//! `preview-import`: reads a text (CSV, TSV, JSON, Markdown) or an Anki package and says what is in it, without taking it in.

use panoply_contract::prelude::*;
use serde_json::json;

use super::import_export::{BadRow, TextFormatParam, read_package};
use super::notes::duplicates_of;
use super::service::NoemaService;
use crate::note::FIELD_SEPARATOR;
use crate::text_notes;

const SPEC: ToolSpec = ToolSpec {
    name: "preview-import",
    title: "Preview an import",
    description: Description {
        does: "Reads a text (CSV, TSV, JSON, Markdown) or an Anki package and says what is in it, without taking it in.",
        when: "Use this before `import-cards` or `import-package`, and show the learner what would come.",
        returns: "Returns how many notes, cards and reviews there are, the first notes, and the rows that cannot be read.",
        asks: &["What is in this file?", "Can you read my Anki deck?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["imports:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards"],
    examples: &[
        Example { shows: "two rows", params: r##"{"content": "Thailand,Bangkok\nFrance,Paris"}"##, expect: Expect::Data(r##"{"notes": 2, "badRows": []}"##) },
        Example { shows: "a row without a front", params: r##"{"content": "a,b\n,c", "format": "csv"}"##, expect: Expect::Data(r##"{"notes": 1, "badRows": [{"row": 2}]}"##) },
        Example { shows: "nothing given", params: r##"{}"##, expect: Expect::Error("ONE_SOURCE") },
    ],
    tags: &["content", "imports"],
    rate_limit: Some(RateLimit { max_calls: 60, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// A text with notes.
    #[schemars(length(max = 3000000))]
    content: Option<String>,
    /// How the text is written.
    #[serde(default)]
    format: TextFormatParam,
    /// The package (.apkg or .colpkg) as base64, up to about 3 MB.
    #[schemars(length(min = 1, max = 4200000))]
    content_base64: Option<String>,
    /// The package on this machine; only for its owner.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
}

/// What is in it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Notes.
    notes: usize,
    /// Cards, for a package.
    cards: usize,
    /// Entries of the log, for a package.
    reviews: usize,
    /// Media, for a package.
    media: usize,
    /// Names of decks, for a package.
    decks: Vec<String>,
    /// The first notes, at most 10.
    first: Vec<NotePreview>,
    /// Rows that cannot be read, at most 50.
    bad_rows: Vec<BadRow>,
    /// Notes whose first field the collection has already.
    duplicates: usize,
}

/// A note.
#[derive(Debug, Serialize, JsonSchema)]
struct NotePreview {
    /// Its first field.
    front: String,
    /// Its second field.
    back: String,
    /// Its tags.
    tags: Vec<String>,
}

/// See the module.
pub(super) struct PreviewImport {
    pub(super) service: NoemaService,
}

impl Tool for PreviewImport {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _: &CallContext) -> Result<Reply<Output>, ToolError> {
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
                    duplicates: self.duplicates(fronts)?,
                    first: shown.collect(),
                    bad_rows: parsed.bad.into_iter().take(50).map(BadRow::from).collect(),
                }
            }
            None => {
                let package = read_package(
                    params.content_base64.as_deref(),
                    params.path.as_deref(),
                    &self.service.roots,
                )?;
                let first = |fields: &str| {
                    fields.split(FIELD_SEPARATOR).next().unwrap_or_default().to_owned()
                };
                let fronts: Vec<String> =
                    package.notes.iter().map(|note| first(&note.fields)).collect();
                Output {
                    notes: package.notes.len(),
                    cards: package.cards.len(),
                    reviews: package.reviews.len(),
                    media: package.media.len(),
                    decks: package.decks.iter().map(|deck| deck.name.clone()).take(100).collect(),
                    duplicates: self.duplicates(fronts.iter().map(String::as_str))?,
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
            "{} notes can be read, {} rows cannot; {} are there already.",
            output.notes,
            output.bad_rows.len(),
            output.duplicates
        );
        let (fine, bad) = (
            u64::try_from(output.notes).unwrap_or(u64::MAX),
            u64::try_from(output.bad_rows.len()).unwrap_or(u64::MAX),
        );
        let evidence = Evidence::from(Source::new(SourceClass::UserSupplied, "the given file"))
            .complete(fine, fine.saturating_add(bad));
        Ok(Reply::new(output, text, evidence).next(NextAction::new(
            "list-decks",
            json!({}),
            "choose the deck it goes into",
        )))
    }
}

impl PreviewImport {
    fn duplicates<'a>(&self, fronts: impl Iterator<Item = &'a str>) -> Result<usize, ToolError> {
        self.service.read(|reader| {
            let mut count = 0;
            for front in fronts.take(10_000) {
                count += usize::from(!duplicates_of(reader, front)?.is_empty());
            }
            Ok(count)
        })
    }
}
