//! Whether what a sentence cites entails it.
//!
//! A sentence that stands word for word in what it cites is supported. Any other must keep words,
//! numbers and names, and its typed claim: every clause that forbids, asks for care or permits
//! needs a clause of one cited passage with the same stance about the same populations and
//! medicines; more and less, exceptions, generalisations, certainty and what treats, causes or
//! prevents must be there as they are in the passage ([`crate::claims`]). So `is safe` never
//! passes over a warning, and a contraindication never becomes a caution.

use std::collections::BTreeSet;

use crate::catalog::HerbCatalog;
use crate::claims::{Clause, Mark, Stance, clauses};
use crate::search::{Engine, TextWords};
use crate::text::{TokenKind, normalize};

/// How much of a sentence must stand in what it cites.
pub const COVERAGE: f64 = 0.6;

/// What was found about a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Whether it stands there word for word.
    pub verbatim: bool,
    /// The share of its telling words that what it cites has too.
    pub coverage: f64,
    /// Whether every number stands there, with the same unit.
    pub same_numbers: bool,
    /// Whether everything it names is named there.
    pub same_names: bool,
    /// Whether its claim follows from one of the passages.
    pub entailed: bool,
}

impl Support {
    /// Whether the sentence may stand.
    pub fn holds(&self) -> bool {
        self.verbatim
            || self.coverage >= COVERAGE && self.same_numbers && self.same_names && self.entailed
    }
}

/// Judges whether a claim follows from passages. The grammar of this crate is the default; a
/// local model of natural-language inference can stand behind the same trait.
pub trait Entailment: std::fmt::Debug + Send + Sync {
    /// Whether `sentence` follows from the passages together.
    fn entails(&self, sentence: &str, passages: &[&str]) -> bool;
}

/// The grammar of [`crate::claims`].
#[derive(Debug)]
pub struct ClaimEntailment<'l> {
    /// Populations and medicines are known by it.
    pub catalog: &'l HerbCatalog,
    /// Words are cut by it.
    pub engine: &'l Engine,
}

/// Checks a sentence against the passages it cites. `labels` are the titles and ids of their
/// documents: a sentence may name what it cites.
pub fn support(
    catalog: &HerbCatalog,
    engine: &Engine,
    sentence: &str,
    passages: &[&str],
    labels: &[&str],
) -> Support {
    let grammar = ClaimEntailment { catalog, engine };
    support_by(&grammar, engine, sentence, passages, labels)
}

/// The same, with another judge of entailment.
pub fn support_by(
    judge: &dyn Entailment,
    engine: &Engine,
    sentence: &str,
    passages: &[&str],
    labels: &[&str],
) -> Support {
    let mut cited = TextWords::default();
    passages.iter().chain(labels).for_each(|text| cited.join(&engine.words_of(text)));
    let telling = engine.content_terms(sentence);
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
    Support {
        verbatim: is_verbatim(sentence, passages),
        coverage,
        same_numbers: numbers(engine, sentence).is_subset(&known_numbers),
        same_names: names(engine, sentence).is_subset(&known_names),
        entailed: judge.entails(sentence, passages),
    }
}

impl Entailment for ClaimEntailment<'_> {
    fn entails(&self, sentence: &str, passages: &[&str]) -> bool {
        let own = self.claims(sentence);
        let cited: Vec<Vec<TypedClause>> = passages.iter().map(|text| self.claims(text)).collect();
        let all = || cited.iter().flatten();
        let same_marks = own.iter().flat_map(|claim| &claim.clause.marks).all(|mark| match mark {
            // `causes` may stand for an effect that the passage merely states; never the denial.
            Mark::Causes => !all().any(|claim| claim.clause.marks.contains(&Mark::CausesNot)),
            Mark::Interacts => !all().any(|claim| claim.clause.marks.contains(&Mark::InteractsNot)),
            // A use may be stated without a word for it, and never in a warning.
            Mark::Treats => all().any(|claim| {
                let marks = &claim.clause.marks;
                claim.clause.stances.is_empty()
                    && !marks.contains(&Mark::TreatsNot)
                    && !marks.contains(&Mark::Causes)
            }),
            mark => all().any(|claim| claim.clause.marks.contains(mark)),
        });
        // What is said to be more may not be less in a passage.
        let turned = |(mark, what): &(Mark, String)| {
            let mut cited = all().flat_map(|claim| &claim.clause.directions);
            cited.any(|(other, of)| other != mark && of == what)
        };
        let directions = || own.iter().flat_map(|claim| &claim.clause.directions);
        same_marks
            && !directions().any(turned)
            && !own.is_empty()
            && own.iter().all(|claim| {
                let fits = |passage: &Vec<TypedClause>| claim.follows_from(passage);
                // A list rests on one passage an item: each must take the same stance, and what
                // it is about must stand in one of them.
                cited.iter().any(fits)
            })
            && self.no_passage_disagrees(&own, &cited)
    }
}

/// A clause with the populations, medicines and illnesses it is about.
struct TypedClause {
    clause: Clause,
    about: BTreeSet<String>,
}

impl TypedClause {
    fn follows_from(&self, passage: &[Self]) -> bool {
        let own = &self.clause.stances;
        let fitting = passage.iter().filter(|other| {
            if own.is_empty() {
                // What takes no stance rests on what takes none: a warning keeps its level.
                let reports = other.clause.stances.is_empty();
                return (reports || self.about.is_empty())
                    && other.clause.denied == self.clause.denied;
            }
            own.is_subset(&other.clause.stances)
        });
        let fitting: Vec<&Self> = fitting.collect();
        let about: BTreeSet<&String> = fitting.iter().flat_map(|other| &other.about).collect();
        !fitting.is_empty() && self.about.iter().all(|one| about.contains(one))
    }
}

impl ClaimEntailment<'_> {
    fn claims(&self, text: &str) -> Vec<TypedClause> {
        let normalized = normalize(text).text().to_owned();
        // A name is no claim: `ยาบรรเทาริดสีดวง` relieves nothing in a list of warnings.
        let mut unnamed = normalized.clone().into_bytes();
        for mention in self.engine.names_in(text) {
            if (mention.id.starts_with("H:") || mention.id.starts_with("F:"))
                && let Some(name) = unnamed.get_mut(mention.range)
            {
                name.fill(b' ');
            }
        }
        let unnamed = String::from_utf8(unnamed).unwrap_or_else(|_| normalized.clone());
        let typed = clauses(&unnamed).into_iter().map(|clause| {
            let piece = normalized.get(clause.range.clone()).unwrap_or_default();
            let about = self.about(piece);
            TypedClause { clause, about }
        });
        typed.collect()
    }

    /// The groups of patients and the medicines that a piece of text names.
    fn about(&self, piece: &str) -> BTreeSet<String> {
        let (text, tokens) = self.engine.cut(piece);
        let named = self.engine.names_in(piece);
        let entity = |id: &str| id.starts_with("H:") || id.starts_with("F:");
        let taken: Vec<std::ops::Range<usize>> =
            named.iter().filter(|one| entity(&one.id)).map(|one| one.range.clone()).collect();
        let catalog = self.catalog;
        let patient = catalog.patient_words.read(catalog, &text, &tokens, &taken).patient;
        // Long use and high doses are said in many ways that mean nothing here.
        let groups = patient.groups.into_iter().chain(patient.implied);
        let groups = groups.filter(|id| catalog.group(id).is_some_and(|group| !group.incidental));
        groups.chain(patient.medicines).collect()
    }

    /// A sentence that takes one stance may not also rest on a passage that takes another about
    /// the same: one of the two is not what it says.
    fn no_passage_disagrees(&self, own: &[TypedClause], cited: &[Vec<TypedClause>]) -> bool {
        own.iter().all(|claim| {
            let own = &claim.clause.stances;
            cited.iter().flatten().all(|other| {
                let found = &other.clause.stances;
                if own.is_empty() || found.is_empty() || own.is_subset(found) {
                    return true;
                }
                let apart = claim.about.is_empty() || claim.about.is_disjoint(&other.about);
                !own.contains(&Stance::Permits) && (apart || cited.len() > 1)
            })
        })
    }
}

/// Whether a sentence is one of the passages, or a piece of one that starts and ends where
/// clauses do, or quotes of them.
fn is_verbatim(sentence: &str, passages: &[&str]) -> bool {
    let bare = |text: &str| {
        let text = normalize(text).text().trim().trim_end_matches('.').to_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let own = bare(sentence);
    if own.is_empty() {
        return false;
    }
    let passages: Vec<String> = passages.iter().map(|text| bare(text)).collect();
    let mut rest = own.clone();
    for passage in passages.iter().filter(|passage| !passage.is_empty()) {
        rest = rest.replace(passage.as_str(), "");
    }
    if rest == own {
        return false;
    }
    // What is left beside the quotes: marks, `but`, who says so, a PMID.
    let rest = rest.replace("says:", "").replace("the document", "").replace("เอกสาร", "");
    let rest = rest.replace("เขียนว่า", "").replace("แต่", "").replace(", but ", "");
    let quoted: String = rest.split(['“', '”', '"']).step_by(2).collect();
    clauses(&quoted).iter().all(|clause| clause.stances.is_empty() && clause.marks.is_empty())
        && quoted.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
            <= 4
}

/// Whether a text promises that something is safe. Only an official source may do that where
/// danger is asked for.
pub fn promises_safety(text: &str) -> bool {
    let normalized = normalize(text).text().to_owned();
    clauses(&normalized).iter().any(|clause| clause.stances.contains(&Stance::Permits))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::corpus;
    #[test]
    fn supported_sentence_preserves_words_numbers_negation_and_names() {
        let catalog = HerbCatalog::bundled().unwrap();
        let engine = Engine::new(corpus(&catalog)).unwrap();
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
            let found = support(&catalog, &engine, sentence, &[passage], &[]);
            assert_eq!(found.holds(), expected, "{sentence}: {found:?}");
        }
    }
}
