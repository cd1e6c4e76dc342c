//! `create-note-type`: creates a note type with its own fields and templates.

use panoply_contract::prelude::*;

use super::note_type_view::{KindView, NoteTypeView, TemplateView};
use super::service::{Change, NoemaService, exact_evidence};
use super::specs::MUTATION;
use crate::collection::note_types;
use crate::ids::NoteTypeId;
use crate::note::{Form, NoteType, Template, TypeConfig};
use crate::occlusion;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "create-note-type",
    title: "Create a note type",
    description: Description {
        does: "Creates a note type with its own fields, card templates and style sheet, in Anki's template syntax, so that one note yields several cards.",
        when: "Use this when the built-in forms do not fit, for example for vocabulary with word, meaning, sound and example.",
        returns: "Returns the type with its id, and an action id that undoes it.",
        asks: &["Make a note type for Thai vocabulary with sound and example"],
    },
    permissions: &["templates:create"],
    data: &["templates"],
    examples: &[
        Example { shows: "vocabulary in both directions", params: r##"{"name": "Vocabulary", "fields": ["Word", "Meaning", "Sound"], "templates": [{"name": "Recognise", "question": "{{Word}} {{Sound}}", "answer": "{{FrontSide}}<hr id=answer>{{Meaning}}"}, {"name": "Recall", "question": "{{Meaning}}", "answer": "{{FrontSide}}<hr id=answer>{{Word}} {{Sound}}"}]}"##, expect: Expect::Data(r##"{"noteType": {"name": "Vocabulary", "kind": "standard", "builtIn": false}}"##) },
        Example { shows: "a template with an unknown field", params: r##"{"name": "X", "fields": ["A"], "templates": [{"name": "1", "question": "{{B}}", "answer": ""}]}"##, expect: Expect::Error("BAD_NOTE_TYPE") },
    ],
    tags: &["content", "templates"],
    ..MUTATION
}
.checked();

/// The type to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Name.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// How cards follow from a note; image occlusion has fixed fields and templates.
    #[serde(default = "standard")]
    kind: KindView,
    /// Field names in order; the first one identifies duplicates.
    #[schemars(length(max = 50), inner(length(min = 1, max = 100)))]
    #[serde(default)]
    fields: Vec<String>,
    /// One per card; a cloze type has one.
    #[schemars(length(max = 50))]
    #[serde(default)]
    templates: Vec<TemplateView>,
    /// Style sheet; Anki's own if omitted.
    #[schemars(length(max = 20000))]
    css: Option<String>,
}

const fn standard() -> KindView {
    KindView::Standard
}

/// The created type.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The type.
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
    let Params { name, kind, fields, templates, css } = params;
    let form = if kind == KindView::Cloze { Form::Cloze } else { Form::Basic };
    let new = match kind {
        KindView::ImageOcclusion => NoteType { name, ..occlusion::note_type() },
        KindView::Standard | KindView::Cloze => NoteType {
            id: NoteTypeId(0),
            name,
            cloze: kind == KindView::Cloze,
            fields,
            templates: templates.into_iter().map(Template::from).collect(),
            css: css.unwrap_or_else(|| form.note_type().css),
            config: TypeConfig::default(),
        },
    };
    let summary = format!("created the note type `{}`", new.name);
    service.change(
        cx,
        SPEC.name,
        &summary,
        |writer, now| note_types::create(writer, new, now),
        |made, change| {
            let verb = if cx.dry_run { "Would create" } else { "Created" };
            let text = format!("{verb} the note type `{}`.", made.name);
            let output = Output { note_type: NoteTypeView::whole(&made), change };
            Ok(Reply::new(output, text, exact_evidence("the new type")))
        },
    )
}
