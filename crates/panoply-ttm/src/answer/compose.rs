//! Selects the content of an answer: catalog facts about the named entities, paper findings,
//! document sentences and safety records.

use super::aspects::Aspect;
use super::builder::AnswerBuilder;
use super::confidence::{Signals, signals};
use super::danger::Danger;
use super::passages::{Passage, Section, of_document, of_entity, of_paper};
use super::question::{EntityKind, NamedEntity, ParsedQuestion};
use super::wording::Gap;
use super::{
    AnswerRequest, CITATIONS, Citation, Language, Role, Sentence, conflicts, danger, lists, verify,
};
use crate::arithmetic::round4;
use crate::catalog::HerbCatalog;
use crate::claims::poses_as_official;
use crate::collections::extend_unique;
use crate::papers::UserStoreError;
use crate::search::{
    Engine, Kind, QueryUnit, SearchFilter, SearchQuery, SearchResult, TextLanguage,
};

/// Minimum number of hits requested from the search. List order depends on the ranking, so this may
/// exceed the caller's `top_k`.
const MIN_SEARCH_HITS: usize = 20;
/// Maximum number of passages quoted per entity and section.
const MAX_PASSAGES_PER_SECTION: usize = 3;
/// Maximum number of papers, when research is asked for and when it is not.
const MAX_PAPERS_ASKED: usize = 3;
const MAX_PAPERS_UNASKED: usize = 2;
/// Maximum number of sentences quoted from documents.
const MAX_DOCUMENT_SENTENCES: usize = 4;
/// Minimum question weight that a quoted sentence must add.
const MIN_ADDED_COVERAGE: f32 = 1.5;
/// Maximum number of listed entities whose safety records are added to a safety question.
const MAX_LISTED_WITH_DANGERS: usize = 3;
/// Maximum number of single-herb medicines quoted for a herb.
const MAX_OWN_MEDICINES: usize = 2;

/// A composed answer before scoring.
pub(super) struct Composed {
    pub(super) question: ParsedQuestion,
    pub(super) sentences: Vec<Sentence>,
    pub(super) citations: Vec<Citation>,
    pub(super) gaps: Vec<Gap>,
    pub(super) signals: Signals,
    pub(super) dangers: Vec<Danger>,
    pub(super) danger_first: bool,
}

/// Composes an answer.
pub(super) fn compose(
    catalog: &HerbCatalog,
    engine: &Engine,
    request: &AnswerRequest<'_>,
    found: &SearchResult,
) -> Composed {
    let language = Language::of(request.language, found.language);
    let question = ParsedQuestion::of(catalog, engine, request.text, &found.mentions, language);
    let order: Vec<String> = found.hits.iter().map(|hit| hit.document.id.clone()).collect();
    let mut builder = AnswerBuilder::new(catalog, engine, language);
    let entities = question.entities();
    let safety_entities = with_all_own_medicines(catalog, &question.all_entities());
    let dangers = danger::dangers(catalog, &question, &safety_entities);
    let danger_first = question.asks_for_danger();
    if danger_first && !entities.is_empty() {
        danger::write(&mut builder, &dangers);
    }
    let listed = if entities.is_empty() {
        lists::write(&mut builder, &question, &order)
    } else {
        facts(&mut builder, &question, &entities, &order);
        Vec::new()
    };
    let subjects: Vec<String> = if entities.is_empty() {
        listed.into_iter().take(MAX_LISTED_WITH_DANGERS).collect()
    } else {
        with_own_medicines(&builder, &entities, Aspect::Cautions)
    };
    let mut gaps: Vec<Gap> = question.aspects_not_in_data().into_iter().map(Gap::NotHeld).collect();
    // Safety records precede papers and documents, which only fill what is not yet covered.
    if question.is_about_danger() {
        if entities.is_empty() {
            let own = danger::dangers(catalog, &question, &subjects);
            danger::write(&mut builder, &own);
        } else {
            danger::write(&mut builder, &dangers);
            gaps.extend(danger::gaps(catalog, &question, &safety_entities));
        }
    }
    papers(&mut builder, &question, &entities, &order, request.top_k);
    documents(&mut builder, &question, found, request.top_k);
    if let (false, Some(first)) = (question.is_about_danger(), entities.first()) {
        one_warning(&mut builder, first);
    }
    add_supporting_facts(&mut builder, &question, &subjects);
    conflicts::write(&mut builder, &question, &subjects);
    gaps.extend(missing_information(&builder, &question, &entities, &dangers));
    let retrieval = retrieval(found, request.top_k);
    let signals = signals(&builder, &question, &dangers, retrieval);
    let AnswerBuilder { sentences, citations, .. } = builder;
    Composed { question, sentences, citations, gaps, signals, dangers, danger_first }
}

/// Returns the entities and, for each herb, every medicine that contains only that herb.
fn with_all_own_medicines(catalog: &HerbCatalog, entities: &[String]) -> Vec<String> {
    let mut all = entities.to_vec();
    for id in entities {
        extend_unique(&mut all, own_medicines(catalog, id));
    }
    all
}

/// Returns the medicines that contain only this herb.
fn own_medicines<'c>(catalog: &'c HerbCatalog, herb: &str) -> impl Iterator<Item = &'c str> {
    let own = catalog.formulations.iter().filter(move |formulation| {
        formulation.single_herb && formulation.ingredients.first().is_some_and(|id| id == herb)
    });
    own.map(|formulation| formulation.id.as_str())
}

/// Searches for a question.
pub(super) fn search(
    engine: &Engine,
    request: &AnswerRequest<'_>,
) -> Result<SearchResult, UserStoreError> {
    let language = request.language.map(|language| match language {
        Language::Th => TextLanguage::Th,
        Language::En => TextLanguage::En,
    });
    let top = request.top_k.max(MIN_SEARCH_HITS);
    engine.search(&SearchQuery {
        text: request.text,
        language,
        filter: SearchFilter::default(),
        top,
    })
}

/// Returns the mean score of the first `top_k` hits.
fn retrieval(found: &SearchResult, top_k: usize) -> f64 {
    let scores: Vec<f64> = found.hits.iter().take(top_k).map(|hit| f64::from(hit.score)).collect();
    #[expect(clippy::cast_precision_loss, reason = "at most a hundred")]
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    round4(mean)
}

/// Quotes catalog facts about the named herbs and medicines.
fn facts(
    builder: &mut AnswerBuilder<'_>,
    question: &ParsedQuestion,
    entities: &[String],
    order: &[String],
) {
    let herbs: Vec<String> =
        entities.iter().filter(|id| builder.catalog.herb(id).is_some()).cloned().collect();
    for aspect in aspects_to_answer(question) {
        // Drug interactions are looked up pair by pair in `danger`.
        if aspect == Aspect::Interactions && !question.named(EntityKind::Drug).is_empty() {
            continue;
        }
        let asks_for_medicines = aspect == Aspect::Formulations || aspect == Aspect::Ingredients;
        if asks_for_medicines && !herbs.is_empty() && herbs.len() == entities.len() {
            let indications = question.named(EntityKind::Indication);
            let listed = lists::medicines_with(builder, &herbs, &indications, order);
            if !listed.is_empty() {
                builder.answered_aspects.insert(aspect);
            }
        }
        for entity in with_own_medicines(builder, entities, aspect) {
            let passages = of_aspect(builder, &entity, aspect);
            let passages = sorted_by_coverage(builder, question, passages);
            if !passages.is_empty() {
                builder.answered_aspects.insert(aspect);
            }
            let role = if aspect.is_dangerous() { Role::Danger } else { Role::Fact };
            passages
                .iter()
                .take(MAX_PASSAGES_PER_SECTION)
                .for_each(|passage| builder.quote(passage, role));
        }
    }
}

/// Returns the aspects to answer: those asked for, the uses if the question names a symptom, or a
/// default that depends on the named entities.
fn aspects_to_answer(question: &ParsedQuestion) -> Vec<Aspect> {
    let mut aspects = question.aspects_in_data();
    let names = |kind: EntityKind| !question.named(kind).is_empty();
    if names(EntityKind::Indication) && !aspects.contains(&Aspect::Uses) {
        aspects.push(Aspect::Uses);
    }
    if !aspects.is_empty() && aspects != [Aspect::Identity] {
        // `What is in X` asks for the ingredients; what X is comes after them.
        aspects.sort_by_key(|aspect| *aspect != Aspect::Ingredients);
        return aspects;
    }
    if names(EntityKind::Drug) {
        return vec![Aspect::Interactions];
    }
    if !question.named_cautions().is_empty() {
        return vec![Aspect::Cautions];
    }
    if names(EntityKind::Constituent) {
        return vec![Aspect::Constituents];
    }
    // An overview: names, uses, and what it consists of.
    vec![Aspect::Identity, Aspect::Uses, Aspect::Constituents]
}

/// Returns the entities and, for each herb, the medicines that contain only that herb: the national
/// list describes those.
fn with_own_medicines(
    builder: &AnswerBuilder<'_>,
    entities: &[String],
    aspect: Aspect,
) -> Vec<String> {
    let mut all: Vec<String> = entities.to_vec();
    if !aspect.is_dangerous() && aspect != Aspect::Uses {
        return all;
    }
    for id in entities {
        let own = own_medicines(builder.catalog, id).take(MAX_OWN_MEDICINES);
        all.extend(own.filter(|id| !entities.iter().any(|known| known == id)).map(str::to_owned));
    }
    all
}

/// Returns the passages of an entity that cover an aspect.
fn of_aspect(builder: &AnswerBuilder<'_>, entity: &str, aspect: Aspect) -> Vec<Passage> {
    let is_herb = builder.catalog.herb(entity).is_some();
    let section = match (aspect, is_herb) {
        // Herbs have constituents instead of ingredients; formulations have ingredients instead of
        // constituents.
        (Aspect::Ingredients, true) => Some(Section::Constituents),
        (Aspect::Constituents | Aspect::Formulations, false) => Some(Section::Ingredients),
        _ => aspect.section(),
    };
    let tells = |passage: &Passage| match aspect {
        Aspect::SideEffects => {
            let named = ["อาการไม่พึงประสงค์", "Side effects"];
            named.iter().any(|cue| passage.text.starts_with(cue))
                || warns_of(builder, passage, &["effect"])
        }
        Aspect::Duration => warns_of(builder, passage, &["duration", "effect"]),
        _ => true,
    };
    let passages = of_entity(builder.catalog, entity, builder.language).into_iter();
    passages.filter(|passage| Some(passage.section) == section && tells(passage)).collect()
}

/// Returns whether a passage states a caution of one of these kinds.
fn warns_of(builder: &AnswerBuilder<'_>, passage: &Passage, kinds: &[&str]) -> bool {
    let cautions = builder.catalog.cautions.iter();
    let mut names = cautions
        .filter(|one| kinds.contains(&one.kind.as_str()))
        .map(|one| one.names.in_language(builder.language.display()));
    names.any(|name| lists::contains_ignoring_case(&passage.text, &name))
}

/// Sorts passages: verified first, then by added coverage.
fn sorted_by_coverage(
    builder: &AnswerBuilder<'_>,
    question: &ParsedQuestion,
    passages: Vec<Passage>,
) -> Vec<Passage> {
    let mut ranked: Vec<(f32, Passage)> = passages
        .into_iter()
        .map(|passage| (builder.added_coverage(question, &passage), passage))
        .collect();
    ranked.sort_by(|one, other| {
        other.1.verified.cmp(&one.1.verified).then(other.0.total_cmp(&one.0))
    });
    ranked.into_iter().map(|(_, passage)| passage).collect()
}

/// Quotes papers, ranked by coverage of the question.
fn papers(
    builder: &mut AnswerBuilder<'_>,
    question: &ParsedQuestion,
    entities: &[String],
    order: &[String],
    top_k: usize,
) {
    let asked = question.aspects.contains(&Aspect::Evidence);
    let constituents = question.named(EntityKind::Constituent);
    let numbers = question.named(EntityKind::Paper);
    let indications = question.named(EntityKind::Indication);
    let catalog = builder.catalog;
    let mut ranked: Vec<(f32, usize, Passage)> = Vec::new();
    for paper in &catalog.papers {
        let rank = order.iter().position(|id| *id == paper.pmid);
        let linked = paper.herbs.iter().chain(&paper.formulations).any(|id| entities.contains(id))
            || paper.constituents.iter().any(|id| constituents.contains(id));
        let named = numbers.contains(&paper.pmid);
        let read = rank.is_some_and(|rank| rank < top_k.max(MIN_SEARCH_HITS / 2));
        if !(linked || named || read) {
            continue;
        }
        let passage = of_paper(paper, builder.language);
        if !(linked || named || builder.is_on_subject(question, &passage)) {
            continue;
        }
        if question.asks_for_danger() && verify::promises_safety(&passage.text) {
            continue;
        }
        let about = paper.indications.iter().filter(|icd| indications.contains(icd)).count();
        let bonus = if named { 100.0 } else { 0.0 } + if about > 0 { 2.0 } else { 0.0 };
        let added_coverage = builder.added_coverage(question, &passage) + bonus;
        if added_coverage < question.min_relevance() {
            continue;
        }
        ranked.push((added_coverage, rank.unwrap_or(usize::MAX), passage));
    }
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let most = if asked { MAX_PAPERS_ASKED } else { MAX_PAPERS_UNASKED };
    let least = if asked { f32::MIN_POSITIVE } else { MIN_ADDED_COVERAGE };
    for (added_coverage, _, passage) in ranked.into_iter().take(most) {
        if added_coverage < least {
            break;
        }
        builder.quote(&passage, Role::Evidence);
        builder.answered_aspects.insert(Aspect::Evidence);
    }
}

/// Quotes document sentences greedily by added coverage.
fn documents(
    builder: &mut AnswerBuilder<'_>,
    question: &ParsedQuestion,
    found: &SearchResult,
    top_k: usize,
) {
    let entities = question.entities();
    let mut candidates: Vec<Passage> = Vec::new();
    for hit in found.hits.iter().take(top_k) {
        let document = &hit.document;
        let other = matches!(document.kind(), Kind::Herb | Kind::Formulation)
            && !entities.is_empty()
            && !entities.contains(&document.id);
        if !other {
            let passages = of_document(builder.catalog, document, builder.language);
            let fitting = |passage: &Passage| {
                passage.section != Section::Gaps
                    // Only the data of the list itself speak for the list.
                    && !(passage.is_foreign() && poses_as_official(&passage.text))
                    && builder.is_on_subject(question, passage)
                    && !(question.asks_for_danger() && verify::promises_safety(&passage.text))
            };
            candidates.extend(passages.into_iter().filter(fitting));
        }
    }
    for count in 0..MAX_DOCUMENT_SENTENCES {
        let quoted = count > 0;
        let mut best: Option<(f32, usize)> = None;
        for (place, passage) in candidates.iter().enumerate() {
            let added_coverage = builder.added_coverage(question, passage);
            let least = if quoted {
                MIN_ADDED_COVERAGE
            } else {
                MIN_ADDED_COVERAGE.max(question.min_relevance())
            };
            if added_coverage >= least && best.is_none_or(|(most, _)| added_coverage > most) {
                best = Some((added_coverage, place));
            }
        }
        let Some((_, place)) = best else { break };
        let passage = candidates.swap_remove(place);
        let role = match passage.section {
            Section::Evidence | Section::Text => Role::Evidence,
            Section::Cautions | Section::Interactions => Role::Danger,
            _ => Role::Fact,
        };
        builder.quote(&passage, role);
    }
}

/// An answer about uses always includes one warning.
fn one_warning(builder: &mut AnswerBuilder<'_>, entity: &str) {
    for id in with_own_medicines(builder, &[entity.to_owned()], Aspect::Cautions) {
        let passages = of_aspect(builder, &id, Aspect::Cautions);
        if let Some(first) = passages.iter().find(|passage| passage.verified) {
            builder.quote(first, Role::Danger);
            return;
        }
    }
}

/// Adds facts until the answer has enough citations. Those that answer a slot of the question come
/// first: further warnings if the question is about safety, else further passages on the requested
/// aspects, and which herb or medicine the name denotes.
fn add_supporting_facts(
    builder: &mut AnswerBuilder<'_>,
    question: &ParsedQuestion,
    entities: &[String],
) {
    if builder.sentences.is_empty() {
        return;
    }
    let mut aspects = aspects_to_answer(question);
    if question.is_about_danger() {
        aspects = vec![Aspect::Cautions, Aspect::Interactions, Aspect::SideEffects];
    }
    aspects.extend([
        Aspect::Identity,
        Aspect::Uses,
        Aspect::Constituents,
        Aspect::Ingredients,
        Aspect::Formulations,
    ]);
    for aspect in aspects {
        let role = if aspect.is_dangerous() { Role::Danger } else { Role::Fact };
        for entity in entities {
            for passage in of_aspect(builder, entity, aspect) {
                if builder.citations.len() >= CITATIONS {
                    return;
                }
                builder.quote(&passage, role);
            }
        }
    }
}

/// Returns the gaps: requested information that the data do not contain.
fn missing_information(
    builder: &AnswerBuilder<'_>,
    question: &ParsedQuestion,
    entities: &[String],
    dangers: &[Danger],
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for aspect in question.aspects_in_data() {
        // A missing safety record is reported only if no danger is on record.
        let on_record = builder.answered_aspects.contains(&aspect)
            || matches!(aspect, Aspect::Cautions | Aspect::Interactions) && !dangers.is_empty();
        if let (false, Some(entity)) = (on_record, entities.first()) {
            gaps.push(Gap::NoFacts(entity.clone(), aspect));
        }
    }
    // Patient groups and medicines are handled in `danger::gaps`.
    let patient = &question.safety.patient;
    let looked_up = |entity: &&NamedEntity| {
        let caution = entity.of(EntityKind::Caution).any(|code| {
            patient.cautions.iter().any(|known| known == code)
                || patient.concerned_by(builder.catalog, code).is_some()
        });
        caution
            || entity
                .of(EntityKind::Drug)
                .any(|drug| patient.medicines.iter().any(|one| one == drug))
    };
    let named_entities =
        question.named_entities.iter().filter(|entity| !builder.covers_entity(entity));
    let named_entities = named_entities.filter(|entity| entities.is_empty() || !looked_up(entity));
    // A number alone is no subject: `3 months pregnant`.
    let is_number = |unit: &&QueryUnit| !unit.text.chars().any(char::is_alphabetic);
    let words = question.words.iter().filter(|unit| !builder.covers_word(unit) && !is_number(unit));
    let not_found: Vec<String> = named_entities
        .map(|entity| entity.name.clone())
        .chain(words.map(|unit| unit.text.clone()))
        .collect();
    if !not_found.is_empty() {
        gaps.push(Gap::NotFound(not_found));
    }
    gaps
}
