//! Patient groups (populations, conditions, sites, activities) and their cautions.
//!
//! `data/ttm/groups.jsonl` is the hierarchy. A caution concerns a group because it is the same,
//! narrower or broader (an infant is a child; every child is under 25), or related for a stated
//! reason. A group may also be concerned by interactions with a drug class that its patients take.

use serde::Deserialize;

use crate::model::Bilingual;

/// A patient group.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// Id, such as `kidney-disease`; empty for the row of false positives.
    pub id: String,
    /// Names.
    pub names: Bilingual,
    /// Phrases.
    pub words: GroupPhrases,
    /// Cautions that concern it.
    pub covers: Vec<Cover>,
    /// Drug classes whose interactions concern it.
    pub classes: Vec<ClassCover>,
    /// Age range in years.
    pub ages: Option<Ages>,
    /// Whether it is also treated with herbs.
    pub treatable: bool,
    /// Whether it yields to another group or medicine in the same question.
    pub incidental: bool,
}

/// Phrases by language.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct GroupPhrases {
    /// Thai.
    pub th: Vec<String>,
    /// English.
    pub en: Vec<String>,
}

/// A caution that concerns a group.
#[derive(Clone, Debug, Deserialize)]
pub struct Cover {
    /// Caution code.
    pub code: String,
    /// Relation.
    pub how: CoverKind,
    /// Reason.
    pub why: String,
}

/// A drug class whose interactions concern a group.
#[derive(Clone, Debug, Deserialize)]
pub struct ClassCover {
    /// Class.
    pub class: String,
    /// Reason.
    pub why: String,
}

/// Relation between a caution and a group, closest first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
pub enum CoverKind {
    /// The caution is about the group.
    Same,
    /// The caution is about a superset.
    Broader,
    /// The caution is about a subset.
    Narrower,
    /// The caution is relevant for the stated reason.
    Related,
}

impl CoverKind {
    /// Returns the identifier used in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Broader => "broader",
            Self::Narrower => "narrower",
            Self::Related => "related",
        }
    }
}

/// Age range of a group in years.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Ages {
    /// Upper bound, exclusive.
    #[serde(default)]
    pub under: Option<u16>,
    /// Lower bound, inclusive.
    #[serde(default)]
    pub from: Option<u16>,
}

impl Group {
    /// Returns how a caution concerns this group.
    pub fn concerned_by(&self, code: &str) -> Option<CoverKind> {
        self.covers.iter().find(|cover| cover.code == code).map(|cover| cover.how)
    }

    /// Returns whether interactions with a drug class concern this group.
    pub fn is_concerned_by_class(&self, class: &str) -> bool {
        self.classes.iter().any(|cover| cover.class == class)
    }
}

/// Returns the age limit of an age caution in years.
pub(super) fn age_limit(code: &str) -> Option<u16> {
    Some(match code {
        "INFANT" => 1,
        "CHILD6" => 6,
        "CHILD12" => 12,
        "AGE16" => 16,
        // Thailand's Child Protection Act B.E. 2546, section 4: a child is under eighteen.
        "CHILD" => 18,
        "AGE25" => 25,
        _ => return None,
    })
}

/// Minimum age for cautions about older people (Act on the Elderly B.E. 2546, section 3).
pub(super) const OLDER: u16 = 60;
