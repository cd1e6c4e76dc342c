//! Grading of free-text answers: a deterministic comparison with the expected answer, with reasons.
//!
//! It compares wording, not meaning: a correct paraphrase is at best `partial`. The learner's own
//! rating decides.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::html;
use crate::numbers::{len_to_f64, round_to};

/// How close an answer is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Verdict {
    /// Another answer.
    Wrong,
    /// Some of it is there.
    Partial,
    /// The same but for a slip of spelling or accents.
    Close,
    /// The same.
    Correct,
}

/// A graded answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Grade {
    /// How close it is.
    pub verdict: Verdict,
    /// Similarity from 0 to 1.
    pub score: f64,
    /// Why, in sentences.
    pub reasons: Vec<String>,
}

/// Longest text that is compared, in characters.
const MAX_CHARS: usize = 2000;
/// Words that turn a statement into its opposite.
const NEGATIONS: [&str; 9] =
    ["not", "no", "never", "without", "cannot", "isn't", "doesn't", "ไม่", "มิ"];

/// Grades an answer against the expected one. `/` and `;` separate alternatives, commas the members
/// of a list whose order does not matter.
pub fn grade(expected: &str, given: &str) -> Grade {
    let plain = |text: &str| -> String { html::strip(text).chars().take(MAX_CHARS).collect() };
    let (expected, given) = (plain(expected), plain(given));
    if words(&given).is_empty() {
        return Grade {
            verdict: Verdict::Wrong,
            score: 0.0,
            reasons: vec!["The answer is empty.".to_owned()],
        };
    }
    let alternatives = expected.split([';', '/', '\n']).filter(|part| !words(part).is_empty());
    let whole = std::iter::once(expected.as_str());
    let best = whole.chain(alternatives).map(|one| against(one, &given)).max_by(|a, b| {
        (a.verdict, a.score).partial_cmp(&(b.verdict, b.score)).unwrap_or(std::cmp::Ordering::Equal)
    });
    best.unwrap_or_else(|| against(&expected, &given))
}

fn against(expected: &str, given: &str) -> Grade {
    let result = |verdict, score, reason: String| Grade {
        verdict,
        score: round_to(score, 3),
        reasons: vec![reason],
    };
    if let (Some(right), Some(typed)) = (number(expected), number(given)) {
        return numbers(right, typed, expected, given);
    }
    let (right, typed) = (words(expected), words(given));
    if right == typed {
        return result(Verdict::Correct, 1.0, "The answer is the same.".to_owned());
    }
    if is_negated(&right) != is_negated(&typed) {
        let reason = "One of the two is negated and the other is not.".to_owned();
        return result(Verdict::Wrong, 0.2, reason);
    }
    let (right_plain, typed_plain) = (unaccented(&right), unaccented(&typed));
    if right_plain == typed_plain {
        return result(Verdict::Close, 0.95, "Only accents or tone marks differ.".to_owned());
    }
    if expected.contains(',') && same_set(expected, given) {
        return result(Verdict::Correct, 1.0, "All members of the list are there.".to_owned());
    }
    let (one, two) = (right_plain.join(" "), typed_plain.join(" "));
    let length = one.chars().count().max(two.chars().count());
    let slips = edit_distance(&one, &two);
    let allowed = (one.chars().count() / 6).clamp(usize::from(one.chars().count() > 3), 3);
    let score = 1.0 - len_to_f64(slips) / len_to_f64(length.max(1));
    if slips <= allowed {
        let slips = if slips == 1 { "one letter".to_owned() } else { format!("{slips} letters") };
        return result(Verdict::Close, score, format!("It differs by {slips}."));
    }
    partial(&right_plain, &typed_plain, score)
}

/// Compares the words that both have.
fn partial(right: &[String], typed: &[String], score: f64) -> Grade {
    let missing: Vec<&str> =
        right.iter().filter(|word| !typed.contains(word)).map(String::as_str).collect();
    let extra: Vec<&str> =
        typed.iter().filter(|word| !right.contains(word)).map(String::as_str).collect();
    let found = len_to_f64(right.len() - missing.len());
    let recall = found / len_to_f64(right.len().max(1));
    let precision = len_to_f64(typed.len() - extra.len()) / len_to_f64(typed.len().max(1));
    let overlap = if recall + precision > 0.0 {
        2.0 * recall * precision / (recall + precision)
    } else {
        0.0
    };
    let mut reasons = Vec::new();
    if !missing.is_empty() {
        reasons.push(format!("It lacks: {}.", list(&missing)));
    }
    if !extra.is_empty() {
        reasons.push(format!("It adds: {}.", list(&extra)));
    }
    if missing.is_empty() && extra.is_empty() {
        reasons.push("The words are the same, in another order.".to_owned());
        return Grade { verdict: Verdict::Close, score: 0.9, reasons };
    }
    let score = overlap.max(if overlap > 0.0 { score } else { score * 0.5 });
    let verdict = if recall >= 0.5 && overlap > 0.0 { Verdict::Partial } else { Verdict::Wrong };
    Grade { verdict, score: round_to(score, 3), reasons }
}

fn list(words: &[&str]) -> String {
    words.iter().take(12).copied().collect::<Vec<_>>().join(", ")
}

fn numbers(right: f64, typed: f64, expected: &str, given: &str) -> Grade {
    let unit = |text: &str| {
        words(text).into_iter().filter(|word| word.parse::<f64>().is_err()).collect::<Vec<_>>()
    };
    let (right_unit, typed_unit) = (unit(expected), unit(given));
    let off = (right - typed).abs() / right.abs().max(f64::MIN_POSITIVE);
    let result =
        |verdict, score, reason: &str| Grade { verdict, score, reasons: vec![reason.to_owned()] };
    if off > 1e-9 {
        let close = off <= 0.01;
        let reason = format!("The number is {typed}, expected {right}.");
        let verdict = if close { Verdict::Partial } else { Verdict::Wrong };
        return result(verdict, if close { 0.7 } else { 0.1 }, &reason);
    }
    if !typed_unit.is_empty() && !right_unit.is_empty() && right_unit != typed_unit {
        return result(Verdict::Partial, 0.6, "The number is right, the unit differs.");
    }
    if right_unit.is_empty() || !typed_unit.is_empty() {
        return result(Verdict::Correct, 1.0, "The number is the same.");
    }
    result(Verdict::Close, 0.9, "The number is right, the unit is missing.")
}

/// A text that is a number with at most two words of unit.
fn number(text: &str) -> Option<f64> {
    let words = words(text);
    let figures: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    match figures.as_slice() {
        [figure] if words.len() <= 3 => Some(*figure),
        _ => None,
    }
}

/// Lower-case words without punctuation, in Unicode's compatibility form. Decimal points stay.
fn words(text: &str) -> Vec<String> {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let folded = folded.replace('’', "'");
    let letters: Vec<char> = folded.chars().collect();
    let digit = |index: Option<usize>| {
        index.and_then(|index| letters.get(index)).is_some_and(char::is_ascii_digit)
    };
    let cleaned: String = letters
        .iter()
        .enumerate()
        .filter_map(|(index, letter)| match letter {
            // Thousands separators vanish.
            ',' if digit(index.checked_sub(1)) && digit(Some(index + 1)) => None,
            '.' | '-' if digit(Some(index + 1)) => Some(*letter),
            '\'' => Some(*letter),
            letter if letter.is_alphanumeric() || is_combining_mark(*letter) => Some(*letter),
            _ => Some(' '),
        })
        .collect();
    const ARTICLES: [&str; 3] = ["the", "a", "an"];
    let words = cleaned.split_whitespace().filter(|word| !ARTICLES.contains(word));
    words.map(str::to_owned).collect()
}

fn unaccented(words: &[String]) -> Vec<String> {
    let plain = |word: &String| word.nfkd().filter(|letter| !is_combining_mark(*letter)).collect();
    words.iter().map(plain).collect()
}

fn is_negated(words: &[String]) -> bool {
    let count = words
        .iter()
        .filter(|word| NEGATIONS.contains(&word.as_str()) || word.starts_with("ไม่"))
        .count();
    count % 2 == 1
}

fn same_set(expected: &str, given: &str) -> bool {
    let members = |text: &str| {
        let separated = text.replace(" and ", ",").replace("และ", ",");
        let mut members: Vec<Vec<String>> = separated
            .split(',')
            .map(|part| unaccented(&words(part)))
            .filter(|part| !part.is_empty())
            .collect();
        members.sort();
        members
    };
    members(expected) == members(given)
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
pub(crate) fn edit_distance(one: &str, two: &str) -> usize {
    let (one, two): (Vec<char>, Vec<char>) =
        (one.chars().take(400).collect(), two.chars().take(400).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=two.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in two.iter().enumerate() {
            let at =
                |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (at(&last, column) + usize::from(letter != other))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            let swapped = row > 0
                && column > 0
                && one.get(row - 1) == Some(other)
                && two.get(column - 1) == Some(letter);
            if swapped {
                cost = cost.min(at(&before, column - 1) + 1);
            }
            current.push(cost);
        }
        before = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_graded_by_wording_numbers_lists_and_negation() {
        use Verdict::{Close, Correct, Partial, Wrong};
        let cases = [
            ("Bangkok", "bangkok", Correct),
            ("The mitochondria", "mitochondria", Correct),
            ("<b>Bangkok</b>", "Bangkok.", Correct),
            ("Krung Thep / Bangkok", "bangkok", Correct),
            ("Bangkok", "Bangkik", Close),
            ("café", "cafe", Close),
            ("น้ำ", "นำ", Close),
            ("red, green and blue", "blue, red, green", Correct),
            ("red, green, blue", "red, green", Partial),
            ("3.14", "3.14", Correct),
            ("1,000 m", "1000 m", Correct),
            ("1000 m", "1000", Close),
            ("1000 m", "1000 km", Partial),
            ("56", "65", Wrong),
            ("it dissolves in water", "it does not dissolve in water", Wrong),
            ("ATP is made in the mitochondria", "made in mitochondria", Partial),
            ("cat", "dog", Wrong),
            ("cat", "car", Wrong),
            ("Bangkok", "", Wrong),
            ("Bangkok", "  ?", Wrong),
        ];
        for (expected, given, verdict) in cases {
            let grade = grade(expected, given);
            assert_eq!(grade.verdict, verdict, "{given:?} for {expected:?}: {grade:?}");
            assert!((0.0..=1.0).contains(&grade.score) && !grade.reasons.is_empty());
        }
    }

    #[test]
    fn edit_distance_counts_a_swap_once() {
        for (one, two, distance) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 1), ("a", "a", 0)]
        {
            assert_eq!(edit_distance(one, two), distance, "{one} {two}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_equals_itself_and_nothing_panics(one in ".{0,60}", two in ".{0,60}") {
            let _ = grade(&one, &two);
            if !words(&html::strip(&one)).is_empty() {
                proptest::prop_assert_eq!(grade(&one, &one).verdict, Verdict::Correct);
            }
        }
    }
}
