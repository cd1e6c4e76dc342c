//! Notes, the types they are of, and the cards that they make.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::fsrs::Micros;
use crate::ids::{NoteId, NoteTypeId};
use crate::render;

/// Separates fields where they are kept as one text, as in Anki.
pub const FIELD_SEPARATOR: char = '\u{1f}';

/// What a learner wants to know, once.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Its id.
    pub id: NoteId,
    /// Its id in every collection it travels to.
    pub guid: String,
    /// Its type.
    pub note_type: NoteTypeId,
    /// Its fields, in the order of the type.
    pub fields: Vec<String>,
    /// Its tags, `parent::child`.
    pub tags: Vec<String>,
    /// Where it comes from: a tool call, a page, a book.
    pub source: Option<String>,
    /// When it was made.
    pub created: Micros,
    /// When it was last changed.
    pub modified: Micros,
    /// Counts changes of its content.
    pub version: i64,
    /// When it was deleted.
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

/// What a note's content was before a change.
#[derive(Clone, Debug, PartialEq)]
pub struct PastContent {
    /// The version that it was.
    pub version: i64,
    /// Its fields.
    pub fields: Vec<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was replaced.
    pub replaced: Micros,
}

/// Which fields a note has and which cards it makes.
#[derive(Clone, Debug, PartialEq)]
pub struct NoteType {
    /// Its id.
    pub id: NoteTypeId,
    /// Its name.
    pub name: String,
    /// Whether cards come from gaps in the text instead of templates.
    pub cloze: bool,
    /// Names of the fields.
    pub fields: Vec<String>,
    /// One card each; a cloze type has one for all its gaps.
    pub templates: Vec<Template>,
    /// How cards look in Anki.
    pub css: String,
}

/// What is on the front and the back of a card, in Anki's language of templates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// The front.
    pub question: String,
    /// The back.
    pub answer: String,
}

/// The note types that every collection has.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A front and a back.
    #[default]
    Basic,
    /// Two cards: front to back and back to front.
    Reversed,
    /// A text with gaps, `{{c1::like this}}`.
    Cloze,
    /// The answer is to be typed.
    Typed,
    /// One of several answers is right.
    Choice,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Basic, Self::Reversed, Self::Cloze, Self::Typed, Self::Choice];

    /// The note type of this form.
    pub fn note_type(self) -> NoteType {
        const CSS: &str = ".card { font-family: arial; font-size: 20px; text-align: center; }";
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
            css: CSS.to_owned(),
        }
    }
}

impl NoteType {
    /// Which cards a note with these fields makes: ordinals of templates whose front would not
    /// be empty, or numbers of gaps less one.
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

/// A number that notes with the same first field share: the first 32 bits of a SHA-256 of its
/// text without markup.
pub fn checksum(first_field: &str) -> i64 {
    use sha2::Digest as _;
    let plain = render::strip_html(first_field).to_lowercase();
    let digest = sha2::Sha256::digest(plain.as_bytes());
    digest.iter().take(4).fold(0, |sum, byte| sum << 8 | i64::from(*byte))
}

/// Tags as they are kept: without blanks or doubles, sorted without regard to case.
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
