//! What tools that take files in and out share.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::prelude::*;
use panoply_store::roots::{Refused, Roots};

use crate::anki::{self, Package, PackageLimits};
use crate::error::NoemaError;
use crate::text_notes::TextFormat;

/// How notes are written as text.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TextFormatParam {
    /// Find out from the text.
    #[default]
    Auto,
    /// Separated by commas.
    Csv,
    /// Separated by tabs.
    Tsv,
    /// A list of objects with `front`, `back`, `tags`, `extra` and `form`.
    Json,
    /// Headings with the answer under them, or `question :: answer` on a line.
    Markdown,
}

impl TextFormatParam {
    pub(crate) fn of(self, text: &str) -> TextFormat {
        match self {
            Self::Auto => crate::text_notes::detect_format(text),
            Self::Csv => TextFormat::Csv,
            Self::Tsv => TextFormat::Tsv,
            Self::Json => TextFormat::Json,
            Self::Markdown => TextFormat::Markdown,
        }
    }
}

/// A row that is no note.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BadRow {
    /// The row or line, from 1.
    pub(crate) row: usize,
    /// What is wrong with it.
    pub(crate) problem: String,
}

impl From<crate::text_notes::BadRow> for BadRow {
    fn from(bad: crate::text_notes::BadRow) -> Self {
        Self { row: bad.row, problem: bad.problem }
    }
}

/// Reads a package that came as base64, or lies on this machine.
pub(crate) fn read_package(
    base64: Option<&str>,
    path: Option<&str>,
    roots: &Roots,
) -> Result<Package, ToolError> {
    let bytes = match (base64, path) {
        (Some(text), None) => STANDARD.decode(text.trim()).map_err(|error| {
            ToolError::validation("BAD_BASE64", format!("`contentBase64` is not base64: {error}"))
                .hint("encode the bytes of the file with the standard alphabet")
        })?,
        (None, Some(path)) => read_file(roots, path)?,
        _ => {
            return Err(ToolError::validation(
                "ONE_SOURCE",
                "expected either `contentBase64` or `path`",
            )
            .hint("send the file as `contentBase64`, or name it with `path`"));
        }
    };
    Ok(anki::read(&bytes, PackageLimits::default())?)
}

/// The text that a call brings along or names.
pub(crate) fn read_text(
    content: Option<String>,
    path: Option<&str>,
    roots: &Roots,
) -> Result<String, ToolError> {
    match (content, path) {
        (Some(text), None) => Ok(text),
        (None, Some(path)) => Ok(String::from_utf8_lossy(&read_file(roots, path)?).into_owned()),
        _ => Err(ToolError::validation("ONE_SOURCE", "expected either `content` or `path`")
            .hint("send the text as `content`, or name its file with `path`")),
    }
}

fn read_file(roots: &Roots, path: &str) -> Result<Vec<u8>, ToolError> {
    use std::io::Read as _;
    let file = roots.open(path, MAX_FILE_BYTES).map_err(|refused| path_error(&refused))?;
    let mut bytes = Vec::new();
    // One byte more than allowed, so that a file which grows is noticed.
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Ok(read) if u64::try_from(read).is_ok_and(|read| read <= MAX_FILE_BYTES) => Ok(bytes),
        Ok(_) => Err(ToolError::validation("NOT_ALLOWED", "the file grows while it is read")
            .hint("wait until it is complete")),
        Err(error) => Err(ToolError::system("the file cannot be read").cause(error)),
    }
}

/// Files that callers name are at most this large.
const MAX_FILE_BYTES: u64 = 2 << 30;

/// Why a path is refused, and what would work.
pub(crate) fn path_error(refused: &Refused) -> ToolError {
    ToolError::validation("NOT_ALLOWED", refused.to_string()).hint(
        "name a file in `noema/files` of the home or in a folder that `roots` in `[pack.noema]` of config.toml names; or use `panoply noema import` or `export`",
    )
}

/// Tells how far it has come, and ends it when nobody waits any more.
pub(crate) fn report(
    cx: &CallContext,
    done: usize,
    all: usize,
    cancelled: &str,
) -> Result<(), NoemaError> {
    let rows = |count| u64::try_from(count).unwrap_or(u64::MAX);
    cx.report_progress(rows(done), Some(rows(all)), "rows");
    if cx.cancel.is_cancelled() { Err(NoemaError::File(cancelled.to_owned())) } else { Ok(()) }
}
