//! Chooses what an answer says: facts of what the question names, findings of papers, sentences
//! of documents, and the dangers.

use super::aspects::Aspect;
use super::confidence::{Signals, signals};
use super::danger::Danger;
use super::page::Page;
use super::passages::{Passage, Section, of_document, of_entity, of_paper};
use super::reading::{Reading, Sort, Thing};
use super::words::Gap;
use super::{
    AskedQuestion, CITATIONS, Citation, Language, Role, Sentence, conflicts, danger, lists, verify,
};
use crate::library::Library;
use crate::papers::ShelfError;
use crate::search::{Answer, Engine, Kind, Question, Tongue, Wanted};

/// The search is asked for at least this many documents, whatever the caller wants read: the
/// order of lists comes from it.
const SEARCHED: usize = 20;
/// So many passages of a section are quoted for an entity.
const OF_A_SECTION: usize = 3;
/// So many papers, when research is asked for, and when it is not.
const PAPERS: usize = 3;
const PAPERS_ASIDE: usize = 2;
/// So many sentences of documents.
const SENTENCES: usize = 4;
/// A sentence must cover at least this much of the question that no other covers.
const LEAST_GAIN: f32 = 1.5;
/// Of a list, so many bring their dangers along when the question is about danger.
const LISTED_WITH_DANGERS: usize = 3;
/// Medicines of one named herb that speak for it.
const OWN_MEDICINES: usize = 2;

/// What was written, before it is scored.
pub(super) struct Composed {
    pub(super) reading: Reading,
    pub(super) sentences: Vec<Sentence>,
    pub(super) citations: Vec<Citation>,
    pub(super) gaps: Vec<Gap>,
    pub(super) signals: Signals,
    pub(super) dangers: Vec<Danger>,
    pub(super) danger_first: bool,
}

/// Writes an answer.
pub(super) fn compose(
    library: &Library,
    engine: &Engine,
    asked: &AskedQuestion<'_>,
    found: &Answer,
) -> Composed {
    let language = Language::of(asked.language, found.tongue);
    let reading = Reading::of(library, engine, asked.text, &found.mentions, language);
    let order: Vec<String> = found.hits.iter().map(|hit| hit.document.id.clone()).collect();
    let mut page = Page::new(library, engine, language);
    let entities = reading.entities();
    let in_danger = with_all_own_medicines(library, &reading.all_entities());
    let dangers = danger::dangers(library, &reading, &in_danger);
    let danger_first = reading.asks_for_danger();
    if danger_first && !entities.is_empty() {
        danger::write(&mut page, &dangers);
    }
    let listed = if entities.is_empty() {
        lists::write(&mut page, &reading, &order)
    } else {
        facts(&mut page, &reading, &entities, &order);
        Vec::new()
    };
    let talked_of: Vec<String> = if entities.is_empty() {
        listed.into_iter().take(LISTED_WITH_DANGERS).collect()
    } else {
        with_own_medicines(&page, &entities, Aspect::Cautions)
    };
    let mut gaps: Vec<Gap> = reading.not_held().into_iter().map(Gap::NotHeld).collect();
    // Before papers and documents, which are quoted for what nothing says yet.
    if reading.is_about_danger() {
        if entities.is_empty() {
            let own = danger::dangers(library, &reading, &talked_of);
            danger::write(&mut page, &own);
        } else {
            danger::write(&mut page, &dangers);
            gaps.extend(danger::gaps(library, &reading, &in_danger));
        }
    }
    papers(&mut page, &reading, &entities, &order, asked.top_k);
    documents(&mut page, &reading, found, asked.top_k);
    if let (false, Some(first)) = (reading.is_about_danger(), entities.first()) {
        one_warning(&mut page, first);
    }
    fill(&mut page, &talked_of);
    conflicts::write(&mut page, &reading, &talked_of);
    gaps.extend(missing(&page, &reading, &entities, &dangers));
    let retrieval = retrieval(found, asked.top_k);
    let signals = signals(&page, &reading, retrieval);
    let Page { sentences, citations, .. } = page;
    Composed { reading, sentences, citations, gaps, signals, dangers, danger_first }
}

/// The entities, and behind a herb every medicine that is nothing but it.
fn with_all_own_medicines(library: &Library, entities: &[String]) -> Vec<String> {
    let mut all = entities.to_vec();
    for id in entities {
        let own = library.formulations.iter().filter(|formulation| {
            formulation.single_herb && formulation.ingredients.first() == Some(id)
        });
        for one in own {
            if !all.contains(&one.id) {
                all.push(one.id.clone());
            }
        }
    }
    all
}

/// What the search finds for a question.
pub(super) fn search(engine: &Engine, asked: &AskedQuestion<'_>) -> Result<Answer, ShelfError> {
    let tongue = asked.language.map(|language| match language {
        Language::Th => Tongue::Th,
        Language::En => Tongue::En,
    });
    let top = asked.top_k.max(SEARCHED);
    engine.search(&Question { text: asked.text, tongue, wanted: Wanted::default(), top })
}

/// The mean score of the documents that are read.
fn retrieval(found: &Answer, top_k: usize) -> f64 {
    let scores: Vec<f64> = found.hits.iter().take(top_k).map(|hit| f64::from(hit.score)).collect();
    #[expect(clippy::cast_precision_loss, reason = "at most a hundred")]
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    (mean * 1e4).round() / 1e4
}

/// What the graph says of the herbs and medicines that a question names.
fn facts(page: &mut Page<'_>, reading: &Reading, entities: &[String], order: &[String]) {
    let herbs: Vec<String> =
        entities.iter().filter(|id| page.library.herb(id).is_some()).cloned().collect();
    for aspect in wanted(reading) {
        // Which medicines go with which is looked up pair by pair, in `danger`.
        if aspect == Aspect::Interactions && !reading.named(Sort::Drug).is_empty() {
            continue;
        }
        let asks_for_medicines = aspect == Aspect::Formulations || aspect == Aspect::Ingredients;
        if asks_for_medicines && !herbs.is_empty() && herbs.len() == entities.len() {
            let indications = reading.named(Sort::Indication);
            let listed = lists::medicines_with(page, &herbs, &indications, order);
            if !listed.is_empty() {
                page.met.insert(aspect);
            }
        }
        for entity in with_own_medicines(page, entities, aspect) {
            let passages = of_aspect(page, &entity, aspect);
            let passages = best(page, reading, passages);
            if !passages.is_empty() {
                page.met.insert(aspect);
            }
            let role = if aspect.is_dangerous() { Role::Danger } else { Role::Fact };
            passages.iter().take(OF_A_SECTION).for_each(|passage| page.quote(passage, role));
        }
    }
}

/// The aspects that are answered: those asked for, or what goes without saying.
fn wanted(reading: &Reading) -> Vec<Aspect> {
    let held = reading.held();
    if !held.is_empty() {
        return held;
    }
    let names = |sort: Sort| !reading.named(sort).is_empty();
    if names(Sort::Drug) {
        return vec![Aspect::Interactions];
    }
    if !reading.named_cautions().is_empty() {
        return vec![Aspect::Cautions];
    }
    if names(Sort::Constituent) {
        return vec![Aspect::Constituents];
    }
    if names(Sort::Indication) {
        return vec![Aspect::Uses];
    }
    vec![Aspect::Identity, Aspect::Uses]
}

/// The entities, and behind a herb the medicines that are nothing but it: the national list
/// speaks of those.
fn with_own_medicines(page: &Page<'_>, entities: &[String], aspect: Aspect) -> Vec<String> {
    let mut all: Vec<String> = entities.to_vec();
    if !aspect.is_dangerous() && aspect != Aspect::Uses {
        return all;
    }
    for id in entities {
        let own = page.library.formulations.iter().filter(|formulation| {
            formulation.single_herb && formulation.ingredients.first() == Some(id)
        });
        let own: Vec<String> = own.take(OWN_MEDICINES).map(|one| one.id.clone()).collect();
        all.extend(own.into_iter().filter(|id| !entities.contains(id)));
    }
    all
}

/// The passages of an entity that speak of an aspect.
fn of_aspect(page: &Page<'_>, entity: &str, aspect: Aspect) -> Vec<Passage> {
    let is_herb = page.library.herb(entity).is_some();
    let section = match (aspect, is_herb) {
        // A herb has no ingredients but substances, and a medicine no substances but ingredients.
        (Aspect::Ingredients, true) => Some(Section::Constituents),
        (Aspect::Constituents | Aspect::Formulations, false) => Some(Section::Ingredients),
        _ => aspect.section(),
    };
    let tells = |passage: &Passage| match aspect {
        Aspect::SideEffects => {
            ["อาการไม่พึงประสงค์", "Side effects"].iter().any(|cue| passage.text.starts_with(cue))
        }
        Aspect::Duration => {
            let durations = page
                .library
                .cautions
                .iter()
                .filter(|one| one.kind == "duration" || one.kind == "effect");
            let mut names = durations.map(|one| one.names.in_tongue(page.language.tongue()));
            names.any(|name| lists::holds(&passage.text, &name))
        }
        _ => true,
    };
    let passages = of_entity(page.library, entity, page.language).into_iter();
    passages.filter(|passage| Some(passage.section) == section && tells(passage)).collect()
}

/// Passages that say most of what was asked go first, and what was checked before what was not.
fn best(page: &Page<'_>, reading: &Reading, passages: Vec<Passage>) -> Vec<Passage> {
    let mut ranked: Vec<(f32, Passage)> =
        passages.into_iter().map(|passage| (page.gain(reading, &passage), passage)).collect();
    ranked.sort_by(|one, other| {
        other.1.verified.cmp(&one.1.verified).then(other.0.total_cmp(&one.0))
    });
    ranked.into_iter().map(|(_, passage)| passage).collect()
}

/// What papers found about what the question names, those first that say most of it.
fn papers(
    page: &mut Page<'_>,
    reading: &Reading,
    entities: &[String],
    order: &[String],
    top_k: usize,
) {
    let asked = reading.aspects.contains(&Aspect::Evidence);
    let constituents = reading.named(Sort::Constituent);
    let numbers = reading.named(Sort::Paper);
    let indications = reading.named(Sort::Indication);
    let library = page.library;
    let mut ranked: Vec<(f32, usize, Passage)> = Vec::new();
    for paper in &library.papers {
        let rank = order.iter().position(|id| *id == paper.pmid);
        let linked = paper.herbs.iter().chain(&paper.formulations).any(|id| entities.contains(id))
            || paper.constituents.iter().any(|id| constituents.contains(id));
        let named = numbers.contains(&paper.pmid);
        let read = rank.is_some_and(|rank| rank < top_k.max(SEARCHED / 2));
        if !(linked || named || read) {
            continue;
        }
        let passage = of_paper(paper, page.language);
        if !(linked || named || page.is_on_subject(reading, &passage)) {
            continue;
        }
        if reading.asks_for_danger() && verify::promises_safety(&passage.text) {
            continue;
        }
        let about = paper.indications.iter().filter(|icd| indications.contains(icd)).count();
        let bonus = if named { 100.0 } else { 0.0 } + if about > 0 { 2.0 } else { 0.0 };
        let gain = page.gain(reading, &passage) + bonus;
        ranked.push((gain, rank.unwrap_or(usize::MAX), passage));
    }
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let most = if asked { PAPERS } else { PAPERS_ASIDE };
    let least = if asked { f32::MIN_POSITIVE } else { LEAST_GAIN };
    for (gain, _, passage) in ranked.into_iter().take(most) {
        if gain < least {
            break;
        }
        page.quote(&passage, Role::Evidence);
        page.met.insert(Aspect::Evidence);
    }
}

/// Sentences of the documents that were read, each for what no other says.
fn documents(page: &mut Page<'_>, reading: &Reading, found: &Answer, top_k: usize) {
    let entities = reading.entities();
    let mut candidates: Vec<Passage> = Vec::new();
    for hit in found.hits.iter().take(top_k) {
        let document = &hit.document;
        let other = matches!(document.kind(), Kind::Herb | Kind::Formulation)
            && !entities.is_empty()
            && !entities.contains(&document.id);
        if !other {
            let passages = of_document(page.library, document, page.language);
            let fitting = |passage: &Passage| {
                passage.section != Section::Gaps
                    && page.is_on_subject(reading, passage)
                    && !(reading.asks_for_danger() && verify::promises_safety(&passage.text))
            };
            candidates.extend(passages.into_iter().filter(fitting));
        }
    }
    for _ in 0..SENTENCES {
        let mut best: Option<(f32, usize)> = None;
        for (place, passage) in candidates.iter().enumerate() {
            let gain = page.gain(reading, passage);
            if gain >= LEAST_GAIN && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, place));
            }
        }
        let Some((_, place)) = best else { break };
        let passage = candidates.swap_remove(place);
        let role = match passage.section {
            Section::Evidence | Section::Text => Role::Evidence,
            Section::Cautions | Section::Interactions => Role::Danger,
            _ => Role::Fact,
        };
        page.quote(&passage, role);
    }
}

/// Who reads what something is used for should read one warning too.
fn one_warning(page: &mut Page<'_>, entity: &str) {
    for id in with_own_medicines(page, &[entity.to_owned()], Aspect::Cautions) {
        let passages = of_aspect(page, &id, Aspect::Cautions);
        if let Some(first) = passages.iter().find(|passage| passage.verified) {
            page.quote(first, Role::Danger);
            return;
        }
    }
}

/// An answer with too little to rest on gets more about what it is about.
fn fill(page: &mut Page<'_>, entities: &[String]) {
    let sections = [
        Section::Uses,
        Section::Identity,
        Section::Constituents,
        Section::Ingredients,
        Section::Formulations,
    ];
    if page.sentences.is_empty() {
        return;
    }
    for section in sections {
        for entity in entities {
            if page.citations.len() >= CITATIONS {
                return;
            }
            let passages = of_entity(page.library, entity, page.language);
            if let Some(passage) = passages.iter().find(|passage| passage.section == section) {
                page.quote(passage, Role::Fact);
            }
        }
    }
}

/// What was asked for and is not there.
fn missing(
    page: &Page<'_>,
    reading: &Reading,
    entities: &[String],
    dangers: &[Danger],
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for aspect in reading.held() {
        // That nothing is recorded of dangers is said only where there is no danger on record.
        let on_record = page.met.contains(&aspect)
            || matches!(aspect, Aspect::Cautions | Aspect::Interactions) && !dangers.is_empty();
        if let (false, Some(entity)) = (on_record, entities.first()) {
            gaps.push(Gap::NoFacts(entity.clone(), aspect));
        }
    }
    // What a patient is and takes was looked up in `danger`, which says what is missing.
    let patient = &reading.safety.patient;
    let looked_up = |thing: &&Thing| {
        let caution = thing.of(Sort::Caution).any(|code| {
            patient.cautions.iter().any(|known| known == code)
                || patient.concerned_by(page.library, code).is_some()
        });
        caution || thing.of(Sort::Drug).any(|drug| patient.medicines.iter().any(|one| one == drug))
    };
    let things = reading.things.iter().filter(|thing| !page.speaks_of(thing));
    let things = things.filter(|thing| entities.is_empty() || !looked_up(thing));
    let words = reading.words.iter().filter(|unit| !page.says(unit));
    let not_found: Vec<String> =
        things.map(|thing| thing.name.clone()).chain(words.map(|unit| unit.text.clone())).collect();
    if !not_found.is_empty() {
        gaps.push(Gap::NotFound(not_found));
    }
    gaps
}
