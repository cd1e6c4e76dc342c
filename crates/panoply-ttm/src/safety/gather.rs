//! Collects the safety statements of one entity and its ingredients.

use std::collections::{BTreeMap, BTreeSet};

use super::alerts::concerns;
use super::records::records;
use super::{
    DrugMatch, GroupMatch, Patient, Record, RecordContent, SafetyReport, Statement, Subject,
    Urgency,
};
use crate::catalog::HerbCatalog;
use crate::collections::push_unique;
use crate::model::{NodeType, RecordedCaution, Strength};

/// A missing record is not low risk.
const UNKNOWN: Strength = Strength::Moderate;

/// Adds the statements of one entity to a report.
pub(super) fn entity(
    catalog: &HerbCatalog,
    entity_type: NodeType,
    id: &str,
    patient: &Patient,
    answer: &mut SafetyReport,
) {
    let ingredients = match catalog.formulation(id) {
        Some(formulation) if entity_type == NodeType::Formulation => &formulation.ingredients[..],
        _ => &[],
    };
    let mut gathering = ReportBuilder { catalog, entity: id, entity_type, merged: BTreeMap::new() };
    for record in records(catalog, id) {
        gathering.add(&record, concerns(catalog, &record, patient));
    }
    let mut statements: Vec<Statement> = gathering.merged.into_values().collect();
    cover(catalog, id, ingredients, answer);
    let gap = |subject| Statement {
        entity: id.to_owned(),
        entity_type,
        subject,
        strength: UNKNOWN,
        sources: Vec::new(),
        verified: false,
        pmids: Vec::new(),
        via: Vec::new(),
        matches: Vec::new(),
        groups: Vec::new(),
        urgency: Urgency::Monitor,
    };
    if statements.is_empty() {
        statements.push(gap(Subject::NoRecord));
    } else if !statements.iter().any(|statement| statement.verified) {
        statements.push(gap(Subject::NothingVerified));
    }
    let without_record: Vec<String> = ingredients
        .iter()
        .filter(|herb| answer.coverage.without.contains(*herb))
        .cloned()
        .collect();
    if !without_record.is_empty() {
        statements.push(gap(Subject::IngredientsWithoutRecord(without_record)));
    }
    let unmatched: Vec<String> = patient
        .medicines
        .iter()
        .filter(|drug| {
            !statements.iter().any(|one| one.matches.iter().any(|found| found.drug == **drug))
        })
        .cloned()
        .collect();
    answer.coverage.pairs += patient.medicines.len();
    answer.coverage.pairs_with_record += patient.medicines.len() - unmatched.len();
    if !unmatched.is_empty() {
        statements.push(gap(Subject::NoDrugRecord(unmatched)));
    }
    let without: Vec<String> = patient
        .groups
        .iter()
        .filter(|group| {
            !statements.iter().any(|one| one.groups.iter().any(|found| found.group == **group))
        })
        .cloned()
        .collect();
    if !without.is_empty() {
        statements.push(gap(Subject::NoGroupRecord(without)));
    }
    statements.sort_by_key(|one| (order(one), name_of(&one.subject)));
    answer.statements.extend(statements);
}

/// Sort key: statements that concern the patient, by urgency; then the rest by urgency and
/// strength. `NothingVerified` precedes the rest; other gaps are last.
pub(super) fn order(statement: &Statement) -> impl Ord + use<> {
    let gap_last = statement.subject.is_gap() && statement.subject != Subject::NothingVerified;
    let asked = !statement.matches.is_empty() || !statement.groups.is_empty();
    (
        gap_last,
        !asked,
        statement.subject != Subject::NothingVerified,
        statement.urgency,
        std::cmp::Reverse(statement.strength),
        !statement.verified,
    )
}

fn name_of(subject: &Subject) -> String {
    match subject {
        Subject::Caution { code, level } => format!("{} {code}", level.as_str()),
        Subject::Interaction(id) => format!("interaction {id}"),
        Subject::NoRecord => "no 1".to_owned(),
        Subject::NothingVerified => String::new(),
        Subject::IngredientsWithoutRecord(_) => "no 2".to_owned(),
        Subject::NoDrugRecord(_) => "no 3".to_owned(),
        Subject::NoGroupRecord(_) => "no 4".to_owned(),
    }
}

struct ReportBuilder<'a> {
    catalog: &'a HerbCatalog,
    entity: &'a str,
    entity_type: NodeType,
    /// By caution code or interaction id, to merge duplicates.
    merged: BTreeMap<String, Statement>,
}

impl ReportBuilder<'_> {
    fn add(&mut self, record: &Record<'_>, (groups, matches): (Vec<GroupMatch>, Vec<DrugMatch>)) {
        let verified = record.verified();
        let strength = if verified { record.strength() } else { record.strength().min(UNKNOWN) };
        let urgency = record.urgency(self.catalog);
        let (key, subject, pmids): (&str, Subject, &[String]) = match record.content {
            RecordContent::Caution(RecordedCaution { code, level, pmids, .. }) => {
                (code, Subject::Caution { code: code.clone(), level: *level }, pmids)
            }
            RecordContent::Interaction(one) => (&one.id, Subject::Interaction(one.id.clone()), &[]),
        };
        let statement = self.merged.entry(key.to_owned()).or_insert_with(|| Statement {
            entity: self.entity.to_owned(),
            entity_type: self.entity_type,
            subject: subject.clone(),
            strength,
            sources: Vec::new(),
            verified,
            pmids: Vec::new(),
            via: Vec::new(),
            matches,
            groups,
            urgency,
        });
        // The most urgent statement determines the subject; on a tie, the verified one.
        if (urgency, !verified) < (statement.urgency, !statement.verified) {
            statement.subject = subject;
        }
        statement.urgency = statement.urgency.min(urgency);
        statement.strength = statement.strength.max(strength);
        statement.verified |= verified;
        include(&mut statement.sources, &record.provenance().source);
        pmids.iter().for_each(|pmid| include(&mut statement.pmids, pmid));
        if record.through_ingredient {
            include(&mut statement.via, record.carrier);
        }
    }
}

fn own_cautions<'a>(
    catalog: &'a HerbCatalog,
    entity_type: NodeType,
    id: &str,
) -> &'a [RecordedCaution] {
    let cautions = match entity_type {
        NodeType::Herb => catalog.herb(id).map(|herb| &herb.cautions),
        NodeType::Formulation => catalog.formulation(id).map(|formulation| &formulation.cautions),
        NodeType::Constituent
        | NodeType::Indication
        | NodeType::Paper
        | NodeType::Caution
        | NodeType::Drug => None,
    };
    cautions.map_or(&[], Vec::as_slice)
}

/// Updates the coverage for an entity and its ingredients.
fn cover(catalog: &HerbCatalog, id: &str, ingredients: &[String], answer: &mut SafetyReport) {
    let coverage = &mut answer.coverage;
    for carrier in std::iter::once(id).chain(ingredients.iter().map(String::as_str)) {
        let node_type =
            if catalog.herb(carrier).is_some() { NodeType::Herb } else { NodeType::Formulation };
        let cautions = own_cautions(catalog, node_type, carrier);
        let checked: BTreeSet<bool> = (cautions.iter().map(|one| !one.provenance.unverified))
            .chain(
                (catalog.interactions.iter().filter(|one| one.entity == carrier))
                    .map(|one| !one.provenance.unverified),
            )
            .collect();
        coverage.considered.insert(carrier.to_owned());
        let known = if checked.contains(&true) {
            &mut coverage.with_verified
        } else if checked.contains(&false) {
            &mut coverage.unverified_only
        } else {
            &mut coverage.without
        };
        known.insert(carrier.to_owned());
    }
}

fn include(list: &mut Vec<String>, one: &str) {
    push_unique(list, one);
    list.sort();
}

#[cfg(test)]
mod tests {
    use super::super::{SafetyQuery, contraindications};
    use super::*;

    fn owned(ids: &[&str]) -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    }

    fn ask(herbs: &[&str], formulations: &[&str], drugs: &[&str]) -> SafetyReport {
        let catalog = HerbCatalog::bundled().unwrap();
        contraindications(
            &catalog,
            &SafetyQuery {
                herbs: owned(herbs),
                formulations: owned(formulations),
                patient: Patient { medicines: owned(drugs), ..Patient::default() },
            },
        )
    }

    fn of_code<'a>(answer: &'a SafetyReport, wanted: &str) -> Option<&'a Statement> {
        answer
            .statements
            .iter()
            .find(|one| matches!(&one.subject, Subject::Caution { code, .. } if code == wanted))
    }

    #[test]
    fn national_list_caution_is_reported_with_its_strength() {
        // NLEM herbal 2566+2568: andrographis is contraindicated in pregnancy.
        let answer = ask(&["H:andrographis"], &[], &[]);
        let pregnancy = of_code(&answer, "PREG").unwrap();
        assert_eq!(pregnancy.strength, Strength::High);
        assert!(pregnancy.verified && pregnancy.via.is_empty());
        assert_eq!(pregnancy.sources, ["nlem-herbal-2566+2568"]);
    }

    #[test]
    fn every_caution_of_every_herb_of_a_formulation_counts() {
        let catalog = HerbCatalog::bundled().unwrap();
        for formulation in &catalog.formulations {
            let answer = ask(&[], &[&formulation.id], &[]);
            for herb in &formulation.ingredients {
                for warned in &catalog.herb(herb).unwrap().cautions {
                    let statement = of_code(&answer, &warned.code)
                        .unwrap_or_else(|| panic!("{}: {herb} {}", formulation.id, warned.code));
                    assert!(statement.via.contains(herb), "{}: {herb}", formulation.id);
                    let least = warned.strength.min(if warned.provenance.unverified {
                        Strength::Moderate
                    } else {
                        Strength::High
                    });
                    assert!(statement.strength >= least);
                }
            }
        }
    }

    #[test]
    fn unverified_statements_come_with_a_nothing_verified_notice() {
        let catalog = HerbCatalog::bundled().unwrap();
        let ids = catalog.herbs.iter().map(|herb| (herb.id.as_str(), true));
        let ids = ids.chain(catalog.formulations.iter().map(|one| (one.id.as_str(), false)));
        for (id, herb) in ids {
            let answer = if herb { ask(&[id], &[], &[]) } else { ask(&[], &[id], &[]) };
            let says_so = |one: &Statement| {
                matches!(one.subject, Subject::NothingVerified | Subject::NoRecord)
            };
            let verified = answer.statements.iter().any(|one| one.verified);
            assert!(verified || answer.statements.iter().any(says_so), "{id}");
            assert!(!answer.statements.is_empty(), "{id}: absence is not safety");
            for one in answer.statements.iter().filter(|one| !one.verified) {
                assert!(one.strength < Strength::High, "{id}: {one:?}");
            }
        }
    }

    #[test]
    fn entity_without_a_record_is_reported_and_lowers_coverage() {
        let catalog = HerbCatalog::bundled().unwrap();
        let without_record = catalog.herbs.iter().find(|herb| {
            herb.cautions.is_empty()
                && !catalog.interactions.iter().any(|one| one.entity == herb.id)
        });
        let without_record = without_record.expect("some herb has no record");
        let answer = ask(&[&without_record.id], &[], &[]);
        assert_eq!(answer.statements.len(), 1);
        assert_eq!(answer.statements[0].subject, Subject::NoRecord);
        assert_eq!(answer.coverage.share(), (0, 2));
        assert_eq!(ask(&["H:andrographis"], &[], &[]).coverage.share(), (2, 2));
    }

    #[test]
    fn a_medicine_is_found_by_name_by_class_and_by_member() {
        // Thammasat's table has turmeric with warfarin (severe); the National List names
        // anticoagulants.
        let cases = [
            (&["H:turmeric"][..], "warfarin", true),
            (&["H:turmeric"], "anticoagulants", true),
            (&["H:turmeric"], "rivaroxaban", true),
            (&["H:turmeric"], "omeprazole", false),
        ];
        for (herbs, drug, expected) in cases {
            let answer = ask(herbs, &[], &[drug]);
            let matched = answer.statements.iter().any(|one| !one.matches.is_empty());
            assert_eq!(matched, expected, "{drug}");
            let gap = answer.statements.iter().any(
                |one| matches!(&one.subject, Subject::NoDrugRecord(drugs) if drugs == &[drug]),
            );
            assert_eq!(gap, !expected, "{drug}: absence is not safety");
            assert_eq!(answer.coverage.pairs_with_record, usize::from(expected));
        }
        let first = &ask(&["H:turmeric"], &[], &["warfarin"]).statements[0];
        assert!(!first.matches.is_empty(), "what was asked about comes first");
        assert_eq!(first.strength, Strength::High);
    }

    #[test]
    fn shared_cautions_are_listed() {
        let answer = ask(&["H:turmeric", "H:andrographis"], &[], &[]);
        let pregnancy = answer.shared.iter().find(|shared| shared.code == "PREG").unwrap();
        assert_eq!(pregnancy.entities, ["H:turmeric", "H:andrographis"]);
    }
}
