//! Creating, changing and deleting note types, with the notes and cards that follow.

use std::collections::BTreeSet;

use super::{cards, notes};
use crate::error::Result;
use crate::fsrs::Micros;
use crate::ids::{NoteId, NoteTypeId};
use crate::note::{Note, NoteType, Template};
use crate::render;
use crate::store::{StoreReader, StoreWriter};

/// Most fields of a type.
pub const MAX_FIELDS: usize = 50;
/// Most templates of a type.
pub const MAX_TEMPLATES: usize = 50;

/// Why a note type is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidNoteType {
    /// The type does not exist.
    #[error("note type `{0}` does not exist")]
    NotFound(String),
    /// Another type has this name.
    #[error("another note type is called `{0}`")]
    NameTaken(String),
    /// A name is empty, too long or has characters that templates use.
    #[error(
        "`{0}` is not a name: expected 1 to 100 characters without {{ }} : \" and not beginning with # / ^"
    )]
    Name(String),
    /// Two fields or templates have the same name.
    #[error("`{0}` occurs twice")]
    Repeated(String),
    /// Too few or too many fields or templates.
    #[error("a note type has 1 to 50 fields and 1 to 50 templates, a cloze type one template")]
    Count,
    /// A template refers to a field that the type lacks.
    #[error("template `{template}` refers to the field `{field}`, which the type does not have")]
    UnknownField {
        /// Template.
        template: String,
        /// Field.
        field: String,
    },
    /// The front shows no field.
    #[error("the front of template `{0}` shows no field; a cloze type needs `{{{{cloze:Field}}}}`")]
    EmptyFront(String),
    /// A built-in type cannot lose fields, templates or its name.
    #[error("`{0}` is built in: change a copy of it instead")]
    BuiltIn(String),
    /// Notes use the type.
    #[error("{notes} notes use `{name}`")]
    InUse {
        /// Type.
        name: String,
        /// Number of notes.
        notes: usize,
    },
}

/// Largest id of the built-in types.
const LAST_BUILT_IN: i64 = 5;

impl NoteType {
    /// Whether the type belongs to the program.
    pub const fn is_built_in(&self) -> bool {
        self.id.0 <= LAST_BUILT_IN
    }
}

/// Finds a type by id such as `type_123`, or by name.
pub fn find(reader: &dyn StoreReader, text: &str) -> Result<NoteType> {
    let types = reader.note_types()?;
    let id = text.strip_prefix("type_").and_then(|digits| digits.parse().ok()).map(NoteTypeId);
    let by_id = types.iter().position(|known| Some(known.id) == id);
    let by_name = || types.iter().position(|known| known.name.eq_ignore_ascii_case(text));
    let index = by_id.or_else(by_name);
    let found = index.and_then(|index| types.into_iter().nth(index));
    found.ok_or_else(|| InvalidNoteType::NotFound(text.chars().take(80).collect()).into())
}

/// Creates a type; its id is ignored.
pub fn create(writer: &mut dyn StoreWriter, mut new: NoteType, now: Micros) -> Result<NoteType> {
    check(writer, &new, None)?;
    new.id = NoteTypeId(writer.next_id(now)?);
    writer.put_note_type(&new)?;
    Ok(new)
}

/// Deletes a type that no note uses.
pub fn delete(writer: &mut dyn StoreWriter, id: NoteTypeId) -> Result<NoteType> {
    let known = existing(writer, id)?;
    if known.is_built_in() {
        return Err(InvalidNoteType::BuiltIn(known.name).into());
    }
    let notes = notes_of(writer, id)?.len();
    if notes > 0 {
        return Err(InvalidNoteType::InUse { name: known.name, notes }.into());
    }
    writer.delete_note_type(id)?;
    Ok(known)
}

/// New content of a type; `None` leaves a part unchanged.
#[derive(Clone, Debug, Default)]
pub struct NoteTypeChanges {
    /// New name.
    pub name: Option<String>,
    /// New style sheet.
    pub css: Option<String>,
    /// All fields: their names, and the field whose content each takes over.
    pub fields: Option<Vec<(String, Option<String>)>>,
    /// All templates, and the template whose cards each takes over.
    pub templates: Option<Vec<(Template, Option<String>)>>,
}

/// The effect of a change.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NoteTypeEffect {
    /// Notes whose fields changed.
    pub notes: usize,
    /// Cards that were created.
    pub created: usize,
    /// Cards that were deleted.
    pub deleted: usize,
}

/// Changes a type, the fields of its notes and their cards.
pub fn update(
    writer: &mut dyn StoreWriter,
    id: NoteTypeId,
    changes: NoteTypeChanges,
    now: Micros,
) -> Result<(NoteType, NoteTypeEffect)> {
    let before = existing(writer, id)?;
    let structural = changes.name.is_some() || changes.fields.is_some();
    if before.is_built_in() && (structural || changes.templates.is_some()) {
        return Err(InvalidNoteType::BuiltIn(before.name).into());
    }
    let mut after = before.clone();
    after.name = changes.name.unwrap_or(after.name);
    after.css = changes.css.unwrap_or(after.css);
    let field_sources = changes.fields.map(|fields| apply_fields(&before, &mut after, fields));
    let template_sources =
        changes.templates.map(|templates| apply_templates(&before, &mut after, templates));
    check(writer, &after, Some(id))?;
    writer.put_note_type(&after)?;
    let mut effect = NoteTypeEffect::default();
    if field_sources.is_none() && template_sources.is_none() {
        return Ok((after, effect));
    }
    for note_id in notes_of(writer, id)? {
        let Some(mut note) = writer.note(note_id)? else { continue };
        if let Some(sources) = &field_sources {
            effect.notes += usize::from(move_fields(writer, &mut note, sources, now)?);
        }
        regenerate(writer, &note, &after, template_sources.as_deref(), now, &mut effect)?;
    }
    Ok((after, effect))
}

fn existing(reader: &dyn StoreReader, id: NoteTypeId) -> Result<NoteType> {
    let missing = || InvalidNoteType::NotFound(id.to_string());
    Ok(reader.note_type(id)?.ok_or_else(missing)?)
}

fn notes_of(reader: &dyn StoreReader, id: NoteTypeId) -> Result<Vec<NoteId>> {
    let mut found = Vec::new();
    reader.for_each_note(&mut |note| {
        if note.note_type == id {
            found.push(note.id);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Index of the old field of each new field.
fn apply_fields(
    before: &NoteType,
    after: &mut NoteType,
    fields: Vec<(String, Option<String>)>,
) -> Vec<Option<usize>> {
    let position =
        |name: &str| before.fields.iter().position(|field| field.eq_ignore_ascii_case(name));
    let (mut sources, mut renamed) = (Vec::new(), Vec::new());
    after.fields.clear();
    after.config.fields.clear();
    for (name, from) in fields {
        let source = position(from.as_deref().unwrap_or(&name));
        if let Some(old) = source.and_then(|index| before.fields.get(index)) {
            renamed.push((old.clone(), name.clone()));
        }
        let config = source.and_then(|index| before.config.fields.get(index));
        after.config.fields.push(config.cloned().unwrap_or_default());
        after.fields.push(name);
        sources.push(source);
    }
    for template in &mut after.templates {
        template.question = render::rename_fields(&template.question, &renamed);
        template.answer = render::rename_fields(&template.answer, &renamed);
    }
    sources
}

/// Index of the old template of each new template.
fn apply_templates(
    before: &NoteType,
    after: &mut NoteType,
    templates: Vec<(Template, Option<String>)>,
) -> Vec<Option<usize>> {
    let position = |name: &str| {
        before.templates.iter().position(|known| known.name.eq_ignore_ascii_case(name))
    };
    let mut sources = Vec::new();
    after.templates.clear();
    after.config.templates.clear();
    for (template, from) in templates {
        let source = position(from.as_deref().unwrap_or(&template.name));
        let config = source.and_then(|index| before.config.templates.get(index));
        after.config.templates.push(config.cloned().unwrap_or_default());
        after.templates.push(template);
        sources.push(source);
    }
    sources
}

fn move_fields(
    writer: &mut dyn StoreWriter,
    note: &mut Note,
    sources: &[Option<usize>],
    now: Micros,
) -> Result<bool> {
    let content = |source: &Option<usize>| source.and_then(|index| note.fields.get(index)).cloned();
    let fields: Vec<String> =
        sources.iter().map(|source| content(source).unwrap_or_default()).collect();
    if fields == note.fields {
        return Ok(false);
    }
    let past = note.snapshot(now);
    note.fields = fields;
    note.version += 1;
    note.modified = now;
    writer.put_note(note)?;
    writer.put_past_content(note.id, &past)?;
    Ok(true)
}

/// Moves cards to the new index of their template, creates missing cards and deletes others. The
/// last card of a note is kept.
fn regenerate(
    writer: &mut dyn StoreWriter,
    note: &Note,
    note_type: &NoteType,
    templates: Option<&[Option<usize>]>,
    now: Micros,
    effect: &mut NoteTypeEffect,
) -> Result<()> {
    let existing = writer.cards_of(note.id)?;
    let Some(like) = existing.first() else { return Ok(()) };
    let wanted = note_type.ordinals(&note.fields);
    let mut taken = BTreeSet::new();
    let mut unwanted = Vec::new();
    for card in &existing {
        let index = match templates {
            Some(sources) if !note_type.cloze => {
                sources.iter().position(|source| *source == Some(card.ordinal as usize))
            }
            _ => Some(card.ordinal as usize),
        };
        let ordinal = index.and_then(|index| u32::try_from(index).ok());
        match ordinal.filter(|ordinal| wanted.contains(ordinal)) {
            Some(ordinal) => {
                taken.insert(ordinal);
                if ordinal != card.ordinal {
                    writer.put_ordinal(card.id, ordinal)?;
                }
            }
            None => unwanted.push(card.id),
        }
    }
    for ordinal in wanted.difference(&taken) {
        notes::add_card(writer, note.id, *ordinal, like, now)?;
        effect.created += 1;
    }
    let spare = usize::from(wanted.is_empty());
    for card in unwanted.into_iter().skip(spare) {
        effect.deleted += usize::from(cards::delete_card(writer, card, now)?);
    }
    Ok(())
}

/// Checks names and references of a type.
fn check(reader: &dyn StoreReader, new: &NoteType, own: Option<NoteTypeId>) -> Result<()> {
    let others = reader.note_types()?;
    let taken =
        |known: &NoteType| Some(known.id) != own && known.name.eq_ignore_ascii_case(&new.name);
    if others.iter().any(taken) {
        return Err(InvalidNoteType::NameTaken(new.name.clone()).into());
    }
    check_shape(new)?;
    Ok(())
}

fn check_shape(new: &NoteType) -> Result<(), InvalidNoteType> {
    let templates = if new.cloze { 1..=1 } else { 1..=MAX_TEMPLATES };
    if !(1..=MAX_FIELDS).contains(&new.fields.len()) || !templates.contains(&new.templates.len()) {
        return Err(InvalidNoteType::Count);
    }
    let template_names: Vec<&String> =
        new.templates.iter().map(|template| &template.name).collect();
    for names in [new.fields.iter().collect::<Vec<_>>(), template_names] {
        for (index, name) in names.iter().enumerate() {
            check_name(name)?;
            if names.iter().take(index).any(|other| other.eq_ignore_ascii_case(name)) {
                return Err(InvalidNoteType::Repeated((*name).clone()));
            }
        }
    }
    for template in &new.templates {
        for side in [&template.question, &template.answer] {
            if let Some(field) = render::unknown_field(side, new) {
                return Err(InvalidNoteType::UnknownField {
                    template: template.name.clone(),
                    field,
                });
            }
        }
        let filled = vec!["x".to_owned(); new.fields.len()];
        let shows = if new.cloze {
            template.question.contains("cloze:")
        } else {
            render::front_has_content(template, new, &filled)
        };
        if !shows {
            return Err(InvalidNoteType::EmptyFront(template.name.clone()));
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), InvalidNoteType> {
    let fits = (1..=100).contains(&name.trim().chars().count())
        && name.trim() == name
        && !name.contains(['{', '}', ':', '"', '\n', '\u{1f}'])
        && !name.starts_with(['#', '/', '^']);
    if fits { Ok(()) } else { Err(InvalidNoteType::Name(name.chars().take(80).collect())) }
}
