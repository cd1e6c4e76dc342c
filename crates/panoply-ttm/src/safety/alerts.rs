//! Records ranked for a patient.
//!
//! What concerns the patient comes first, and in that what is about the group or the medicine
//! itself before what is related to it by a stated reason; then the more urgent (contraindicated, avoid, caution,
//! monitor); then what was checked, what is of the entity itself, what is nearer to the group
//! that was asked about, and the stronger. An unchecked record of an ingredient stands behind
//! every record of the entity itself.

use super::DrugMatch;
use super::drugs::{caution_concerns, interaction_concerns};
use super::groups::CoverKind;
use super::patient::Patient;
use super::records::{Record, RecordContent, Urgency, records};
use crate::catalog::HerbCatalog;
use crate::model::Level;

/// A record, and what it has to do with the patient.
#[derive(Clone, Debug)]
pub struct Alert<'l> {
    /// The herb or formulation that was asked about.
    pub entity: String,
    /// What is on record.
    pub record: Record<'l>,
    /// What is to be done about it.
    pub urgency: Urgency,
    /// The groups of the patient that it concerns.
    pub groups: Vec<GroupMatch>,
    /// The medicines of the patient that it concerns.
    pub medicines: Vec<DrugMatch>,
}

/// A group of the patient that a record concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMatch {
    /// The group, or an age such as `age-14`.
    pub group: String,
    /// How the two belong together.
    pub how: CoverKind,
}

impl Alert<'_> {
    /// Whether it concerns the patient that was asked about.
    pub const fn is_asked(&self) -> bool {
        !self.groups.is_empty() || !self.medicines.is_empty()
    }

    /// Whether it concerns what was asked only by a reason that the hierarchy gives.
    fn is_related(&self) -> bool {
        self.medicines.is_empty() && self.groups.iter().all(|one| one.how == CoverKind::Related)
    }

    fn rank(&self) -> impl Ord + use<> {
        let nearest = self.groups.iter().map(|one| one.how).min();
        // A medicine that is named goes before its class, and a class by the WHO index before
        // one by general knowledge.
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

/// Everything on record against these entities, ranked for a patient.
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

/// The groups and medicines of a patient that a record concerns.
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
                        group.takes(drug) || classes.any(|above| group.takes(&above.class))
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
