//! What must come along when a question is about danger: the contraindications, the cautions and
//! the interactions of everything that is talked about, and what is not on record.

use super::Role;
use super::aspects::Aspect;
use super::lists::holds;
use super::page::Page;
use super::passages::{Passage, Section, name_of, of_entity};
use super::reading::{Reading, Sort};
use super::words::Gap;
use crate::model::Level;
use crate::safety::{self, Statement, Subject};

/// So many statements on the medicines asked about are quoted for an entity.
const WITH_MEDICINES: usize = 3;
/// So many other warnings.
const OTHERS: usize = 3;

/// Quotes the dangers of these entities, those that were asked for first, and tells what is not
/// on record.
pub(super) fn write(page: &mut Page<'_>, reading: &Reading, entities: &[String]) -> Vec<Gap> {
    let library = page.library;
    let of = |sort: Sort| -> Vec<String> {
        let is_herb = |id: &&String| library.herb(id).is_some() == (sort == Sort::Herb);
        entities.iter().filter(is_herb).cloned().collect()
    };
    let drugs = reading.named(Sort::Drug);
    let question = safety::Question {
        herbs: of(Sort::Herb),
        formulations: of(Sort::Formulation),
        drugs: drugs.clone(),
    };
    let answer = safety::contraindications(library, &question);
    let asked = reading.named_cautions();
    for entity in entities {
        let own: Vec<&Statement> =
            answer.statements.iter().filter(|one| one.entity == *entity).collect();
        with_medicines(page, &own);
        let (level_first, rest): (Vec<&Statement>, Vec<&Statement>) =
            own.iter().copied().partition(|one| is_asked(&one.subject, &asked));
        for statement in level_first {
            quote(page, statement);
        }
        let mut quoted = 0;
        let mut seen: Vec<String> = Vec::new();
        for statement in rest.iter().filter(|one| one.via.is_empty() && is_warning(&one.subject)) {
            let Some(passage) = passage_of(page, statement) else { continue };
            if seen.contains(&passage.text) {
                continue;
            }
            seen.push(passage.text.clone());
            page.quote(&passage, Role::Danger);
            quoted += 1;
            if quoted == OTHERS {
                break;
            }
        }
    }
    if page.sentences.iter().any(|sentence| sentence.role == Role::Danger) {
        page.met.insert(Aspect::Cautions);
    }
    gaps(page, reading, &answer, entities)
}

fn with_medicines(page: &mut Page<'_>, statements: &[&Statement]) {
    let matched = statements.iter().filter(|one| !one.matches.is_empty());
    // What names the medicine itself goes before what names its class.
    let (direct, by_class): (Vec<&&Statement>, Vec<&&Statement>) =
        matched.partition(|one| one.matches.iter().any(|found| found.through.is_none()));
    for statement in direct.into_iter().chain(by_class).take(WITH_MEDICINES) {
        if quote(page, statement) {
            page.met.insert(Aspect::Interactions);
            page.matched.extend(statement.matches.iter().map(|found| found.drug.clone()));
        }
    }
}

fn quote(page: &mut Page<'_>, statement: &Statement) -> bool {
    let Some(passage) = passage_of(page, statement) else { return false };
    page.quote(&passage, Role::Danger);
    true
}

fn is_asked(subject: &Subject, asked: &[String]) -> bool {
    matches!(subject, Subject::Caution { code, .. } if asked.contains(code))
}

const fn is_warning(subject: &Subject) -> bool {
    matches!(subject, Subject::Caution { level: Level::Contraindicated | Level::Precaution, .. })
}

/// The sentence of a monograph that says what a statement says.
pub(super) fn passage_of(page: &Page<'_>, statement: &Statement) -> Option<Passage> {
    let carrier = statement.via.first().unwrap_or(&statement.entity);
    let tongue = page.language.tongue();
    let needles: Vec<String> = match &statement.subject {
        Subject::Caution { code, .. } => {
            vec![page.library.caution(code)?.names.in_tongue(tongue)]
        }
        Subject::Interaction(id) => {
            let interaction = page.library.interactions.iter().find(|one| one.id == *id)?;
            let drug = interaction.drugs.first()?;
            let drug = name_of(page.library, drug, tongue).unwrap_or_else(|| drug.clone());
            vec![interaction.effect.in_tongue(tongue), drug]
        }
        Subject::NoRecord
        | Subject::NothingVerified
        | Subject::IngredientsWithoutRecord(_)
        | Subject::NoDrugRecord(_) => return None,
    };
    let passages = of_entity(page.library, carrier, page.language);
    let mut fitting = passages.into_iter().filter(|passage| {
        matches!(passage.section, Section::Cautions | Section::Interactions)
            && needles.iter().all(|needle| holds(&passage.text, needle))
    });
    fitting.next()
}

fn gaps(
    page: &Page<'_>,
    reading: &Reading,
    answer: &safety::Answer,
    entities: &[String],
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for statement in &answer.statements {
        let entity = statement.entity.clone();
        match &statement.subject {
            Subject::NoRecord => gaps.push(Gap::NoSafetyRecord(entity)),
            Subject::NothingVerified => gaps.push(Gap::NothingChecked(entity)),
            Subject::NoDrugRecord(drugs) => gaps.push(Gap::NoDrugRecord(entity, drugs.clone())),
            Subject::IngredientsWithoutRecord(_)
            | Subject::Caution { .. }
            | Subject::Interaction(_) => {}
        }
    }
    // A name may stand for several cautions, of which one is enough.
    for thing in reading.things.iter().filter(|thing| !page.speaks_of(thing)) {
        let mut codes = thing.of(Sort::Caution);
        if let (Some(code), Some(entity)) = (codes.next(), entities.first()) {
            gaps.push(Gap::NoCautionRecord(entity.clone(), code.to_owned()));
        }
    }
    gaps
}
