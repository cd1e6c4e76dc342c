//! `export-package`: writes decks as an Anki package with schedule, log and media, or their notes as CSV, TSV, JSON or Markdown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::prelude::*;

use super::import_export::{path_error, report};
use super::service::{NoemaService, exact_evidence, now};
use super::wire::DeckId;
use crate::anki;
use crate::collection;
use crate::statistics;
use crate::text_notes::{self, TextFormat};

const SPEC: ToolSpec = ToolSpec {
    name: "export-package",
    title: "Export a package",
    description: Description {
        does: "Writes decks as an Anki package with schedule, log and media, or their notes as CSV, TSV, JSON or Markdown.",
        when: "Use this for a backup, to share a deck, or to go on in Anki. Large packages need a path, or `panoply noema export` on the command line.",
        returns: "Returns the package as base64 or the text, or where it was written, and what is in it.",
        asks: &["Export my deck for Anki", "Give me my cards as CSV"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cards:export"],
    category: Category::Mutation,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["exports"],
    examples: &[
        Example { shows: "a deck as CSV", params: r##"{"deckId": "deck_456", "format": "csv"}"##, expect: Expect::Data(r##"{"notes": 1, "text": "front,back,extra,tags\nWhat is 7 × 8?,56,,arithmetic\n"}"##) },
        Example { shows: "a deck for Anki", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{"notes": 1, "cards": 1}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["content", "exports"],
    rate_limit: Some(RateLimit { max_calls: 30, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// What to write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it; everything if left out.
    deck_id: Option<DeckId>,
    /// How it is written.
    #[serde(default)]
    format: ExportFormat,
    /// Where to write it on this machine; only for its owner. A file that is there is not overwritten.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
}

/// How it is written.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportFormat {
    /// A package that Anki opens.
    #[default]
    Apkg,
    /// Separated by commas.
    Csv,
    /// Separated by tabs.
    Tsv,
    /// A list of objects.
    Json,
    /// Headings with the answer under them.
    Markdown,
}

/// What was written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Notes.
    notes: usize,
    /// Cards, in a package.
    cards: usize,
    /// Entries of the log, in a package.
    reviews: usize,
    /// Media, in a package.
    media: usize,
    /// Bytes.
    bytes: usize,
    /// The package; null when it is a text or was written to a file.
    content_base64: Option<String>,
    /// The text; null when it is a package or was written to a file.
    text: Option<String>,
    /// Where it was written; null when it was not.
    path: Option<String>,
}

/// See the module.
pub(super) struct ExportPackage {
    pub(super) service: NoemaService,
}

impl Tool for ExportPackage {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let format = match params.format {
            ExportFormat::Apkg => None,
            ExportFormat::Csv => Some(TextFormat::Csv),
            ExportFormat::Tsv => Some(TextFormat::Tsv),
            ExportFormat::Json => Some(TextFormat::Json),
            ExportFormat::Markdown => Some(TextFormat::Markdown),
        };
        let (bytes, exported) = self.service.read(|reader| {
            let (decks, _) = statistics::scope(reader, deck)?;
            match format {
                None => anki::export(reader, &decks, now, &mut |done, all| {
                    report(cx, done, all, "the export was cancelled; nothing was written")
                }),
                Some(format) => {
                    let notes = collection::notes_as_text(reader, &decks)?;
                    let exported = anki::ExportSummary {
                        notes: notes.len(),
                        ..anki::ExportSummary::default()
                    };
                    Ok((text_notes::write(&notes, format).into_bytes(), exported))
                }
            }
        })?;
        let path = params.path.filter(|_| !cx.dry_run);
        if path.is_none() && bytes.len() > LARGEST {
            return Err(ToolError::business(
                "EXPORT_TOO_LARGE",
                format!("the export has {} bytes, at most {LARGEST} fit into a reply", bytes.len()),
            )
            .hint("give a `path`, export one deck, or run `panoply noema export FILE`"));
        }
        let inline = path.is_none();
        let output = Output {
            notes: exported.notes,
            cards: exported.cards,
            reviews: exported.reviews,
            media: exported.media,
            bytes: bytes.len(),
            content_base64: (inline && format.is_none()).then(|| STANDARD.encode(&bytes)),
            text: (inline && format.is_some())
                .then(|| String::from_utf8_lossy(&bytes).into_owned()),
            path: path.clone(),
        };
        let text = format!("{} notes in {} bytes.", output.notes, output.bytes);
        let reply = Reply::new(output, text, exact_evidence("the exported notes"));
        if let (Some(path), Some(mutation)) = (&path, &cx.mutation) {
            let made = self.service.roots.create(path, &mutation.marker(), &bytes);
            let file = made.map_err(|refused| path_error(&refused))?;
            self.service.record_alone(cx, &reply)?;
            file.settle();
        }
        Ok(reply)
    }
}

/// What fits into a reply as base64.
const LARGEST: usize = 50_000;
