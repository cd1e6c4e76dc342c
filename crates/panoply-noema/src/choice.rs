//! Multiple choice: checking the options of a new card and shuffling them for each review.

use crate::card::Card;
use crate::html;
use crate::note::{Form, NoteType};

/// Why a multiple-choice card cannot be created.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum InvalidChoices {
    /// Fewer than two options.
    #[error("a multiple-choice card has {0} options; expected 2 to 26 in `choices`")]
    TooFew(usize),
    /// An empty option.
    #[error("option {0} is empty")]
    Empty(usize),
    /// Two equal options.
    #[error("the option `{0}` occurs twice")]
    Repeated(String),
    /// The answer is not an option.
    #[error("the answer `{0}` is none of the options")]
    AnswerMissing(String),
    /// Options of a card of another form.
    #[error("only a card with `form` choice has `choices`")]
    NotAChoice,
}

/// Checks the options and returns the answer as one of them. A letter stands for its option.
pub fn check(form: Form, back: &str, choices: &[String]) -> Result<Option<String>, InvalidChoices> {
    match (form, choices.len()) {
        (Form::Choice, count @ 0..=1) => return Err(InvalidChoices::TooFew(count)),
        (Form::Choice, _) => {}
        (_, 0) => return Ok(None),
        _ => return Err(InvalidChoices::NotAChoice),
    }
    let plain: Vec<String> = choices.iter().map(|choice| folded(choice)).collect();
    for (index, choice) in plain.iter().enumerate() {
        if choice.is_empty() {
            return Err(InvalidChoices::Empty(index + 1));
        }
        if plain.iter().take(index).any(|other| other == choice) {
            return Err(InvalidChoices::Repeated(choice.clone()));
        }
    }
    let answer = folded(back);
    let same = plain.iter().position(|choice| *choice == answer);
    let position = same.or_else(|| letter_index(&answer).filter(|index| *index < choices.len()));
    let missing = || InvalidChoices::AnswerMissing(back.chars().take(80).collect());
    position.and_then(|index| choices.get(index)).cloned().map(Some).ok_or_else(missing)
}

fn folded(text: &str) -> String {
    html::strip(text).to_lowercase()
}

/// The index of a single letter such as `B` or `b)`.
fn letter_index(text: &str) -> Option<usize> {
    let letter = text.trim_end_matches(['.', ')']);
    let [byte @ b'a'..=b'z'] = letter.as_bytes() else { return None };
    Some(usize::from(byte - b'a'))
}

/// The `Choices` field of these options.
pub fn lettered<'a>(choices: impl IntoIterator<Item = &'a str>) -> String {
    let lines: Vec<String> =
        ('A'..='Z').zip(choices).map(|(letter, choice)| format!("{letter}) {choice}")).collect();
    lines.join("<br>")
}

/// The fields of a multiple-choice note with its options in another order for each review, so that
/// the position is not learnt. `None` for notes of other types. The order follows from the card and
/// its schedule sequence: front and back of one review agree.
pub fn shuffled(note_type: &NoteType, fields: &[String], card: &Card) -> Option<Vec<String>> {
    if note_type.id != Form::Choice.note_type().id {
        return None;
    }
    let [front, lines, back, rest @ ..] = fields else { return None };
    let mut choices: Vec<&str> = lines.split("<br>").map(without_letter).collect();
    let answer = match letter_index(&folded(back)) {
        // Earlier versions accepted a letter as the answer.
        Some(index) if !choices.iter().any(|choice| folded(choice) == folded(back)) => {
            choices.get(index).map_or_else(|| back.clone(), |choice| (*choice).to_owned())
        }
        _ => back.clone(),
    };
    let mut state = card.id.0.cast_unsigned() ^ card.sequence.cast_unsigned().rotate_left(32);
    for last in (1..choices.len()).rev() {
        state = splitmix(state);
        let other = usize::try_from(state % (last as u64 + 1)).unwrap_or_default();
        choices.swap(last, other);
    }
    let mut fields = vec![front.clone(), lettered(choices), answer];
    fields.extend_from_slice(rest);
    Some(fields)
}

/// The option in `B) Bangkok`.
fn without_letter(line: &str) -> &str {
    let line = line.trim();
    match line.split_once(')') {
        Some((letter, choice)) if letter.len() == 1 => choice.trim(),
        _ => line,
    }
}

/// SplitMix64.
const fn splitmix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_of_a_choice_must_be_one_of_two_or_more_distinct_options() {
        let check = |back: &str, choices: &[&str]| {
            let choices: Vec<String> = choices.iter().map(|choice| (*choice).to_owned()).collect();
            check(Form::Choice, back, &choices)
        };
        assert_eq!(check("bangkok", &["Hanoi", "Bangkok"]), Ok(Some("Bangkok".to_owned())));
        assert_eq!(check("B", &["Hanoi", "Bangkok"]), Ok(Some("Bangkok".to_owned())));
        assert_eq!(check("b", &["b", "a"]), Ok(Some("b".to_owned())), "an option before a letter");
        assert_eq!(check("Z", &["A", "B"]), Err(InvalidChoices::AnswerMissing("Z".to_owned())));
        assert_eq!(check("A", &["A"]), Err(InvalidChoices::TooFew(1)));
        assert_eq!(check("A", &["A", " "]), Err(InvalidChoices::Empty(2)));
        assert_eq!(check("A", &["A", "<b>a</b>"]), Err(InvalidChoices::Repeated("a".to_owned())));
    }
}
