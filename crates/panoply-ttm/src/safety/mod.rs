//! What must not be combined: contraindications, cautions and interactions of herbs and
//! formulations, with the strength of each by a written rule.
//!
//! **Strength.** A caution has the strength that its source gives, or that the table of codes
//! gives a caution of its level; an interaction has the severity of its source. General knowledge
//! that nobody checked counts one step less and never more than moderate. Where several
//! statements say the same, the strongest counts. A missing record is `moderate`: unknown is not
//! low.
//!
//! **What is never said.** Nothing here says that something is safe. An entity without a record
//! gets a statement that there is none, and general knowledge never stands alone: where nothing
//! about an entity was checked, a statement says so beside it.

pub mod alerts;
mod drugs;
mod emergencies;
mod gather;
mod groups;
mod medicines;
mod patient;
mod phrases;
mod records;

use std::collections::BTreeSet;

pub use self::alerts::{Alert, GroupMatch, alerts};
pub use self::emergencies::{Emergency, emergency_in};
pub use self::groups::{CoverKind, Group};
pub(crate) use self::medicines::MedicineFiles as MedicineParts;
pub use self::medicines::{Medicine, MedicineCatalog, MedicineClass};
pub use self::patient::{ParsedPatient, Patient, PatientWords};
pub use self::records::{Record, RecordContent, Urgency};
use crate::catalog::HerbCatalog;
use crate::graph::NodeType;
use crate::model::{Level, Strength};

/// What is asked about, by ids that exist.
#[derive(Clone, Debug, Default)]
pub struct SafetyQuery {
    /// Herbs.
    pub herbs: Vec<String>,
    /// Formulations, each of which brings its herbs.
    pub formulations: Vec<String>,
    /// Who takes them, and with which medicines.
    pub patient: Patient,
}

/// What is known.
#[derive(Clone, Debug)]
pub struct SafetyReport {
    /// What concerns the patient first, and in that the most urgent; then the rest by urgency.
    /// What is not known stands last.
    pub statements: Vec<Statement>,
    /// How much of what was asked about has records at all.
    pub coverage: Coverage,
    /// Cautions that more than one of the entities carries.
    pub shared: Vec<Shared>,
}

/// One thing to be careful about.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Of which herb or formulation.
    pub entity: String,
    /// Which of the two it is.
    pub entity_type: NodeType,
    /// What about.
    pub subject: Subject,
    /// How strong.
    pub strength: Strength,
    /// Who says so.
    pub sources: Vec<String>,
    /// Whether at least one of them was checked.
    pub verified: bool,
    /// Papers that the sources name.
    pub pmids: Vec<String>,
    /// The ingredients that bring it; empty when it is said of the entity itself.
    pub via: Vec<String>,
    /// The medicines asked about that it concerns.
    pub matches: Vec<DrugMatch>,
    /// The groups of the patient that it concerns.
    pub groups: Vec<GroupMatch>,
    /// What is to be done about it.
    pub urgency: Urgency,
}

/// What a statement is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A caution.
    Caution {
        /// Its code.
        code: String,
        /// What kind of warning.
        level: Level,
    },
    /// An interaction, by its id.
    Interaction(String),
    /// There is no record of the entity's safety.
    NoRecord,
    /// What there is about the entity was never checked.
    NothingVerified,
    /// There is no record of the safety of these ingredients.
    IngredientsWithoutRecord(Vec<String>),
    /// There is no record of an interaction with these medicines.
    NoDrugRecord(Vec<String>),
    /// There is no record for these groups of patients, whatever belongs to them.
    NoGroupRecord(Vec<String>),
}

impl Subject {
    /// Whether it says that something is not known.
    pub const fn is_gap(&self) -> bool {
        !matches!(self, Self::Caution { .. } | Self::Interaction(_))
    }
}

/// A medicine that was asked about and that a statement concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct DrugMatch {
    /// The medicine as asked.
    pub drug: String,
    /// The class or medicine that the statement names, when it is another.
    pub through: Option<String>,
    /// Unset where the belonging rests on general knowledge.
    pub verified: bool,
}

/// How much is known at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Herbs and formulations that count, ingredients included.
    pub considered: BTreeSet<String>,
    /// Those with a statement that was checked.
    pub with_verified: BTreeSet<String>,
    /// Those with general knowledge only.
    pub unverified_only: BTreeSet<String>,
    /// Those with nothing.
    pub without: BTreeSet<String>,
    /// Pairs of an entity and a medicine that were asked about.
    pub pairs: usize,
    /// Those with a record.
    pub pairs_with_record: usize,
}

impl Coverage {
    /// How much of what was needed is there, as a part of a whole. General knowledge counts half.
    pub fn share(&self) -> (u64, u64) {
        let known = 2 * self.with_verified.len() + self.unverified_only.len();
        let part = known + 2 * self.pairs_with_record;
        let whole = 2 * self.considered.len() + 2 * self.pairs;
        (part as u64, whole as u64)
    }
}

/// A caution that several of the entities carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// The code of the caution.
    pub code: String,
    /// Who carries it.
    pub entities: Vec<String>,
}

/// Everything that is known against what is asked about.
pub fn contraindications(catalog: &HerbCatalog, question: &SafetyQuery) -> SafetyReport {
    let herbs = question.herbs.iter().map(|id| (NodeType::Herb, id));
    let formulations = question.formulations.iter().map(|id| (NodeType::Formulation, id));
    let mut answer =
        SafetyReport { statements: Vec::new(), coverage: Coverage::default(), shared: Vec::new() };
    for (entity_type, id) in herbs.chain(formulations) {
        gather::entity(catalog, entity_type, id, &question.patient, &mut answer);
    }
    answer.shared = shared(&answer.statements);
    // Ranked over all entities; of equals, in the order asked.
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
