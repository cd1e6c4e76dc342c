//! What a user's documents add to the graph: facts with page and span, and pieces of text.
//!
//! Nothing here ever stands over a curated fact: what a document says enters as unverified, and
//! where the same was known already the document only becomes one more source of it.

mod add;
pub mod chunks;
pub mod facts;
pub mod gazetteer;
pub mod legible;
pub mod plan;
#[cfg(feature = "tools")]
pub mod reader;

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::add::DOCUMENT;
use crate::model::{Level, Strength};
use crate::papers::{PaperStore, UserStoreError};
use crate::search::{TextModel, UserIndex};

/// What a document says about a herb or a formulation.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Fact {
    /// The id of the herb or formulation.
    pub subject: String,
    /// What is said of it.
    pub claim: Claim,
    /// Where.
    pub said: Quotation,
}

/// What can be said of a herb or a formulation.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case", tag = "says")]
pub enum Claim {
    /// It holds a constituent.
    Holds {
        /// The constituent's id.
        constituent: String,
    },
    /// It is used for an indication.
    UsedFor {
        /// The ICD-10 code.
        icd: String,
    },
    /// It must not be used, or only with care.
    Warns {
        /// The code of the caution.
        code: String,
        /// What kind of warning.
        level: Level,
    },
    /// It interacts with a medicine or a class of them.
    InteractsWith {
        /// The medicine.
        drug: String,
    },
}

impl Claim {
    /// The id of what the subject has to do with.
    pub fn object(&self) -> &str {
        match self {
            Self::Holds { constituent } => constituent,
            Self::UsedFor { icd } => icd,
            Self::Warns { code, .. } => code,
            Self::InteractsWith { drug } => drug,
        }
    }

    /// How strong a warning from a document nobody checked is.
    pub const fn strength(&self) -> Strength {
        match self {
            Self::Warns { level: Level::Contraindicated, .. } => Strength::Moderate,
            _ => Strength::Low,
        }
    }
}

/// Where in a document something is said. Places are counted in characters of the page's text.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Quotation {
    /// The document's id, such as `D:1f40fc92da24`.
    pub document: String,
    /// The piece of it that holds the span, from 1.
    pub chunk: u32,
    /// The page, from 1.
    pub page: u32,
    /// The first character.
    pub start: u32,
    /// The first character after it.
    pub end: u32,
    /// The words.
    pub quote: String,
    /// How sure the reading is, from 0 to 100.
    pub certainty: u8,
    /// The rule that read it.
    pub rule: String,
}

impl Quotation {
    /// The address of the piece of text.
    pub fn uri(&self) -> String {
        chunk_uri(&self.document, self.chunk)
    }
}

/// A document that a user brought.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct UserDocument {
    /// Its id: `D:` and the first twelve digits of the hash of its bytes.
    pub id: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// The name of the file.
    pub name: String,
    /// What it calls itself, or its first line.
    pub title: String,
    /// `th` or `en`.
    pub lang: String,
    /// How many pages it has.
    pub pages: u32,
    /// The job that brought it.
    pub job: String,
}

/// A piece of a document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Chunk {
    /// The document's id.
    pub document: String,
    /// Its place in the document, from 1.
    pub number: u32,
    /// The page, from 1.
    pub page: u32,
    /// The first character of the page that belongs to it.
    pub start: u32,
    /// The first character after it.
    pub end: u32,
    /// `th` or `en`.
    pub lang: String,
    /// How the text came off the page: `textlayer`, `tesseract` or `text`.
    pub reader: String,
    /// The text.
    pub text: String,
    /// Ids of what is named in it, sorted.
    pub about: Vec<String>,
}

impl Chunk {
    /// Its id in search.
    pub fn id(&self) -> String {
        format!("{}#{}", self.document, self.number)
    }

    /// Where it can be read.
    pub fn uri(&self) -> String {
        chunk_uri(&self.document, self.number)
    }
}

/// The beginning of the addresses of documents.
pub const DOCUMENT_URI: &str = "doc://";

/// Where a document can be read.
pub fn document_uri(document: &str) -> String {
    format!("{DOCUMENT_URI}{}", document.trim_start_matches("D:"))
}

/// Where a piece of a document can be read.
pub fn chunk_uri(document: &str, number: u32) -> String {
    format!("{}/{number}", document_uri(document))
}

/// Keeps what was taken out of a user's documents. A shelf that keeps none says nothing more.
pub trait DocumentStore: Debug + Send + Sync + 'static {
    /// Every document, in the order of ids.
    fn documents(&self) -> Result<Vec<UserDocument>, UserStoreError> {
        Ok(Vec::new())
    }

    /// The pieces of one document, or of all, in order.
    fn chunks(&self, _of: Option<&str>) -> Result<Vec<Chunk>, UserStoreError> {
        Ok(Vec::new())
    }

    /// The facts of one document, or of all, in the order of documents and places.
    fn facts(&self, _of: Option<&str>) -> Result<Vec<Fact>, UserStoreError> {
        Ok(Vec::new())
    }
}

/// Keeps all that a user brings: papers and documents, under one version.
pub trait UserStore: PaperStore + DocumentStore {
    /// All of it made searchable where it is kept, but for papers that ship too. `None` when
    /// there is nothing, or when the shelf is so small that it is searched in memory.
    fn user_index(
        &self,
        _workings: &TextModel,
    ) -> Result<Option<Arc<dyn UserIndex>>, UserStoreError> {
        Ok(None)
    }
}

/// What documents add to the bundled facts.
#[derive(Clone, Debug, Default)]
pub struct UserData {
    /// The shelf's version that it was read at; 0 when there is nothing.
    pub version: u64,
    /// The documents.
    pub documents: Vec<UserDocument>,
    /// The facts.
    pub facts: Vec<Fact>,
}
