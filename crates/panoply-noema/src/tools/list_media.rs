//! `list-media`: lists media files, unused ones and missing ones.

use std::collections::{BTreeMap, BTreeSet};

use panoply_contract::prelude::*;

use super::media_view::MediaView;
use super::service::{NoemaService, exact_evidence};
use super::specs::ANALYSIS;
use crate::html;
use crate::numbers::len_to_u64;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list-media",
    title: "List media files",
    description: Description {
        does: "Lists the media files of the collection, those that no card uses, and names that cards use but that are missing.",
        when: "Use this to find a file, or to check the media after an import.",
        returns: "Returns a page of files with kind and size, the number of all, and the missing names with a note that uses each.",
        asks: &["Which pictures do I have?", "Are any sounds missing?"],
    },
    permissions: &["media:read"],
    data: &["media", "cards"],
    examples: &[
        Example { shows: "all files", params: r##"{}"##, expect: Expect::Data(r##"{"files": [{"name": "dot.gif"}], "total": 1}"##) },
        Example { shows: "files that no card uses", params: r##"{"unused": true}"##, expect: Expect::Data(r##"{"total": 1}"##) },
    ],
    tags: &["cards", "content", "media"],
    ..ANALYSIS
}
.checked();

/// Which files to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only names that contain this text, ignoring case.
    #[schemars(length(max = 255))]
    #[serde(default)]
    name: String,
    /// Only files that no note and no template uses.
    #[serde(default)]
    unused: bool,
    /// Number of files to skip.
    #[schemars(range(min = 0, max = 1000000))]
    #[serde(default)]
    offset: usize,
    /// Most files to return.
    #[schemars(range(min = 1, max = 100))]
    #[serde(default = "default_limit")]
    limit: usize,
}

const fn default_limit() -> usize {
    50
}

/// Most missing names that are returned.
const MAX_MISSING: usize = 50;

/// Media files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Files by name.
    files: Vec<MediaView>,
    /// Number of files that match.
    total: u64,
    /// Size of those in bytes.
    total_bytes: u64,
    /// Names that notes use but that are not stored, at most 50.
    missing: Vec<Missing>,
}

/// A missing file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Missing {
    /// Its name.
    name: String,
    /// A search that finds a card of a note that uses it.
    query: String,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let (files, used) = service.read(|reader| {
        let mut used: BTreeMap<String, i64> = BTreeMap::new();
        reader.for_each_note(&mut |note| {
            for name in note.fields.iter().flat_map(|field| html::media_names(field)) {
                used.entry(name).or_insert(note.id.0);
            }
            Ok(())
        })?;
        Ok((reader.media_files()?, used))
    })?;
    let stored: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let absent = used.iter().filter(|(name, _)| !stored.contains(name.as_str()));
    let missing: Vec<Missing> = absent
        .take(MAX_MISSING)
        .map(|(name, note)| Missing { name: name.clone(), query: format!("nid:{note}") })
        .collect();
    let wanted = params.name.to_lowercase();
    // A leading underscore marks files that templates use.
    let unused = |name: &str| !used.contains_key(name) && !name.starts_with('_');
    let matching: Vec<_> = files
        .iter()
        .filter(|file| file.name.to_lowercase().contains(&wanted))
        .filter(|file| !params.unused || unused(&file.name))
        .collect();
    let total_bytes = matching.iter().map(|file| file.size).sum();
    let total = len_to_u64(matching.len());
    let page = matching.into_iter().skip(params.offset).take(params.limit);
    let text = format!("{total} media files with {total_bytes} bytes; {} missing.", missing.len());
    let output = Output { files: page.map(MediaView::from).collect(), total, total_bytes, missing };
    Ok(Reply::new(output, text, exact_evidence("the media and the notes")))
}
