//! `import-package`: takes an Anki package (.apkg or .colpkg, any version) in: decks, note types, notes, cards with their schedule, the log of reviews and media.

use super::import_export::{read_package, report};
use super::service::{APPROVE, Change, NoemaService, require_permission, with_next};
use crate::anki;
use panoply_contract::prelude::*;

const SPEC: ToolSpec = ToolSpec {
    name: "import-package",
    title: "Import an Anki package",
    description: Description {
        does: "Takes an Anki package (.apkg or .colpkg, any version) in: decks, note types, notes, cards with their schedule, the log of reviews and media.",
        when: "Use this to bring a collection from Anki. Notes that are there already are brought up to date; their cards keep their schedule here.",
        returns: "Returns what was added and updated, what was left out, and one action id that takes the whole batch back.",
        asks: &["Import my Anki deck", "Bring my collection over from Anki"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cards:import"],
    category: Category::Mutation,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: false,
    data: &["cards", "decks", "schedule", "reviews"],
    examples: &[
        Example { shows: "a package that is none", params: r##"{"contentBase64": "aGVsbG8="}"##, expect: Expect::Error("BAD_FILE") },
        Example { shows: "nothing given", params: r##"{}"##, expect: Expect::Error("ONE_SOURCE") },
    ],
    tags: &["content", "imports"],
    rate_limit: Some(RateLimit { max_calls: 10, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Which package.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The package (.apkg or .colpkg) as base64, up to about 3 MB.
    #[schemars(length(min = 1, max = 4200000))]
    content_base64: Option<String>,
    /// The package on this machine; only for its owner.
    #[schemars(length(min = 1, max = 1000))]
    path: Option<String>,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Notes that are new.
    notes_added: usize,
    /// Notes that were brought up to date.
    notes_updated: usize,
    /// Notes that were there as they are.
    notes_unchanged: usize,
    /// Cards that are new.
    cards: usize,
    /// Entries of the log that are new.
    reviews: usize,
    /// Decks that are new.
    decks: usize,
    /// Media.
    media: usize,
    /// What was left out, and why, at most 50.
    left_out: Vec<String>,
    /// Whether something was changed, and how to take it back.
    #[serde(flatten)]
    change: Change,
}

/// See the module.
pub(super) struct ImportPackage {
    pub(super) service: NoemaService,
}

impl Tool for ImportPackage {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        require_permission(cx, APPROVE, "importing cards that are no drafts")?;
        let package = read_package(
            params.content_base64.as_deref(),
            params.path.as_deref(),
            &self.service.roots,
        )?;
        let summary = format!("imported a package with {} notes", package.notes.len());
        self.service.change(
            cx,
            SPEC.name,
            &summary,
            |writer, now| {
                anki::import(writer, &package, now, &mut |done, all| {
                    report(cx, done, all, "the import was cancelled; nothing was taken in")
                })
            },
            |imported, change| {
                let text = format!(
                    "{}: {} notes new, {} brought up to date, {} as they were; {} cards, {} reviews, {} media.",
                    if cx.dry_run { "Would import" } else { "Imported" },
                    imported.notes_added,
                    imported.notes_updated,
                    imported.notes_unchanged,
                    imported.cards,
                    imported.reviews,
                    imported.media
                );
                let left_out: Vec<String> = package.left_out.iter().take(50).cloned().collect();
                let fine = u64::try_from(package.notes.len()).unwrap_or(u64::MAX);
                let lost = u64::try_from(left_out.len()).unwrap_or(u64::MAX);
                let undo = change.undo();
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
                let evidence =
                    Evidence::from(Source::new(SourceClass::Exact, "the imported package"))
                        .complete(fine, fine.saturating_add(lost));
                Ok(with_next(Reply::new(output, text, evidence), undo))
            },
        )
    }
}
