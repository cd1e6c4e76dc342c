//! `delete-media`: deletes media files.

use panoply_contract::prelude::*;

use super::service::{Change, NoemaService, exact_evidence};
use super::specs::MUTATION;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "delete-media",
    title: "Delete media files",
    description: Description {
        does: "Deletes up to 100 media files. They can be restored for 30 days by undoing the change.",
        when: "Use this for files that `list-media` shows as unused, after the learner agreed.",
        returns: "Returns the deleted names, the names that do not exist, and an action id that undoes it.",
        asks: &["Remove the pictures that no card uses"],
    },
    permissions: &["media:delete"],
    data: &["media"],
    examples: &[Example { shows: "a file and a name that does not exist", params: r##"{"names": ["dot.gif", "none.png"]}"##, expect: Expect::Data(r##"{"deleted": ["dot.gif"], "unknown": ["none.png"]}"##) }],
    tags: &["content", "media"],
    ..MUTATION
}
.checked();

/// The files to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Names.
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 255)))]
    names: Vec<String>,
}

/// The outcome.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Deleted files.
    deleted: Vec<String>,
    /// Names that do not exist.
    unknown: Vec<String>,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    service.change(
        cx,
        SPEC.name,
        &format!("deleted {} media files", params.names.len()),
        |writer, now| {
            let (mut deleted, mut unknown) = (Vec::new(), Vec::new());
            for name in &params.names {
                let list =
                    if writer.delete_media(name, now)? { &mut deleted } else { &mut unknown };
                list.push(name.clone());
            }
            Ok((deleted, unknown))
        },
        |(deleted, unknown), change| {
            let verb = if cx.dry_run { "Would delete" } else { "Deleted" };
            let text = format!("{verb} {} of {} files.", deleted.len(), params.names.len());
            let output = Output { deleted, unknown, change };
            Ok(Reply::new(output, text, exact_evidence("the deleted files")))
        },
    )
}
