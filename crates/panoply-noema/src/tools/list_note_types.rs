//! `list-note-types`: lists note types, or shows one with its templates.

use panoply_contract::prelude::*;

use super::note_type_view::NoteTypeView;
use super::service::{NoemaService, exact_evidence};
use super::specs::QUERY;
use crate::collection::note_types;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "list-note-types",
    title: "List note types",
    description: Description {
        does: "Lists the note types of the collection, built-in, imported and own, with their fields; or shows one of them with templates and style sheet.",
        when: "Use this before creating a card with `noteType`, or before changing a type.",
        returns: "Returns name, kind and fields of each type; with `noteType` also its templates and CSS.",
        asks: &["Which note types do I have?", "Show the templates of my vocabulary type"],
    },
    permissions: &["templates:read"],
    data: &["templates"],
    examples: &[
        Example { shows: "all types", params: r##"{}"##, expect: Expect::Data(r##"{"noteTypes": [{"noteTypeId": "type_1", "name": "Basic", "kind": "standard", "fields": ["Front", "Back"]}, {"name": "Basic (and reversed card)"}, {"kind": "cloze"}, {"name": "Basic (type in the answer)"}, {"name": "Multiple choice"}]}"##) },
        Example { shows: "one type by name", params: r##"{"noteType": "cloze"}"##, expect: Expect::Data(r##"{"noteTypes": [{"name": "Cloze", "kind": "cloze", "templates": [{"question": "{{cloze:Text}}"}]}]}"##) },
        Example { shows: "a type that does not exist", params: r##"{"noteType": "Poem"}"##, expect: Expect::Error("NOTE_TYPE_NOT_FOUND") },
    ],
    tags: &["cards", "content", "templates"],
    ..QUERY
}
.checked();

/// Which types to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this type, by id or name, with its templates.
    #[schemars(length(min = 1, max = 100))]
    note_type: Option<String>,
}

/// Note types.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// By id.
    note_types: Vec<NoteTypeView>,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    _: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let note_types = service.read(|reader| match &params.note_type {
        Some(text) => Ok(vec![NoteTypeView::whole(&note_types::find(reader, text)?)]),
        None => Ok(reader.note_types()?.iter().map(NoteTypeView::listed).collect()),
    })?;
    let names: Vec<&str> = note_types.iter().take(20).map(|known| known.name.as_str()).collect();
    let text = format!("{} note types: {}.", note_types.len(), names.join(", "));
    Ok(Reply::new(Output { note_types }, text, exact_evidence("the note types")))
}
