//! Safety records ranked for a patient.
//!
//! Order: records that concern the patient, direct before related; urgency (contraindicated, avoid,
//! caution, monitor); verified before unverified; the entity before its ingredients; closeness to
//! the patient group; strength. An unverified record of an ingredient ranks below all records of
//! the entity.

use super::DrugMatch;
use super::drugs::{caution_concerns, interaction_concerns};
use super::groups::CoverKind;
use super::patient::Patient;
use super::records::{Record, RecordContent, Urgency, records};
use crate::catalog::HerbCatalog;
use crate::model::Level;

/// A safety record with its relevance for the patient.
#[derive(Clone, Debug)]
pub struct Alert<'l> {
    /// Herb or formulation id of the query.
    pub entity: String,
    /// Safety record.
    pub record: Record<'l>,
    /// Urgency.
    pub urgency: Urgency,
    /// Matching patient groups.
    pub groups: Vec<GroupMatch>,
    /// Matching medicines of the patient.
    pub medicines: Vec<DrugMatch>,
}

/// A patient group that a record concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMatch {
    /// Group id, or an age such as `age-14`.
    pub group: String,
    /// Relation between record and group.
    pub how: CoverKind,
}

impl Alert<'_> {
    /// Returns whether it concerns the patient of the query.
    pub const fn is_asked(&self) -> bool {
        !self.groups.is_empty() || !self.medicines.is_empty()
    }

    /// Returns whether it concerns the query only indirectly.
    fn is_related(&self) -> bool {
        self.medicines.is_empty() && self.groups.iter().all(|one| one.how == CoverKind::Related)
    }

    fn rank(&self) -> impl Ord + use<> {
        let nearest = self.groups.iter().map(|one| one.how).min();
        // A named drug precedes its class, and a WHO ATC class precedes an unverified one.
        let named = self.medicines.iter().any(|one| one.through.is_none());
        let by_class = self.medicines.iter().map(|one| one.verified).max();
        let near = match (named, by_class, nearest) {
            (true, _, _) | (_, _, Some(CoverKind::Same)) => 0,
            (false, Some(true), _) | (false, None, Some(CoverKind::Broader)) => 1,
            (false, Some(false), _) | (false, None, Some(CoverKind::Narrower)) => 2,
            (false, None, Some(CoverKind::Related)) => 3,
            (false, None, None) => 4,
        };
        let inherited = self.record.through_ingredient;
        let verified = self.record.verified();
        (
            !self.is_asked(),
            self.is_related(),
            inherited && !verified,
            self.urgency,
            !verified,
            inherited,
            near,
            std::cmp::Reverse(self.record.strength()),
        )
    }
}

/// Returns all safety records of these entities, ranked for a patient.
pub fn alerts<'l>(
    catalog: &'l HerbCatalog,
    entities: &[String],
    patient: &Patient,
) -> Vec<Alert<'l>> {
    let mut found: Vec<Alert<'l>> = Vec::new();
    for entity in entities {
        found.extend(records(catalog, entity).into_iter().map(|record| {
            let (groups, medicines) = concerns(catalog, &record, patient);
            let urgency = record.urgency(catalog);
            Alert { entity: entity.clone(), record, urgency, groups, medicines }
        }));
    }
    found.sort_by_cached_key(Alert::rank);
    found
}

/// Returns the matching groups and medicines of a patient.
pub(super) fn concerns(
    catalog: &HerbCatalog,
    record: &Record<'_>,
    patient: &Patient,
) -> (Vec<GroupMatch>, Vec<DrugMatch>) {
    match record.content {
        RecordContent::Caution(warned) => {
            let groups = patient.concerned_by(catalog, &warned.code);
            let groups = groups.into_iter().map(|(group, how)| GroupMatch { group, how });
            let is_interaction = warned.level == Level::Interaction
                || catalog.caution(&warned.code).is_some_and(|one| one.kind == "interaction");
            let medicines = patient.medicines.iter();
            let medicines = medicines
                .filter_map(|drug| caution_concerns(&catalog.medicines, drug, &warned.code))
                .filter(|found| is_interaction || !found.verified);
            (groups.collect(), medicines.collect())
        }
        RecordContent::Interaction(interaction) => {
            let takes = |group: &&String| {
                let group = catalog.group(group);
                interaction.drugs.iter().any(|drug| {
                    let classes = catalog.medicines.get(drug).map(|known| known.classes.as_slice());
                    let mut classes = classes.unwrap_or_default().iter();
                    group.is_some_and(|group| {
                        group.is_concerned_by_class(drug)
                            || classes.any(|above| group.is_concerned_by_class(&above.class))
                    })
                })
            };
            let groups = patient.groups.iter().chain(&patient.implied).filter(takes);
            let groups =
                groups.map(|group| GroupMatch { group: group.clone(), how: CoverKind::Related });
            let medicines = patient.medicines.iter().filter_map(|drug| {
                interaction_concerns(&catalog.medicines, drug, &interaction.drugs)
            });
            (groups.collect(), medicines.collect())
        }
    }
}
