//! User documents: facts with page and span, text chunks, and their storage interface.
//!
//! Invariant: a user document never overrides a curated fact. Its facts are unverified; if the
//! catalog contains the fact already, the document becomes an additional source.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::model::{Level, Strength};
use crate::papers::{NoPapers, UserStoreError};

/// A fact extracted from a document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Fact {
    /// Id of the herb or formulation.
    pub subject: String,
    /// Claim about the subject.
    pub claim: Claim,
    /// Position in the document.
    pub said: Quotation,
}

/// A claim about a herb or formulation.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case", tag = "says")]
pub enum Claim {
    /// Contains a constituent.
    Holds {
        /// Constituent id.
        constituent: String,
    },
    /// Is indicated for a disease.
    UsedFor {
        /// ICD-10 code.
        icd: String,
    },
    /// Is contraindicated or requires caution.
    Warns {
        /// Caution code.
        code: String,
        /// Level of the warning.
        level: Level,
    },
    /// Interacts with a drug or drug class.
    InteractsWith {
        /// Drug.
        drug: String,
    },
}

impl Claim {
    /// Returns the id of the object.
    pub fn object(&self) -> &str {
        match self {
            Self::Holds { constituent } => constituent,
            Self::UsedFor { icd } => icd,
            Self::Warns { code, .. } => code,
            Self::InteractsWith { drug } => drug,
        }
    }

    /// Returns the strength of an unverified warning.
    pub const fn strength(&self) -> Strength {
        match self {
            Self::Warns { level: Level::Contraindicated, .. } => Strength::Moderate,
            _ => Strength::Low,
        }
    }
}

/// A quotation from a document. Offsets count characters of the page text.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Quotation {
    /// Document id, such as `D:1f40fc92da24`.
    pub document: String,
    /// Chunk number, from 1.
    pub chunk: u32,
    /// Page number, from 1.
    pub page: u32,
    /// Start offset.
    pub start: u32,
    /// End offset, exclusive.
    pub end: u32,
    /// Quoted text.
    pub quote: String,
    /// Certainty from 0 to 100.
    pub certainty: u8,
    /// Extraction rule.
    pub rule: String,
}

impl Quotation {
    /// Returns the URI of the chunk.
    pub fn uri(&self) -> String {
        chunk_uri(&self.document, self.chunk)
    }
}

/// A user document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct UserDocument {
    /// Id: `D:` and the first twelve digits of the SHA-256.
    pub id: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// File name.
    pub name: String,
    /// Title from the metadata, or the first line.
    pub title: String,
    /// `th` or `en`.
    pub lang: String,
    /// Number of pages.
    pub pages: u32,
    /// Id of the job that added it.
    pub job: String,
}

/// A chunk of a document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Chunk {
    /// Document id.
    pub document: String,
    /// Chunk number, from 1.
    pub number: u32,
    /// Page number, from 1.
    pub page: u32,
    /// Start offset in the page text.
    pub start: u32,
    /// End offset in the page text, exclusive.
    pub end: u32,
    /// `th` or `en`.
    pub lang: String,
    /// Text source: `textlayer`, `tesseract` or `text`.
    pub reader: String,
    /// Text.
    pub text: String,
    /// Ids mentioned in the text, sorted.
    pub about: Vec<String>,
}

impl Chunk {
    /// Returns the id used by the search.
    pub fn id(&self) -> String {
        format!("{}#{}", self.document, self.number)
    }

    /// Returns the URI.
    pub fn uri(&self) -> String {
        chunk_uri(&self.document, self.number)
    }
}

/// URI prefix of documents.
pub const DOCUMENT_URI: &str = "doc://";

/// Returns the URI of a document.
pub fn document_uri(document: &str) -> String {
    format!("{DOCUMENT_URI}{}", document.trim_start_matches("D:"))
}

/// Returns the URI of a chunk.
pub fn chunk_uri(document: &str, number: u32) -> String {
    format!("{}/{number}", document_uri(document))
}

/// Stores user documents. The defaults implement an empty store.
pub trait DocumentStore: Debug + Send + Sync + 'static {
    /// Returns all documents ordered by id.
    fn documents(&self) -> Result<Vec<UserDocument>, UserStoreError> {
        Ok(Vec::new())
    }

    /// Returns the chunks of one document, or of all, in order.
    fn chunks(&self, _of: Option<&str>) -> Result<Vec<Chunk>, UserStoreError> {
        Ok(Vec::new())
    }

    /// Returns the facts of one document, or of all, ordered by document and position.
    fn facts(&self, _of: Option<&str>) -> Result<Vec<Fact>, UserStoreError> {
        Ok(Vec::new())
    }
}

/// Documents and facts that extend the catalog.
#[derive(Clone, Debug, Default)]
pub struct UserData {
    /// Version of the store; 0 if empty.
    pub version: u64,
    /// Documents.
    pub documents: Vec<UserDocument>,
    /// Facts.
    pub facts: Vec<Fact>,
}

impl DocumentStore for NoPapers {}
