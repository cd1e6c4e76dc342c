//! The words the segmenter knows: the word list, compiled in as an automaton, and the names of
//! the graph, added when it is loaded.

use fst::Set;

use super::keys::{Key, key};

/// Made by `build.rs` from `data/ttm/words_th.txt`.
static WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/words.fst"));
/// `data/ttm/stopwords_th.txt`, sorted by `build.rs`.
static STOP_WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/stop_words.fst"));

/// Thai words, and names that must stay whole.
#[derive(Debug)]
pub struct Dictionary {
    words: PrefixAutomaton<&'static [u8]>,
    stop_words: Set<&'static [u8]>,
    names: PrefixAutomaton<Vec<u8>>,
}

/// The dictionary cannot be read; it is part of the program, so this is our mistake.
#[derive(Debug, thiserror::Error)]
#[error("the word list cannot be read: {0}")]
pub struct BadDictionary(#[from] fst::Error);

impl Dictionary {
    /// The word list and these normalised names.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, BadDictionary> {
        let names = names.into_iter().filter(|name| !name.is_empty());
        let mut names: Vec<Vec<u8>> = names.map(key).collect();
        names.sort_unstable();
        names.dedup();
        Ok(Self {
            words: PrefixAutomaton::of(Set::new(WORDS)?),
            stop_words: Set::new(STOP_WORDS)?,
            names: PrefixAutomaton::of(Set::from_iter(names)?),
        })
    }

    /// The automata themselves: two dictionaries with the same cut every text alike.
    pub fn automata(&self) -> [&[u8]; 3] {
        let words = self.words.set.as_fst().as_bytes();
        [words, self.stop_words.as_fst().as_bytes(), self.names.set.as_fst().as_bytes()]
    }

    /// Whether this is a word or a name.
    pub fn contains(&self, word: &str) -> bool {
        let key = key(word);
        self.words.set.contains(&key) || self.names.set.contains(&key)
    }

    /// Whether this is a name of the graph.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.set.contains(key(word))
    }

    /// Whether this Thai word says nothing about what a question asks for.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.stop_words.contains(key(word))
    }

    /// Calls `found` with the length in bytes of each word or name that `text` begins with, and
    /// whether it is a name.
    pub fn prefixes(&self, text: &str, mut found: impl FnMut(usize, bool)) {
        self.words.each_prefix(text, |length| found(length, false));
        self.names.each_prefix(text, |length| found(length, true));
    }
}

/// An automaton, and where a walk through it stands after two Thai letters: most walks end there
/// or soon after, so that half of the steps need not be gone.
#[derive(Debug)]
struct PrefixAutomaton<D: AsRef<[u8]>> {
    set: Set<D>,
    /// By the keys of the two letters.
    after_two: Vec<u32>,
    /// Whether a Thai letter is a word by itself.
    alone: Vec<bool>,
}

/// No word begins so.
const NOWHERE: u32 = u32::MAX;
/// How many keys Thai letters have.
const LETTERS: usize = 0x80;

impl<D: AsRef<[u8]>> PrefixAutomaton<D> {
    fn of(set: Set<D>) -> Self {
        let mut after_two = vec![NOWHERE; LETTERS * LETTERS];
        let mut alone = vec![false; LETTERS];
        let automaton = set.as_fst();
        for first in automaton.root().transitions() {
            let Some(place) = thai(first.inp) else { continue };
            let node = automaton.node(first.addr);
            if let Some(alone) = alone.get_mut(place) {
                *alone = node.is_final();
            }
            for second in node.transitions() {
                let place = thai(second.inp).map(|second| place * LETTERS + second);
                if let Some(address) = place.and_then(|place| after_two.get_mut(place)) {
                    *address = u32::try_from(second.addr).unwrap_or(NOWHERE);
                }
            }
        }
        Self { set, after_two, alone }
    }

    /// Calls `found` with the length of each key that `text` begins with.
    fn each_prefix(&self, text: &str, mut found: impl FnMut(usize)) {
        let automaton = self.set.as_fst();
        let mut characters = text.char_indices();
        let (mut node, mut rest) = (automaton.root(), 0);
        if let (Some((_, one)), Some((at, two))) = (characters.next(), characters.next())
            && let Some(both) = two_thai(one, two)
        {
            if self.alone.get(both / LETTERS).is_some_and(|alone| *alone) {
                found(at);
            }
            let address = self.after_two.get(both).copied().unwrap_or(NOWHERE);
            if address == NOWHERE {
                return;
            }
            node = automaton.node(address as usize);
            rest = at + two.len_utf8();
            if node.is_final() {
                found(rest);
            }
        }
        for (at, character) in text.get(rest..).unwrap_or_default().char_indices() {
            for byte in Key::of(character).bytes() {
                let Some(step) = node.find_input(*byte) else { return };
                node = automaton.node(node.transition_addr(step));
            }
            if node.is_final() {
                found(rest + at + character.len_utf8());
            }
        }
    }
}

/// The place of a Thai letter's key.
fn thai(byte: u8) -> Option<usize> {
    usize::from(byte).checked_sub(LETTERS)
}

/// The place of two letters, where both are Thai.
fn two_thai(one: char, two: char) -> Option<usize> {
    let place = |letter: char| match Key::of(letter).bytes() {
        [byte] => thai(*byte),
        _ => None,
    };
    Some(place(one)? * LETTERS + place(two)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::normalize;

    #[test]
    fn word_list_is_normalised() {
        let list = include_str!("../../../../data/ttm/words_th.txt");
        let other: Vec<&str> =
            list.lines().filter(|word| normalize(word).text() != *word).collect();
        // A word in another spelling could never be met. These few are in the list as it comes.
        assert!(other.len() < 700, "{} words: {:?}", other.len(), &other[..20]);
    }

    #[test]
    fn dictionary_finds_all_prefixes_of_a_text() {
        let dictionary = Dictionary::new(["แอนโดรกราโฟไลด์"]).unwrap();
        let mut lengths = Vec::new();
        dictionary.prefixes("ฟ้าทะลายโจร", |length, _| lengths.push(length));
        assert!(lengths.contains(&"ฟ้า".len()), "{lengths:?}");
        assert!(dictionary.contains("แอนโดรกราโฟไลด์") && dictionary.is_name("แอนโดรกราโฟไลด์"));
        assert!(!dictionary.is_name("ฟ้า"));
    }
}
