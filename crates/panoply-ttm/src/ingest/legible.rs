//! Legibility of extracted text, and repair of Thai text from PDF fonts.
//!
//! Thai fonts encode marks in the private use area, and most lose the first half of sara am.
//! Damaged text is recognised by misplaced marks and by letters outside dictionary words.

use crate::text::{Segmenter, TokenKind, is_thai, normalize};

/// A page with a lower score is read by OCR.
pub const LEGIBLE: f64 = 0.9;

/// Minimum number of letters of a text.
const FEWEST_LETTERS: usize = 12;
/// Penalty of a misplaced mark, in letters.
const MISPLACED: f64 = 4.0;
/// Penalty of a letter outside dictionary words; low, because names are not in the dictionary.
const UNKNOWN: f64 = 0.5;

/// Returns a score from 0 (illegible or empty) to 1.
pub fn legibility(text: &str, segmenter: &Segmenter) -> f64 {
    let normalized = normalize(text);
    let text = normalized.text();
    let letters = text.chars().filter(|one| one.is_alphabetic() || is_thai(*one)).count();
    let broken = text.chars().filter(|one| is_scrambled(*one)).count();
    if letters + broken < FEWEST_LETTERS {
        return 0.0;
    }
    let misplaced = misplaced_marks(text);
    let unknown: usize = segmenter
        .segment(text)
        .iter()
        .map(|token| match token.kind {
            TokenKind::Unknown => token.text(text).chars().count(),
            TokenKind::Foreign => unpronounceable(token.text(text)),
            TokenKind::Thai | TokenKind::Number | TokenKind::Code | TokenKind::Sign => 0,
        })
        .sum();
    let bad = broken as f64 + MISPLACED * misplaced as f64 + UNKNOWN * unknown as f64;
    (1.0 - bad / (letters + broken) as f64).max(0.0)
}

/// Private use characters and the replacement character.
const fn is_scrambled(character: char) -> bool {
    matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{FFFD}' | '\u{0}'..='\u{8}' | '\u{E}'..='\u{1F}')
}

/// Returns the letters of a long word without vowels: a code or font damage.
fn unpronounceable(word: &str) -> usize {
    let letters = word.chars().count();
    let vowel = |one: char| "aeiouyàáâäèéêëìíîïòóôöùúûü".contains(one) || !one.is_ascii_lowercase();
    if letters >= 5 && !word.chars().any(vowel) { letters } else { 0 }
}

const fn is_mark(one: char) -> bool {
    matches!(one, '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}')
}

/// Counts marks without a base letter.
fn misplaced_marks(text: &str) -> usize {
    let mut before = ' ';
    let mut misplaced = 0;
    for character in text.chars() {
        let carries = is_mark(before) || matches!(before, '\u{0E01}'..='\u{0E2E}' | SARA_AM);
        misplaced += usize::from(is_mark(character) && !carries);
        before = character;
    }
    misplaced
}

/// Repairs Thai text: maps private use marks, removes spaces before marks, and restores sara am
/// where only it forms words.
pub fn repaired(text: &str, segmenter: &Segmenter) -> String {
    let mut letters: Vec<char> = Vec::with_capacity(text.len());
    for character in text.chars().map(of_private_area) {
        if is_mark(character) || character == SARA_AM {
            while letters.last() == Some(&' ') {
                letters.pop();
            }
        }
        letters.push(character);
        join_sara_am(&mut letters);
    }
    sara_am(letters, segmenter)
}

const SARA_AA: char = '\u{0E32}';
const SARA_AM: char = '\u{0E33}';
const NIKHAHIT: char = '\u{0E4D}';

/// Joins nikhahit and sara aa, with an optional tone mark between them, to sara am.
fn join_sara_am(letters: &mut Vec<char>) {
    let tone = |one: char| matches!(one, '\u{0E48}'..='\u{0E4B}');
    let joined = match letters.as_slice() {
        [.., NIKHAHIT, SARA_AA] => Some((2, None)),
        [.., NIKHAHIT, mark, SARA_AA] if tone(*mark) => Some((3, Some(*mark))),
        _ => None,
    };
    if let Some((length, mark)) = joined {
        letters.truncate(letters.len() - length);
        letters.extend(mark);
        letters.push(SARA_AM);
    }
}

/// Maps private use glyphs of Thai Windows fonts to Unicode.
const fn of_private_area(character: char) -> char {
    match character {
        '\u{F700}' => 'ฐ',
        '\u{F701}' => '\u{0E34}',
        '\u{F702}' => '\u{0E35}',
        '\u{F703}' => '\u{0E36}',
        '\u{F704}' => '\u{0E37}',
        '\u{F705}' | '\u{F70A}' | '\u{F713}' => '\u{0E48}',
        '\u{F706}' | '\u{F70B}' | '\u{F714}' => '\u{0E49}',
        '\u{F707}' | '\u{F70C}' | '\u{F715}' => '\u{0E4A}',
        '\u{F708}' | '\u{F70D}' | '\u{F716}' => '\u{0E4B}',
        '\u{F709}' | '\u{F70E}' | '\u{F717}' => '\u{0E4C}',
        '\u{F70F}' => 'ญ',
        '\u{F710}' => '\u{0E31}',
        '\u{F711}' => '\u{0E4D}',
        '\u{F712}' => '\u{0E47}',
        '\u{F718}' => '\u{0E38}',
        '\u{F719}' => '\u{0E39}',
        '\u{F71A}' => '\u{0E3A}',
        other => other,
    }
}

/// Context of a sara aa, in letters on each side.
const AROUND: usize = 16;

/// Replaces each sara aa by sara am if that leaves fewer letters outside words, or fewer words.
fn sara_am(mut letters: Vec<char>, segmenter: &Segmenter) -> String {
    for at in 0..letters.len() {
        if letters.get(at) != Some(&SARA_AA) {
            continue;
        }
        let around = at.saturating_sub(AROUND)..(at + AROUND).min(letters.len());
        let as_it_is = cost(letters.get(around.clone()).unwrap_or_default(), segmenter);
        set(&mut letters, at, SARA_AM);
        if cost(letters.get(around).unwrap_or_default(), segmenter) >= as_it_is {
            set(&mut letters, at, SARA_AA);
        }
    }
    letters.into_iter().collect()
}

fn set(letters: &mut [char], at: usize, to: char) {
    if let Some(letter) = letters.get_mut(at) {
        *letter = to;
    }
}

/// Returns the number of letters outside words and of words.
fn cost(letters: &[char], segmenter: &Segmenter) -> (usize, usize) {
    let text: String = letters.iter().collect();
    let text = normalize(&text);
    let tokens = segmenter.segment(text.text());
    let unknown = tokens.iter().filter(|token| token.kind == TokenKind::Unknown);
    (unknown.map(|token| token.text(text.text()).chars().count()).sum(), tokens.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::text::Dictionary;

    fn segmenter() -> Segmenter {
        Segmenter::new(Arc::new(Dictionary::new(["แอนโดรกราโฟไลด์"]).unwrap()))
    }

    #[test]
    fn lost_sara_am_is_restored_where_only_it_forms_a_word() {
        // Output of pdf-extract 0.12.1 for Norasi, Loma and Garuda.
        let cases = [
            ("สาคัญ", "สำคัญ"),
            ("น้ามันหอมระเหย", "น้ำมันหอมระเหย"),
            ("ตารับยา", "ตำรับยา"),
            ("ทาให้", "ทำให้"),
            ("อาการ", "อาการ"),
            ("ขนาดและวิธีใช้", "ขนาดและวิธีใช้"),
            ("รักษา", "รักษา"),
            ("ยาสมุนไพร", "ยาสมุนไพร"),
            ("แอนโดรกราโฟไลด์", "แอนโดรกราโฟไลด์"),
            ("สําคัญ น้ํา นํ้า", "สำคัญ น้ำ น้ำ"),
            ("ใต ้ด ิน", "ใต้ดิน"),
        ];
        for (read, expected) in cases {
            assert_eq!(repaired(read, &segmenter()), expected, "{read}");
        }
    }

    #[test]
    fn legibility_separates_text_from_font_garbage() {
        let segmenter = segmenter();
        let legible = [
            "ขมิ้นชันมีสารสำคัญคือเคอร์คูมิน ใช้บรรเทาอาการท้องอืด ท้องเฟ้อ แน่นจุกเสียด",
            "Turmeric contains curcumin and is used to relieve flatulence and dyspepsia.",
        ];
        for text in legible {
            let score = legibility(text, &segmenter);
            assert!(score >= LEGIBLE, "{score} {text}");
        }
        let scrambled = [
            "",
            "1 2 3",
            "\u{E001}\u{E002}\u{E003}\u{E004}\u{E005}\u{E006}\u{E007}\u{E008}\u{E009}\u{E00A}\u{E00B}\u{E00C}\u{E00D}",
            "่่้ก้้้ัับบ่่ิิก่่ง้้ิกด่่้้ิ",
            "xkcdq wrtzp qqrst bcdfg hjklm npqrs tvwxz",
        ];
        for text in scrambled {
            let score = legibility(text, &segmenter);
            assert!(score < LEGIBLE, "{score} {text}");
        }
    }
}
