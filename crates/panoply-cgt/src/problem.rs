//! What is wrong with an input, said so that it can be mended: where, what, what was expected,
//! what to do, and a line that works.

use std::fmt;

/// One thing wrong with a list of transactions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The line, counted from 1; the element's number in a list that has no lines.
    pub line: u32,
    /// The column, counted from 1 in characters.
    pub column: u32,
    /// The whole line; empty where there are none.
    pub source: String,
    /// The text or value that is wrong; empty when something is missing.
    pub value: String,
    /// What is wrong.
    pub message: String,
    /// What was expected there.
    pub expected: String,
    /// What to do; starts with a verb.
    pub hint: String,
    /// Something that works there.
    pub example: &'static str,
}

impl Problem {
    /// The line with a caret under the column; empty where there are no lines.
    pub fn pointed(&self) -> String {
        if self.source.is_empty() {
            return String::new();
        }
        const LONGEST: usize = 160;
        let column = usize::try_from(self.column).unwrap_or(1).max(1);
        // A long line is cut around the place, or the caret would be out of sight.
        let skipped = column.saturating_sub(LONGEST / 2);
        let shown: String = self.source.chars().skip(skipped).take(LONGEST).collect();
        let padding: String = shown
            .chars()
            .take(column - 1 - skipped)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        format!("{shown}\n{padding}^")
    }
}

/// Longer texts are cut: a wrong word may be a whole file.
const LONGEST_TEXT: usize = 300;

impl Problem {
    /// The same with every text short enough to be shown.
    #[must_use]
    pub(crate) fn in_short(self) -> Self {
        Self {
            value: shortened(self.value),
            message: shortened(self.message),
            expected: shortened(self.expected),
            hint: shortened(self.hint),
            ..self
        }
    }
}

/// A text, cut where it is too long to be shown.
pub(crate) fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        let pointed = self.pointed();
        if !pointed.is_empty() {
            write!(f, "\n{pointed}")?;
        }
        write!(f, "\nexpected: {}\nhint: {}\nexample: {}", self.expected, self.hint, self.example)
    }
}

/// The word of a list that is closest to `word`, when it is close enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer than any word of ours, and the comparison takes memory for every letter.
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
        assert_eq!(nearest("byu", known), Some("BUY"));
        assert_eq!(nearest("DIVIDENT", known), Some("DIVIDEND"));
        assert_eq!(nearest("HOLD", known), None);
        assert_eq!(nearest(&"B".repeat(10_000_000), known), None);
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
        let pointed = problem.pointed();
        let (line, caret) = pointed.split_once('\n').unwrap();
        assert_eq!(line.find('y'), caret.find('^'));
    }
}
