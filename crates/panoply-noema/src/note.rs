//! Notes, note types and card generation.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fsrs::Micros;
use crate::html;
use crate::ids::{NoteId, NoteTypeId};
use crate::render;

/// Separates fields in one string, as in Anki.
pub const FIELD_SEPARATOR: char = '\u{1f}';

/// A piece of knowledge from which cards are generated.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Identifier.
    pub id: NoteId,
    /// Globally unique id, stable across collections.
    pub guid: String,
    /// Note type.
    pub note_type: NoteTypeId,
    /// Fields in the order of the note type.
    pub fields: Vec<String>,
    /// Tags such as `parent::child`.
    pub tags: Vec<String>,
    /// Origin of the note: a URL, a book or the trace id of a tool call.
    pub source: Option<String>,
    /// Creation time.
    pub created: Micros,
    /// Modification time.
    pub modified: Micros,
    /// Content version, incremented by every change.
    pub version: i64,
    /// Deletion time; `None` unless soft-deleted.
    pub deleted: Option<Micros>,
}

impl Note {
    /// The content that a change at `now` replaces.
    pub(crate) fn snapshot(&self, now: Micros) -> PastContent {
        PastContent {
            version: self.version,
            fields: self.fields.clone(),
            tags: self.tags.clone(),
            replaced: now,
        }
    }
}

/// Where a note comes from: a place in a document. Stored as JSON in [`Note::source`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceAnchor {
    /// Title, file name or URL of the document.
    pub document: String,
    /// Page, chapter or time, as the document counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The words on which the note rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
}

impl SourceAnchor {
    /// The anchor in a source; `None` if the source is a plain text.
    pub fn parse(source: &str) -> Option<Self> {
        if source.starts_with('{') { serde_json::from_str(source).ok() } else { None }
    }
}

/// An earlier version of a note's content.
#[derive(Clone, Debug, PartialEq)]
pub struct PastContent {
    /// The earlier version.
    pub version: i64,
    /// Fields in the order of the note type.
    pub fields: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// When it was replaced.
    pub replaced: Micros,
}

/// Fields and card templates of notes.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteType {
    /// Identifier.
    pub id: NoteTypeId,
    /// Name.
    pub name: String,
    /// Whether cards are generated from cloze deletions instead of templates.
    pub cloze: bool,
    /// Field names.
    pub fields: Vec<String>,
    /// One card per template; a cloze type has a single template.
    pub templates: Vec<Template>,
    /// Style sheet of the cards.
    pub css: String,
    /// What only Anki uses; kept for export.
    pub config: TypeConfig,
}

/// Anki's settings of a note type beyond fields, templates and CSS, with the names of its JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TypeConfig {
    /// Settings of the type, such as `latexPre` and `originalStockKind`.
    pub other: Map<String, Value>,
    /// Settings of each field, such as its font.
    pub fields: Vec<Map<String, Value>>,
    /// Settings of each template, such as its format in the browser.
    pub templates: Vec<Map<String, Value>>,
}

/// A card template in Anki's template syntax.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// Name.
    pub name: String,
    /// Template of the front.
    pub question: String,
    /// Template of the back.
    pub answer: String,
}

/// Style sheet of Anki's own types.
const CARD_CSS: &str = ".card {\n    font-family: arial;\n    font-size: 20px;\n    line-height: 1.5;\n    text-align: center;\n    color: black;\n    background-color: white;\n}\n";
/// What Anki adds for cloze deletions.
const CLOZE_CSS: &str = ".cloze {\n    font-weight: bold;\n    color: blue;\n}\n.nightMode .cloze {\n    color: lightblue;\n}\n";

/// The built-in note types.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One card: front and back.
    #[default]
    Basic,
    /// Two cards: front to back and back to front.
    Reversed,
    /// One card per cloze number, `{{c1::like this}}`.
    Cloze,
    /// The learner types the answer.
    Typed,
    /// Multiple choice.
    Choice,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 5] =
        [Self::Basic, Self::Reversed, Self::Cloze, Self::Typed, Self::Choice];

    /// The note type of this form.
    pub fn note_type(self) -> NoteType {
        let template = |name: &str, question: &str, answer: &str| Template {
            name: name.to_owned(),
            question: question.to_owned(),
            answer: answer.to_owned(),
        };
        const BACK: &str = "{{FrontSide}}\n\n<hr id=answer>\n\n{{Back}}";
        let basic = template("Card 1", "{{Front}}", BACK);
        let (id, name, fields, templates): (i64, &str, &[&str], Vec<Template>) = match self {
            Self::Basic => (1, "Basic", &["Front", "Back"], vec![basic]),
            Self::Reversed => {
                let back = "{{FrontSide}}\n\n<hr id=answer>\n\n{{Front}}";
                (
                    2,
                    "Basic (and reversed card)",
                    &["Front", "Back"],
                    vec![basic, template("Card 2", "{{Back}}", back)],
                )
            }
            Self::Cloze => {
                let text =
                    template("Cloze", "{{cloze:Text}}", "{{cloze:Text}}<br>\n{{Back Extra}}");
                (3, "Cloze", &["Text", "Back Extra"], vec![text])
            }
            Self::Typed => {
                let typed = template(
                    "Card 1",
                    "{{Front}}\n\n{{type:Back}}",
                    "{{Front}}\n\n<hr id=answer>\n\n{{type:Back}}",
                );
                (4, "Basic (type in the answer)", &["Front", "Back"], vec![typed])
            }
            Self::Choice => {
                let answer = "{{FrontSide}}\n\n<hr id=answer>\n\n{{Back}}<br>\n{{Explanation}}";
                (
                    5,
                    "Multiple choice",
                    &["Front", "Choices", "Back", "Explanation"],
                    vec![template("Card 1", "{{Front}}<br>\n{{Choices}}", answer)],
                )
            }
        };
        NoteType {
            id: NoteTypeId(id),
            name: name.to_owned(),
            cloze: self == Self::Cloze,
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            templates,
            css: if self == Self::Cloze {
                format!("{CARD_CSS}{CLOZE_CSS}")
            } else {
                CARD_CSS.to_owned()
            },
            config: TypeConfig::default(),
        }
    }
}

impl NoteType {
    /// The ordinals of the cards that these fields generate: templates with a non-empty front, or
    /// cloze numbers minus one.
    pub fn ordinals(&self, fields: &[String]) -> BTreeSet<u32> {
        if self.cloze {
            let numbers: BTreeSet<u32> =
                fields.iter().flat_map(|field| render::cloze_numbers(field)).collect();
            return numbers.into_iter().map(|number| number - 1).collect();
        }
        (0..)
            .zip(&self.templates)
            .filter(|(_, template)| render::front_has_content(template, self, fields))
            .map(|(ordinal, _)| ordinal)
            .collect()
    }

    /// The template of a card.
    pub fn template(&self, ordinal: u32) -> Option<&Template> {
        if self.cloze { self.templates.first() } else { self.templates.get(ordinal as usize) }
    }
}

/// The text that makes a first field a duplicate: pictures and sounds count by name.
pub fn plain_first_field(first_field: &str) -> String {
    html::shown(first_field).to_lowercase()
}

/// Duplicate checksum: the first 32 bits of the SHA-256 of the first field without markup.
pub fn checksum(first_field: &str) -> i64 {
    use sha2::Digest as _;
    let plain = plain_first_field(first_field);
    let digest = sha2::Sha256::digest(plain.as_bytes());
    digest.iter().take(4).fold(0, |sum, byte| sum << 8 | i64::from(*byte))
}

/// Normalises tags: no whitespace, no duplicates, sorted case-insensitively.
pub fn normalize_tags<'a>(tags: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut tidy: Vec<String> = tags
        .into_iter()
        .map(|tag| tag.trim().trim_matches(':').split_whitespace().collect::<Vec<_>>().join("_"))
        .filter(|tag| !tag.is_empty())
        .collect();
    tidy.sort_by_key(|tag| tag.to_lowercase());
    tidy.dedup_by_key(|tag| tag.to_lowercase());
    tidy
}

/// Tags in one column, enclosed in spaces as in Anki, so that ` tag ` matches whole tags.
pub(crate) fn join_tags(tags: &[String]) -> String {
    if tags.is_empty() { String::new() } else { format!(" {} ", tags.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn each_form_generates_its_cards() {
        let cases: [(Form, &[&str], &[u32]); 7] = [
            (Form::Basic, &["a", "b"], &[0]),
            (Form::Basic, &["", "b"], &[]),
            (Form::Reversed, &["a", "b"], &[0, 1]),
            (Form::Reversed, &["a", ""], &[0]),
            (Form::Cloze, &["{{c1::a}} {{c3::b}} {{c1::c}}", ""], &[0, 2]),
            (Form::Cloze, &["no gap", ""], &[]),
            (Form::Choice, &["q", "A) x<br>B) y", "A", ""], &[0]),
        ];
        for (form, texts, expected) in cases {
            let ordinals: Vec<u32> =
                form.note_type().ordinals(&fields(texts)).into_iter().collect();
            assert_eq!(ordinals, expected, "{form:?} {texts:?}");
        }
    }

    #[test]
    fn tags_are_deduplicated_and_contain_no_whitespace() {
        let tags = normalize_tags(["Geo::Capital", " asia ", "geo::capital", "two words", ""]);
        assert_eq!(tags, ["asia", "Geo::Capital", "two_words"]);
    }
}
