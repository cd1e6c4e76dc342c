//! Values of a filter that are compared with a day of the week, a time of the day, a severity or a
//! category: other values than those would make a comparison silently false.

use super::expression::{Comparison, Literal, Operand};
use crate::event::{Category, Severity};

/// The days of the week.
pub(crate) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Fewest letters of an abbreviated day.
const WEEKDAY_LETTERS: usize = 3;

/// The literal in the form of the operand's values, or what is wrong with it.
pub(super) fn typed(
    operand: &Operand,
    comparison: Comparison,
    literal: Literal,
) -> Result<Literal, String> {
    // Only equality needs a whole word: `weekday < 'N'` is an order of texts.
    let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let shown = match &literal {
        Literal::Text(text) => text.clone(),
        Literal::Number(number) => number.to_text(),
        Literal::Bool(value) => value.to_string(),
    };
    let (found, expected) = match operand {
        Operand::TimeOfDay => {
            (time_of_day(&literal), "not a time of the day such as 09:30".to_owned())
        }
        Operand::Weekday if is_equality => (
            word(&literal, &WEEKDAYS, WEEKDAY_LETTERS),
            "not a day of the week such as Friday".to_owned(),
        ),
        Operand::Severity if is_equality => {
            let words: Vec<&str> = Severity::ALL.iter().map(|own| own.as_str()).collect();
            (word(&literal, &words, usize::MAX), format!("not a severity: {}", words.join(", ")))
        }
        Operand::Category if is_equality => {
            let words: Vec<&str> = Category::ALL.iter().map(|own| own.as_str()).collect();
            (word(&literal, &words, usize::MAX), format!("not a category: {}", words.join(", ")))
        }
        Operand::Literal(_)
        | Operand::Path(_)
        | Operand::Hour
        | Operand::Weekday
        | Operand::Severity
        | Operand::Category => return Ok(literal),
    };
    found.map(Literal::Text).ok_or_else(|| format!("`{shown}` is {expected}"))
}

/// The word that a text means, ignoring case; abbreviations have at least `letters`.
fn word(literal: &Literal, words: &[&str], letters: usize) -> Option<String> {
    let Literal::Text(text) = literal else { return None };
    let is_meant = |own: &&&str| {
        let is_start = own.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
        own.eq_ignore_ascii_case(text) || is_start && text.len() >= letters
    };
    words.iter().find(is_meant).map(|own| (*own).to_owned())
}

/// `HH:MM:SS` of a text such as `9:30`, `09:30` or `09:30:15`.
fn time_of_day(literal: &Literal) -> Option<String> {
    let Literal::Text(text) = literal else { return None };
    let mut parts = text.split(':');
    let (hour, minute) = (two_digits(parts.next()?)?, two_digits(parts.next()?)?);
    let second = parts.next().map_or(Some(0), two_digits)?;
    let is_end_of_day = (hour, minute, second) == (24, 0, 0);
    let is_valid = (hour < 24 || is_end_of_day) && minute < 60 && second < 60;
    (is_valid && parts.next().is_none()).then(|| format!("{hour:02}:{minute:02}:{second:02}"))
}

fn two_digits(text: &str) -> Option<u8> {
    let is_plain = (1..=2).contains(&text.len()) && text.bytes().all(|own| own.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}
