//! Thai character clusters: minimal units that can bound a word.
//!
//! Thai is written without spaces, and most positions between letters cannot be word boundaries:
//! not before a mark or following vowel, not after a leading vowel. The segmenter splits only
//! between clusters.

use std::ops::Range;

/// Returns the byte ranges of the clusters of a run of Thai letters.
pub fn clusters(thai: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for edge in edges(thai).into_iter().skip(1) {
        found.push(start..edge);
        start = edge;
    }
    found
}

/// Returns the cluster boundaries, including both ends.
pub(super) fn edges(thai: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> = thai.char_indices().collect();
    let mut edges = Vec::with_capacity(letters.len() + 1);
    edges.push(0);
    let mut before = None;
    for (index, (at, character)) in letters.iter().enumerate() {
        let after = letters.get(index + 1..).unwrap_or_default();
        let bound = binds_backwards(*character, after) || before.is_some_and(binds_forwards);
        if index > 0 && !bound {
            edges.push(*at);
        }
        // A tone mark may stand between mai han akat and its consonant (`กั้น`).
        if !matches!(character, '\u{0E48}'..='\u{0E4B}') {
            before = Some(*character);
        }
    }
    if !thai.is_empty() {
        edges.push(thai.len());
    }
    edges
}

/// Returns whether a letter cannot start a cluster: marks, following vowels, silenced consonants.
fn binds_backwards(character: char, after: &[(usize, char)]) -> bool {
    match character {
        '\u{0E30}'..='\u{0E3A}' | '\u{0E45}' | '\u{0E47}'..='\u{0E4E}' => true,
        '\u{0E01}'..='\u{0E2E}' => is_silenced(after),
        _ => false,
    }
}

/// Returns whether thanthakhat follows, directly or after a vowel mark (`ศักดิ์`, `พันธุ์`).
fn is_silenced(after: &[(usize, char)]) -> bool {
    matches!(after, [(_, '\u{0E4C}'), ..] | [(_, '\u{0E34}' | '\u{0E38}'), (_, '\u{0E4C}'), ..])
}

/// Returns whether a letter requires a successor: leading vowels, mai han akat, maitaikhu.
const fn binds_forwards(character: char) -> bool {
    matches!(character, '\u{0E40}'..='\u{0E44}' | '\u{0E31}' | '\u{0E47}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(thai: &str) -> Vec<&str> {
        clusters(thai).into_iter().map(|range| &thai[range]).collect()
    }

    #[test]
    fn cluster_contains_vowels_marks_and_silenced_consonants() {
        let cases = [
            ("ขมิ้น", vec!["ข", "มิ้", "น"]),
            ("ไพล", vec!["ไพ", "ล"]),
            ("แพทย์", vec!["แพ", "ทย์"]),
            ("กระเพาะ", vec!["ก", "ระ", "เพาะ"]),
            ("น้ำ", vec!["น้ำ"]),
            ("กัน", vec!["กัน"]),
            ("กั้น", vec!["กั้น"]),
            ("ศักดิ์", vec!["ศักดิ์"]),
            ("เป็น", vec!["เป็น"]),
            ("", vec![]),
        ];
        for (thai, expected) in cases {
            assert_eq!(cut(thai), expected, "{thai}");
        }
    }
}
