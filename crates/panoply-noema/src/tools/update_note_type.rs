//! `update-note-type`: changes name, fields, templates or style sheet of a note type.

use panoply_contract::prelude::*;

use super::note_type_view::{NoteTypeId, NoteTypeView};
use super::service::{Change, NoemaService, exact_evidence};
use super::specs::MUTATION;
use crate::collection::note_types::{self, NoteTypeChanges};
use crate::note::Template;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "update-note-type",
    title: "Change a note type",
    description: Description {
        does: "Changes the name, the style sheet, the fields or the templates of a note type; notes and cards of the type follow. Templates follow renamed fields.",
        when: "Use this to add a field or a card direction, to rename a field or to change how cards look. Try it with a dry run first: it says how many cards are created and deleted.",
        returns: "Returns the type, the number of changed notes, created and deleted cards, and an action id that undoes all of it.",
        asks: &["Add an example field to my vocabulary", "Make the cards larger"],
    },
    permissions: &["templates:update"],
    data: &["templates", "cards"],
    examples: &[
        Example { shows: "another style sheet", params: r##"{"noteTypeId": "type_1", "css": ".card { font-size: 30px; }"}"##, expect: Expect::Data(r##"{"noteType": {"name": "Basic", "css": ".card { font-size: 30px; }"}, "deletedCards": 0}"##) },
        Example { shows: "fields of a built-in type", params: r##"{"noteTypeId": "type_1", "fields": [{"name": "Only"}]}"##, expect: Expect::Error("BAD_NOTE_TYPE") },
    ],
    tags: &["content", "templates"],
    ..MUTATION
}
.checked();

/// The change to make; omitted parts stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The type.
    note_type_id: NoteTypeId,
    /// New name.
    #[schemars(length(min = 1, max = 100))]
    name: Option<String>,
    /// New style sheet.
    #[schemars(length(max = 20000))]
    css: Option<String>,
    /// All fields in their new order; fields that are left out are removed with their content.
    #[schemars(length(min = 1, max = 50))]
    fields: Option<Vec<FieldChange>>,
    /// All templates in their new order; cards of templates that are left out are deleted.
    #[schemars(length(min = 1, max = 50))]
    templates: Option<Vec<TemplateChange>>,
}

/// A field after the change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FieldChange {
    /// Name.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Present name of the field, if it is renamed.
    #[schemars(length(min = 1, max = 100))]
    renamed_from: Option<String>,
}

/// A template after the change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct TemplateChange {
    /// Name.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Front in Anki's template syntax.
    #[schemars(length(min = 1, max = 20000))]
    question: String,
    /// Back.
    #[schemars(length(max = 20000))]
    answer: String,
    /// Present name of the template, if it is renamed.
    #[schemars(length(min = 1, max = 100))]
    renamed_from: Option<String>,
}

/// The outcome.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The type after the change.
    note_type: NoteTypeView,
    /// Notes whose fields changed.
    changed_notes: usize,
    /// Cards that were created.
    created_cards: usize,
    /// Cards that were deleted.
    deleted_cards: usize,
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
    let fields =
        |list: Vec<FieldChange>| list.into_iter().map(|field| (field.name, field.renamed_from));
    let templates = |list: Vec<TemplateChange>| {
        list.into_iter().map(|TemplateChange { name, question, answer, renamed_from }| {
            (Template { name, question, answer }, renamed_from)
        })
    };
    let changes = NoteTypeChanges {
        name: params.name,
        css: params.css,
        fields: params.fields.map(|list| fields(list).collect()),
        templates: params.templates.map(|list| templates(list).collect()),
    };
    service.change(
        cx,
        SPEC.name,
        &format!("changed the note type `{}`", params.note_type_id),
        |writer, now| note_types::update(writer, id, changes, now),
        |(changed, effect), change| {
            let verb = if cx.dry_run { "Would change" } else { "Changed" };
            let text = format!(
                "{verb} `{}`: {} notes changed, {} cards created, {} deleted.",
                changed.name, effect.notes, effect.created, effect.deleted
            );
            let output = Output {
                note_type: NoteTypeView::whole(&changed),
                changed_notes: effect.notes,
                created_cards: effect.created,
                deleted_cards: effect.deleted,
                change,
            };
            Ok(Reply::new(output, text, exact_evidence("the changed type")))
        },
    )
}
