//! What the data say, as types: herbs, formulations, constituents, indications, cautions,
//! interactions, papers, and the sources that say so.
//!
//! The field names are those of the files in `data/ttm/`, whose README describes them.

use serde::{Deserialize, Serialize};

/// A name or a sentence in both languages. An empty one is not known.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
pub struct Bilingual {
    /// In Thai.
    pub th: String,
    /// In English.
    pub en: String,
}

/// A language to write in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum DisplayLanguage {
    /// Thai.
    Th,
    /// English.
    En,
    /// Thai first, and English beside it.
    Both,
}

impl Bilingual {
    /// The text in this language, or in the other where this one has none.
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

/// How strong a warning is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Worth knowing.
    Low,
    /// Ask first.
    Moderate,
    /// Do not, or only under supervision.
    High,
}

impl Strength {
    /// The contract's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::High => "high",
        }
    }
}

/// What kind of warning a caution is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Must not be used.
    Contraindicated,
    /// To be used with care.
    Precaution,
    /// Does something to another medicine, or it to this.
    Interaction,
}

impl Level {
    /// Its word in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Contraindicated => "contraindicated",
            Self::Precaution => "precaution",
            Self::Interaction => "interaction",
        }
    }
}

/// Who says so, and whether it was checked against anything.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
pub struct Provenance {
    /// The id of the source.
    pub source: String,
    /// Set where the statement rests on general knowledge alone.
    #[serde(default)]
    pub unverified: bool,
}

/// A plant, mineral or animal drug.
#[derive(Clone, Debug, Deserialize)]
pub struct Herb {
    /// Such as `H:turmeric`.
    pub id: String,
    /// Its names.
    pub names: Bilingual,
    /// Its scientific name with authors.
    pub scientific: String,
    /// Its family.
    pub family: String,
    /// The parts that are used, in English; [`Part`] has the Thai words.
    pub parts: Vec<String>,
    /// Other names.
    pub synonyms: Synonyms,
    /// Who gives the names.
    pub names_source: String,
    /// Set where the names rest on general knowledge.
    pub names_unverified: bool,
    /// What it holds.
    pub constituents: Vec<HerbConstituent>,
    /// What it is used for.
    pub indications: Vec<RecordedUse>,
    /// What to be careful about.
    pub cautions: Vec<RecordedCaution>,
    /// The formulations that hold it.
    pub formulations: Vec<String>,
    /// Everyone who says something about it.
    pub sources: Vec<String>,
}

/// Other names of a herb.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Synonyms {
    /// In Thai letters.
    #[serde(default)]
    pub th: Vec<String>,
    /// Thai in Latin letters.
    #[serde(default)]
    pub romanised: Vec<String>,
    /// Older scientific names.
    #[serde(default)]
    pub scientific: Vec<String>,
}

/// A herb holds a constituent.
#[derive(Clone, Debug, Deserialize)]
pub struct HerbConstituent {
    /// The constituent.
    pub id: String,
    /// Who says so.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// Something is used for an indication.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedUse {
    /// The ICD-10 code.
    pub icd: String,
    /// Who says so.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A caution that an entity carries.
#[derive(Clone, Debug, Deserialize)]
pub struct RecordedCaution {
    /// The code of the caution.
    pub code: String,
    /// What kind of warning.
    pub level: Level,
    /// How strong.
    pub strength: Strength,
    /// Papers that the source names.
    #[serde(default)]
    pub pmids: Vec<String>,
    /// Who says so.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A medicine of the National List.
#[derive(Clone, Debug, Deserialize)]
pub struct Formulation {
    /// Such as `F:nlem-25`.
    pub id: String,
    /// Its names.
    pub names: Bilingual,
    /// Its lists in the formulary.
    pub list: Vec<String>,
    /// Set when it is one herb.
    pub single_herb: bool,
    /// The herbs in it.
    pub ingredients: Vec<String>,
    /// What it is for, in words.
    #[serde(rename = "use")]
    pub purpose: Bilingual,
    /// What it is for, as codes.
    pub indications: Vec<RecordedUse>,
    /// What to be careful about.
    pub cautions: Vec<RecordedCaution>,
    /// Papers on its interactions that the source names.
    #[serde(default)]
    pub interaction_pmids: Vec<String>,
    /// Who says so.
    pub source: String,
    /// Everyone who says something about it.
    pub sources: Vec<String>,
}

/// A substance in a herb.
#[derive(Clone, Debug, Deserialize)]
pub struct Constituent {
    /// Such as `C:curcumin`.
    pub id: String,
    /// Its names.
    pub names: Bilingual,
    /// The herbs that hold it.
    pub herbs: Vec<String>,
}

/// A disease or symptom by its ICD-10 code.
#[derive(Clone, Debug, Deserialize)]
pub struct Indication {
    /// The code.
    pub id: String,
    /// What it is called.
    pub names: Bilingual,
    /// Everyday English.
    pub plain: String,
    /// Whose classification.
    pub source: String,
}

/// Something to be careful about, such as pregnancy.
#[derive(Clone, Debug, Deserialize)]
pub struct Caution {
    /// Such as `PREG`.
    pub code: String,
    /// Such as `population`.
    pub kind: String,
    /// What it is called.
    pub names: Bilingual,
}

/// An interaction with medicines.
#[derive(Clone, Debug, Deserialize)]
pub struct Interaction {
    /// Such as `IX:tu-01`.
    pub id: String,
    /// The herb or formulation.
    pub entity: String,
    /// The medicines or classes of them.
    pub drugs: Vec<String>,
    /// What happens.
    pub effect: Bilingual,
    /// Why.
    pub mechanism: Bilingual,
    /// How strong.
    pub strength: Strength,
    /// Who says so.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// A paper in PubMed.
#[derive(Clone, Debug, Deserialize)]
pub struct Paper {
    /// Its number in PubMed.
    pub pmid: String,
    /// Its title.
    pub title: String,
    /// Unset where the source cut the title short.
    pub title_complete: bool,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Where.
    pub journal: String,
    /// When, where known.
    pub year: Option<u16>,
    /// Its subject headings.
    pub mesh: Vec<String>,
    /// Such as `Journal Article`.
    pub publication_types: Vec<String>,
    /// Where to read on.
    pub links: Vec<String>,
    /// `core` for papers on Thai traditional medicine.
    pub relevance: String,
    /// The herbs it is about.
    pub herbs: Vec<String>,
    /// The constituents it is about.
    pub constituents: Vec<String>,
    /// The formulations it is about.
    pub formulations: Vec<String>,
    /// The indications it is about.
    pub indications: Vec<String>,
    /// What it found, in one sentence of ours.
    pub finding: Finding,
    /// Where the record comes from.
    pub sources: Vec<String>,
}

/// What a paper found, in a sentence of ours.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Finding {
    /// In Thai.
    pub th: String,
    /// In English.
    pub en: String,
    /// What it was written from: `abstract` or `title`.
    pub from: String,
}

/// A PMID that a source names and whose record we do not hold: a pointer, never evidence.
#[derive(Clone, Debug, Deserialize)]
pub struct Reference {
    /// Its number in PubMed.
    pub pmid: String,
    /// The herb or formulation it is named for.
    pub entity: String,
    /// What the source says it shows.
    pub claim: Bilingual,
    /// Who names it.
    pub source: String,
}

/// A source of facts.
#[derive(Clone, Debug, Deserialize)]
pub struct Source {
    /// Such as `nlem-herbal-2566+2568`.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Such as `formulary`.
    pub kind: String,
    /// Under what terms.
    pub licence: String,
    /// Of when.
    pub date: String,
    /// How it was read.
    pub access: String,
    /// What was taken from it.
    pub took: String,
    /// Unset for general knowledge and mere pointers.
    pub verified: bool,
}

/// A part of a plant in both languages.
#[derive(Clone, Debug, Deserialize)]
pub struct Part {
    /// In English.
    pub en: String,
    /// In Thai.
    pub th: String,
}

/// Another spelling of a name.
#[derive(Clone, Debug, Deserialize)]
pub struct Alias {
    /// Whose.
    pub id: String,
    /// The spelling.
    pub alias: String,
    /// `th`, `en`, `la` (Latin) or `rom` (romanised Thai).
    pub lang: String,
    /// Such as `abbreviation`.
    pub kind: String,
}

/// A medicine, or a class of them.
#[derive(Clone, Debug, Deserialize)]
pub struct Drug {
    /// Its English name, which is its id.
    pub name: String,
    /// Its names.
    pub names: Bilingual,
    /// `drug` or `class`.
    pub kind: String,
    /// The classes it belongs to.
    pub classes: Vec<String>,
    /// The cautions about interactions that cover it.
    pub cautions: Vec<String>,
    /// Set where class and cautions rest on general knowledge.
    pub unverified: bool,
}

/// A short text about a herb or a formulation, in one language.
#[derive(Clone, Debug, Deserialize)]
pub struct Monograph {
    /// Of what.
    pub id: String,
    /// `th` or `en`.
    pub lang: String,
    /// Its title.
    pub title: String,
    /// What it says.
    pub statements: Vec<Statement>,
}

/// A sentence or two of a monograph, and where they come from.
#[derive(Clone, Debug, Deserialize)]
pub struct Statement {
    /// Such as `uses`.
    pub section: String,
    /// What it says.
    pub text: String,
    /// Who says so: sources, or papers as `pmid:NUMBER`.
    pub sources: Vec<String>,
    /// Set where it rests on general knowledge.
    pub unverified: bool,
}
