//! The words the segmenter knows: the word list, compiled in as an automaton, and the names of
//! the graph, added when it is loaded.

use fst::Set;
use fst::raw::Fst;

/// Made by `build.rs` from `data/ttm/words_th.txt`.
static WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/words.fst"));
/// `data/ttm/stopwords_th.txt`, sorted by `build.rs`.
static STOP_WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/stop_words.fst"));

/// Thai words, and names that must stay whole.
#[derive(Debug)]
pub struct Dictionary {
    words: Set<&'static [u8]>,
    stop_words: Set<&'static [u8]>,
    names: Set<Vec<u8>>,
}

/// The dictionary cannot be read; it is part of the program, so this is our mistake.
#[derive(Debug, thiserror::Error)]
#[error("the word list cannot be read: {0}")]
pub struct BadDictionary(#[from] fst::Error);

impl Dictionary {
    /// The word list and these normalised names.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, BadDictionary> {
        let mut names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        Ok(Self {
            words: Set::new(WORDS)?,
            stop_words: Set::new(STOP_WORDS)?,
            names: Set::from_iter(names)?,
        })
    }

    /// The automata themselves: two dictionaries with the same cut every text alike.
    pub fn automata(&self) -> [&[u8]; 3] {
        let words = self.words.as_fst().as_bytes();
        [words, self.stop_words.as_fst().as_bytes(), self.names.as_fst().as_bytes()]
    }

    /// Whether this is a word or a name.
    pub fn contains(&self, word: &str) -> bool {
        self.words.contains(word) || self.names.contains(word)
    }

    /// Whether this is a name of the graph.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.contains(word)
    }

    /// Whether this Thai word says nothing about what a question asks for.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.stop_words.contains(word)
    }

    /// Calls `found` with the length in bytes of each word or name that `text` begins with, and
    /// whether it is a name.
    pub fn prefixes(&self, text: &str, mut found: impl FnMut(usize, bool)) {
        each_prefix(self.words.as_fst(), text, |length| found(length, false));
        each_prefix(self.names.as_fst(), text, |length| found(length, true));
    }
}

/// Calls `found` with the length of each key that `text` begins with, and its value.
pub(crate) fn each_prefix<D: AsRef<[u8]>>(
    automaton: &Fst<D>,
    text: &str,
    mut found: impl FnMut(usize),
) {
    let mut node = automaton.root();
    for (index, byte) in text.bytes().enumerate() {
        let Some(step) = node.find_input(byte) else { return };
        node = automaton.node(node.transition_addr(step));
        if node.is_final() {
            found(index + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::normalize;

    #[test]
    fn the_word_list_is_in_the_spelling_that_text_is_brought_to() {
        let list = include_str!("../../../../data/ttm/words_th.txt");
        let other: Vec<&str> =
            list.lines().filter(|word| normalize(word).text() != *word).collect();
        // A word in another spelling could never be met. These few are in the list as it comes.
        assert!(other.len() < 700, "{} words: {:?}", other.len(), &other[..20]);
    }

    #[test]
    fn words_and_names_are_found_at_the_beginning_of_a_text() {
        let dictionary = Dictionary::new(["แอนโดรกราโฟไลด์"]).unwrap();
        let mut lengths = Vec::new();
        dictionary.prefixes("ฟ้าทะลายโจร", |length, _| lengths.push(length));
        assert!(lengths.contains(&"ฟ้า".len()), "{lengths:?}");
        assert!(dictionary.contains("แอนโดรกราโฟไลด์") && dictionary.is_name("แอนโดรกราโฟไลด์"));
        assert!(!dictionary.is_name("ฟ้า"));
    }
}
