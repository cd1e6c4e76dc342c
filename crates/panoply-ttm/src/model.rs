//! Data model of the bundled files: herbs, formulations, constituents, indications, cautions,
//! interactions, papers and sources.
//!
//! Field names match the files in `data/ttm/`, described in its README.

use serde::{Deserialize, Serialize};

/// Text in both languages; empty if unknown.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
pub struct Bilingual {
    /// Thai.
    pub th: String,
    /// English.
    pub en: String,
}

/// Display language.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum DisplayLanguage {
    /// Thai.
    Th,
    /// English.
    En,
    /// Thai with English in parentheses.
    Both,
}

impl Bilingual {
    /// Returns the text in a language, falling back to the other.
    pub fn in_language(&self, display: DisplayLanguage) -> String {
        let or = |first: &str, other: &str| if first.is_empty() { other } else { first }.to_owned();
        match display {
            DisplayLanguage::Th => or(&self.th, &self.en),
            DisplayLanguage::En => or(&self.en, &self.th),
            DisplayLanguage::Both
                if self.th.is_empty() || self.en.is_empty() || self.th == self.en =>
            {
                or(&self.th, &self.en)
            }
            DisplayLanguage::Both => format!("{} ({})", self.th, self.en),
        }
    }
}

/// Strength of a warning.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// For information.
    Low,
    /// Ask a professional first.
    Moderate,
    /// Avoid, or use under supervision only.
    High,
}

impl Strength {
    /// Returns the contract's identifier.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::High => "high",
        }
    }
}

/// Level of a caution.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Must not be used.
    Contraindicated,
    /// Use with caution.
    Precaution,
    /// Interacts with another medicine.
    Interaction,
}

impl Level {
    /// Returns the identifier used in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contraindicated => "contraindicated",
            Self::Precaution => "precaution",
            Self::Interaction => "interaction",
        }
    }
}

/// Type of a graph node.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum NodeType {
    /// A herb.
    Herb,
    /// An active substance.
    Constituent,
    /// A disease or symptom, by ICD-10 code.
    Indication,
    /// A medicine of the National List.
    Formulation,
    /// A paper, by PMID.
    Paper,
    /// A caution such as pregnancy.
    Caution,
    /// A drug or drug class.
    Drug,
}

impl NodeType {
    /// Every type.
    pub const ALL: [Self; 7] = [
        Self::Herb,
        Self::Constituent,
        Self::Indication,
        Self::Formulation,
        Self::Paper,
        Self::Caution,
        Self::Drug,
    ];

    /// Returns the identifier used in patterns and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Herb => "herb",
            Self::Constituent => "constituent",
            Self::Indication => "indication",
            Self::Formulation => "formulation",
            Self::Paper => "paper",
            Self::Caution => "caution",
            Self::Drug => "drug",
        }
    }

    /// Parses an identifier, ignoring case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str().eq_ignore_ascii_case(word))
    }
}

/// Source of a statement.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
pub struct Provenance {
    /// Source id.
    pub source: String,
    /// Set if the statement is unverified general knowledge.
    #[serde(default)]
    pub unverified: bool,
}

/// A herbal, mineral or animal drug.
#[derive(Clone, Debug, Deserialize)]
pub struct Herb {
    /// Id, such as `H:turmeric`.
    pub id: String,
    /// Names.
    pub names: Bilingual,
    /// Scientific name with authors.
    pub scientific: String,
    /// Family.
    pub family: String,
    /// Parts used, in English; [`Part`] has the Thai names.
    pub parts: Vec<String>,
    /// Synonyms.
    pub synonyms: Synonyms,
    /// Source id of the names.
    pub names_source: String,
    /// Set if the names are unverified.
    pub names_unverified: bool,
    /// Constituents.
    pub constituents: Vec<HerbConstituent>,
    /// Indications.
    pub indications: Vec<RecordedUse>,
    /// Cautions.
    pub cautions: Vec<RecordedCaution>,
    /// Ids of formulations that contain it.
    pub formulations: Vec<String>,
    /// Ids of all sources.
    pub sources: Vec<String>,
}

/// Synonyms of a herb.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Synonyms {
    /// In Thai script.
    #[serde(default)]
    pub th: Vec<String>,
    /// Romanised Thai.
    #[serde(default)]
    pub romanised: Vec<String>,
    /// Older scientific names.
    #[serde(default)]
    pub scientific: Vec<String>,
}

/// A constituent of a herb.
#[derive(Clone, Debug, Deserialize)]
pub struct HerbConstituent {
    /// Constituent id.
    pub id: String,
    /// Provenance.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// An indication of an entity.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedUse {
    /// ICD-10 code.
    pub icd: String,
    /// Provenance.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A caution of an entity.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedCaution {
    /// Caution code.
    pub code: String,
    /// Level.
    pub level: Level,
    /// Strength.
    pub strength: Strength,
    /// PMIDs cited by the source.
    #[serde(default)]
    pub pmids: Vec<String>,
    /// Provenance.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A medicine of the National List.
#[derive(Clone, Debug, Deserialize)]
pub struct Formulation {
    /// Id, such as `F:nlem-25`.
    pub id: String,
    /// Names.
    pub names: Bilingual,
    /// Lists of the formulary.
    pub list: Vec<String>,
    /// Set for a single-herb medicine.
    pub single_herb: bool,
    /// Route of use, where the formulary states it.
    pub route: Option<Route>,
    /// Herb ids.
    pub ingredients: Vec<String>,
    /// Indication as text.
    #[serde(rename = "use")]
    pub purpose: Bilingual,
    /// Indications as codes.
    pub indications: Vec<RecordedUse>,
    /// Cautions.
    pub cautions: Vec<RecordedCaution>,
    /// PMIDs on its interactions cited by the source.
    #[serde(default)]
    pub interaction_pmids: Vec<String>,
    /// Source id.
    pub source: String,
    /// Ids of all sources.
    pub sources: Vec<String>,
}

/// Route of use of a formulation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// Applied to the skin or nails.
    External,
}

/// An active substance.
#[derive(Clone, Debug, Deserialize)]
pub struct Constituent {
    /// Id, such as `C:curcumin`.
    pub id: String,
    /// Names.
    pub names: Bilingual,
    /// Ids of herbs that contain it.
    pub herbs: Vec<String>,
}

/// A disease or symptom.
#[derive(Clone, Debug, Deserialize)]
pub struct Indication {
    /// ICD-10 code.
    pub id: String,
    /// Names.
    pub names: Bilingual,
    /// Plain English name.
    pub plain: String,
    /// Source id of the classification.
    pub source: String,
}

/// A caution such as pregnancy.
#[derive(Clone, Debug, Deserialize)]
pub struct Caution {
    /// Code, such as `PREG`.
    pub code: String,
    /// Kind, such as `population`.
    pub kind: String,
    /// Names.
    pub names: Bilingual,
    /// What the source says to do; may be empty.
    #[serde(default)]
    pub management: Bilingual,
}

/// An interaction with drugs.
#[derive(Clone, Debug, Deserialize)]
pub struct Interaction {
    /// Id, such as `IX:tu-01`.
    pub id: String,
    /// Herb or formulation id.
    pub entity: String,
    /// Drugs or drug classes.
    pub drugs: Vec<String>,
    /// Effect.
    pub effect: Bilingual,
    /// Mechanism.
    pub mechanism: Bilingual,
    /// Strength.
    pub strength: Strength,
    /// What the source advises.
    pub level: InteractionLevel,
    /// What the source says to do; may be empty.
    #[serde(default)]
    pub management: Bilingual,
    /// Provenance.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// What a source advises on a combination.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum InteractionLevel {
    /// Do not combine.
    Avoid,
    /// Combine with caution.
    Caution,
    /// Watch for the effect.
    Monitor,
}

/// A paper in PubMed.
#[derive(Clone, Debug, Deserialize)]
pub struct Paper {
    /// PMID.
    pub pmid: String,
    /// Title.
    pub title: String,
    /// False if the source truncated the title.
    pub title_complete: bool,
    /// Authors.
    pub authors: Vec<String>,
    /// Journal.
    pub journal: String,
    /// Publication year.
    pub year: Option<u16>,
    /// MeSH headings.
    pub mesh: Vec<String>,
    /// Publication types, such as `Journal Article`.
    pub publication_types: Vec<String>,
    /// Links.
    pub links: Vec<String>,
    /// `core` for papers on Thai traditional medicine.
    pub relevance: String,
    /// Herb ids.
    pub herbs: Vec<String>,
    /// Constituent ids.
    pub constituents: Vec<String>,
    /// Formulation ids.
    pub formulations: Vec<String>,
    /// ICD-10 codes.
    pub indications: Vec<String>,
    /// One-sentence summary.
    pub finding: Finding,
    /// Source ids.
    pub sources: Vec<String>,
}

/// Summary of a paper.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Finding {
    /// Thai.
    pub th: String,
    /// English.
    pub en: String,
    /// Basis of the summary: `abstract` or `title`.
    pub from: String,
}

/// A PMID cited by a source whose record is not bundled: a pointer, never evidence.
#[derive(Clone, Debug, Deserialize)]
pub struct Reference {
    /// PMID.
    pub pmid: String,
    /// Herb or formulation id.
    pub entity: String,
    /// Claim according to the source.
    pub claim: Bilingual,
    /// Source id.
    pub source: String,
}

/// A source.
#[derive(Clone, Debug, Deserialize)]
pub struct Source {
    /// Id, such as `nlem-herbal-2566+2568`.
    pub id: String,
    /// Title.
    pub title: String,
    /// Kind, such as `formulary`.
    pub kind: String,
    /// Licence.
    pub licence: String,
    /// Date.
    pub date: String,
    /// How it was accessed.
    pub access: String,
    /// Content that was used.
    pub took: String,
    /// False for general knowledge and pointers.
    pub verified: bool,
}

/// A plant part.
#[derive(Clone, Debug, Deserialize)]
pub struct Part {
    /// English.
    pub en: String,
    /// Thai.
    pub th: String,
}

/// An alternative spelling.
#[derive(Clone, Debug, Deserialize)]
pub struct Alias {
    /// Id of the entry.
    pub id: String,
    /// Spelling.
    pub alias: String,
    /// `th`, `en`, `la` (Latin) or `rom` (romanised Thai).
    pub lang: String,
    /// Kind, such as `abbreviation`.
    pub kind: String,
}

/// A drug or drug class.
#[derive(Clone, Debug, Deserialize)]
pub struct Drug {
    /// English name, used as id.
    pub name: String,
    /// Names.
    pub names: Bilingual,
    /// `drug` or `class`.
    pub kind: String,
    /// Classes it belongs to.
    pub classes: Vec<String>,
    /// Codes of cautions about interactions that cover it.
    pub cautions: Vec<String>,
    /// Set if classes and cautions are unverified.
    pub unverified: bool,
}

/// A short text about a herb or formulation in one language.
#[derive(Clone, Debug, Deserialize)]
pub struct Monograph {
    /// Id of the herb or formulation.
    pub id: String,
    /// `th` or `en`.
    pub lang: String,
    /// Title.
    pub title: String,
    /// Statements.
    pub statements: Vec<Statement>,
}

/// A statement of a monograph with its sources.
#[derive(Clone, Debug, Deserialize)]
pub struct Statement {
    /// Section, such as `uses`.
    pub section: String,
    /// Text.
    pub text: String,
    /// Source ids, or papers as `pmid:NUMBER`.
    pub sources: Vec<String>,
    /// Set if it is unverified.
    pub unverified: bool,
}
