//! Common parts of the import and export tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::prelude::*;
use panoply_store::roots::{FileAccessError, Roots};

use crate::anki::{self, Package, PackageLimits};
use crate::error::{NoemaError, Result};
use crate::numbers::len_to_u64;
use crate::text_notes::TextFormat;

/// Text format of notes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TextFormatParam {
    /// Detect from the text.
    #[default]
    Auto,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// A list of objects with `front`, `back`, `tags`, `extra` and `form`.
    Json,
    /// Headings with the answer below, or `question :: answer` lines.
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

/// A rejected row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BadRow {
    /// Row or line number, from 1.
    pub(crate) row: usize,
    /// Reason of the rejection.
    pub(crate) problem: String,
}

impl From<crate::text_notes::BadRow> for BadRow {
    fn from(bad: crate::text_notes::BadRow) -> Self {
        Self { row: bad.row, problem: bad.problem }
    }
}

/// Reads a package from base64 or from a file on this machine.
pub(crate) fn read_package(
    base64: Option<&str>,
    path: Option<&str>,
    roots: &Roots,
) -> Result<Package, ToolError> {
    let package = match (base64, path) {
        (Some(text), None) => anki::read(&decode_base64(text)?, PackageLimits::default()),
        (None, Some(path)) => {
            let file =
                roots.open(path, MAX_PACKAGE_BYTES).map_err(|refused| path_error(&refused))?;
            anki::open(Box::new(std::io::BufReader::new(file)), PackageLimits::default())
        }
        _ => {
            return Err(ToolError::validation(
                "ONE_SOURCE",
                "expected either `contentBase64` or `path`",
            )
            .hint("send the file as `contentBase64`, or name it with `path`"));
        }
    };
    Ok(package?)
}

/// Decodes `contentBase64`.
pub(crate) fn decode_base64(text: &str) -> Result<Vec<u8>, ToolError> {
    STANDARD.decode(text.trim()).map_err(|error| {
        ToolError::validation("BAD_BASE64", format!("`contentBase64` is not base64: {error}"))
            .hint("encode the bytes of the file with the standard alphabet")
    })
}

/// Reads the text of a call from its argument or from a file.
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

/// Reads a file that the caller names.
pub(crate) fn read_file(roots: &Roots, path: &str) -> Result<Vec<u8>, ToolError> {
    use std::io::Read as _;
    let file = roots.open(path, MAX_FILE_BYTES).map_err(|refused| path_error(&refused))?;
    let mut bytes = Vec::new();
    // One byte over the limit, to detect a file that grows.
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    match read {
        Ok(read) if u64::try_from(read).is_ok_and(|read| read <= MAX_FILE_BYTES) => Ok(bytes),
        Ok(_) => Err(ToolError::validation("NOT_ALLOWED", "the file is growing while it is read")
            .hint("wait until it is complete")),
        Err(error) => Err(ToolError::system("the file cannot be read").cause(error)),
    }
}

/// Largest text or media file that a caller may name.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Largest package that a caller may name; its media are read one at a time.
const MAX_PACKAGE_BYTES: u64 = 16 << 30;

/// Explains why a path is refused.
pub(crate) fn path_error(refused: &FileAccessError) -> ToolError {
    ToolError::validation("NOT_ALLOWED", refused.to_string()).hint(
        "name a file in `noema/files` of the home or in a folder that `roots` in `[pack.noema]` of config.toml names; or use `panoply noema import` or `export`",
    )
}

/// Reports progress; fails if the call is cancelled.
pub(crate) fn report(cx: &CallContext, done: usize, all: usize, cancelled: &str) -> Result<()> {
    cx.report_progress(len_to_u64(done), Some(len_to_u64(all)), "rows");
    if cx.cancel.is_cancelled() { Err(NoemaError::File(cancelled.to_owned())) } else { Ok(()) }
}
