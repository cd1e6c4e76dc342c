//! Papers that a user brings along, beside those that ship with the program.

pub mod import;
mod medline;
mod pubmed_xml;

use std::fmt::Debug;

use crate::ingest::{DocumentStore, UserStore};

/// A paper as PubMed describes it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Record {
    /// Its number in PubMed.
    pub pmid: String,
    /// Its title.
    pub title: String,
    /// Its abstract; empty where there is none.
    pub abstract_text: String,
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
    /// Its DOI, where given.
    pub doi: Option<String>,
    /// Its languages, as MEDLINE writes them.
    pub languages: Vec<String>,
}

/// Keeps papers that a user brought along.
pub trait PaperStore: Debug + Send + Sync + 'static {
    /// The paper of this number.
    fn paper(&self, pmid: &str) -> Result<Option<Record>, UserStoreError>;

    /// Every paper, in the order of their numbers.
    fn papers(&self) -> Result<Vec<Record>, UserStoreError>;

    /// A number that changes when the papers do, by whatever process.
    fn version(&self) -> u64;
}

/// Why a shelf could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the imported papers and documents: {0}")]
pub struct UserStoreError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// No papers but those that ship, and no documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPapers;

impl PaperStore for NoPapers {
    fn paper(&self, _: &str) -> Result<Option<Record>, UserStoreError> {
        Ok(None)
    }

    fn papers(&self) -> Result<Vec<Record>, UserStoreError> {
        Ok(Vec::new())
    }

    fn version(&self) -> u64 {
        0
    }
}

impl DocumentStore for NoPapers {}

impl UserStore for NoPapers {}
