//! Emergency detection.
//!
//! Thai telephone numbers: 1669 emergency medical services, 1367 Ramathibodi Poison Center, 1323
//! mental health hotline.
//!
//! `data/ttm/emergencies.jsonl` has the patterns. A pattern is a conjunction of parts joined by
//! `+`; a part is a list of alternatives joined by `|`. `!` before a part excludes it, and `#8:`
//! before a part demands a number of at least 8 in front of one of its words: `took+#8:tablets`
//! matches "took 30 paracetamol tablets". A missed emergency is worse than a needless warning, so
//! patterns are wide; habits ("3 tablets a day") and history ("a heart attack last year") are
//! excluded.

use serde::Deserialize;

use super::groups::GroupPhrases;
use crate::model::Bilingual;
use crate::text::spans::{is_bounded_left, is_bounded_right};
use crate::text::{is_thai, normalize};

/// A kind of emergency.
#[derive(Clone, Debug, Deserialize)]
pub struct Emergency {
    /// Id, such as `snake-bite`.
    pub id: String,
    /// Telephone numbers in order of priority.
    pub call: Vec<String>,
    /// Instructions.
    pub told: Bilingual,
    #[serde(rename = "words")]
    patterns: Patterns,
}

/// Compiled patterns of an emergency.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "GroupPhrases")]
struct Patterns(Vec<Vec<Part>>);

/// A part of a pattern.
#[derive(Clone, Debug)]
struct Part {
    excluded: bool,
    /// Minimum number in front of the word.
    least: Option<u32>,
    words: Vec<String>,
}

/// Largest number that counts tablets: larger ones are strengths, as in `paracetamol 500`.
const MAX_COUNT: u32 = 150;
/// Maximum number of words between a count and its unit: `12 of his blood pressure pills`.
const MAX_GAP: usize = 6;

/// Returns the first matching emergency in list order.
pub fn emergency_in<'e>(emergencies: &'e [Emergency], question: &str) -> Option<&'e Emergency> {
    let normalized = normalize(question);
    let text = normalized.text().replace('’', "'");
    let fits = |pattern: &Vec<Part>| pattern.iter().all(|part| part.holds(&text));
    emergencies.iter().find(|emergency| emergency.patterns.0.iter().any(fits))
}

impl From<GroupPhrases> for Patterns {
    fn from(phrases: GroupPhrases) -> Self {
        let all = phrases.th.iter().chain(&phrases.en);
        Self(all.map(|pattern| pattern.split('+').map(Part::parse).collect()).collect())
    }
}

impl Part {
    fn parse(part: &str) -> Self {
        let excluded = part.starts_with('!');
        let part = part.trim_start_matches('!');
        let counted = part.strip_prefix('#').and_then(|rest| rest.split_once(':'));
        let least = counted.and_then(|(least, _)| least.parse().ok());
        let words = counted.map_or(part, |(_, words)| words).split('|');
        let words = words.map(|word| normalize(word).text().trim().to_owned()).collect();
        Self { excluded, least, words }
    }

    fn holds(&self, text: &str) -> bool {
        let found = self.words.iter().any(|word| match self.least {
            None => places(text, word).next().is_some(),
            Some(least) => places(text, word).any(|at| {
                let before = text.get(..at).unwrap_or_default();
                count_in_front(before).is_some_and(|count| count >= least)
            }),
        });
        found != self.excluded
    }
}

/// Returns where a phrase occurs: Thai anywhere, other phrases on word boundaries.
fn places<'t>(text: &'t str, phrase: &'t str) -> impl Iterator<Item = usize> + 't {
    let thai = phrase.chars().any(is_thai);
    text.match_indices(phrase).filter_map(move |(at, found)| {
        let range = at..at + found.len();
        (thai || is_bounded_left(text, &range) && is_bounded_right(text, &range)).then_some(at)
    })
}

/// Number words and their values. Thai tens precede units: `สามสิบห้า`.
const NUMBERS: [(&str, u32); 40] = [
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("sixteen", 16),
    ("eighteen", 18),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("dozen", 12),
    ("dozens", 24),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("หลายสิบ", 20),
    ("เป็นสิบ", 10),
    ("ยี่สิบ", 20),
    ("สามสิบ", 30),
    ("สี่สิบ", 40),
    ("ห้าสิบ", 50),
    ("หกสิบ", 60),
    ("เจ็ดสิบ", 70),
    ("แปดสิบ", 80),
    ("เก้าสิบ", 90),
    ("สิบ", 10),
    ("ร้อย", 100),
    ("แปด", 8),
    ("เก้า", 9),
    ("สี่", 4),
    ("ห้า", 5),
    ("หก", 6),
];

/// Words after a number that make it a strength, an age or a time.
const OTHER_UNITS: [&str; 22] = [
    "mg", "mcg", "g", "ml", "year", "years", "yo", "month", "months", "week", "weeks", "day",
    "days", "hour", "hours", "minute", "minutes", "am", "pm", "times", "%", "percent",
];

/// Returns the largest count among the words in front of a unit.
fn count_in_front(before: &str) -> Option<u32> {
    // Thai has no spaces: the number stands directly in front of the unit.
    let thai_tail: String = before.trim_end().chars().rev().take(14).collect();
    let thai_tail: String = thai_tail.chars().rev().collect();
    let thai = NUMBERS.iter().find(|(word, _)| {
        word.chars().any(is_thai)
            && thai_tail.rfind(word).is_some_and(|at| at + word.len() + 12 >= thai_tail.len())
    });
    let words: Vec<&str> = before.split([' ', ',', '\n', '(', ')', '-']).collect();
    let start = words.len().saturating_sub(MAX_GAP + 1);
    let mut best = thai.map(|(_, count)| *count);
    for (place, word) in words.iter().enumerate().skip(start) {
        let next = words.get(place + 1).copied().unwrap_or_default();
        if OTHER_UNITS.contains(&next) {
            continue;
        }
        let digits = word.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let number = digits.parse::<u32>().ok();
        let spelt = NUMBERS.iter().find(|(spelt, _)| spelt == word).map(|(_, count)| *count);
        best = best.max(number.or(spelt).filter(|count| *count <= MAX_COUNT));
    }
    best
}

#[cfg(test)]
mod tests {
    use crate::catalog::HerbCatalog;

    use super::*;

    #[test]
    fn emergencies_are_detected_in_both_languages() {
        let catalog = HerbCatalog::bundled().unwrap();
        for (question, expected) in [
            ("I have chest pain radiating to my left arm, which herb helps?", Some("chest-pain")),
            ("เจ็บหน้าอกร้าวไปแขนซ้าย กินยาหอมได้ไหม", Some("chest-pain")),
            ("A cobra bit my son, what plant should I put on it?", Some("snake-bite")),
            ("ถูกงูกัดใช้ว่านอะไรดี", Some("snake-bite")),
            ("I want to end my life with nutmeg", Some("self-harm")),
            ("อยากตาย กินอะไรดี", Some("self-harm")),
            ("She swallowed a whole bottle of cannabis oil", Some("overdose")),
            ("กินกัญชาเกินขนาดทำยังไง", Some("overdose")),
            ("my nose won't stop bleeding", Some("bleeding")),
            ("เลือดไหลไม่หยุดใช้สมุนไพรอะไร", Some("bleeding")),
            ("took 30 paracetamol tablets", Some("overdose")),
            ("กินยาพาราไป 30 เม็ด", Some("overdose")),
            ("heart attack what herb", Some("chest-pain")),
            ("i cut my wrist", Some("self-harm")),
            ("my son drank a bottle of camphor oil", Some("overdose")),
            ("my baby swallowed a lot of camphor balm", Some("overdose")),
            ("ลูกกินการบูรเข้าไป", Some("overdose")),
            ("Does ginger cause more bleeding with warfarin?", None),
            ("Is Fai Ha Kong safe in abnormal postpartum bleeding?", None),
            ("What is turmeric used for?", None),
            ("ขิงกินกับช็อกโกแลตได้ไหม", None),
            ("I take 10 turmeric capsules a day, is that too much?", None),
            ("I took paracetamol 500 mg tablets twice", None),
        ] {
            let found = emergency_in(&catalog.emergencies, question).map(|one| one.id.as_str());
            assert_eq!(found, expected, "{question}");
        }
    }

    #[test]
    fn counts_are_read_in_digits_and_words() {
        for (before, expected) in [
            ("took 30 paracetamol ", Some(30)),
            ("took 12 of his blood pressure ", Some(12)),
            ("about forty ibuprofen ", Some(40)),
            ("took 2 ", Some(2)),
            ("took 500 mg paracetamol ", None),
            ("paracetamol 500 ", None),
            ("a 14 years old took some ", None),
            ("กินยาพาราไป 30 ", Some(30)),
            ("ซัดพาราไปสี่สิบ", Some(40)),
            ("กินยา ", None),
        ] {
            assert_eq!(count_in_front(before), expected, "{before}");
        }
    }
}
