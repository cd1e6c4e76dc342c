//! English stemming and spelling normalisation.
//!
//! Index and query use the same form, so it need not be a word. `build.rs` includes this file for
//! the keys of the lexicon.

use rust_stemmers::{Algorithm, Stemmer};

/// Returns the stem of a normalised word.
pub fn stem(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'') {
        return word.to_owned();
    }
    // Cheap to create: it only has the language.
    let stemmer = Stemmer::create(Algorithm::English);
    stemmer.stem(&american(&one_vowel(word))).into_owned()
}

/// Stems each word of a phrase.
pub fn stem_phrase(phrase: &str) -> String {
    let words = phrase.split(|character: char| !character.is_alphanumeric() && character != '\'');
    let stems: Vec<String> = words.filter(|word| !word.is_empty()).map(stem).collect();
    stems.join(" ")
}

/// Returns whether this is a stop word.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// `haemorrhoid` becomes `hemorrhoid`, `diarrhoea` `diarrhea`, `oedema` `edema`.
fn one_vowel(word: &str) -> String {
    // Short words such as aloe, shoe, toe keep their spelling.
    if word.len() <= 4 {
        return word.to_owned();
    }
    word.replace("ae", "e").replace("oe", "e").replace("sulph", "sulf")
}

/// Maps British endings to American: `tumours`, `analysed`, `crystallising`, `fibre`.
fn american(word: &str) -> String {
    // `four`, `hour`, `rise` and `wise` are spelled alike.
    if word.len() <= 5 {
        return if word == "fibre" { "fiber".to_owned() } else { word.to_owned() };
    }
    let ending = ENDINGS.iter().find_map(|(british, american)| {
        word.strip_suffix(british).map(|start| format!("{start}{american}"))
    });
    ending.unwrap_or_else(|| word.to_owned())
}

const ENDINGS: &[(&str, &str)] = &[
    ("isation", "ization"),
    ("ising", "izing"),
    ("ised", "ized"),
    ("ises", "izes"),
    ("ise", "ize"),
    ("ysing", "yzing"),
    ("ysed", "yzed"),
    ("yse", "yze"),
    ("ouring", "oring"),
    ("oured", "ored"),
    ("ours", "ors"),
    ("our", "or"),
    ("fibres", "fibers"),
    ("centre", "center"),
    ("centres", "centers"),
    ("litres", "liters"),
];

/// Sorted for binary search.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "being",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "doing",
    "each",
    "else",
    "for",
    "from",
    "get",
    "gets",
    "give",
    "given",
    "had",
    "has",
    "have",
    "having",
    "he",
    "help",
    "helps",
    "her",
    "here",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "like",
    "may",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "no",
    "not",
    "of",
    "on",
    "one",
    "or",
    "other",
    "our",
    "out",
    "own",
    "she",
    "should",
    "so",
    "some",
    "someone",
    "something",
    "such",
    "take",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "together",
    "too",
    "us",
    "use",
    "used",
    "uses",
    "using",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_forms_share_a_stem() {
        let pairs = [
            ("haemorrhoids", "hemorrhoid"),
            ("diarrhoea", "diarrhea"),
            ("oedema", "edema"),
            ("anaemia", "anemia"),
            ("tumours", "tumor"),
            ("colouring", "color"),
            ("analysed", "analyzed"),
            ("crystallised", "crystallized"),
            ("sulphate", "sulfate"),
            ("fibre", "fiber"),
            ("coughing", "coughs"),
            ("swollen", "swollen"),
            ("oestrogen", "estrogen"),
        ];
        for (one, other) in pairs {
            assert_eq!(stem(one), stem(other), "{one} and {other}");
        }
    }

    #[test]
    fn different_words_have_different_stems() {
        for (one, other) in [("aloe", "ale"), ("ginger", "gingko"), ("fever", "favor")] {
            assert_ne!(stem(one), stem(other), "{one} and {other}");
        }
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("liver"));
    }
}
