//! `import-package`: imports an Anki package (.apkg or .colpkg, any version).

use super::import_export::{read_package, report};
use super::service::{APPROVE, Change, NoemaService, require_permission};
use super::specs::{MUTATION, per_minute};
use crate::anki;
use crate::numbers::len_to_u64;
use panoply_contract::prelude::*;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "import-package",
    title: "Import an Anki package",
    description: Description {
        does: "Imports an Anki package (.apkg or .colpkg, any version): decks, note types, notes, cards with their schedule, review log and media.",
        when: "Use this to import a collection from Anki. Existing notes are updated; their cards keep their schedule.",
        returns: "Returns the number of added and updated objects, the skipped parts, and one action id that undoes the batch.",
        asks: &["Import my Anki deck", "Import my collection from Anki"],
    },
    permissions: &["cards:import"],
    response_time: ResponseTime::Slow,
    data: &["cards", "decks", "schedule", "reviews"],
    examples: &[
        Example { shows: "an invalid package", params: r##"{"contentBase64": "aGVsbG8="}"##, expect: Expect::Error("BAD_FILE") },
        Example { shows: "nothing given", params: r##"{}"##, expect: Expect::Error("ONE_SOURCE") },
    ],
    tags: &["content", "imports"],
    rate_limit: per_minute(10),
    ..MUTATION
}
.checked();

/// The package to import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The package (.apkg or .colpkg) as base64, up to about 3 MB.
    #[schemars(length(min = 1, max = 4200000))]
    content_base64: Option<String>,
    /// Path of the package on this machine; owner only.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
}

/// The outcome of the call.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// New notes.
    notes_added: usize,
    /// Updated notes.
    notes_updated: usize,
    /// Notes that already exist unchanged.
    notes_unchanged: usize,
    /// New cards.
    cards: usize,
    /// New review log entries.
    reviews: usize,
    /// New decks.
    decks: usize,
    /// Number of media files.
    media: usize,
    /// Skipped parts with the reason, at most 50.
    left_out: Vec<String>,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    require_permission(cx, APPROVE, "importing cards that are not drafts")?;
    let package =
        read_package(params.content_base64.as_deref(), params.path.as_deref(), &service.roots)?;
    let summary = format!("imported a package with {} notes", package.notes.len());
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| {
            anki::import(writer, &package, now, &mut |done, all| {
                report(cx, done, all, "the import was cancelled; nothing was imported")
            })
        },
        |imported, change| {
            let text = format!(
                "{}: {} new notes, {} updated, {} unchanged; {} cards, {} reviews, {} media.",
                if cx.dry_run { "Would import" } else { "Imported" },
                imported.notes_added,
                imported.notes_updated,
                imported.notes_unchanged,
                imported.cards,
                imported.reviews,
                imported.media
            );
            let left_out: Vec<String> = package.left_out.iter().take(50).cloned().collect();
            let succeeded = len_to_u64(package.notes.len());
            let skipped = len_to_u64(left_out.len());
            let output = Output {
                notes_added: imported.notes_added,
                notes_updated: imported.notes_updated,
                notes_unchanged: imported.notes_unchanged,
                cards: imported.cards,
                reviews: imported.reviews,
                decks: imported.decks,
                media: imported.media,
                left_out,
                change,
            };
            let evidence = Evidence::from(Source::new(SourceClass::Exact, "the imported package"))
                .complete(succeeded, succeeded.saturating_add(skipped));
            Ok(Reply::new(output, text, evidence))
        },
    )
}
