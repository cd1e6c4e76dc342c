//! What can be found: a node of the graph, or a piece of text that a user brought.

use std::fmt;

use crate::ingest::chunk_uri;

/// What kind of thing a document is; the contract's `type` of a hit.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// A herb.
    Herb,
    /// A medicine of the formulary.
    Formulation,
    /// A substance in herbs.
    Constituent,
    /// A disease or symptom.
    Indication,
    /// Something to be careful about.
    Caution,
    /// A paper.
    Paper,
    /// A piece of a text that a user brought.
    Chunk,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Herb,
        Self::Formulation,
        Self::Constituent,
        Self::Indication,
        Self::Caution,
        Self::Paper,
        Self::Chunk,
    ];

    /// The contract's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Herb => "herb",
            Self::Formulation => "formulation",
            Self::Constituent => "constituent",
            Self::Indication => "indication",
            Self::Caution => "caution",
            Self::Paper => "paper",
            Self::Chunk => "chunk",
        }
    }

    /// The kind of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The language of a passage.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TextLanguage {
    /// Thai.
    Th,
    /// English.
    En,
    /// Latin names, codes and the like, which belong to both.
    Neither,
}

/// One thing that can be found.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Its id, unique in the corpus.
    pub id: String,
    /// What it is; a chunk unless said otherwise.
    pub kind: Option<Kind>,
    /// Its title in Thai; may be empty.
    pub title_th: String,
    /// Its title in English; may be empty.
    pub title_en: String,
    /// All that it is called, in any script.
    pub names: Vec<String>,
    /// What is said about it.
    pub passages: Vec<Passage>,
    /// What it is linked to.
    pub links: Vec<Link>,
    /// Who says so; shown when no passage explains the hit.
    pub source: String,
    /// What filters look at.
    pub facets: Vec<(Facet, String)>,
}

impl Document {
    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Chunk)
    }

    /// Where a reader can open it, where it has an address.
    pub fn uri(&self) -> Option<String> {
        match self.kind() {
            Kind::Herb => Some(format!("kg://herb/{}", self.id)),
            Kind::Formulation => Some(format!("kg://formulation/{}", self.id)),
            Kind::Paper => Some(format!("paper://pmid/{}", self.id)),
            Kind::Chunk => {
                let (document, number) = self.id.split_once('#')?;
                Some(chunk_uri(document, number.parse().ok()?))
            }
            Kind::Constituent | Kind::Indication | Kind::Caution => None,
        }
    }
}

/// A piece of text about a document.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Its language.
    pub language: TextLanguage,
    /// What it says.
    pub text: String,
    /// How much its words count.
    pub weight: f32,
    /// Who says so.
    pub source: String,
}

/// A link from a document to something that a question may name.
#[derive(Clone, Debug)]
pub struct Link {
    /// The id of what it is linked to.
    pub to: String,
    /// How.
    pub relation: Relation,
    /// How much a question about the one is a question about the other, from 0 to 1.
    pub weight: f32,
}

/// How a document is linked to something.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Relation {
    /// The document is the thing itself.
    Is,
    /// It holds it, or is held by it.
    Holds,
    /// It is used for it.
    UsedFor,
    /// It warns of it.
    WarnsOf,
    /// It is about it, as a paper is.
    About,
}

/// A property that a filter can ask for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Facet {
    /// An ICD-10 code.
    Icd,
    /// A part of a plant, in English.
    Part,
    /// A family of plants.
    Family,
    /// The id of a source.
    Source,
    /// A year.
    Year,
}
