//! Risk levels in a query: `risk 5`, `risk level at most 4`, `ความเสี่ยงไม่เกิน 5`, `low risk`.

use super::phrases::begins_with;
use crate::fund::RiskLevel;

/// Lowest and highest level.
pub(super) type RiskRange = (u8, u8);

const SUBJECTS: &[&str] = &[
    "risk level",
    "risk levels",
    "risk rating",
    "risk",
    "ระดับความเสี่ยง",
    "ความเสี่ยงระดับ",
    "ความเสี่ยง",
    "เสี่ยงระดับ",
    "เสี่ยง",
];

/// Words in place of a number. Levels 1 to 4 are low to moderate, 6 and 7 high, 8 very high, as the
/// SEC words them.
const NAMED: &[(&str, RiskRange)] = &[
    ("low risk", (1, 4)),
    ("lower risk", (1, 4)),
    ("medium risk", (5, 5)),
    ("moderate risk", (5, 5)),
    ("high risk", (6, 8)),
    ("very high risk", (8, 8)),
    ("ความเสี่ยงต่ำ", (1, 4)),
    ("เสี่ยงต่ำ", (1, 4)),
    ("ความเสี่ยงปานกลาง", (5, 5)),
    ("เสี่ยงปานกลาง", (5, 5)),
    ("ความเสี่ยงสูงมาก", (8, 8)),
    ("เสี่ยงสูงมาก", (8, 8)),
    ("ความเสี่ยงสูง", (6, 8)),
    ("เสี่ยงสูง", (6, 8)),
];

#[derive(Clone, Copy, Debug)]
enum Comparison {
    AtMost,
    Below,
    AtLeast,
    Above,
}

const COMPARISONS: &[(&str, Comparison)] = &[
    ("at most", Comparison::AtMost),
    ("no more than", Comparison::AtMost),
    ("not more than", Comparison::AtMost),
    ("not above", Comparison::AtMost),
    ("up to", Comparison::AtMost),
    ("max", Comparison::AtMost),
    ("maximum", Comparison::AtMost),
    ("below", Comparison::Below),
    ("under", Comparison::Below),
    ("less than", Comparison::Below),
    ("at least", Comparison::AtLeast),
    ("min", Comparison::AtLeast),
    ("minimum", Comparison::AtLeast),
    ("above", Comparison::Above),
    ("over", Comparison::Above),
    ("more than", Comparison::Above),
    ("ไม่เกิน", Comparison::AtMost),
    ("ไม่เกินระดับ", Comparison::AtMost),
    ("ต่ำกว่า", Comparison::Below),
    ("น้อยกว่า", Comparison::Below),
    ("อย่างน้อย", Comparison::AtLeast),
    ("ตั้งแต่", Comparison::AtLeast),
    ("ตั้งแต่ระดับ", Comparison::AtLeast),
    ("มากกว่า", Comparison::Above),
    ("สูงกว่า", Comparison::Above),
];

const OR_LESS: &[&str] = &["or less", "or lower", "or below", "ลงมา", "หรือต่ำกว่า", "หรือน้อยกว่า"];
const OR_MORE: &[&str] = &["or more", "or higher", "or above", "ขึ้นไป", "หรือสูงกว่า", "หรือมากกว่า"];

/// The range at the start of a normalised text, and its length in bytes.
pub(super) fn risk_range(text: &str) -> Option<(RiskRange, usize)> {
    let named = NAMED.iter().filter(|(words, _)| begins_with(text, words));
    if let Some((words, range)) = named.max_by_key(|(words, _)| words.len()) {
        return Some((*range, words.len()));
    }
    let rest = after_longest(text, SUBJECTS)?.trim_start();
    let comparison = COMPARISONS
        .iter()
        .filter(|(words, _)| begins_with(rest, words))
        .max_by_key(|(words, _)| words.len());
    let rest = match comparison {
        Some((words, _)) => rest.get(words.len()..)?.trim_start(),
        None => rest,
    };
    let (first, rest) = level(rest)?;
    let (range, rest) = match comparison {
        Some((_, Comparison::AtMost)) => ((RiskLevel::LOWEST, first), rest),
        Some((_, Comparison::Below)) => ((RiskLevel::LOWEST, first.saturating_sub(1)), rest),
        Some((_, Comparison::AtLeast)) => ((first, RiskLevel::HIGHEST), rest),
        Some((_, Comparison::Above)) => ((first.saturating_add(1), RiskLevel::HIGHEST), rest),
        None => open_end(first, rest),
    };
    Some((range, text.len().saturating_sub(rest.len())))
}

/// `5`, `5 to 6`, `5 or lower`, `5 ขึ้นไป`.
fn open_end(first: u8, rest: &str) -> (RiskRange, &str) {
    let next = rest.trim_start();
    if let Some(rest) = after_longest(next, OR_LESS) {
        return ((RiskLevel::LOWEST, first), rest);
    }
    if let Some(rest) = after_longest(next, OR_MORE) {
        return ((first, RiskLevel::HIGHEST), rest);
    }
    let second = after_longest(next, &["to", "ถึง"]).unwrap_or(next).trim_start();
    match level(second) {
        Some((second, rest)) if second >= first => ((first, second), rest),
        _ => ((first, first), rest),
    }
}

/// A level from 1 to 8 that stands alone.
fn level(text: &str) -> Option<(u8, &str)> {
    let digit = text.chars().next()?.to_digit(10).and_then(|digit| u8::try_from(digit).ok())?;
    let rest = text.get(1..)?;
    let alone = !rest.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
    (alone && (RiskLevel::LOWEST..=RiskLevel::HIGHEST).contains(&digit)).then_some((digit, rest))
}

fn after_longest<'a>(text: &'a str, phrases: &[&str]) -> Option<&'a str> {
    let found = phrases.iter().filter(|words| begins_with(text, words));
    text.get(found.max_by_key(|words| words.len())?.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risk_levels_are_read_in_both_languages() {
        let cases = [
            ("risk 5", Some((5, 5))),
            ("risk level at most 4", Some((1, 4))),
            ("risk below 4", Some((1, 3))),
            ("risk 5 or lower", Some((1, 5))),
            ("risk 5 6", Some((5, 6))),
            ("risk 5 to 6", Some((5, 6))),
            ("low risk", Some((1, 4))),
            ("very high risk", Some((8, 8))),
            ("ความเสี่ยงระดับ 8", Some((8, 8))),
            ("เสี่ยงไม่เกิน 3", Some((1, 3))),
            ("ความเสี่ยง 6 ขึ้นไป", Some((6, 8))),
            ("ความเสี่ยงต่ำ", Some((1, 4))),
            ("risk 9", None),
            ("risk 500", None),
            ("risk parity", None),
        ];
        for (text, expected) in cases {
            assert_eq!(risk_range(text).map(|(range, _)| range), expected, "{text}");
        }
    }
}
