//! An answer while it is written: sentences, what they cite, and what they cover so far.

use std::collections::BTreeSet;

use super::aspects::Aspect;
use super::passages::{Passage, Section};
use super::reading::{Reading, Thing};
use super::{Citation, Language, Role, Sentence};
use crate::library::Library;
use crate::search::{Engine, TextWords, Unit};

/// What is written so far.
pub(super) struct Page<'a> {
    pub(super) library: &'a Library,
    pub(super) engine: &'a Engine,
    pub(super) language: Language,
    pub(super) sentences: Vec<Sentence>,
    pub(super) citations: Vec<Citation>,
    /// Everything that the sentences speak of, by id.
    pub(super) about: BTreeSet<String>,
    /// The aspects that they answer.
    pub(super) met: BTreeSet<Aspect>,
    words: TextWords,
}

impl<'a> Page<'a> {
    pub(super) fn new(library: &'a Library, engine: &'a Engine, language: Language) -> Self {
        Self {
            library,
            engine,
            language,
            sentences: Vec::new(),
            citations: Vec::new(),
            about: BTreeSet::new(),
            met: BTreeSet::new(),
            words: TextWords::default(),
        }
    }

    /// Quotes a passage, once.
    pub(super) fn quote(&mut self, passage: &Passage, role: Role) {
        let cited = self.citations.iter().any(|known| known.is_of(passage));
        if cited {
            return;
        }
        let text = match passage.section {
            Section::Text => self.foreign(passage),
            Section::Evidence => {
                format!("{} (PMID {})", passage.text.trim_end_matches('.'), passage.id)
            }
            _ => passage.text.trim_end_matches('.').to_owned(),
        };
        self.write(text, std::slice::from_ref(passage), role);
    }

    /// Writes a sentence that rests on these passages.
    pub(super) fn write(&mut self, text: String, passages: &[Passage], role: Role) {
        let places = passages.iter().map(|passage| self.cite(passage)).collect();
        for passage in passages {
            self.about.insert(passage.id.clone());
            self.words.join(&self.engine.words_of(&passage.text));
            // Names inside long lists of ingredients count too: they are what was asked for.
            let names = self.engine.names_in(&passage.text);
            self.about.extend(names.into_iter().map(|mention| mention.id));
        }
        self.sentences.push(Sentence { text, citations: places, role });
    }

    /// The words of others stand between quotes, and say whose they are.
    fn foreign(&self, passage: &Passage) -> String {
        let text = passage.text.replace(['“', '”'], "\"");
        match self.language {
            Language::Th => format!("เอกสาร “{}” เขียนว่า “{text}”", short(&passage.title)),
            Language::En => format!("The document “{}” says: “{text}”", short(&passage.title)),
        }
    }

    fn cite(&mut self, passage: &Passage) -> usize {
        if let Some(place) = self.citations.iter().position(|known| known.is_of(passage)) {
            return place;
        }
        self.citations.push(Citation::of(passage));
        self.citations.len() - 1
    }

    /// Whether the sentences say this word.
    pub(super) fn says(&self, unit: &Unit) -> bool {
        self.words.say(unit)
    }

    /// Whether they speak of this thing.
    pub(super) fn speaks_of(&self, thing: &Thing) -> bool {
        thing.ids.iter().any(|(_, id)| self.about.contains(id))
    }

    /// The words and things of a question that no sentence has yet, and that a passage has.
    pub(super) fn gain(&self, reading: &Reading, passage: &Passage) -> f32 {
        let words = self.engine.words_of(&passage.text);
        let new = reading.words.iter().filter(|unit| !self.says(unit) && words.say(unit));
        let weight: f32 = new.map(|unit| unit.weight).sum();
        let missing: Vec<&Thing> =
            reading.things.iter().filter(|thing| !self.speaks_of(thing)).collect();
        if missing.is_empty() {
            return weight;
        }
        let names = self.engine.names_in(&passage.text);
        let named = missing.iter().filter(|thing| {
            thing
                .ids
                .iter()
                .any(|(_, id)| *id == passage.id || names.iter().any(|mention| mention.id == *id))
        });
        weight + named.map(|thing| thing.weight).sum::<f32>()
    }
}

fn short(title: &str) -> String {
    title.chars().take(120).collect()
}
