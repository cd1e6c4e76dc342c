//! Diagnostics for invalid input: location, message, expected input, hint, and a working example.

use std::fmt;

/// One problem in a list of transactions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// Line, counted from 1; the element number for input without lines.
    pub line: u32,
    /// Column, counted from 1 in characters.
    pub column: u32,
    /// The whole line; empty for input without lines.
    pub source: String,
    /// The invalid text or value; empty when something is missing.
    pub value: String,
    /// Description of the problem.
    pub message: String,
    /// Expected input.
    pub expected: String,
    /// Suggested correction; starts with a verb.
    pub hint: String,
    /// A working example.
    pub example: &'static str,
}

impl Problem {
    /// The line with a caret under the column; empty for input without lines.
    pub fn excerpt(&self) -> String {
        if self.source.is_empty() {
            return String::new();
        }
        const MAX_CHARS: usize = 160;
        let column = usize::try_from(self.column).unwrap_or(1).max(1);
        // A long line is cut around the column, so that the caret stays visible.
        let skipped = column.saturating_sub(MAX_CHARS / 2);
        let shown: String = self.source.chars().skip(skipped).take(MAX_CHARS).collect();
        let padding: String = shown
            .chars()
            .take(column - 1 - skipped)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        format!("{shown}\n{padding}^")
    }
}

/// Longer texts are truncated: an invalid word may be a whole file.
const MAX_TEXT_CHARS: usize = 300;

impl Problem {
    /// Truncates every text for display.
    #[must_use]
    pub(crate) fn truncated(self) -> Self {
        Self {
            value: truncate(self.value),
            message: truncate(self.message),
            expected: truncate(self.expected),
            hint: truncate(self.hint),
            ..self
        }
    }
}

/// Truncates a text for display.
pub(crate) fn truncate(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        let excerpt = self.excerpt();
        if !excerpt.is_empty() {
            write!(f, "\n{excerpt}")?;
        }
        write!(f, "\nexpected: {}\nhint: {}\nexample: {}", self.expected, self.hint, self.example)
    }
}

/// Returns the known word closest to `word` within a small edit distance.
pub(crate) fn suggest_similar<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Longer than any known word; the edit distance needs memory per letter.
    if word.len() > 40 {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 6)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close_matches_only() {
        let known = ["BUY", "SELL", "DIVIDEND"];
        assert_eq!(suggest_similar("byu", known), Some("BUY"));
        assert_eq!(suggest_similar("DIVIDENT", known), Some("DIVIDEND"));
        assert_eq!(suggest_similar("HOLD", known), None);
        assert_eq!(suggest_similar(&"B".repeat(10_000_000), known), None);
    }

    #[test]
    fn caret_stays_within_the_excerpt() {
        let problem = Problem {
            line: 1,
            column: 300,
            source: "x".repeat(299) + "y",
            value: "y".to_owned(),
            message: String::new(),
            expected: String::new(),
            hint: String::new(),
            example: "",
        };
        let excerpt = problem.excerpt();
        let (line, caret) = excerpt.split_once('\n').unwrap();
        assert_eq!(line.find('y'), caret.find('^'));
    }
}
