//! Rule-based claim parser for safety statements in Thai and English.
//!
//! A clause forbids, cautions or permits; states that something treats, causes or prevents;
//! compares, excepts, generalises or asserts certainty. Negation is parsed together with the cue it
//! precedes: `not contraindicated` permits, `not safe` forbids, and a statement called a myth or
//! without evidence is denied. The answer verifier, fact extraction and evaluation share this
//! parser.

mod cues;

use std::collections::BTreeSet;
use std::ops::Range;

use self::cues::Cue;
use crate::text::{is_thai, normalize};

/// Stance of a clause on use.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Stance {
    /// Contraindicated.
    Forbids,
    /// To be used with caution.
    Cautions,
    /// Safe, recommended or allowed.
    Permits,
}

/// Other claim elements, each of which the cited passage must contain.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Mark {
    /// Treats, relieves, is indicated for.
    Treats,
    /// Denied [`Mark::Treats`].
    TreatsNot,
    /// Causes, leads to.
    Causes,
    /// Denied [`Mark::Causes`].
    CausesNot,
    /// Interacts.
    Interacts,
    /// Denied [`Mark::Interacts`].
    InteractsNot,
    /// Prevents, protects from.
    Prevents,
    /// More, higher, stronger.
    More,
    /// Less, lower, weaker.
    Less,
    /// Except, unless, only.
    Except,
    /// Everyone, always, any.
    Universal,
    /// Proven, guaranteed, certainly.
    Certain,
    /// High value, such as hyperglycaemia.
    Hyper,
    /// Low value, such as hypoglycaemia.
    Hypo,
}

/// A clause of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// Range in the normalised text.
    pub range: Range<usize>,
    /// Stances on use; a list item inherits those of the preceding clause.
    pub stances: BTreeSet<Stance>,
    /// Other claim elements.
    pub marks: BTreeSet<Mark>,
    /// Subjects of comparisons: the word adjacent to the cue.
    pub directions: Vec<(Mark, String)>,
    /// Whether another statement is denied.
    pub denied: bool,
    /// Whether the clause doubts or refutes what it says: a myth, no evidence, an open question.
    pub doubted: bool,
}

/// Splits a normalised text into clauses.
pub fn clauses(text: &str) -> Vec<Clause> {
    let mut found: Vec<Clause> = Vec::new();
    for (range, continues) in split(text) {
        let mut clause = clause(text, range);
        if clause.stances.is_empty() && continues {
            clause.stances = found.last().map(|before| before.stances.clone()).unwrap_or_default();
        }
        found.push(clause);
    }
    found
}

/// Returns the ranges of all cues in a normalised text.
pub(crate) fn cue_ranges(text: &str) -> Vec<Range<usize>> {
    cues::find(text).into_iter().map(|(range, _)| range).collect()
}

/// Names of official sources that a document may pose as.
const OFFICIAL: [&str; 9] = [
    "national list of essential",
    "national essential medicines list",
    "nlem",
    "ministry of public health",
    "thai fda",
    "บัญชียาหลัก",
    "กระทรวงสาธารณสุข",
    "กรมการแพทย์แผนไทย",
    "สำนักงานคณะกรรมการอาหารและยา",
];

/// Returns whether a text presents itself as an official source. A user document may say so, but
/// is never quoted as one.
pub fn poses_as_official(text: &str) -> bool {
    let text = normalize(text).text().to_lowercase();
    OFFICIAL.iter().any(|name| text.contains(name))
}

/// Maximum distance in bytes between a negation and the cue it negates.
const NEGATION_WINDOW: usize = 42;

fn clause(text: &str, range: Range<usize>) -> Clause {
    let piece = text.get(range.clone()).unwrap_or_default();
    let mut clause = Clause {
        range,
        stances: BTreeSet::new(),
        marks: BTreeSet::new(),
        directions: Vec::new(),
        denied: false,
        doubted: false,
    };
    let mut denial: Option<usize> = None;
    let mut myth = false;
    for (place, cue) in cues::find(piece) {
        // A negation does not reach across a colon: `not for everyone: it must not be used`.
        denial =
            denial.filter(|end| !piece.get(*end..place.start).is_some_and(|gap| gap.contains(':')));
        let denied = denial.is_some_and(|end| place.start.saturating_sub(end) <= NEGATION_WINDOW);
        match cue {
            Cue::Not => {
                denial = Some(place.end);
                continue;
            }
            Cue::Myth => myth = true,
            Cue::Nothing => {}
            Cue::Stance(stance) => {
                let effective = match (stance, denied) {
                    (stance, false) => stance,
                    (Stance::Permits, true) => Stance::Forbids,
                    (Stance::Forbids | Stance::Cautions, true) => Stance::Permits,
                };
                clause.stances.insert(effective);
                denial = denial.filter(|_| !denied);
            }
            Cue::Mark(mark) => {
                let effective = match (mark, denied) {
                    (Mark::Treats, true) => Mark::TreatsNot,
                    (Mark::Causes, true) => Mark::CausesNot,
                    (Mark::Interacts, true) => Mark::InteractsNot,
                    (mark, _) => mark,
                };
                clause.marks.insert(effective);
                if matches!(effective, Mark::More | Mark::Less) {
                    clause.directions.push((effective, adjacent_word(piece, &place)));
                }
                if effective != mark {
                    denial = None;
                }
            }
        }
    }
    if myth {
        // A myth or statement without evidence is not a claim.
        if !clause.stances.is_empty() {
            clause.stances = BTreeSet::from([Stance::Permits]);
        }
        for (mark, not) in [
            (Mark::Treats, Mark::TreatsNot),
            (Mark::Causes, Mark::CausesNot),
            (Mark::Interacts, Mark::InteractsNot),
        ] {
            if clause.marks.remove(&mark) {
                clause.marks.insert(not);
            }
        }
        clause.denied = true;
        clause.doubted = true;
    }
    if permits_at_the_end(piece) {
        clause.stances.insert(Stance::Permits);
    }
    clause.denied |= denial.is_some();
    clause
}

/// Thai expresses permission with a final particle: `ใช้ … ได้`.
fn permits_at_the_end(piece: &str) -> bool {
    let piece = piece.trim().trim_end_matches('.');
    let end = ["ได้", "ได้เลย", "ได้ปกติ", "ได้อยู่"].iter().any(|end| piece.ends_with(end));
    let denied = ["ไม่ได้", "มิได้"].iter().any(|end| piece.ends_with(end));
    end && !denied && ["ใช้", "กิน", "ทาน", "ดื่ม", "ทา"].iter().any(|verb| piece.contains(verb))
}

/// Returns the subject of a comparison: the word after the cue in English, before it in Thai.
fn adjacent_word(piece: &str, cue: &Range<usize>) -> String {
    let thai = piece.get(cue.clone()).unwrap_or_default().chars().any(is_thai);
    let before = piece.get(..cue.start).unwrap_or_default();
    if thai {
        let letters: Vec<char> = before.trim_end().chars().rev().take(6).collect();
        return letters.into_iter().rev().collect();
    }
    let skipped = ["the", "a", "of", "risk", "drug", "in", "its", "their", "blood"];
    let after = piece.get(cue.end..).unwrap_or_default();
    let word = |text: &str| -> Option<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let mut words = words.filter(|word| !word.is_empty() && !skipped.contains(word));
        words.next().map(|word| word.trim_end_matches('s').to_owned())
    };
    word(after).unwrap_or_default()
}

/// Clause delimiters; the flag says whether a list may continue after them.
const ENDS: &[(&str, bool)] = &[
    ("; ", true),
    (". ", false),
    (" but ", false),
    (", but ", false),
    (" however", false),
    (" although ", false),
    (" whereas ", false),
    (" though ", false),
    ("แต่", false),
    ("อย่างไรก็ตาม", false),
    ("ส่วน", false),
];

fn split(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut cuts: Vec<(usize, usize, bool)> = Vec::new();
    for (end, continues) in ENDS {
        for (at, found) in text.match_indices(end) {
            // Excludes `เว้นแต่` (except) and `ส่วนประกอบ` (ingredient).
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at..).unwrap_or_default();
            if before.ends_with("เว้น")
                || after.starts_with("ส่วนประกอบ")
                || after.starts_with("ส่วนที่")
                || after.starts_with("ส่วนกลาง")
            {
                continue;
            }
            cuts.push((at, at + found.len(), *continues));
        }
    }
    cuts.sort_unstable();
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut continues = false;
    for (at, end, next) in cuts {
        if at < start {
            continue;
        }
        pieces.push((start..at, continues));
        start = end;
        continues = next;
    }
    pieces.push((start..text.len(), continues));
    pieces.retain(|(range, _)| !text.get(range.clone()).unwrap_or_default().trim().is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stance(text: &str) -> Option<Stance> {
        let clauses = clauses(normalize(text).text());
        clauses.first().and_then(|clause| clause.stances.last().copied())
    }

    #[test]
    fn clause_stance_is_inverted_by_negation() {
        for (text, expected) in [
            ("The national list contraindicates Andrographis in: pregnancy", Some(Stance::Forbids)),
            ("psyllium is not contraindicated in pregnancy", Some(Stance::Permits)),
            ("The list asks for caution with Turmeric in: pregnancy", Some(Stance::Cautions)),
            ("Turmeric is recommended in pregnancy", Some(Stance::Permits)),
            ("Turmeric is not recommended in pregnancy", Some(Stance::Forbids)),
            ("It is a myth that garlic must not be taken with warfarin", Some(Stance::Permits)),
            ("Pregnant women should avoid neem", Some(Stance::Forbids)),
            ("no need for caution in children", Some(Stance::Permits)),
            ("ทั้งสามชนิดไม่มีข้อห้ามใช้ในเด็ก", Some(Stance::Permits)),
            ("บัญชียาหลักแห่งชาติห้ามใช้ฟ้าทะลายโจรในกรณี: หญิงตั้งครรภ์", Some(Stance::Forbids)),
            ("ขมิ้นชันใช้ร่วมกับวาร์ฟารินได้อย่างปลอดภัย", Some(Stance::Permits)),
            ("ผู้ป่วยโรคไตไม่ควรใช้หญ้าหนวดแมว", Some(Stance::Forbids)),
            ("บัญชียาหลักแห่งชาติให้ระวังการใช้ขมิ้นชันในกรณี: เด็ก", Some(Stance::Cautions)),
            ("Turmeric with warfarin: more bleeding", None),
            ("ใช้ฟ้าทะลายโจรในหญิงตั้งครรภ์ได้", Some(Stance::Permits)),
            ("no caution is recorded, which does not mean that it is safe", Some(Stance::Permits)),
        ] {
            assert_eq!(stance(text), expected, "{text}");
        }
    }

    #[test]
    fn claim_marks_include_their_negation() {
        let marks = |text: &str| clauses(normalize(text).text())[0].marks.clone();
        assert!(marks("Garlic treats malaria").contains(&Mark::Treats));
        assert!(
            marks("There is no evidence that garlic treats malaria").contains(&Mark::TreatsNot)
        );
        assert!(marks("Pandan does not interact with insulin").contains(&Mark::InteractsNot));
        assert!(marks("more bleeding").contains(&Mark::More));
        assert!(marks("less bleeding").contains(&Mark::Less));
        assert!(marks("in everything except pregnancy").contains(&Mark::Except));
    }

    #[test]
    fn list_items_inherit_the_stance_until_but() {
        let text = "the list contraindicates x in: pregnancy; children but y is safe in adults";
        let stances: Vec<_> =
            clauses(text).iter().map(|clause| clause.stances.last().copied()).collect();
        assert_eq!(stances, [Some(Stance::Forbids), Some(Stance::Forbids), Some(Stance::Permits)]);
    }
}
