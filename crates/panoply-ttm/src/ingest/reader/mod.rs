//! Gets the text off the pages of a file, in a process of its own.
//!
//! A PDF is a program of a stranger: it may loop, swell or crash whoever reads it. So the file is
//! read by a child that has given up memory, time and disk before it looks at the first byte
//! ([`worker`]), and the parent takes pages from it one by one and ends it when it has had enough
//! ([`child`]). OCR runs below the child and inherits its limits.

pub mod child;
mod limits;
mod lines;
mod ocr;
mod pdf;
pub mod worker;

use serde::{Deserialize, Serialize};

use super::plan::PageText;

pub use self::ocr::missing_programs;

/// What a page is read with.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OcrProvider {
    /// The text layer where it is text, else a picture of the page.
    #[default]
    Auto,
    /// The text layer and nothing else.
    TextLayer,
    /// A picture of every page.
    Tesseract,
}

impl OcrProvider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::Auto, Self::TextLayer, Self::Tesseract];

    /// Its name in calls.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::TextLayer => "textlayer",
            Self::Tesseract => "tesseract",
        }
    }

    /// The provider of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// PDF.
    #[default]
    Pdf,
    /// Plain text in UTF-8; a form feed begins a page.
    Text,
}

/// How to read a file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Options {
    /// What the file is.
    pub kind: FileKind,
    /// What pages are read with.
    pub ocr: OcrProvider,
    /// Dots per inch of the pictures for OCR.
    pub dpi: u16,
    /// Languages of OCR, as tesseract names them.
    pub languages: String,
    /// What it may use.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: FileKind::Pdf,
            ocr: OcrProvider::Auto,
            dpi: 300,
            languages: "tha+eng".to_owned(),
            limits: Limits::default(),
        }
    }
}

/// What reading one file may use.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limits {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Pages of it.
    pub pages: u32,
    /// Bytes of text that may come out.
    pub text_bytes: u64,
    /// Bytes of address space, of each process.
    pub memory_bytes: u64,
    /// Seconds of work, of each process.
    pub cpu_seconds: u64,
    /// Seconds on the clock, for the whole file.
    pub wall_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 100 << 20,
            pages: 500,
            text_bytes: 16 << 20,
            memory_bytes: 2 << 30,
            cpu_seconds: 120,
            wall_seconds: 1800,
        }
    }
}

/// What the child says, one line of JSON each.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub(super) enum Line {
    /// First of all.
    Head {
        /// SHA-256 of the bytes.
        sha256: String,
        /// How many pages there are.
        pages: u32,
        /// What the file calls itself.
        title: Option<String>,
    },
    /// A page that could be read.
    Page(PageText),
    /// A page that could not.
    Unreadable {
        /// The page, from 1.
        page: u32,
        /// Why, as a sentence.
        why: String,
    },
    /// All pages were there.
    End,
    /// It cannot go on.
    Failed(ReadError),
}

/// Why a file could not be read. The words are for whoever sent it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// A stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl ReadError {
    pub(super) fn new(code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: hint.to_owned() }
    }
}
