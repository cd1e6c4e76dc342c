//! `delete-note-type`: deletes a note type that no note uses.

use panoply_contract::prelude::*;

use super::note_type_view::{NoteTypeId, NoteTypeView};
use super::service::{Change, NoemaService, exact_evidence};
use super::specs::MUTATION;
use crate::collection::note_types;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "delete-note-type",
    title: "Delete a note type",
    description: Description {
        does: "Deletes a note type that no note uses. Built-in types cannot be deleted.",
        when: "Use this to tidy up after an import or a trial.",
        returns: "Returns the deleted type and an action id that undoes it.",
        asks: &["Remove the note type I no longer use"],
    },
    permissions: &["templates:delete"],
    data: &["templates"],
    examples: &[
        Example {
            shows: "a built-in type",
            params: r##"{"noteTypeId": "type_1"}"##,
            expect: Expect::Error("BAD_NOTE_TYPE"),
        },
        Example {
            shows: "a type that does not exist",
            params: r##"{"noteTypeId": "type_99"}"##,
            expect: Expect::Error("NOTE_TYPE_NOT_FOUND"),
        },
    ],
    tags: &["content", "templates"],
    ..MUTATION
}
.checked();

/// The type to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The type.
    note_type_id: NoteTypeId,
}

/// The outcome.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The deleted type.
    note_type: NoteTypeView,
    /// Dry-run flag and undo id.
    #[serde(flatten)]
    change: Change,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let id = params.note_type_id.domain();
    service.change(
        cx,
        SPEC.name,
        &format!("deleted the note type `{}`", params.note_type_id),
        |writer, _| note_types::delete(writer, id),
        |deleted, change| {
            let verb = if cx.dry_run { "Would delete" } else { "Deleted" };
            let text = format!("{verb} the note type `{}`.", deleted.name);
            let output = Output { note_type: NoteTypeView::whole(&deleted), change };
            Ok(Reply::new(output, text, exact_evidence("the deleted type")))
        },
    )
}
