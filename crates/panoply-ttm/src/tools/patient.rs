//! Patient parameters of a call: conditions in everyday words, age, drugs by any name.
//!
//! An unknown name is reported in the reply and does not fail the call.

use panoply_contract::prelude::*;

use crate::collections::push_unique;
use crate::graph::NodeType;
use crate::knowledge::Knowledge;
use crate::names::NameMatch;
use crate::safety::Patient;
use crate::text::{Token, TokenKind, normalize};

/// A name that could not be resolved.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct UnknownName {
    /// Parameter.
    argument: &'static str,
    /// Name as given.
    given: String,
    /// Names one or two letters away; often empty, because similar drug names denote different
    /// drugs.
    nearest: Vec<String>,
}

/// The patient as understood.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct PatientOut {
    /// Group ids of `data/ttm/groups.jsonl`.
    groups: Vec<String>,
    /// Drugs and drug classes.
    drugs: Vec<String>,
}

impl PatientOut {
    pub(crate) fn of(patient: &Patient) -> Option<Self> {
        (!patient.is_unknown())
            .then(|| Self { groups: patient.groups.clone(), drugs: patient.medicines.clone() })
    }
}

/// Patient parameters.
pub(crate) struct PatientParams<'t> {
    pub(crate) drugs: &'t [String],
    pub(crate) conditions: &'t [String],
    pub(crate) age: Option<f32>,
    pub(crate) pregnancy: Option<bool>,
}

/// Resolves the patient and returns unknown names.
pub(crate) fn read(
    knowledge: &Knowledge,
    params: &PatientParams<'_>,
) -> (Patient, Vec<UnknownName>) {
    let mut patient = Patient::default();
    let mut unknown = Vec::new();
    let medicines = &knowledge.catalog.medicines;
    for given in params.drugs {
        let named = medicines.named(given);
        if named.is_empty() {
            match knowledge.names.resolve(&knowledge.graph, given, &[NodeType::Drug]) {
                NameMatch::One(at) => {
                    let id = knowledge.graph.node(at).map(|node| node.id.clone());
                    id.into_iter().for_each(|id| push_unique(&mut patient.medicines, &id));
                }
                _ => {
                    let nearest = medicines.suggest_similar(given);
                    let nearest = nearest.into_iter().map(str::to_owned).collect();
                    unknown.push(UnknownName { argument: "drugs", given: given.clone(), nearest });
                }
            }
        }
        named.into_iter().for_each(|key| push_unique(&mut patient.medicines, key));
    }
    for given in params.conditions {
        let found = conditions(knowledge, given);
        if found.is_unknown() {
            let given = given.clone();
            unknown.push(UnknownName { argument: "conditions", given, nearest: Vec::new() });
        }
        found.groups.iter().for_each(|group| push_unique(&mut patient.groups, group));
        found.cautions.iter().for_each(|code| push_unique(&mut patient.cautions, code));
        found.medicines.iter().for_each(|key| push_unique(&mut patient.medicines, key));
        patient.age_months = patient.age_months.or(found.age_months);
    }
    if params.pregnancy == Some(true) {
        push_unique(&mut patient.groups, "pregnancy");
    }
    if let Some(age) = params.age {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 130")]
        let months = (age.clamp(0.0, 130.0) * 12.0).round() as u16;
        patient.age_months = Some(months);
    }
    (patient, unknown)
}

/// Resolves a condition by group id, caution code or phrase.
fn conditions(knowledge: &Knowledge, given: &str) -> Patient {
    let catalog = &knowledge.catalog;
    let mut found = Patient::default();
    if catalog.group(given).is_some_and(|group| !group.id.is_empty()) {
        found.groups.push(given.to_owned());
        return found;
    }
    if catalog.caution(&given.to_uppercase()).is_some() {
        found.cautions.push(given.to_uppercase());
        return found;
    }
    let text = normalize(given).text().to_owned();
    let whole = Token { range: 0..text.len(), kind: TokenKind::Thai };
    catalog.patient_words.read(catalog, &text, &[whole], &[]).patient
}
