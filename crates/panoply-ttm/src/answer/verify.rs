//! Whether what a sentence cites supports it.
//!
//! Four rules, none of which needs a model: three fifths of its telling words stand in what it
//! cites; so does every number, with its unit; it negates where they negate and not otherwise; it
//! names nothing that they do not name.

use std::collections::BTreeSet;

use crate::search::{Engine, TextWords};
use crate::text::{Token, TokenKind};

/// How much of a sentence must stand in what it cites.
pub const COVERAGE: f64 = 0.6;

/// What was found about a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// The share of its telling words that what it cites has too.
    pub coverage: f64,
    /// Whether every number stands there, with the same unit.
    pub same_numbers: bool,
    /// Whether both negate or neither does.
    pub same_negation: bool,
    /// Whether everything it names is named there.
    pub same_names: bool,
}

impl Support {
    /// Whether the sentence may stand.
    pub fn holds(&self) -> bool {
        self.coverage >= COVERAGE && self.same_numbers && self.same_negation && self.same_names
    }
}

/// Checks a sentence against the passages it cites. `labels` are the titles and ids of their
/// documents: a sentence may name what it cites.
pub fn support(engine: &Engine, sentence: &str, passages: &[&str], labels: &[&str]) -> Support {
    let mut cited = TextWords::default();
    passages.iter().chain(labels).for_each(|text| cited.join(&engine.words_of(text)));
    let telling = engine.telling_terms(sentence);
    let shared = cited.shared(telling.iter());
    #[expect(clippy::cast_precision_loss, reason = "words of a sentence")]
    let coverage = if telling.is_empty() { 0.0 } else { shared as f64 / telling.len() as f64 };
    let mut known_numbers = BTreeSet::new();
    let mut known_names: BTreeSet<String> =
        labels.iter().map(|label| (*label).to_owned()).collect();
    for text in passages.iter().chain(labels) {
        known_numbers.extend(numbers(engine, text));
        known_names.extend(names(engine, text));
    }
    let own_numbers = numbers(engine, sentence);
    let negated = negates(engine, sentence);
    Support {
        coverage,
        same_numbers: own_numbers.is_subset(&known_numbers),
        same_negation: passages.iter().any(|passage| negates(engine, passage) == negated),
        same_names: names(engine, sentence).is_subset(&known_names),
    }
}

/// Whether a text promises that something is safe. Only an official source may do that where
/// danger is asked for.
pub fn promises_safety(text: &str) -> bool {
    let text = text.to_lowercase();
    let promised = ["safe", "well tolerated", "well-tolerated", "harmless", "ปลอดภัย", "ไม่มีอันตราย"];
    let denied = ["unsafe", "not safe", "ไม่ปลอดภัย", "ไม่ได้แปลว่าปลอดภัย"];
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has(&promised) && !has(&denied)
}

fn names(engine: &Engine, text: &str) -> BTreeSet<String> {
    engine.names_in(text).into_iter().map(|mention| mention.id).collect()
}

/// The numbers of a text, each with the unit behind it if there is one.
fn numbers(engine: &Engine, text: &str) -> BTreeSet<(String, Option<&'static str>)> {
    let (text, tokens) = engine.cut(text);
    let mut found = BTreeSet::new();
    for (place, token) in tokens.iter().enumerate() {
        if !matches!(token.kind, TokenKind::Number | TokenKind::Code) {
            continue;
        }
        let next = tokens.get(place + 1).map(|next| next.text(&text)).unwrap_or_default();
        found.insert((token.text(&text).to_owned(), unit(next)));
    }
    found
}

/// A unit by one of its spellings.
fn unit(word: &str) -> Option<&'static str> {
    let known = UNITS.iter().find(|(_, spellings)| spellings.contains(&word));
    known.map(|(unit, _)| *unit)
}

const UNITS: &[(&str, &[&str])] = &[
    ("mg", &["mg", "milligram", "milligrams", "มก", "มิลลิกรัม"]),
    ("g", &["g", "gram", "grams", "กรัม"]),
    ("kg", &["kg", "kilogram", "kilograms", "กก", "กิโลกรัม"]),
    ("ml", &["ml", "millilitre", "milliliter", "มล", "มิลลิลิตร", "ซีซี"]),
    ("day", &["day", "days", "วัน"]),
    ("week", &["week", "weeks", "สัปดาห์"]),
    ("month", &["month", "months", "เดือน"]),
    ("year", &["year", "years", "ปี"]),
    ("hour", &["hour", "hours", "ชั่วโมง"]),
    ("percent", &["percent", "%", "เปอร์เซ็นต์", "ร้อยละ"]),
    ("times", &["times", "ครั้ง"]),
];

/// Whether a text forbids or denies something.
fn negates(engine: &Engine, text: &str) -> bool {
    let (text, tokens) = engine.cut(text);
    let thai = NEGATIONS_TH.iter().any(|word| text.contains(word));
    thai || tokens.iter().any(|token| is_negation(token, &text))
}

fn is_negation(token: &Token, text: &str) -> bool {
    let word = token.text(text);
    token.kind == TokenKind::Foreign
        && (NEGATIONS_EN.contains(&word)
            || word.ends_with("n't")
            || word.starts_with("contraindicat"))
}

const NEGATIONS_TH: &[&str] = &["ไม่", "ห้าม", "มิได้", "ปราศจาก", "งดใช้"];
const NEGATIONS_EN: &[&str] =
    &["not", "no", "never", "without", "avoid", "cannot", "neither", "nor", "none", "unable"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use crate::search::corpus;

    #[test]
    fn a_sentence_must_keep_words_numbers_negation_and_names() {
        let engine = Engine::new(corpus(&Library::bundled().unwrap())).unwrap();
        let english =
            "In rats, 200 mg of ginger extract for 7 days did not change the level of warfarin.";
        let thai = "บัญชียาหลักแห่งชาติห้ามใช้ฟ้าทะลายโจรในกรณี: หญิงตั้งครรภ์; หญิงให้นมบุตร";
        let cases = [
            (
                english,
                "Ginger extract, 200 mg for 7 days, did not change the warfarin level in rats.",
                true,
            ),
            (
                english,
                "Ginger extract, 400 mg for 7 days, did not change the warfarin level in rats.",
                false,
            ),
            (
                english,
                "Ginger extract, 200 g for 7 days, did not change the warfarin level in rats.",
                false,
            ),
            (
                english,
                "Ginger extract, 200 mg for 7 days, changed the warfarin level in rats.",
                false,
            ),
            (
                english,
                "Turmeric extract, 200 mg for 7 days, did not change the warfarin level in rats.",
                false,
            ),
            (
                english,
                "Do not worry, everything about this wonderful plant is perfectly harmless.",
                false,
            ),
            (thai, "ห้ามใช้ฟ้าทะลายโจรในหญิงตั้งครรภ์", true),
            (thai, "ใช้ฟ้าทะลายโจรในหญิงตั้งครรภ์ได้", false),
            (thai, "ห้ามใช้ขมิ้นชันในหญิงตั้งครรภ์", false),
            (english, "", false),
        ];
        for (passage, sentence, expected) in cases {
            let found = support(&engine, sentence, &[passage], &[]);
            assert_eq!(found.holds(), expected, "{sentence}: {found:?}");
        }
    }
}
