//! Input and output of the tools that create notes.

use std::collections::BTreeMap;

use panoply_contract::hints::{Level, Warning, WarningKind};
use panoply_contract::prelude::*;

use super::wire::CardId;
use crate::card::Card;
use crate::choice;
use crate::collection::{self, NewNote, note_types};
use crate::error::{NoemaError, Result};
use crate::ids::DeckId;
use crate::note::{self, Form, Note, SourceAnchor};
use crate::quality;
use crate::store::StoreReader;

/// A note to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NoteInput {
    /// Form of the note, which determines its cards.
    #[serde(default)]
    pub(crate) form: FormParam,
    /// Note type by id or name, instead of a form; `list-note-types` has them. Give its content in `fields`.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) note_type: Option<String>,
    /// Content by field name, for a note with `noteType`.
    #[schemars(length(max = 50), extend("additionalProperties" = super::wire::field_value()))]
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, String>,
    /// Question; for a cloze the text with deletions such as `{{c1::Bangkok}}` or `{{c1::Bangkok::a city}}`.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    pub(crate) front: String,
    /// Answer; for multiple choice the correct one of `choices`.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    pub(crate) back: String,
    /// Options of a multiple-choice card, 2 or more; they are shuffled for every review.
    #[schemars(length(max = 26), inner(length(max = 20000)))]
    #[serde(default)]
    pub(crate) choices: Vec<String>,
    /// Additional text shown with the answer of a cloze or multiple-choice card.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    pub(crate) extra: String,
    /// Tags such as `geo::capital`.
    #[schemars(length(max = 100), inner(length(max = 200)))]
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Origin: a URL, a book or the trace id of a tool call.
    #[schemars(length(max = 500))]
    pub(crate) source: Option<String>,
    /// Place in a document, instead of `source`.
    pub(crate) anchor: Option<AnchorParam>,
}

/// A place in a document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AnchorParam {
    /// Title, file name or URL.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) document: String,
    /// Page, chapter or time, as the document counts.
    #[schemars(length(max = 100))]
    pub(crate) page: Option<String>,
    /// The words on which the card rests.
    #[schemars(length(max = 2000))]
    pub(crate) quote: Option<String>,
}

impl AnchorParam {
    /// The anchor of a stored source.
    pub(crate) fn of(source: Option<&str>) -> Option<Self> {
        let SourceAnchor { document, page, quote } = SourceAnchor::parse(source?)?;
        Some(Self { document, page, quote })
    }

    /// The text to store.
    fn encode(self) -> Option<String> {
        let Self { document, page, quote } = self;
        serde_json::to_string(&SourceAnchor { document, page, quote }).ok()
    }
}

/// A fault of wording.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QualityView {
    /// Rule: `one-fact`, `length`, `ambiguity`, `cloze`, `answer-in-question` or `interference`.
    pub(super) rule: &'static str,
    /// What is wrong.
    pub(super) message: String,
    /// What to do.
    pub(super) fix: &'static str,
    /// The card that interferes; absent for other rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) card_id: Option<CardId>,
}

/// The faults of a note's wording.
pub(crate) fn quality(reader: &dyn StoreReader, new: &NewNote) -> Result<Vec<QualityView>> {
    let Some(note_type) = reader.note_type(new.note_type)? else { return Ok(Vec::new()) };
    let view = |issue: quality::QualityIssue| QualityView {
        rule: issue.rule.as_str(),
        message: issue.message,
        fix: issue.fix,
        card_id: None,
    };
    Ok(quality::check(&note_type, &new.fields).into_iter().map(view).collect())
}

/// The warning about faults of wording.
pub(crate) fn quality_warning(faults: &[&QualityView]) -> Option<Warning> {
    let first = faults.first()?;
    Some(Warning {
        kind: WarningKind::Validation,
        severity: Level::Low,
        message: format!(
            "{} of wording, such as: {}",
            pluralize(faults.len(), "fault"),
            first.message
        ),
        related_ids: faults
            .iter()
            .filter_map(|fault| fault.card_id.as_ref().map(ToString::to_string))
            .collect(),
        suggested_fix: Some(first.fix.to_owned()),
        auto_fixable: Some(false),
    })
}

/// Form of a note, which determines its cards.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FormParam {
    /// One card: front and back.
    #[default]
    Basic,
    /// Two cards: front to back and back to front.
    Reversed,
    /// One card per cloze number.
    Cloze,
    /// The learner types the answer.
    Typed,
    /// Multiple choice.
    Choice,
}

impl NoteInput {
    /// Converts the input to a note of a deck.
    pub(crate) fn into_new(
        self,
        reader: &dyn StoreReader,
        deck: DeckId,
        draft: bool,
    ) -> Result<NewNote> {
        if let Some(wanted) = &self.note_type {
            let note_type = note_types::find(reader, wanted)?;
            let mut fields = vec![String::new(); note_type.fields.len()];
            for (name, content) in self.fields {
                let index =
                    note_type.fields.iter().position(|field| field.eq_ignore_ascii_case(&name));
                let field = index.and_then(|index| fields.get_mut(index));
                *field.ok_or(NoemaError::NoCards("the note type has no such field"))? = content;
            }
            let (tags, source) =
                (self.tags, self.anchor.and_then(AnchorParam::encode).or(self.source));
            return Ok(NewNote { note_type: note_type.id, fields, tags, deck, draft, source });
        }
        let form = match self.form {
            FormParam::Basic => Form::Basic,
            FormParam::Reversed => Form::Reversed,
            FormParam::Cloze => Form::Cloze,
            FormParam::Typed => Form::Typed,
            FormParam::Choice => Form::Choice,
        };
        let answer = choice::check(form, &self.back, &self.choices)?;
        let back = answer.unwrap_or(self.back);
        Ok(NewNote {
            note_type: form.note_type().id,
            fields: collection::fields_of(form, self.front, back, &self.choices, self.extra),
            tags: self.tags,
            deck,
            draft,
            source: self.anchor.and_then(AnchorParam::encode).or(self.source),
        })
    }
}

/// A created note.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatedNote {
    /// Its cards in order.
    pub(crate) card_ids: Vec<CardId>,
    /// Fields in the order of the note type.
    pub(crate) fields: Vec<String>,
    /// Tags.
    pub(crate) tags: Vec<String>,
}

impl CreatedNote {
    pub(crate) fn of(note: &Note, cards: &[Card]) -> Self {
        Self {
            card_ids: cards.iter().map(|card| CardId::of(card.id)).collect(),
            fields: note.fields.clone(),
            tags: note.tags.clone(),
        }
    }
}

/// The first cards of notes with an equal first field.
pub(crate) fn duplicates_of(reader: &dyn StoreReader, first: &str) -> Result<Vec<CardId>> {
    let mut cards = Vec::new();
    if first.trim().is_empty() {
        return Ok(cards);
    }
    let plain = note::plain_first_field(first);
    let same = |other: &Note| {
        other.fields.first().is_some_and(|other| note::plain_first_field(other) == plain)
    };
    for note in reader.notes_with_checksum(note::checksum(first))?.iter().filter(|note| same(note))
    {
        cards.extend(reader.cards_of(note.id)?.first().map(|card| CardId::of(card.id)));
    }
    Ok(cards)
}

/// The warning about duplicates.
pub(crate) fn duplicate_warning(cards: &[CardId]) -> Warning {
    Warning {
        kind: WarningKind::Duplicate,
        severity: Level::Medium,
        message: format!("{} with the same front", pluralize(cards.len(), "card")),
        related_ids: cards.iter().map(ToString::to_string).collect(),
        suggested_fix: Some("delete one of them, or make the fronts differ".to_owned()),
        auto_fixable: Some(false),
    }
}

/// Formats a count, as in `1 card` and `2 cards`.
pub(crate) fn pluralize(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
