//! Groups of patients: populations, conditions, sites and activities, and which cautions concern
//! each.
//!
//! `data/ttm/groups.jsonl` is the hierarchy. A caution concerns a group because it is the same,
//! because it is narrower or broader (an infant is a child; every child is under 25), or because
//! it is related by a reason that the row states. A group may also be concerned by interactions
//! with a class of medicines that its patients take.

use serde::Deserialize;

use crate::model::Bilingual;

/// A group of patients.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// Such as `kidney-disease`; empty for the row of phrases that only look like a group.
    pub id: String,
    /// What it is called.
    pub names: Bilingual,
    /// How people say it.
    pub words: GroupPhrases,
    /// The cautions that concern it.
    pub covers: Vec<Cover>,
    /// Classes of medicines whose interactions concern it.
    pub classes: Vec<ClassCover>,
    /// The ages that belong to it, in years.
    pub ages: Option<Ages>,
    /// Whether it is also something that people treat with herbs.
    pub treatable: bool,
    /// Whether it counts less than another group or medicine that stands beside it.
    pub incidental: bool,
}

/// Phrases of the two languages.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct GroupPhrases {
    /// In Thai.
    pub th: Vec<String>,
    /// In English.
    pub en: Vec<String>,
}

/// A caution that concerns a group.
#[derive(Clone, Debug, Deserialize)]
pub struct Cover {
    /// The code of the caution.
    pub code: String,
    /// How the two belong together.
    pub how: CoverKind,
    /// The reason.
    pub why: String,
}

/// A class of medicines whose interactions concern a group.
#[derive(Clone, Debug, Deserialize)]
pub struct ClassCover {
    /// The class.
    pub class: String,
    /// The reason.
    pub why: String,
}

/// How a caution belongs to a group, nearest first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
pub enum CoverKind {
    /// The caution is about the group.
    Same,
    /// The caution is about more than the group.
    Broader,
    /// The caution is about a part of the group.
    Narrower,
    /// The caution matters to the group for the stated reason.
    Related,
}

impl CoverKind {
    /// Its word in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Broader => "broader",
            Self::Narrower => "narrower",
            Self::Related => "related",
        }
    }
}

/// Ages of a group in years: below a limit, or from one on.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Ages {
    /// Below this.
    #[serde(default)]
    pub under: Option<u16>,
    /// From this on.
    #[serde(default)]
    pub from: Option<u16>,
}

impl Group {
    /// How a caution concerns this group.
    pub fn concerned_by(&self, code: &str) -> Option<CoverKind> {
        self.covers.iter().find(|cover| cover.code == code).map(|cover| cover.how)
    }

    /// Whether interactions with this class of medicines concern this group.
    pub fn takes(&self, class: &str) -> bool {
        self.classes.iter().any(|cover| cover.class == class)
    }
}

/// The age in years below which a caution counts, for cautions that are ages.
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

/// From this age on a caution about older people counts (Act on the Elderly B.E. 2546, section 3).
pub(super) const OLDER: u16 = 60;
