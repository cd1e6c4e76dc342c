//! Papers imported by a user.

pub mod import;
mod medline;
mod pubmed_xml;

use std::fmt::Debug;

/// A PubMed record.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Record {
    /// PMID.
    pub pmid: String,
    /// Title.
    pub title: String,
    /// Abstract; may be empty.
    pub abstract_text: String,
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
    /// DOI.
    pub doi: Option<String>,
    /// Language codes of MEDLINE.
    pub languages: Vec<String>,
}

/// Stores imported papers.
pub trait PaperStore: Debug + Send + Sync + 'static {
    /// Finds a paper by PMID.
    fn paper(&self, pmid: &str) -> Result<Option<Record>, UserStoreError>;

    /// Returns all papers ordered by PMID.
    fn papers(&self) -> Result<Vec<Record>, UserStoreError>;

    /// Returns a version that changes with every modification, by any process.
    fn version(&self) -> u64;
}

/// Result of an import.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Imported {
    /// Number of new papers.
    pub added: usize,
    /// Number of changed papers.
    pub changed: usize,
    /// Number of unchanged papers.
    pub unchanged: usize,
}

/// The user store could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot access the imported papers and documents: {0}")]
pub struct UserStoreError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// An empty store.
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
