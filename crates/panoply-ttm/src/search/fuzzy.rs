//! Approximate substring matching.

/// Returns the minimum edit distance between `name` and any substring of `text`, and the end of
/// that substring. Sellers' algorithm, O(mn): for short texts.
pub(super) fn closest_substring(name: &[char], text: &[char]) -> (usize, usize) {
    // Row of the dynamic programme; the first row is zero because a match may start anywhere.
    let mut row: Vec<usize> = vec![0; text.len() + 1];
    for (place, letter) in name.iter().enumerate() {
        let mut diagonal = place;
        let mut left = place + 1;
        for (index, cost) in row.iter_mut().enumerate() {
            let above = *cost;
            *cost = match index.checked_sub(1).and_then(|before| text.get(before)) {
                None => place + 1,
                Some(other) => {
                    let change = diagonal + usize::from(letter != other);
                    change.min(above + 1).min(left + 1)
                }
            };
            diagonal = above;
            left = *cost;
        }
    }
    let best = row.iter().enumerate().min_by_key(|(_, cost)| **cost);
    best.map_or((name.len(), 0), |(end, cost)| (*cost, end))
}

/// Returns the maximum edit distance for a name length.
pub(super) const fn tolerated(letters: usize) -> usize {
    match letters {
        0..=4 => 0,
        5..=9 => 1,
        10..=15 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edits(name: &str, text: &str) -> usize {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        closest_substring(&letters(name), &letters(text)).0
    }

    #[test]
    fn misspelt_name_is_found_inside_a_text() {
        let cases = [
            ("andrographis", "is androgaphis good", 1),
            ("ฟ้าทะลายโจร", "สรรพคุณฟ้าทะลายโจนคือ", 1),
            ("ขิง", "ขิง", 0),
            ("abc", "", 3),
            ("", "abc", 0),
        ];
        for (name, text, expected) in cases {
            assert_eq!(edits(name, text), expected, "{name} in {text}");
        }
    }

    proptest! {
        #[test]
        fn distance_is_the_minimum_levenshtein_over_substrings(name in "[ab]{0,5}", text in "[ab]{0,7}") {
            let letters: Vec<char> = text.chars().collect();
            let mut least = name.len();
            for start in 0..=letters.len() {
                for end in start..=letters.len() {
                    let piece: String = letters[start..end].iter().collect();
                    least = least.min(strsim::levenshtein(&name, &piece));
                }
            }
            prop_assert_eq!(edits(&name, &text), least);
        }
    }
}
