//! Text extraction in a separate process.
//!
//! PDFs are untrusted input: they may loop, exhaust memory or crash the parser. The child process
//! limits its memory, time and disk before it reads the first byte ([`worker`]); the parent
//! collects pages and kills it at the limits ([`child`]). OCR runs below the child and inherits the
//! limits.

pub mod child;
mod hidden;
mod limits;
mod lines;
mod ocr;
mod pdf;
pub mod worker;

use serde::{Deserialize, Serialize};

use super::plan::PageText;

pub use self::ocr::missing_programs;

/// Text source of a page.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OcrProvider {
    /// Text layer if legible, else OCR.
    #[default]
    Auto,
    /// Text layer only.
    TextLayer,
    /// OCR only.
    Tesseract,
}

impl OcrProvider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::Auto, Self::TextLayer, Self::Tesseract];

    /// Returns the name used in calls.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::TextLayer => "textlayer",
            Self::Tesseract => "tesseract",
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// File type.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// PDF.
    #[default]
    Pdf,
    /// Plain text in UTF-8; a form feed starts a page.
    Text,
}

/// Options of the reader.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Options {
    /// File type.
    pub kind: FileKind,
    /// Text source.
    pub ocr: OcrProvider,
    /// Resolution for OCR.
    pub dpi: u16,
    /// OCR languages in tesseract notation.
    pub languages: String,
    /// Resource limits.
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

/// Resource limits for one file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limits {
    /// Maximum file size in bytes.
    pub file_bytes: u64,
    /// Maximum number of pages.
    pub pages: u32,
    /// Maximum size of the extracted text in bytes.
    pub text_bytes: u64,
    /// Address space of each process in bytes.
    pub memory_bytes: u64,
    /// CPU time of each process.
    pub cpu_seconds: u64,
    /// Wall-clock time for the file.
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

/// Output of the child: one JSON object per line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub(super) enum Line {
    /// First line.
    Head { sha256: String, pages: u32, title: Option<String> },
    /// A readable page.
    Page(PageText),
    /// An unreadable page.
    Unreadable { page: u32, why: String },
    /// All pages were written.
    End,
    /// Reading failed.
    Failed(ReadError),
}

/// Why a file could not be read; shown to the caller.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// Stable code.
    pub code: String,
    /// Problem.
    pub message: String,
    /// Suggested action.
    pub hint: String,
}

impl ReadError {
    pub(super) fn new(code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: hint.to_owned() }
    }
}
