//! Search documents: graph nodes and chunks of user documents.

use std::fmt;

use crate::user_data::chunk_uri;

/// Kind of a document; `type` of a hit in the contract.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// A herb.
    Herb,
    /// A medicine of the National List.
    Formulation,
    /// An active substance.
    Constituent,
    /// A disease or symptom.
    Indication,
    /// A caution such as pregnancy.
    Caution,
    /// A paper.
    Paper,
    /// A chunk of a user document.
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

    /// Returns the contract's identifier.
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

    /// Parses the contract's identifier.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Language of a passage.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TextLanguage {
    /// Thai.
    Th,
    /// English.
    En,
    /// Language-neutral, such as scientific names and codes.
    Neither,
}

/// A search document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Id, unique in the corpus.
    pub id: String,
    /// Kind; defaults to chunk.
    pub kind: Option<Kind>,
    /// Thai title; may be empty.
    pub title_th: String,
    /// English title; may be empty.
    pub title_en: String,
    /// Names in any script.
    pub names: Vec<String>,
    /// Passages.
    pub passages: Vec<Passage>,
    /// Links to entities.
    pub links: Vec<Link>,
    /// Source id; shown if no passage explains the hit.
    pub source: String,
    /// Filterable properties.
    pub facets: Vec<(Facet, String)>,
}

impl Document {
    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Chunk)
    }

    /// Returns the URI, if the document can be read as a resource.
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

/// A passage of a document.
#[derive(Clone, Debug)]
pub struct Passage {
    /// Language.
    pub language: TextLanguage,
    /// Text.
    pub text: String,
    /// Weight of its terms.
    pub weight: f32,
    /// Source id.
    pub source: String,
}

/// A link from a document to an entity.
#[derive(Clone, Debug)]
pub struct Link {
    /// Entity id.
    pub to: String,
    /// Relation.
    pub relation: Relation,
    /// Relevance of the document for a query about the entity, from 0 to 1.
    pub weight: f32,
}

/// Relation between a document and an entity.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Relation {
    /// The document describes the entity.
    Is,
    /// Contains it, or is contained in it.
    Holds,
    /// Is indicated for it.
    UsedFor,
    /// Warns of it.
    WarnsOf,
    /// Is about it, such as a paper.
    About,
}

/// A filterable property.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Facet {
    /// An ICD-10 code.
    Icd,
    /// Plant part, in English.
    Part,
    /// Plant family.
    Family,
    /// Source id.
    Source,
    /// Publication year.
    Year,
}
