//! Contraindications, cautions and interactions of herbs and formulations.
//!
//! **Strength.** A caution has the strength of its source, or the default of its code and level; an
//! interaction has the severity of its source. Unverified general knowledge counts one step less
//! and at most moderate. Duplicates take the maximum. A missing record counts as moderate: unknown
//! is not low.
//!
//! **Invariant.** Nothing here states that something is safe. An entity without a record yields a
//! statement that there is none, and an entity with unverified records only yields a statement that
//! says so.

pub mod alerts;
mod denial;
mod drugs;
mod emergencies;
mod gather;
mod groups;
mod medicines;
mod patient;
mod phrases;
mod records;
mod transliteration;

use std::collections::BTreeSet;

pub use self::alerts::{Alert, GroupMatch, alerts};
pub use self::emergencies::{Emergency, emergency_in};
pub use self::groups::{CoverKind, Group};
pub(crate) use self::medicines::MedicineFiles as MedicineParts;
pub use self::medicines::{Medicine, MedicineCatalog, MedicineClass};
pub use self::patient::{ParsedPatient, Patient, PatientWords};
pub use self::records::{Record, RecordContent, Urgency};
use crate::catalog::HerbCatalog;
use crate::model::{Level, NodeType, Strength};

/// A safety query with existing ids.
#[derive(Clone, Debug, Default)]
pub struct SafetyQuery {
    /// Herb ids.
    pub herbs: Vec<String>,
    /// Formulation ids; their ingredients are included.
    pub formulations: Vec<String>,
    /// Patient.
    pub patient: Patient,
}

/// A safety report.
#[derive(Clone, Debug)]
pub struct SafetyReport {
    /// Statements: those that concern the patient by urgency, then the rest by urgency, gaps last.
    pub statements: Vec<Statement>,
    /// Completeness of the records.
    pub coverage: Coverage,
    /// Cautions shared by several entities.
    pub shared: Vec<Shared>,
}

/// A safety statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Herb or formulation id.
    pub entity: String,
    /// Type of the entity.
    pub entity_type: NodeType,
    /// Subject.
    pub subject: Subject,
    /// Strength.
    pub strength: Strength,
    /// Source ids.
    pub sources: Vec<String>,
    /// Whether at least one source is verified.
    pub verified: bool,
    /// PMIDs cited by the sources.
    pub pmids: Vec<String>,
    /// Ingredients that carry the record; empty if it is the entity's own.
    pub via: Vec<String>,
    /// Matching medicines of the patient.
    pub matches: Vec<DrugMatch>,
    /// Matching patient groups.
    pub groups: Vec<GroupMatch>,
    /// Urgency.
    pub urgency: Urgency,
}

/// Subject of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A caution.
    Caution {
        /// Caution code.
        code: String,
        /// Level.
        level: Level,
    },
    /// An interaction id.
    Interaction(String),
    /// The entity has no safety record.
    NoRecord,
    /// The entity has only unverified records.
    NothingVerified,
    /// These ingredients have no safety record.
    IngredientsWithoutRecord(Vec<String>),
    /// No interaction record for these medicines.
    NoDrugRecord(Vec<String>),
    /// No record for these patient groups or their subgroups.
    NoGroupRecord(Vec<String>),
}

impl Subject {
    /// Returns whether the statement reports missing data.
    pub const fn is_gap(&self) -> bool {
        !matches!(self, Self::Caution { .. } | Self::Interaction(_))
    }
}

/// A medicine of the query that a statement concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct DrugMatch {
    /// Medicine as given.
    pub drug: String,
    /// Drug or class named by the statement, if different.
    pub through: Option<String>,
    /// False if the class membership is general knowledge.
    pub verified: bool,
}

/// Completeness of the records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Ids of entities and ingredients.
    pub considered: BTreeSet<String>,
    /// Ids with a verified statement.
    pub with_verified: BTreeSet<String>,
    /// Ids with unverified statements only.
    pub unverified_only: BTreeSet<String>,
    /// Ids without statements.
    pub without: BTreeSet<String>,
    /// Number of entity–medicine pairs.
    pub pairs: usize,
    /// Pairs with a record.
    pub pairs_with_record: usize,
}

impl Coverage {
    /// Returns coverage as numerator and denominator; unverified records count half.
    pub fn share(&self) -> (u64, u64) {
        let known = 2 * self.with_verified.len() + self.unverified_only.len();
        let part = known + 2 * self.pairs_with_record;
        let whole = 2 * self.considered.len() + 2 * self.pairs;
        (part as u64, whole as u64)
    }
}

/// A caution shared by several entities.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Caution code.
    pub code: String,
    /// Entity ids.
    pub entities: Vec<String>,
}

/// Returns the safety report of a query.
pub fn contraindications(catalog: &HerbCatalog, question: &SafetyQuery) -> SafetyReport {
    let herbs = question.herbs.iter().map(|id| (NodeType::Herb, id));
    let formulations = question.formulations.iter().map(|id| (NodeType::Formulation, id));
    let mut answer =
        SafetyReport { statements: Vec::new(), coverage: Coverage::default(), shared: Vec::new() };
    for (entity_type, id) in herbs.chain(formulations) {
        gather::entity(catalog, entity_type, id, &question.patient, &mut answer);
    }
    answer.shared = shared(&answer.statements);
    // Stable sort over all entities: ties keep the query order.
    answer.statements.sort_by_key(gather::order);
    answer
}

fn shared(statements: &[Statement]) -> Vec<Shared> {
    let mut by_code: std::collections::BTreeMap<&str, Vec<String>> = Default::default();
    for statement in statements {
        if let Subject::Caution { code, .. } = &statement.subject {
            by_code.entry(code).or_default().push(statement.entity.clone());
        }
    }
    let several = by_code.into_iter().filter(|(_, entities)| entities.len() > 1);
    several.map(|(code, entities)| Shared { code: code.to_owned(), entities }).collect()
}
