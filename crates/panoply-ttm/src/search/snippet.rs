//! Snippet selection and highlighting.

use std::collections::BTreeSet;
use std::ops::Range;

use super::document::{Document, Passage, TextLanguage};
use super::index::PassageWords;
use crate::text::normalize;
use crate::text::terms::{Analyzer, Term};

/// Approximate length of a snippet in characters.
const LETTERS: usize = 180;

/// A text excerpt with its source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snippet {
    /// Text with query words between `**`.
    pub text: String,
    /// Source id of the passage.
    pub source: String,
}

/// Returns the passage with the most query terms, preferably in the reader's language, cut around
/// the matches.
pub(super) fn snippet(
    document: &Document,
    words: &[PassageWords],
    query_terms: &BTreeSet<Term>,
    reader: TextLanguage,
    analyzer: &Analyzer,
) -> Snippet {
    let mut best: Option<((bool, f32), &Passage)> = None;
    for (passage, words) in document.passages.iter().zip(words) {
        let matches = words.count(query_terms);
        // Names are in the title already: prefer passages with more content.
        let language = match passage.language {
            TextLanguage::Neither => 0.3,
            language if language == reader => 1.0,
            _ => 0.6,
        };
        // A passage in another language is useful only if none matches in the reader's language.
        let is_readable = passage.language == reader && matches > 0;
        let score = (is_readable, (matches as f32 + 0.1) * language);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, passage));
        }
    }
    let Some((_, passage)) = best else { return Snippet::default() };
    let places = match_ranges(&passage.text, query_terms, analyzer);
    let source = if passage.source.is_empty() { &document.source } else { &passage.source };
    Snippet { text: cut(&passage.text, &places), source: source.clone() }
}

/// Returns the ranges of query terms in a passage.
fn match_ranges(
    text: &str,
    query_terms: &BTreeSet<Term>,
    analyzer: &Analyzer,
) -> Vec<Range<usize>> {
    let normalized = normalize(text);
    let tokens = analyzer.segmenter().segment(normalized.text());
    let words = analyzer.words(normalized.text(), &tokens);
    let mut matches: Vec<Range<usize>> = Vec::new();
    for word in words.into_iter().filter(|word| query_terms.contains(&word.term)) {
        let place = normalized.source(word.range);
        // A compound precedes its parts and is already marked.
        if matches.last().is_none_or(|last| place.start >= last.end) {
            matches.push(place);
        }
    }
    matches
}

/// Cuts the densest window and highlights the matches.
fn cut(text: &str, places: &[Range<usize>]) -> String {
    let window = densest(text, places);
    let mut out = String::new();
    if window.start > 0 {
        out.push('…');
    }
    let mut at = window.start;
    for place in places {
        if place.start < at || place.end > window.end {
            continue;
        }
        out.push_str(text.get(at..place.start).unwrap_or_default());
        out.push_str("**");
        out.push_str(text.get(place.clone()).unwrap_or_default());
        out.push_str("**");
        at = place.end;
    }
    out.push_str(text.get(at..window.end).unwrap_or_default());
    if window.end < text.len() {
        out.push('…');
    }
    out
}

/// Returns the window of [`LETTERS`] characters with the most matches.
fn densest(text: &str, places: &[Range<usize>]) -> Range<usize> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let letters = starts.len() - 1;
    if letters <= LETTERS {
        return 0..text.len();
    }
    let window_from = |place: usize| {
        let letter = starts.partition_point(|at| *at < place);
        let first = letter.saturating_sub(LETTERS / 6).min(letters - LETTERS);
        let at = |letter: usize| starts.get(letter).copied().unwrap_or(text.len());
        at(first)..at(first + LETTERS)
    };
    let inside = |window: &Range<usize>| {
        places.iter().filter(|place| place.start >= window.start && place.end <= window.end).count()
    };
    let mut best = window_from(0);
    for place in places {
        let window = window_from(place.start);
        if inside(&window) > inside(&best) {
            best = window;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::index::analyse;
    use super::*;
    use crate::text::{Dictionary, english};

    #[test]
    fn snippet_is_cut_around_the_matches() {
        let text = format!("{} ขิงแก้คลื่นไส้ {}", "ก ".repeat(300), "ข ".repeat(300));
        let place = text.find("ขิง").unwrap();
        let matches = vec![Range { start: place, end: place + "ขิง".len() }];
        let cut = cut(&text, &matches);
        assert!(cut.starts_with('…') && cut.ends_with('…'));
        assert!(cut.contains("**ขิง**แก้คลื่นไส้"), "{cut}");
        assert!(cut.chars().count() < LETTERS + 10);
    }

    #[test]
    fn snippet_prefers_the_reader_language_when_it_matches() {
        let passage = |language, text: &str| {
            let (text, source) = (text.to_owned(), String::new());
            Passage { language, text, weight: 1.0, source }
        };
        let passages = vec![
            passage(TextLanguage::Neither, "ginger; nausea; morning sickness; vomiting"),
            passage(TextLanguage::Th, "ginger ใช้แก้ nausea และ vomiting"),
            passage(TextLanguage::En, "It is given for nausea."),
            passage(TextLanguage::En, "Nothing to the point."),
        ];
        let document = Document { passages, ..Document::default() };
        let analyzer = Analyzer::new(Arc::new(Dictionary::new([]).unwrap()));
        let terms = analyse(std::slice::from_ref(&document), &analyzer);
        let words = ["ginger", "nausea", "vomiting"].map(|word| Term::word(&english::stem(word)));
        let query_terms: BTreeSet<Term> = words.into_iter().collect();
        let shown =
            |reader| snippet(&document, &terms[0].passages, &query_terms, reader, &analyzer).text;
        assert_eq!(shown(TextLanguage::En), "It is given for **nausea**.");
        assert_eq!(shown(TextLanguage::Th), "**ginger** ใช้แก้ **nausea** และ **vomiting**");
    }

    #[test]
    fn short_text_is_not_cut() {
        assert_eq!(cut("ginger for nausea", &[0..6, 11..17]), "**ginger** for **nausea**");
        assert_eq!(cut("", &[]), "");
    }
}
