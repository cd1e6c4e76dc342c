//! FST keys: one byte per Thai letter, where UTF-8 has three.
//!
//! The automaton is traversed from every possible word start, which dominates segmentation time.
//! Thai letters map to the upper half of the byte range, ASCII to the lower; other characters are
//! escaped in groups of seven bits. The encoding is injective.

/// Escape byte for characters that are neither Thai nor ASCII.
const MARK: u8 = 0x01;

/// Encoded character.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    bytes: [u8; 4],
    length: usize,
}

impl Key {
    pub(crate) fn of(character: char) -> Self {
        let number = u32::from(character);
        let [_, high, middle, low] = [21, 14, 7, 0].map(|shift| seven_bits(number >> shift));
        match character {
            '\u{0E00}'..='\u{0E7F}' => Self { bytes: [0x80 | low, 0, 0, 0], length: 1 },
            '\u{1}' | '\u{80}'.. => Self { bytes: [MARK, high, middle, low], length: 4 },
            _ => Self { bytes: [low, 0, 0, 0], length: 1 },
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

const fn seven_bits(number: u32) -> u8 {
    (number & 0x7F) as u8
}

/// Encodes a word.
pub(crate) fn key(word: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    for character in word.chars() {
        bytes.extend_from_slice(Key::of(character).bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn character_keys_are_a_prefix_code() {
        let all: Vec<Vec<u8>> = (0..=u32::from(char::MAX))
            .filter_map(char::from_u32)
            .map(|one| key(&one.to_string()))
            .collect();
        let set: BTreeSet<&[u8]> = all.iter().map(Vec::as_slice).collect();
        assert_eq!(set.len(), all.len());
        for one in &all {
            for length in 1..one.len() {
                assert!(!set.contains(&one[..length]), "{one:?}");
            }
        }
        assert_eq!(key("ก").len(), 1);
        assert_eq!(key("ฟ้า K1 α").len(), 3 + 1 + 2 + 1 + 4);
    }
}
