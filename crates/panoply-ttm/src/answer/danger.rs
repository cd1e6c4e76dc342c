//! The dangers of everything that a question names, asked first, and what is not on record.
//!
//! They are found from the plain words of the question and not from what the search found, and
//! they come back whether or not an answer is given: each is a citation with its verbatim words.

use super::aspects::Aspect;
use super::page::Page;
use super::passages::of_record;
use super::reading::Reading;
use super::words::Gap;
use super::{Citation, Language};
use crate::library::Library;
use crate::model::Strength;
use crate::safety::{Alert, Patient, Said, Urgency, alerts};

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
const ASKED: usize = 16;
/// So many others beside them, when the question is about danger at large, and when it is not.
const BESIDE: usize = 4;
const AT_LARGE: usize = 10;
const IN_PASSING: usize = 3;
/// So many when no herb is named.
const OF_ALL: usize = 40;

/// The dangers of these entities for the patient of the question, the most important first.
pub(super) fn dangers(library: &Library, reading: &Reading, entities: &[String]) -> Vec<Danger> {
    let patient = &reading.safety.patient;
    if entities.is_empty() {
        return of_all(library, reading, patient);
    }
    let found = merged(library, reading.language, alerts(library, entities, patient));
    let (asked, others): (Vec<Danger>, Vec<Danger>) =
        found.into_iter().partition(|danger| danger.asked);
    let beside = match (patient.is_unknown(), reading.is_about_danger()) {
        (false, _) => BESIDE,
        (true, true) => AT_LARGE,
        (true, false) => IN_PASSING,
    };
    // What an ingredient brings counts where it was asked for; else the list would never end.
    let others = others.into_iter().filter(|danger| danger.via.is_none());
    asked.into_iter().take(ASKED).chain(others.take(beside)).collect()
}

/// Every herb and formulation with a record for the patient.
fn of_all(library: &Library, reading: &Reading, patient: &Patient) -> Vec<Danger> {
    if patient.is_unknown() || (reading.safety.asks_use && !reading.safety.asks_permission) {
        return Vec::new();
    }
    let herbs = library.herbs.iter().map(|herb| herb.id.clone());
    let all: Vec<String> =
        herbs.chain(library.formulations.iter().map(|one| one.id.clone())).collect();
    let found = alerts(library, &all, patient).into_iter();
    let own = found.filter(|alert| alert.is_asked() && !alert.record.through_ingredient);
    let own: Vec<Alert<'_>> = own.collect();
    merged(library, reading.language, own).into_iter().take(OF_ALL).collect()
}

/// One danger for each sentence; the most important record of a sentence gives its place.
fn merged(library: &Library, language: Language, alerts: Vec<Alert<'_>>) -> Vec<Danger> {
    let mut dangers: Vec<Danger> = Vec::new();
    for alert in alerts {
        let Some(passage) = of_record(library, &alert.record, language) else { continue };
        let record = match alert.record.said {
            Said::Caution(warned) => warned.code.clone(),
            Said::Interaction(interaction) => interaction.id.clone(),
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
const QUOTED_BESIDE: usize = 3;
/// Of those asked for.
const QUOTED: usize = 8;

/// Quotes the dangers on the page, those asked for first.
pub(super) fn write(page: &mut Page<'_>, dangers: &[Danger]) {
    let (asked, beside): (Vec<&Danger>, Vec<&Danger>) =
        dangers.iter().partition(|danger| danger.asked);
    for danger in asked.into_iter().take(QUOTED).chain(beside.into_iter().take(QUOTED_BESIDE)) {
        page.warn(danger);
        if !danger.medicines.is_empty() {
            page.met.insert(Aspect::Interactions);
        }
        page.met.insert(Aspect::Cautions);
        page.matched.extend(danger.medicines.iter().cloned());
        page.matched.extend(danger.records.iter().cloned());
        for group in danger.groups.iter().filter_map(|id| page.library.group(id)) {
            page.matched.extend(group.covers.iter().map(|cover| cover.code.clone()));
        }
    }
}

/// What was asked for and is nowhere on record, with all that belongs to it: the whole group and
/// every class of a medicine, for the entity, the medicines made of it alone and the herbs in it.
pub(super) fn gaps(library: &Library, reading: &Reading, entities: &[String]) -> Vec<Gap> {
    let Some(entity) = entities.first() else { return Vec::new() };
    let asked = &reading.safety;
    // An age narrows what concerns the patient; that there is no record at all is another thing.
    let patient = Patient { age_months: None, ..asked.patient.clone() };
    let found = alerts(library, entities, &patient);
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
        let covers = |alert: &Alert<'_>| match alert.record.said {
            Said::Caution(warned) => {
                library.group(group).is_some_and(|group| group.concerned_by(&warned.code).is_some())
            }
            Said::Interaction(_) => false,
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
