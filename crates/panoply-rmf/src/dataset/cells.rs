//! Cell encoding: escape sequences and a dictionary of repeated texts.

use std::borrow::Cow;
use std::collections::HashMap;

/// Escapes a text.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.starts_with('=') && !text.contains(['\\', '\t', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    let escaped =
        text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
    Cow::Owned(match escaped.strip_prefix('=') {
        Some(rest) => format!("\\={rest}"),
        None => escaped,
    })
}

/// Reverses [`escape`].
pub(super) fn unescape(cell: &str) -> Cow<'_, str> {
    if !cell.contains('\\') {
        return Cow::Borrowed(cell);
    }
    let mut text = String::with_capacity(cell.len());
    let mut characters = cell.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

/// Repeated texts, in order of first occurrence.
pub(super) struct Dictionary<'a> {
    numbers: HashMap<&'a str, usize>,
    pub(super) texts: Vec<&'a str>,
}

impl<'a> Dictionary<'a> {
    /// Collects the texts that occur more than once.
    pub(super) fn of(cells: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for cell in cells.clone().filter(|cell| is_worth_a_reference(cell)) {
            *counts.entry(cell).or_default() += 1;
        }
        let mut dictionary = Self { numbers: HashMap::new(), texts: Vec::new() };
        for cell in cells.filter(|cell| counts.get(cell).is_some_and(|count| *count > 1)) {
            if !dictionary.numbers.contains_key(cell) {
                dictionary.numbers.insert(cell, dictionary.texts.len());
                dictionary.texts.push(cell);
            }
        }
        dictionary
    }

    /// Encodes a text: a reference when it is in the dictionary, else escaped.
    pub(super) fn cell<'b>(&self, text: &'b str) -> Cow<'b, str> {
        match self.numbers.get(text) {
            Some(number) => Cow::Owned(format!("={number}")),
            None => escape(text),
        }
    }
}

/// Short texts, numbers and dates stay inline: a reference would save little and hurt diffs.
fn is_worth_a_reference(cell: &str) -> bool {
    cell.len() >= 8 && cell.chars().any(|c| c.is_alphabetic() && !matches!(c, 'T' | 'Z'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn escaping_round_trips(text in any::<String>()) {
            let cell = escape(&text);
            prop_assert!(!cell.contains(['\t', '\n', '\r']) && !cell.starts_with('='));
            prop_assert_eq!(unescape(&cell), text.as_str());
        }
    }

    #[test]
    fn dictionary_holds_repeated_texts_only() {
        let cells = ["Unit Trust", "Cash and Others", "Unit Trust", "2025-11-10", "2025-11-10"];
        let dictionary = Dictionary::of(cells.into_iter());
        assert_eq!(dictionary.texts, ["Unit Trust"]);
        assert_eq!(dictionary.cell("Unit Trust"), "=0");
        assert_eq!(dictionary.cell("=9"), "\\=9");
    }
}
