//! The dangers of everything that a question names, asked first, and what is not on record.
//!
//! They are found from the plain words of the question and not from what the search found, and
//! they come back whether or not an answer is given: each is a citation with its verbatim words.

use super::aspects::Aspect;
use super::builder::AnswerBuilder;
use super::passages::of_record;
use super::question::ParsedQuestion;
use super::wording::Gap;
use super::{Citation, Language};
use crate::catalog::HerbCatalog;
use crate::model::Strength;
use crate::safety::{Alert, Patient, RecordContent, Urgency, alerts};

/// A sentence on record that warns, with what it concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct Danger {
    /// The words and where they stand.
    pub citation: Citation,
    /// The herb or formulation that was asked about.
    pub entity: String,
    /// The most urgent that the sentence says of what was asked, or of anything.
    pub urgency: Urgency,
    /// How strong that is.
    pub strength: Strength,
    /// Whether it concerns the patient or the medicine that was asked about.
    pub asked: bool,
    /// Codes of cautions and ids of interactions that the sentence states.
    pub records: Vec<String>,
    /// Groups of patients that were asked about and that it concerns.
    pub groups: Vec<String>,
    /// Medicines that were asked about and that it concerns.
    pub medicines: Vec<String>,
    /// The ingredient that brings it.
    pub via: Option<String>,
}

/// So many sentences that concern what was asked.
const MAX_ASKED: usize = 16;
/// So many others beside them, when the question is about danger at large, and when it is not.
const MAX_OTHERS_FOR_PATIENT: usize = 4;
const MAX_OTHERS_GENERAL: usize = 10;
const MAX_OTHERS_UNASKED: usize = 3;
/// So many when no herb is named.
const MAX_WITHOUT_ENTITY: usize = 40;

/// The dangers of these entities for the patient of the question, the most important first.
pub(super) fn dangers(
    catalog: &HerbCatalog,
    question: &ParsedQuestion,
    entities: &[String],
) -> Vec<Danger> {
    let patient = &question.safety.patient;
    if entities.is_empty() {
        return of_every_entity(catalog, question, patient);
    }
    let found = merged(catalog, question.language, alerts(catalog, entities, patient));
    let (asked, others): (Vec<Danger>, Vec<Danger>) =
        found.into_iter().partition(|danger| danger.asked);
    let max_others = match (patient.is_unknown(), question.is_about_danger()) {
        (false, _) => MAX_OTHERS_FOR_PATIENT,
        (true, true) => MAX_OTHERS_GENERAL,
        (true, false) => MAX_OTHERS_UNASKED,
    };
    // What an ingredient brings counts where it was asked for; else the list would never end.
    let others = others.into_iter().filter(|danger| danger.via.is_none());
    asked.into_iter().take(MAX_ASKED).chain(others.take(max_others)).collect()
}

/// Every herb and formulation with a record for the patient.
fn of_every_entity(
    catalog: &HerbCatalog,
    question: &ParsedQuestion,
    patient: &Patient,
) -> Vec<Danger> {
    if patient.is_unknown() || (question.safety.asks_use && !question.safety.asks_permission) {
        return Vec::new();
    }
    let herbs = catalog.herbs.iter().map(|herb| herb.id.clone());
    let all: Vec<String> =
        herbs.chain(catalog.formulations.iter().map(|one| one.id.clone())).collect();
    let found = alerts(catalog, &all, patient).into_iter();
    let own = found.filter(|alert| alert.is_asked() && !alert.record.through_ingredient);
    let own: Vec<Alert<'_>> = own.collect();
    merged(catalog, question.language, own).into_iter().take(MAX_WITHOUT_ENTITY).collect()
}

/// One danger for each sentence; the most important record of a sentence gives its place.
fn merged(catalog: &HerbCatalog, language: Language, alerts: Vec<Alert<'_>>) -> Vec<Danger> {
    let mut dangers: Vec<Danger> = Vec::new();
    for alert in alerts {
        let Some(passage) = of_record(catalog, &alert.record, language) else { continue };
        let record = match alert.record.content {
            RecordContent::Caution(warned) => warned.code.clone(),
            RecordContent::Interaction(interaction) => interaction.id.clone(),
        };
        let asked = alert.is_asked();
        let groups = alert.groups.into_iter().map(|found| found.group);
        let medicines = alert.medicines.into_iter().map(|found| found.drug);
        let same = |danger: &&mut Danger| danger.citation.is_of(&passage);
        if let Some(known) = dangers.iter_mut().find(same) {
            include(&mut known.records, [record]);
            include(&mut known.groups, groups);
            include(&mut known.medicines, medicines);
            continue;
        }
        let inherited = alert.record.through_ingredient;
        let mut danger = Danger {
            citation: Citation::of(&passage),
            entity: alert.entity,
            urgency: alert.urgency,
            strength: alert.record.strength(),
            asked,
            records: vec![record],
            groups: Vec::new(),
            medicines: Vec::new(),
            via: inherited.then(|| alert.record.carrier.to_owned()),
        };
        include(&mut danger.groups, groups);
        include(&mut danger.medicines, medicines);
        dangers.push(danger);
    }
    dangers
}

fn include(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// Of the dangers beside those asked for, so many are sentences of the answer.
const MAX_OTHERS_QUOTED: usize = 3;
/// Of those asked for.
const MAX_ASKED_QUOTED: usize = 8;

/// Quotes the dangers on the page, those asked for first.
pub(super) fn write(builder: &mut AnswerBuilder<'_>, dangers: &[Danger]) {
    let (asked, others): (Vec<&Danger>, Vec<&Danger>) =
        dangers.iter().partition(|danger| danger.asked);
    for danger in
        asked.into_iter().take(MAX_ASKED_QUOTED).chain(others.into_iter().take(MAX_OTHERS_QUOTED))
    {
        builder.warn(danger);
        if !danger.medicines.is_empty() {
            builder.answered_aspects.insert(Aspect::Interactions);
        }
        builder.answered_aspects.insert(Aspect::Cautions);
        builder.matched.extend(danger.medicines.iter().cloned());
        builder.matched.extend(danger.records.iter().cloned());
        for group in danger.groups.iter().filter_map(|id| builder.catalog.group(id)) {
            builder.matched.extend(group.covers.iter().map(|cover| cover.code.clone()));
        }
    }
}

/// What was asked for and is nowhere on record, with all that belongs to it: the whole group and
/// every class of a medicine, for the entity, the medicines made of it alone and the herbs in it.
pub(super) fn gaps(
    catalog: &HerbCatalog,
    question: &ParsedQuestion,
    entities: &[String],
) -> Vec<Gap> {
    let Some(entity) = entities.first() else { return Vec::new() };
    let asked = &question.safety;
    // An age narrows what concerns the patient; that there is no record at all is another thing.
    let patient = Patient { age_months: None, ..asked.patient.clone() };
    let found = alerts(catalog, entities, &patient);
    let mut gaps = Vec::new();
    if found.is_empty() {
        gaps.push(Gap::NoSafetyRecord(entity.clone()));
        return gaps;
    }
    if !found.iter().any(|alert| alert.record.verified()) {
        gaps.push(Gap::NothingChecked(entity.clone()));
    }
    for group in &patient.groups {
        let on_record = |alert: &Alert<'_>| alert.groups.iter().any(|one| one.group == *group);
        // Among several groups of one record only the nearest is named.
        let covers = |alert: &Alert<'_>| match alert.record.content {
            RecordContent::Caution(warned) => {
                catalog.group(group).is_some_and(|group| group.concerned_by(&warned.code).is_some())
            }
            RecordContent::Interaction(_) => false,
        };
        if !found.iter().any(|alert| on_record(alert) || covers(alert)) {
            gaps.push(Gap::NoGroupRecord(entity.clone(), group.clone()));
        }
    }
    // A phrase may name several classes, of which one is enough.
    for phrase in &asked.medicine_phrases {
        let on_record =
            |alert: &Alert<'_>| alert.medicines.iter().any(|found| phrase.contains(&found.drug));
        if !found.iter().any(on_record) {
            gaps.push(Gap::NoDrugRecord(entity.clone(), phrase.clone()));
        }
    }
    gaps
}
