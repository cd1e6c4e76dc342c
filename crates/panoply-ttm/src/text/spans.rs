//! Byte ranges of a text.

use std::ops::Range;

use super::is_thai;

/// Returns whether two ranges overlap.
pub(crate) const fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns whether no non-Thai letter or digit precedes the range.
pub(crate) fn is_bounded_left(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).and_then(|before| before.chars().next_back());
    !before.is_some_and(is_word_character)
}

/// Returns whether no non-Thai letter or digit follows the range.
pub(crate) fn is_bounded_right(text: &str, range: &Range<usize>) -> bool {
    let after = text.get(range.end..).and_then(|after| after.chars().next());
    !after.is_some_and(is_word_character)
}

fn is_word_character(letter: char) -> bool {
    letter.is_alphanumeric() && !is_thai(letter)
}
