//! Safety records of the entities that a question names, and safety gaps.
//!
//! They are derived from the text of the question, not from search results, and are returned even
//! if the answer is withheld. Each is a citation with its verbatim span.

use super::aspects::Aspect;
use super::builder::AnswerBuilder;
use super::passages::of_record;
use super::question::ParsedQuestion;
use super::wording::Gap;
use super::{Citation, Language};
use crate::catalog::HerbCatalog;
use crate::collections::extend_unique;
use crate::model::Strength;
use crate::safety::{Alert, Patient, RecordContent, Urgency, alerts};

/// A safety record with the sentence that states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Danger {
    /// The cited sentence.
    pub citation: Citation,
    /// The herb or formulation that the question names.
    pub entity: String,
    /// Highest urgency among the relevant records of the sentence.
    pub urgency: Urgency,
    /// Strength of that record.
    pub strength: Strength,
    /// Whether it concerns the patient or medicine of the question.
    pub asked: bool,
    /// Caution codes and interaction ids that the sentence states.
    pub records: Vec<String>,
    /// Patient groups of the question that it concerns.
    pub groups: Vec<String>,
    /// Medicines of the question that it concerns.
    pub medicines: Vec<String>,
    /// The ingredient that carries the record, if it is inherited.
    pub via: Option<String>,
}

/// Maximum number of records that concern the question.
const MAX_ASKED: usize = 16;
/// Maximum number of other records: with a known patient, for a general safety question, and
/// otherwise.
const MAX_OTHERS_FOR_PATIENT: usize = 4;
const MAX_OTHERS_GENERAL: usize = 10;
const MAX_OTHERS_UNASKED: usize = 3;
/// Maximum number of records if the question names no entity.
const MAX_WITHOUT_ENTITY: usize = 40;

/// Returns the safety records of these entities, most important first.
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
    // Inherited records count only if they concern the question; otherwise the list would be
    // unbounded.
    let others = others.into_iter().filter(|danger| danger.via.is_none());
    asked.into_iter().take(MAX_ASKED).chain(others.take(max_others)).collect()
}

/// Returns the records of all herbs and formulations that concern the patient.
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

/// Merges alerts that share a sentence; the first alert determines the position.
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
            extend_unique(&mut known.records, [record]);
            extend_unique(&mut known.groups, groups);
            extend_unique(&mut known.medicines, medicines);
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
        extend_unique(&mut danger.groups, groups);
        extend_unique(&mut danger.medicines, medicines);
        dangers.push(danger);
    }
    dangers
}

/// Maximum number of other records quoted in the answer.
const MAX_OTHERS_QUOTED: usize = 3;
/// Maximum number of relevant records quoted in the answer.
const MAX_ASKED_QUOTED: usize = 8;

/// Quotes the safety records, relevant ones first.
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

/// Returns the gaps of a safety question: the patient groups if no record concerns the patient, and
/// each medicine without a record. Subgroups, drug classes, single-herb medicines and ingredients
/// are searched as well.
pub(super) fn gaps(
    catalog: &HerbCatalog,
    question: &ParsedQuestion,
    entities: &[String],
) -> Vec<Gap> {
    let Some(entity) = entities.first() else { return Vec::new() };
    let asked = &question.safety;
    // An age narrows the relevant records, but does not create a gap.
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
    // The groups describe one person: `grandma with a weak heart`. A record that concerns this
    // person through any of them, or through the age, makes "nothing is recorded" false.
    let concerned = |alerts: &[Alert<'_>]| alerts.iter().any(Alert::is_asked);
    if !concerned(&found) && !concerned(&alerts(catalog, entities, &asked.patient)) {
        let of_group = |group: &String| Gap::NoGroupRecord(entity.clone(), group.clone());
        gaps.extend(patient.groups.iter().map(of_group));
    }
    // A phrase may denote several drug classes; a record for one is sufficient.
    let on_record = |phrase: &&Vec<String>| {
        let concerns =
            |alert: &Alert<'_>| alert.medicines.iter().any(|found| phrase.contains(&found.drug));
        found.iter().any(concerns)
    };
    // `the blood thinner warfarin` names one medicine twice.
    let describes = |phrase: &Vec<String>, other: &&Vec<String>| {
        other
            .iter()
            .filter_map(|drug| catalog.medicines.get(drug))
            .any(|known| known.classes.iter().any(|membership| phrase.contains(&membership.class)))
    };
    let recorded: Vec<&Vec<String>> = asked.medicine_phrases.iter().filter(on_record).collect();
    for phrase in &asked.medicine_phrases {
        if !recorded.iter().any(|other| *other == phrase || describes(phrase, other)) {
            gaps.push(Gap::NoDrugRecord(entity.clone(), phrase.clone()));
        }
    }
    gaps
}
