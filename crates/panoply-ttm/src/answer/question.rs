//! Parses a question into named entities, requested aspects and remaining content words.
//!
//! Every content word belongs to one of the three. Answer confidence depends on how many of them
//! are covered.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Language;
use super::aspects::{Aspect, aspects_in, neutral_ranges};
use crate::catalog::HerbCatalog;
use crate::collections::unique;
use crate::safety::ParsedPatient;
use crate::search::{self, Engine, Mention, QueryUnit};
use crate::text::spans::overlap;
use crate::text::{Token, skeleton};

/// A parsed question.
#[derive(Clone, Debug)]
pub struct ParsedQuestion {
    /// Language of the answer.
    pub language: Language,
    /// Named entities in order of appearance.
    pub named_entities: Vec<NamedEntity>,
    /// Requested aspects, deduplicated, in order.
    pub aspects: Vec<Aspect>,
    /// Remaining content words.
    pub words: Vec<QueryUnit>,
    /// Those of `words` that are interrogated: `amount` in `what amount of ginger`.
    pub interrogated: Vec<QueryUnit>,
    /// Patient and intent.
    pub safety: ParsedPatient,
}

/// A name in a question. One name may denote several graph nodes.
#[derive(Clone, Debug)]
pub struct NamedEntity {
    /// The name as spelled in the data.
    pub name: String,
    /// Candidate nodes.
    pub ids: Vec<(EntityKind, String)>,
    /// Importance (idf).
    pub weight: f32,
    /// 1 for an exact match, less for a fuzzy one.
    pub certainty: f32,
}

/// Node kind as far as answers distinguish it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum EntityKind {
    /// A herb.
    Herb,
    /// A medicine of the National List.
    Formulation,
    /// An active substance.
    Constituent,
    /// A disease or symptom.
    Indication,
    /// A caution such as pregnancy.
    Caution,
    /// A drug taken at the same time.
    Drug,
    /// A paper.
    Paper,
}

impl NamedEntity {
    /// Returns the ids of a kind.
    pub fn of(&self, kind: EntityKind) -> impl Iterator<Item = &str> {
        self.ids.iter().filter(move |(own, _)| *own == kind).map(|(_, id)| id.as_str())
    }

    pub(super) fn is(&self, kind: EntityKind) -> bool {
        self.of(kind).next().is_some()
    }

    /// Returns whether it is a herb or formulation.
    pub fn is_subject(&self) -> bool {
        self.is(EntityKind::Herb) || self.is(EntityKind::Formulation)
    }
}

/// Minimum certainty of a fuzzy match.
const MIN_CERTAINTY: f32 = 0.7;
/// Minimum similarity between a misspelt name and the words of the question.
const MIN_SIMILARITY: f64 = 0.7;
/// Default weight of a name without an idf.
const NAME_WEIGHT: f32 = 4.0;
/// Maximum number of entities that are answered individually.
const MAX_ENTITIES: usize = 4;

impl ParsedQuestion {
    /// Parses a question, given the mentions found by the search.
    pub fn of(
        catalog: &HerbCatalog,
        engine: &Engine,
        question: &str,
        mentions: &[Mention],
        language: Language,
    ) -> Self {
        let (text, tokens) = engine.cut(question);
        let units = engine.units(question);
        let mut places = group_by_range(&text, &tokens, mentions);
        // What is spelt right is no misspelt name: `Xanax` is not `Panax`, and `เป็นไรมั้ย` (does it
        // matter) is not `เป็นไข้` (fever).
        let known = catalog.patient_words.ranges(catalog, &text, &tokens);
        places.retain(|(place, mentions)| {
            let holds = |range: &Range<usize>| range.start <= place.start && place.end <= range.end;
            mentions.iter().any(|mention| mention.certainty >= 1.0) || !known.iter().any(holds)
        });
        let mut named_entities: Vec<(Range<usize>, NamedEntity)> = Vec::new();
        for (range, mentions) in places {
            let weight = units
                .iter()
                .filter(|unit| overlap(&unit.range, &range))
                .map(|unit| unit.weight)
                .fold(0.0, f32::max);
            let ids = mentions
                .iter()
                .filter_map(|mention| Some((kind_of(catalog, &mention.id)?, mention.id.clone())));
            let mut ids: Vec<(EntityKind, String)> = ids.collect();
            ids.sort();
            if ids.is_empty() {
                continue;
            }
            let certainty = mentions.iter().map(|mention| mention.certainty).fold(0.0, f32::max);
            let name = mentions.first().map(|mention| mention.name.clone()).unwrap_or_default();
            let weight = if weight > 0.0 { weight } else { NAME_WEIGHT };
            named_entities.push((range, NamedEntity { name, ids, weight, certainty }));
        }
        let entity_ranges: Vec<Range<usize>> = named_entities
            .iter()
            .filter(|(_, entity)| entity.is_subject())
            .map(|(range, _)| range.clone())
            .collect();
        let mut safety = catalog.patient_words.read(catalog, &text, &tokens, &entity_ranges);
        // `not pregnant` and `as a child` name no patient group.
        named_entities.retain(|(place, entity)| {
            let is_denied = safety.denied.iter().any(|range| overlap(range, place));
            let holds = |range: &Range<usize>| range.start <= place.start && place.end <= range.end;
            let is_masked = entity.ids.iter().all(|(kind, _)| *kind == EntityKind::Caution)
                && safety.masked.iter().any(holds);
            entity.is_subject() || !(is_denied || is_masked)
        });
        let read = safety.ranges.clone();
        for (place, entity) in named_entities.iter().filter(|(_, entity)| !entity.is_subject()) {
            // `เหล้า` inside `ติดเหล้า` was already read as part of the longer phrase.
            let inside = |range: &Range<usize>| {
                range.start <= place.start && place.end <= range.end && range.len() > place.len()
            };
            if read.iter().any(inside) {
                continue;
            }
            safety.note(catalog, entity.of(EntityKind::Caution), entity.of(EntityKind::Drug));
        }
        let asked: Vec<(Range<usize>, Aspect)> = aspects_in(&text, &tokens)
            .into_iter()
            .filter(|(range, aspect)| {
                // A cue inside a patient phrase belongs to the phrase: `a history of seizures`.
                let of_patient = safety.ranges.iter().any(|place| overlap(place, range));
                // A cue inside the name of a medicine belongs to the name.
                let of_name = named_entities.iter().any(|(place, entity)| {
                    place.start <= range.start && range.end <= place.end && entity.is_entity()
                });
                (!of_patient || aspect.is_dangerous()) && !of_name
            })
            .collect();
        let neutral = neutral_ranges(&text, &tokens);
        let explained = |unit: &QueryUnit| {
            let within = |range: &Range<usize>| overlap(range, &unit.range);
            named_entities.iter().any(|(range, _)| within(range))
                || safety.ranges.iter().any(within)
                || asked.iter().any(|(range, _)| within(range))
                || neutral
                    .iter()
                    .any(|range| range.start <= unit.range.start && unit.range.end <= range.end)
        };
        let words: Vec<QueryUnit> = units.iter().filter(|unit| !explained(unit)).cloned().collect();
        let interrogated = interrogated(&text, &tokens, &words, &safety.ranges);
        let aspects = fitting_aspects(&text, &asked, &named_entities, &safety);
        Self {
            language,
            named_entities: named_entities.into_iter().map(|(_, entity)| entity).collect(),
            aspects,
            words,
            interrogated,
            safety,
        }
    }

    /// Returns the named herbs and formulations, at most `MAX_ENTITIES`.
    pub fn entities(&self) -> Vec<String> {
        let mut ids = self.all_entities();
        ids.truncate(MAX_ENTITIES);
        ids
    }

    /// Returns the distinct ids of a kind.
    pub fn named(&self, kind: EntityKind) -> Vec<String> {
        unique(self.named_entities.iter().flat_map(|entity| entity.of(kind)))
    }

    /// Returns the cautions named explicitly: `ไข้` counts only in a safety question.
    pub fn named_cautions(&self) -> Vec<String> {
        let dangers = self.aspects.iter().any(|aspect| aspect.is_dangerous());
        let named_entities = self
            .named_entities
            .iter()
            .filter(|entity| dangers || !entity.is(EntityKind::Indication));
        let mut codes: Vec<String> = named_entities
            .flat_map(|entity| entity.of(EntityKind::Caution))
            .map(str::to_owned)
            .collect();
        codes.dedup();
        codes
    }

    /// Returns every named herb and formulation, for the safety lookup.
    pub fn all_entities(&self) -> Vec<String> {
        unique(self.named_entities.iter().flat_map(|entity| {
            entity.of(EntityKind::Herb).chain(entity.of(EntityKind::Formulation))
        }))
    }

    /// Returns whether the question asks about safety: `Is X safe in Y`, `Can Y take X`, or a herb
    /// together with a medicine or patient. `What is X used for in Y` does not.
    pub fn asks_for_danger(&self) -> bool {
        let patient = &self.safety.patient;
        let named = self.named_entities.iter().any(NamedEntity::is_subject);
        let dangerous = self.aspects.iter().any(|aspect| aspect.is_dangerous());
        let permission = self.safety.asks_permission || dangerous;
        match (named, patient.is_unknown()) {
            (true, true) => permission && !self.safety.asks_use,
            (true, false) => permission || !self.safety.asks_use || !patient.medicines.is_empty(),
            (false, _) => dangerous,
        }
    }

    /// Returns whether the question touches safety: contraindications, interactions or doses.
    pub fn is_about_danger(&self) -> bool {
        let named = self.named_entities.iter().any(NamedEntity::is_subject);
        named && !self.safety.patient.is_unknown()
            || self.aspects.iter().any(|aspect| aspect.is_dangerous())
            || !self.named_cautions().is_empty()
            || !self.named(EntityKind::Drug).is_empty()
    }

    /// Returns the question weight that a passage must cover to be quoted. A question that names
    /// nothing of the data has only its words to tell what it is about: half of them must occur.
    pub(super) fn min_relevance(&self) -> f32 {
        let whole: f32 = self.words.iter().map(|unit| unit.weight).sum();
        if self.named_entities.is_empty() { whole / 2.0 } else { 0.0 }
    }

    /// Returns the requested aspects that the data do not contain.
    pub fn aspects_not_in_data(&self) -> Vec<Aspect> {
        self.aspects.iter().copied().filter(|aspect| !aspect.is_in_data()).collect()
    }

    /// Returns the requested aspects that the data may contain.
    pub fn aspects_in_data(&self) -> Vec<Aspect> {
        self.aspects.iter().copied().filter(|aspect| aspect.is_in_data()).collect()
    }
}

impl NamedEntity {
    fn is_entity(&self) -> bool {
        self.is(EntityKind::Herb)
            || self.is(EntityKind::Formulation)
            || self.is(EntityKind::Constituent)
            || self.is(EntityKind::Drug)
    }
}

impl Language {
    /// Returns the requested language, or that of the question.
    pub(super) fn of(asked: Option<Self>, found: Option<search::TextLanguage>) -> Self {
        asked.unwrap_or(match found {
            Some(search::TextLanguage::En) => Self::En,
            Some(search::TextLanguage::Th | search::TextLanguage::Neither) | None => Self::Th,
        })
    }
}

/// Dosage forms, which alone do not ask for a dose if the question describes a patient.
const FORMS: [&str; 4] = ["capsule", "capsules", "tablet", "tablets"];

/// Weak cues: they count only if no other aspect is asked for.
const WEAK: &[(&str, Aspect)] = &[
    ("what is", Aspect::Identity),
    ("called", Aspect::Identity),
    ("part", Aspect::Identity),
    ("คืออะไร", Aspect::Identity),
    ("เรียกว่า", Aspect::Identity),
    ("found", Aspect::Evidence),
    ("show", Aspect::Evidence),
    ("shown", Aspect::Evidence),
    ("พบว่า", Aspect::Evidence),
    ("used", Aspect::Uses),
    ("mix", Aspect::Interactions),
    ("มีอะไรบ้าง", Aspect::Ingredients),
];

/// Returns the aspects that fit the names and the patient of the question.
fn fitting_aspects(
    text: &str,
    asked: &[(Range<usize>, Aspect)],
    named_entities: &[(Range<usize>, NamedEntity)],
    safety: &ParsedPatient,
) -> Vec<Aspect> {
    let mut aspects = strong_aspects(text, asked);
    // `Which herbs are there for a cough` does not ask for the ingredients of anything.
    let consists = |(_, entity): &(Range<usize>, NamedEntity)| {
        entity.is_subject() || entity.is(EntityKind::Constituent)
    };
    if !named_entities.iter().any(consists) {
        aspects.retain(|aspect| *aspect != Aspect::Ingredients);
    }
    // `I have a bad liver; andrographis capsules?` asks whether, not how many.
    let mut doses = asked.iter().filter(|(_, aspect)| *aspect == Aspect::Dose);
    let form_only = |(range, _): &(Range<usize>, Aspect)| {
        FORMS.contains(&text.get(range.clone()).unwrap_or_default())
    };
    if !safety.patient.is_unknown() && doses.all(form_only) {
        aspects.retain(|aspect| *aspect != Aspect::Dose);
    }
    aspects
}

/// Returns the distinct aspects, without those that only weak cues support if stronger ones exist.
fn strong_aspects(text: &str, asked: &[(Range<usize>, Aspect)]) -> Vec<Aspect> {
    let weak = |(range, aspect): &(Range<usize>, Aspect)| {
        let cue = text.get(range.clone()).unwrap_or_default();
        WEAK.contains(&(cue, *aspect))
    };
    let strong = asked.iter().filter(|one| !weak(one));
    let chosen: Vec<Aspect> = if strong.clone().next().is_some() {
        strong.map(|(_, aspect)| *aspect).collect()
    } else {
        asked.iter().map(|(_, aspect)| *aspect).collect()
    };
    let mut once: Vec<Aspect> = Vec::new();
    for aspect in chosen {
        if !once.contains(&aspect) {
            once.push(aspect);
        }
    }
    once
}

/// Returns the words that directly follow `what`, `which` or `how`, apart from words about the
/// patient: the question asks for them, whatever they mean. Thai quantities are cues of
/// [`Aspect::Dose`].
fn interrogated(
    text: &str,
    tokens: &[Token],
    words: &[QueryUnit],
    patient: &[Range<usize>],
) -> Vec<QueryUnit> {
    let is_interrogative = |token: &Token| {
        ["what", "which", "how"].iter().any(|word| token.text(text).eq_ignore_ascii_case(word))
    };
    let unit_at = |token: &Token| words.iter().find(|unit| overlap(&unit.range, &token.range));
    let of_patient = |token: &Token| patient.iter().any(|range| overlap(range, &token.range));
    let mut found: Vec<QueryUnit> = Vec::new();
    for (place, _) in tokens.iter().enumerate().filter(|(_, token)| is_interrogative(token)) {
        let rest = tokens.get(place + 1..).unwrap_or_default().iter();
        let phrase = rest.take_while(|token| unit_at(token).is_some() || of_patient(token));
        found.extend(phrase.filter_map(unit_at).cloned());
    }
    found.dedup();
    found
}

/// Groups mentions by position. A fuzzy mention is placed at the most similar words, or dropped if
/// none are similar.
fn group_by_range<'m>(
    text: &str,
    tokens: &[Token],
    mentions: &'m [Mention],
) -> Vec<(Range<usize>, Vec<&'m Mention>)> {
    let mut places: BTreeMap<(usize, usize), Vec<&Mention>> = BTreeMap::new();
    for mention in mentions {
        let range = if mention.certainty >= 1.0 {
            Some(mention.range.clone())
        } else if mention.certainty >= MIN_CERTAINTY {
            closest_words(text, tokens, &mention.name)
        } else {
            None
        };
        if let Some(range) = range {
            places.entry((range.start, range.end)).or_default().push(mention);
        }
    }
    places.into_iter().map(|((start, end), mentions)| (start..end, mentions)).collect()
}

/// Returns the words most similar to a name.
fn closest_words(text: &str, tokens: &[Token], name: &str) -> Option<Range<usize>> {
    let name = skeleton(name);
    let mut best: Option<(f64, Range<usize>)> = None;
    for first in 0..tokens.len() {
        for length in 1..=6 {
            let Some(window) = tokens.get(first..first + length) else { break };
            let Some((start, end)) = window.first().zip(window.last()) else { break };
            let range = start.range.start..end.range.end;
            let words = skeleton(text.get(range.clone()).unwrap_or_default());
            let score = strsim::normalized_levenshtein(&words, &name);
            if score >= MIN_SIMILARITY && best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, range));
            }
        }
    }
    best.map(|(_, range)| range)
}

fn kind_of(catalog: &HerbCatalog, id: &str) -> Option<EntityKind> {
    let known = [
        (catalog.herb(id).is_some(), EntityKind::Herb),
        (catalog.formulation(id).is_some(), EntityKind::Formulation),
        (catalog.constituent(id).is_some(), EntityKind::Constituent),
        (catalog.indication(id).is_some(), EntityKind::Indication),
        // Duration cautions such as `not longer than 7 days` are not names.
        (catalog.caution(id).is_some_and(|one| one.kind != "duration"), EntityKind::Caution),
        (catalog.drug(id).is_some(), EntityKind::Drug),
        (id.bytes().all(|byte| byte.is_ascii_digit()), EntityKind::Paper),
    ];
    known.into_iter().find(|(is, _)| *is).map(|(_, sort)| sort)
}
