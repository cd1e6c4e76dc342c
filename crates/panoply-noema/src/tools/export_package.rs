//! `export-package`: exports decks as an Anki package, or their notes as CSV, TSV, JSON or
//! Markdown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::prelude::*;

use super::import_export::{path_error, report};
use super::service::{NoemaService, exact_evidence, now};
use super::specs::{MUTATION, per_minute};
use super::wire::DeckId;
use crate::anki;
use crate::collection;
use crate::statistics;
use crate::text_notes::{self, TextFormat};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "export-package",
    title: "Export a package",
    description: Description {
        does: "Writes decks as an Anki package with schedule, log and media, or their notes as CSV, TSV, JSON or Markdown.",
        when: "Use this for a backup, to share a deck, or to continue in Anki. Large packages need a path, or `panoply noema export` on the command line.",
        returns: "Returns the package as base64, the text or the path written, and the number of objects.",
        asks: &["Export my deck for Anki", "Give me my cards as CSV"],
    },
    permissions: &["cards:export"],
    response_time: ResponseTime::Slow,
    data: &["exports"],
    examples: &[
        Example { shows: "a deck as CSV", params: r##"{"deckId": "deck_456", "format": "csv"}"##, expect: Expect::Data(r##"{"notes": 1, "text": "front,back,extra,tags\nWhat is 7 × 8?,56,,arithmetic\n"}"##) },
        Example { shows: "a deck for Anki", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data("{}") },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["content", "exports"],
    rate_limit: per_minute(30),
    ..MUTATION
}
.checked();

/// The decks and the format.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks; omit for the whole collection.
    deck_id: Option<DeckId>,
    /// Output format.
    #[serde(default)]
    format: ExportFormat,
    /// Path on this machine to write to; owner only. Existing files are not overwritten.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
}

/// Output format.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportFormat {
    /// Anki package.
    #[default]
    Apkg,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// A list of objects.
    Json,
    /// Headings with the answer below.
    Markdown,
}

/// The export.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Number of notes.
    notes: usize,
    /// Number of cards, in a package.
    cards: usize,
    /// Number of review log entries, in a package.
    reviews: usize,
    /// Number of media files, in a package.
    media: usize,
    /// Size in bytes.
    bytes: usize,
    /// The package; null for text formats and when written to a file.
    content_base64: Option<String>,
    /// The text; null for packages and when written to a file.
    text: Option<String>,
    /// Path of the written file; null otherwise.
    path: Option<String>,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let format = match params.format {
        ExportFormat::Apkg => None,
        ExportFormat::Csv => Some(TextFormat::Csv),
        ExportFormat::Tsv => Some(TextFormat::Tsv),
        ExportFormat::Json => Some(TextFormat::Json),
        ExportFormat::Markdown => Some(TextFormat::Markdown),
    };
    let (bytes, exported) = service.read(|reader| {
        let (decks, _) = statistics::scope(reader, deck)?;
        match format {
            None => anki::export(reader, &decks, now, &mut |done, all| {
                report(cx, done, all, "the export was cancelled; nothing was written")
            }),
            Some(format) => {
                let notes = collection::notes_as_text(reader, &decks)?;
                let exported =
                    anki::ExportSummary { notes: notes.len(), ..anki::ExportSummary::default() };
                Ok((text_notes::write(&notes, format)?.into_bytes(), exported))
            }
        }
    })?;
    let path = params.path.filter(|_| !cx.dry_run);
    if path.is_none() && bytes.len() > MAX_INLINE_BYTES {
        return Err(ToolError::business(
            "EXPORT_TOO_LARGE",
            format!(
                "the export has {} bytes, at most {MAX_INLINE_BYTES} fit into a reply",
                bytes.len()
            ),
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
        text: (inline && format.is_some()).then(|| String::from_utf8_lossy(&bytes).into_owned()),
        path: path.clone(),
    };
    let text = format!("{} notes in {} bytes.", output.notes, output.bytes);
    let reply = Reply::new(output, text, exact_evidence("the exported notes"));
    if let (Some(path), Some(mutation)) = (&path, &cx.mutation) {
        let made = service.roots.create(path, &mutation.marker(), &bytes);
        let file = made.map_err(|refused| path_error(&refused))?;
        service.commit_audit_record(cx, &reply)?;
        file.settle();
    }
    Ok(reply)
}

/// Largest export that fits into a reply as base64.
const MAX_INLINE_BYTES: usize = 50_000;
