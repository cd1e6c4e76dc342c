//! Verbatim sentences: a passage itself, or one of the fixed frames of the extractive answer around
//! passages.
//!
//! The frames are an allow-list. Text before or after a passage changes its meaning without a cue
//! that the claim parser knows ("an old rumour says …"), so any other text makes the sentence a
//! paraphrase, which [`super`] verifies claim by claim.

use crate::text::normalize;

/// Maximum length of a title in the frame of a foreign document, in characters.
const MAX_TITLE_LENGTH: usize = 120;

/// Returns whether a sentence is a passage, a passage with its PMID, a quotation of a passage with
/// the title of its document, or two passages that contradict each other.
pub(super) fn is_verbatim(sentence: &str, passages: &[&str], labels: &[&str]) -> bool {
    let own = bare(sentence);
    if own.is_empty() {
        return false;
    }
    // A quotation inside a quotation has straight quotation marks.
    let passages: Vec<String> = passages.iter().map(|text| straightened(&bare(text))).collect();
    let is_passage = |text: &str| {
        let text = straightened(text.trim().trim_end_matches('.'));
        !text.is_empty() && passages.contains(&text)
    };
    is_passage(&own)
        || without_pmid(&own, labels).is_some_and(is_passage)
        || quoted_document(&own, labels).is_some_and(is_passage)
        || contradiction(&own).is_some_and(|(one, other)| is_passage(one) && is_passage(other))
}

/// Returns whether every quotation in a sentence occurs in a passage or label.
pub(super) fn quotes_hold(sentence: &str, passages: &[&str], labels: &[&str]) -> bool {
    let known = passages.iter().chain(labels).map(|text| straightened(&bare(text)));
    let known: Vec<String> = known.collect();
    let own = straightened(&bare(sentence));
    let mut quotes = own.split('"').skip(1).step_by(2).map(|quote| quote.trim_matches([' ', '.']));
    quotes.all(|quote| known.iter().any(|text| text.contains(quote)))
}

/// Replaces typographic quotation marks by straight ones.
fn straightened(text: &str) -> String {
    text.replace(['“', '”', '„', '«', '»'], "\"")
}

/// Normalises a text without its final full stop and with single spaces.
fn bare(text: &str) -> String {
    let text = normalize(text).text().trim().trim_end_matches('.').to_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Strips ` (PMID 123)` if it is a label.
fn without_pmid<'s>(own: &'s str, labels: &[&str]) -> Option<&'s str> {
    let (text, number) = own.strip_suffix(')')?.rsplit_once(" (pmid ")?;
    labels.contains(&number).then_some(text)
}

/// Returns the quotation of `The document “title” says: “…”`.
fn quoted_document<'s>(own: &'s str, labels: &[&str]) -> Option<&'s str> {
    let rest = own.strip_prefix("the document “").or_else(|| own.strip_prefix("เอกสาร “"))?;
    let is_title = |title: &str| {
        let shortened = |label: &str| label.chars().take(MAX_TITLE_LENGTH).collect::<String>();
        labels.iter().any(|label| bare(&shortened(label)) == title.trim().trim_end_matches('.'))
    };
    let frames = ["” says: “", "” เขียนว่า “"];
    frames.iter().find_map(|frame| {
        let (title, text) = rest.split_once(frame)?;
        is_title(title).then_some(text)?.strip_suffix('”')
    })
}

/// Returns both sides of `“…”, but “…”`.
fn contradiction(own: &str) -> Option<(&str, &str)> {
    let inside = own.strip_prefix('“')?.strip_suffix('”')?;
    inside.split_once("”, but “").or_else(|| inside.split_once("” แต่ “"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_frames_are_verbatim() {
        let passage = "The list asks for caution with Turmeric in: pregnancy.";
        let other = "A study found no significant effect.";
        let labels = ["A leaflet", "12345678"];
        for (sentence, expected) in [
            ("The list asks for caution with Turmeric in: pregnancy", true),
            ("The list asks for caution with Turmeric in: pregnancy (PMID 12345678)", true),
            ("The list asks for caution with Turmeric in: pregnancy (PMID 87654321)", false),
            ("The document “A leaflet” says: “A study found no significant effect.”", true),
            ("The document “Another” says: “A study found no significant effect.”", false),
            (
                "“The list asks for caution with Turmeric in: pregnancy”, but “A study found no significant effect”",
                true,
            ),
            ("It is false that the list asks for caution with Turmeric in: pregnancy", false),
            ("An old saying: the list asks for caution with Turmeric in: pregnancy", false),
            ("The list asks for caution with Turmeric in: pregnancy “but not really”", false),
            ("", false),
        ] {
            let found = is_verbatim(sentence, &[passage, other], &labels);
            assert_eq!(found, expected, "{sentence}");
        }
    }

    #[test]
    fn quotations_must_occur_in_a_passage() {
        let passage = "Turmeric is used for bloating.";
        assert!(quotes_hold("It is “used for bloating”", &[passage], &[]));
        assert!(!quotes_hold("It is \"perfectly safe\"", &[passage], &[]));
        assert!(!quotes_hold("It is \"perfectly safe", &[passage], &[]));
        assert!(quotes_hold("It has no quotation", &[passage], &[]));
    }
}
