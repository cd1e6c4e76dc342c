//! Dictionary of the segmenter: the bundled word list as an FST, and the catalog names.

use fst::Set;

use super::keys::{Key, key};

/// Built by `build.rs` from `data/ttm/words_th.txt`.
static WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/words.fst"));
/// `data/ttm/stopwords_th.txt`, sorted by `build.rs`.
static STOP_WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/stop_words.fst"));

/// Thai words and names.
#[derive(Debug)]
pub struct Dictionary {
    words: PrefixAutomaton<&'static [u8]>,
    stop_words: Set<&'static [u8]>,
    names: PrefixAutomaton<Vec<u8>>,
}

/// The bundled dictionary is invalid: a build error.
#[derive(Debug, thiserror::Error)]
#[error("the word list cannot be read: {0}")]
pub struct BadDictionary(#[from] fst::Error);

impl Dictionary {
    /// Creates a dictionary with additional normalised names.
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

    /// Returns the automata, for fingerprinting: equal automata segment equally.
    pub fn automata(&self) -> [&[u8]; 3] {
        let words = self.words.set.as_fst().as_bytes();
        [words, self.stop_words.as_fst().as_bytes(), self.names.set.as_fst().as_bytes()]
    }

    /// Returns whether this is a word or name.
    pub fn contains(&self, word: &str) -> bool {
        let key = key(word);
        self.words.set.contains(&key) || self.names.set.contains(&key)
    }

    /// Returns whether this is a catalog name.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.set.contains(key(word))
    }

    /// Returns whether this is a Thai stop word.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.stop_words.contains(key(word))
    }

    /// Calls `found` with the byte length of each word or name that is a prefix of `text`, and
    /// whether it is a name.
    pub fn prefixes(&self, text: &str, mut found: impl FnMut(usize, bool)) {
        self.words.each_prefix(text, |length| found(length, false));
        self.names.each_prefix(text, |length| found(length, true));
    }
}

/// FST with precomputed states after two Thai letters: most traversals end there, so this halves
/// the steps.
#[derive(Debug)]
struct PrefixAutomaton<D: AsRef<[u8]>> {
    set: Set<D>,
    /// States by the keys of two letters.
    after_two: Vec<u32>,
    /// Whether a single Thai letter is a word.
    alone: Vec<bool>,
}

/// No word starts with these letters.
const NOWHERE: u32 = u32::MAX;
/// Number of Thai letter keys.
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

    /// Calls `found` with the length of each key that is a prefix of `text`.
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

/// Index of a Thai letter key.
fn thai(byte: u8) -> Option<usize> {
    usize::from(byte).checked_sub(LETTERS)
}

/// Index of two Thai letters.
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
        // An unnormalised word would never match. The word list contains a few.
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
