//! Note types on the wire.

use panoply_contract::prelude::*;

use crate::ids;
use crate::note::{NoteType, Template};
use crate::occlusion;

panoply_contract::branded_id!(NoteTypeId, "type_", "The id of a note type, such as `type_3`.");

impl NoteTypeId {
    /// The domain id. Malformed ids map to -1, which no row has.
    pub(crate) fn domain(&self) -> ids::NoteTypeId {
        let digits = self.as_str().trim_start_matches(Self::PREFIX);
        ids::NoteTypeId(digits.parse().unwrap_or(-1))
    }
}

/// A note type.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NoteTypeView {
    /// Identifier.
    pub(crate) note_type_id: NoteTypeId,
    /// Name.
    pub(crate) name: String,
    /// How cards follow from a note.
    pub(crate) kind: KindView,
    /// Field names in order.
    pub(crate) fields: Vec<String>,
    /// Templates; null in a list.
    pub(crate) templates: Option<Vec<TemplateView>>,
    /// Style sheet; null in a list.
    pub(crate) css: Option<String>,
    /// Whether it belongs to the program and only its style sheet can change.
    pub(crate) built_in: bool,
}

/// How cards follow from a note.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KindView {
    /// A card per template.
    Standard,
    /// A card per cloze number.
    Cloze,
    /// A card per region of a picture.
    ImageOcclusion,
}

/// A template.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TemplateView {
    /// Name.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) name: String,
    /// Front in Anki's template syntax, such as `{{Word}}` or `{{#Hint}}{{hint:Hint}}{{/Hint}}`.
    #[schemars(length(min = 1, max = 20000))]
    pub(crate) question: String,
    /// Back, such as `{{FrontSide}}<hr id=answer>{{Meaning}}`.
    #[schemars(length(max = 20000))]
    pub(crate) answer: String,
}

impl From<TemplateView> for Template {
    fn from(view: TemplateView) -> Self {
        Self { name: view.name, question: view.question, answer: view.answer }
    }
}

impl NoteTypeView {
    /// With templates and style sheet.
    pub(crate) fn whole(note_type: &NoteType) -> Self {
        let template = |template: &Template| TemplateView {
            name: template.name.clone(),
            question: template.question.clone(),
            answer: template.answer.clone(),
        };
        Self {
            templates: Some(note_type.templates.iter().map(template).collect()),
            css: Some(note_type.css.clone()),
            ..Self::listed(note_type)
        }
    }

    /// Without templates and style sheet.
    pub(crate) fn listed(note_type: &NoteType) -> Self {
        let kind = if occlusion::is_occlusion(note_type) {
            KindView::ImageOcclusion
        } else if note_type.cloze {
            KindView::Cloze
        } else {
            KindView::Standard
        };
        Self {
            note_type_id: NoteTypeId(format!("{}{}", NoteTypeId::PREFIX, note_type.id.0.max(0))),
            name: note_type.name.clone(),
            kind,
            fields: note_type.fields.clone(),
            templates: None,
            css: None,
            built_in: note_type.is_built_in(),
        }
    }
}
