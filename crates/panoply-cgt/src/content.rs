//! Reads transactions from either input format: the transaction language or JSON.

use crate::json::Parsed;
use crate::problem::Problem;
use crate::{dsl, json};

/// Parses a text. Input starting with `[` or `{` is JSON, anything else the transaction language.
pub fn read(text: &str) -> Result<Parsed, Vec<Problem>> {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
    if start.starts_with(['[', '{']) {
        json::parse(text.trim_start_matches('\u{FEFF}'))
    } else {
        dsl::parse(text).map(|rows| Parsed { rows, notices: Vec::new() })
    }
}
