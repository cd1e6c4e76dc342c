//! What a question asks: the things it names, the aspects it asks for, and the words that neither
//! explains.
//!
//! Every telling word of the question belongs to one of the three. Whether an answer covers them
//! is what its confidence rests on.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Language;
use super::aspects::{Aspect, asked_in, neutral_in};
use crate::catalog::HerbCatalog;
use crate::safety::ParsedPatient;
use crate::search::{self, Engine, Mention, QueryUnit};
use crate::text::{Token, skeleton};

/// A question, understood as far as it can be.
#[derive(Clone, Debug)]
pub struct ParsedQuestion {
    /// The language to answer in.
    pub language: Language,
    /// What it names, in order.
    pub named_entities: Vec<NamedEntity>,
    /// What it asks for, each once, in order.
    pub aspects: Vec<Aspect>,
    /// The telling words that are neither.
    pub words: Vec<QueryUnit>,
    /// Who it is about, and whether it asks for permission.
    pub safety: ParsedPatient,
}

/// Something that a question names. One name may stand for several nodes of the graph.
#[derive(Clone, Debug)]
pub struct NamedEntity {
    /// The name.
    pub name: String,
    /// What it may be.
    pub ids: Vec<(EntityKind, String)>,
    /// How telling the name is.
    pub weight: f32,
    /// 1 when it is written as in the data, less when it was guessed.
    pub certainty: f32,
}

/// What a node of the graph is, as an answer looks at it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum EntityKind {
    /// A herb.
    Herb,
    /// A medicine of the National List.
    Formulation,
    /// A substance.
    Constituent,
    /// A disease or symptom.
    Indication,
    /// Something to be careful about.
    Caution,
    /// A medicine that is taken as well.
    Drug,
    /// A paper.
    Paper,
}

impl NamedEntity {
    /// The ids of a sort.
    pub fn of(&self, kind: EntityKind) -> impl Iterator<Item = &str> {
        self.ids.iter().filter(move |(own, _)| *own == kind).map(|(_, id)| id.as_str())
    }

    fn is(&self, kind: EntityKind) -> bool {
        self.of(kind).next().is_some()
    }
}

/// A guess below this is not taken for a name.
const MIN_CERTAINTY: f32 = 0.7;
/// How alike a misspelt name and the words of the question must be.
const MIN_SIMILARITY: f64 = 0.7;
/// How telling a name is whose words the corpus does not weigh.
const NAME_WEIGHT: f32 = 4.0;
/// More herbs and medicines than these are not looked at one by one.
const MAX_ENTITIES: usize = 4;

impl ParsedQuestion {
    /// Reads a question with what the search found in it.
    pub fn of(
        catalog: &HerbCatalog,
        engine: &Engine,
        question: &str,
        mentions: &[Mention],
        language: Language,
    ) -> Self {
        let (text, tokens) = engine.cut(question);
        let units = engine.units(question);
        let places = places(&text, &tokens, mentions);
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
        let names_entity = |entity: &NamedEntity| {
            entity.is(EntityKind::Herb) || entity.is(EntityKind::Formulation)
        };
        let taken: Vec<Range<usize>> = named_entities
            .iter()
            .filter(|(_, entity)| names_entity(entity))
            .map(|(range, _)| range.clone())
            .collect();
        let mut safety = catalog.patient_words.read(catalog, &text, &tokens, &taken);
        let read = safety.ranges.clone();
        for (place, entity) in named_entities.iter().filter(|(_, entity)| !names_entity(entity)) {
            // `เหล้า` in `ติดเหล้า` was read as part of the longer phrase.
            let inside = |range: &Range<usize>| {
                range.start <= place.start && place.end <= range.end && range.len() > place.len()
            };
            if read.iter().any(inside) {
                continue;
            }
            safety.note(catalog, entity.of(EntityKind::Caution), entity.of(EntityKind::Drug));
        }
        let asked: Vec<(Range<usize>, Aspect)> = asked_in(&text, &tokens)
            .into_iter()
            .filter(|(range, aspect)| {
                // A cue inside the words for a patient is theirs: `a history of seizures`.
                let of_patient = safety.ranges.iter().any(|place| overlap(place, range));
                // A cue inside the name of a medicine is part of the name.
                let of_name = named_entities.iter().any(|(place, entity)| {
                    place.start <= range.start && range.end <= place.end && entity.is_entity()
                });
                (!of_patient || aspect.is_dangerous()) && !of_name
            })
            .collect();
        let neutral = neutral_in(&text, &tokens);
        let explained = |unit: &QueryUnit| {
            let within = |range: &Range<usize>| overlap(range, &unit.range);
            named_entities.iter().any(|(range, _)| within(range))
                || safety.ranges.iter().any(within)
                || asked.iter().any(|(range, _)| within(range))
                || neutral
                    .iter()
                    .any(|range| range.start <= unit.range.start && unit.range.end <= range.end)
        };
        let words = units.iter().filter(|unit| !explained(unit)).cloned().collect();
        let aspects = strong_aspects(&text, &asked);
        Self {
            language,
            named_entities: named_entities.into_iter().map(|(_, entity)| entity).collect(),
            aspects,
            words,
            safety,
        }
    }

    /// The herbs and medicines it names, in order, not too many.
    pub fn entities(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for entity in &self.named_entities {
            let own = entity.of(EntityKind::Herb).chain(entity.of(EntityKind::Formulation));
            ids.extend(
                own.filter(|id| !ids.iter().any(|known| known == id))
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            );
        }
        ids.truncate(MAX_ENTITIES);
        ids
    }

    /// Every id of a sort that it names, once.
    pub fn named(&self, kind: EntityKind) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for id in self.named_entities.iter().flat_map(|entity| entity.of(kind)) {
            if !ids.iter().any(|known| known == id) {
                ids.push(id.to_owned());
            }
        }
        ids
    }

    /// The cautions it names as such: `ไข้` is one of them only where dangers are asked for.
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

    /// Every herb and medicine it names: the dangers of all of them are looked up.
    pub fn all_entities(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for entity in &self.named_entities {
            for id in entity.of(EntityKind::Herb).chain(entity.of(EntityKind::Formulation)) {
                if !ids.iter().any(|known| known == id) {
                    ids.push(id.to_owned());
                }
            }
        }
        ids
    }

    /// Whether danger is what is asked: `Is X safe in Y`, `Can Y take X`, a herb beside a
    /// medicine or a patient. `What is X used for in Y` asks for a use.
    pub fn asks_for_danger(&self) -> bool {
        let patient = &self.safety.patient;
        let named = self
            .named_entities
            .iter()
            .any(|entity| entity.is(EntityKind::Herb) || entity.is(EntityKind::Formulation));
        let dangerous = self.aspects.iter().any(|aspect| aspect.is_dangerous());
        let permission = self.safety.asks_permission || dangerous;
        match (named, patient.is_unknown()) {
            (true, true) => permission && !self.safety.asks_use,
            (true, false) => permission || !self.safety.asks_use || !patient.medicines.is_empty(),
            (false, _) => dangerous,
        }
    }

    /// Whether it asks about danger: who must not take something, what goes with what, how much.
    pub fn is_about_danger(&self) -> bool {
        let named = self
            .named_entities
            .iter()
            .any(|entity| entity.is(EntityKind::Herb) || entity.is(EntityKind::Formulation));
        named && !self.safety.patient.is_unknown()
            || self.aspects.iter().any(|aspect| aspect.is_dangerous())
            || !self.named_cautions().is_empty()
            || !self.named(EntityKind::Drug).is_empty()
    }

    /// What it asks for and no source here can tell.
    pub fn aspects_not_in_data(&self) -> Vec<Aspect> {
        self.aspects.iter().copied().filter(|aspect| !aspect.is_in_data()).collect()
    }

    /// What it asks for that the data may have.
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
    /// The language of what was found, or the one that was asked for.
    pub(super) fn of(asked: Option<Self>, found: Option<search::TextLanguage>) -> Self {
        asked.unwrap_or(match found {
            Some(search::TextLanguage::En) => Self::En,
            Some(search::TextLanguage::Th | search::TextLanguage::Neither) | None => Self::Th,
        })
    }
}

/// Cues that ask for little by themselves: where something else is asked for, they are part of
/// the way of asking.
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
];

/// Each aspect once, without those that only weak cues speak for when there are others.
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

/// Mentions by where they stand. A misspelt name stands where the words are most like it, and
/// nowhere when none are.
fn places<'m>(
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

/// The words of a text that are most like a name.
fn closest_words(text: &str, tokens: &[Token], name: &str) -> Option<Range<usize>> {
    let name = skeleton(name);
    let mut best: Option<(f64, Range<usize>)> = None;
    for first in 0..tokens.len() {
        for length in 1..=6 {
            let Some(window) = tokens.get(first..first + length) else { break };
            let Some((start, end)) = window.first().zip(window.last()) else { break };
            let range = start.range.start..end.range.end;
            let words = skeleton(text.get(range.clone()).unwrap_or_default());
            let alike = strsim::normalized_levenshtein(&words, &name);
            if alike >= MIN_SIMILARITY && best.as_ref().is_none_or(|(most, _)| alike > *most) {
                best = Some((alike, range));
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
        // Titles such as `not longer than 7 days` are no names of anything.
        (catalog.caution(id).is_some_and(|one| one.kind != "duration"), EntityKind::Caution),
        (catalog.drug(id).is_some(), EntityKind::Drug),
        (id.bytes().all(|byte| byte.is_ascii_digit()), EntityKind::Paper),
    ];
    known.into_iter().find(|(is, _)| *is).map(|(_, sort)| sort)
}

const fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}
