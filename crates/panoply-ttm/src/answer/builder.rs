//! Accumulates the sentences and citations of an answer and tracks what they cover.

use std::collections::{BTreeMap, BTreeSet};

use super::aspects::Aspect;
use super::danger::Danger;
use super::passages::{Passage, Section};
use super::question::{NamedEntity, ParsedQuestion};
use super::{Citation, Language, Role, Sentence};
use crate::catalog::HerbCatalog;
use crate::search::{Engine, Kind, QueryUnit, TextWords};

/// An answer under construction.
pub(super) struct AnswerBuilder<'a> {
    pub(super) catalog: &'a HerbCatalog,
    pub(super) engine: &'a Engine,
    pub(super) language: Language,
    pub(super) sentences: Vec<Sentence>,
    pub(super) citations: Vec<Citation>,
    /// Ids mentioned by the cited passages.
    pub(super) about: BTreeSet<String>,
    /// Ids covered through a drug class or group that the passage names instead.
    pub(super) matched: BTreeSet<String>,
    /// Aspects answered so far.
    pub(super) answered_aspects: BTreeSet<Aspect>,
    words: TextWords,
    /// Words and ids of the cited passages by document.
    by_document: BTreeMap<String, (TextWords, BTreeSet<String>)>,
}

impl<'a> AnswerBuilder<'a> {
    pub(super) fn new(catalog: &'a HerbCatalog, engine: &'a Engine, language: Language) -> Self {
        Self {
            catalog,
            engine,
            language,
            sentences: Vec::new(),
            citations: Vec::new(),
            about: BTreeSet::new(),
            matched: BTreeSet::new(),
            answered_aspects: BTreeSet::new(),
            words: TextWords::default(),
            by_document: BTreeMap::new(),
        }
    }

    /// Quotes a passage unless it is cited already.
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

    /// Quotes a safety record unless it is cited already.
    pub(super) fn warn(&mut self, danger: &Danger) {
        let citation = &danger.citation;
        let kind = match citation.id.split(':').next() {
            Some("H") => Kind::Herb,
            Some("F") => Kind::Formulation,
            _ => Kind::Chunk,
        };
        let passage = Passage {
            id: citation.id.clone(),
            kind,
            uri: citation.uri.clone(),
            title: citation.title.clone(),
            section: if kind == Kind::Chunk { Section::Text } else { Section::Cautions },
            text: citation.span.clone(),
            sources: citation.sources.clone(),
            verified: citation.verified,
        };
        self.quote(&passage, Role::Danger);
    }

    /// Adds a sentence that cites these passages.
    pub(super) fn write(&mut self, text: String, passages: &[Passage], role: Role) {
        let places = passages.iter().map(|passage| self.cite(passage)).collect();
        for passage in passages {
            let words = self.engine.words_of(&passage.text);
            // Names inside long ingredient lists count as well.
            let names = self.engine.names_in(&passage.text).into_iter().map(|mention| mention.id);
            let about: BTreeSet<String> = names.chain([passage.id.clone()]).collect();
            self.words.join(&words);
            let (known_words, known) = self.by_document.entry(passage.id.clone()).or_default();
            known_words.join(&words);
            known.extend(about.iter().cloned());
            self.about.extend(about);
        }
        self.sentences.push(Sentence { text, citations: places, role });
    }

    /// Puts third-party text in quotation marks with its document title.
    fn foreign(&self, passage: &Passage) -> String {
        let text = passage.text.replace(['“', '”'], "\"");
        match self.language {
            Language::Th => format!("เอกสาร “{}” เขียนว่า “{text}”", truncated(&passage.title)),
            Language::En => format!("The document “{}” says: “{text}”", truncated(&passage.title)),
        }
    }

    fn cite(&mut self, passage: &Passage) -> usize {
        if let Some(place) = self.citations.iter().position(|known| known.is_of(passage)) {
            return place;
        }
        self.citations.push(Citation::of(passage));
        self.citations.len() - 1
    }

    /// Returns whether the cited passages contain this query unit.
    pub(super) fn covers_word(&self, unit: &QueryUnit) -> bool {
        self.words.contains(unit)
    }

    /// Returns whether the cited passages cover this entity.
    pub(super) fn covers_entity(&self, entity: &NamedEntity) -> bool {
        entity.ids.iter().any(|(_, id)| self.about.contains(id) || self.matched.contains(id))
    }

    /// Returns the largest question share covered by one document: fragments matched in unrelated
    /// documents do not make an answer.
    pub(super) fn best_document_coverage(&self, question: &ParsedQuestion) -> f32 {
        let named_entities = question.named_entities.iter().map(|entity| entity.weight);
        let whole: f32 = named_entities.chain(question.words.iter().map(|unit| unit.weight)).sum();
        let of_one = self.by_document.values().map(|(words, about)| {
            let spoken = |entity: &&NamedEntity| {
                entity.ids.iter().any(|(_, id)| about.contains(id) || self.matched.contains(id))
            };
            let named_entities =
                question.named_entities.iter().filter(spoken).map(|entity| entity.weight);
            let covered =
                question.words.iter().filter(|unit| words.contains(unit)).map(|unit| unit.weight);
            named_entities.chain(covered).sum::<f32>()
        });
        let most = of_one.fold(0.0, f32::max);
        if most > 0.0 { most / whole } else { 0.0 }
    }

    /// Returns whether a passage mentions an entity of the question, or the question names none.
    pub(super) fn is_on_subject(&self, question: &ParsedQuestion, passage: &Passage) -> bool {
        if question.named_entities.is_empty() {
            return true;
        }
        let names = self.engine.names_in(&passage.text);
        let mut ids = question.named_entities.iter().flat_map(|entity| &entity.ids);
        ids.any(|(_, id)| *id == passage.id || names.iter().any(|mention| mention.id == *id))
    }

    /// Returns the question weight that a passage would add to the coverage.
    pub(super) fn added_coverage(&self, question: &ParsedQuestion, passage: &Passage) -> f32 {
        let words = self.engine.words_of(&passage.text);
        let new =
            question.words.iter().filter(|unit| !self.covers_word(unit) && words.contains(unit));
        let weight: f32 = new.map(|unit| unit.weight).sum();
        let missing: Vec<&NamedEntity> =
            question.named_entities.iter().filter(|entity| !self.covers_entity(entity)).collect();
        if missing.is_empty() {
            return weight;
        }
        let names = self.engine.names_in(&passage.text);
        let named = missing.iter().filter(|entity| {
            entity
                .ids
                .iter()
                .any(|(_, id)| *id == passage.id || names.iter().any(|mention| mention.id == *id))
        });
        weight + named.map(|entity| entity.weight).sum::<f32>()
    }
}

fn truncated(title: &str) -> String {
    title.chars().take(120).collect()
}
