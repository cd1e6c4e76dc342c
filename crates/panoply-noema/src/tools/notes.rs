//! Input and output of the tools that create notes.

use panoply_contract::hints::{Level, Warning, WarningKind};
use panoply_contract::prelude::*;

use super::wire::CardId;
use crate::card::Card;
use crate::collection::{self, NewNote};
use crate::error::Result;
use crate::ids::DeckId;
use crate::note::{self, Form, Note};
use crate::store::StoreReader;

/// A note to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NoteInput {
    /// Form of the note, which determines its cards.
    #[serde(default)]
    pub(crate) form: FormParam,
    /// Question; for a cloze the text with deletions such as `{{c1::Bangkok}}` or `{{c1::Bangkok::a city}}`.
    #[schemars(length(max = 20000))]
    pub(crate) front: String,
    /// Answer; for multiple choice the correct one.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    pub(crate) back: String,
    /// Options of a multiple-choice card.
    #[schemars(length(max = 26))]
    #[serde(default)]
    pub(crate) choices: Vec<String>,
    /// Additional text shown with the answer of a cloze or multiple-choice card.
    #[schemars(length(max = 20000))]
    #[serde(default)]
    pub(crate) extra: String,
    /// Tags such as `geo::capital`.
    #[schemars(length(max = 100))]
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Origin: a URL, a book or the trace id of a tool call.
    #[schemars(length(max = 500))]
    pub(crate) source: Option<String>,
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
    pub(crate) fn into_new(self, deck: DeckId, draft: bool) -> NewNote {
        let form = match self.form {
            FormParam::Basic => Form::Basic,
            FormParam::Reversed => Form::Reversed,
            FormParam::Cloze => Form::Cloze,
            FormParam::Typed => Form::Typed,
            FormParam::Choice => Form::Choice,
        };
        NewNote {
            note_type: form.note_type().id,
            fields: collection::fields_of(form, self.front, self.back, &self.choices, self.extra),
            tags: self.tags,
            deck,
            draft,
            source: self.source,
        }
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
    for note in reader.notes_with_checksum(note::checksum(first))? {
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
