//! Verifies that a sentence is entailed by its citations.
//!
//! A verbatim sentence is supported. Any other must preserve words, numbers, units and names, and
//! its typed claims: every clause that forbids, cautions or permits needs a clause of one cited
//! passage with the same stance about the same populations and medicines. Comparisons, exceptions,
//! generalisations, certainty, and treats/causes/prevents must match the passage
//! ([`crate::claims`]). So `is safe` never passes against a warning, and a contraindication never
//! becomes a caution.

use std::collections::BTreeSet;

use crate::catalog::HerbCatalog;
use crate::claims::{Clause, Mark, Stance, clauses};
use crate::search::{Engine, TextWords};
use crate::text::{TokenKind, normalize};

/// Minimum share of content words that the passages must contain.
pub const COVERAGE: f64 = 0.6;

/// Result of verifying a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Whether the sentence occurs verbatim.
    pub verbatim: bool,
    /// Share of its content words that the passages contain.
    pub coverage: f64,
    /// Whether every number occurs with the same unit.
    pub same_numbers: bool,
    /// Whether every named entity occurs.
    pub same_names: bool,
    /// Whether its claims are entailed.
    pub entailed: bool,
}

impl Support {
    /// Returns whether the sentence is supported.
    pub fn holds(&self) -> bool {
        self.verbatim
            || self.coverage >= COVERAGE && self.same_numbers && self.same_names && self.entailed
    }
}

/// Judges entailment. [`ClaimEntailment`] is the default; a local NLI model can implement the same
/// trait.
pub trait Entailment: std::fmt::Debug + Send + Sync {
    /// Returns whether the passages together entail `sentence`.
    fn entails(&self, sentence: &str, passages: &[&str]) -> bool;
}

/// Rule-based entailment over [`crate::claims`].
#[derive(Debug)]
pub struct ClaimEntailment<'l> {
    /// Resolves populations and medicines.
    pub catalog: &'l HerbCatalog,
    /// Tokenises text.
    pub engine: &'l Engine,
}

/// Verifies a sentence against its passages. `labels` are titles and ids of the cited documents,
/// which a sentence may name.
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

/// Like [`support`] with another entailment judge.
pub fn support_by(
    judge: &dyn Entailment,
    engine: &Engine,
    sentence: &str,
    passages: &[&str],
    labels: &[&str],
) -> Support {
    let mut cited = TextWords::default();
    passages.iter().chain(labels).for_each(|text| cited.join(&engine.words_of(text)));
    let content = engine.content_terms(sentence);
    let shared = cited.shared(content.iter());
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let coverage = if content.is_empty() { 0.0 } else { shared as f64 / content.len() as f64 };
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
            // `causes` may paraphrase an effect that the passage states, but never its denial.
            Mark::Causes => !all().any(|claim| claim.clause.marks.contains(&Mark::CausesNot)),
            Mark::Interacts => !all().any(|claim| claim.clause.marks.contains(&Mark::InteractsNot)),
            // A use may be stated without a cue, but never in a warning.
            Mark::Treats => all().any(|claim| {
                let marks = &claim.clause.marks;
                claim.clause.stances.is_empty()
                    && !marks.contains(&Mark::TreatsNot)
                    && !marks.contains(&Mark::Causes)
            }),
            mark => all().any(|claim| claim.clause.marks.contains(mark)),
        });
        // A direction must not be reversed in a passage.
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
                // A list cites one passage per item: each must take the same stance, and its
                // subject must occur in one of them.
                cited.iter().any(fits)
            })
            && self.no_passage_disagrees(&own, &cited)
    }
}

/// A clause with the populations, medicines and indications it mentions.
struct TypedClause {
    clause: Clause,
    about: BTreeSet<String>,
}

impl TypedClause {
    fn follows_from(&self, passage: &[Self]) -> bool {
        let own = &self.clause.stances;
        let fitting = passage.iter().filter(|other| {
            if own.is_empty() {
                // A clause without a stance must rest on one without a stance: a warning keeps its
                // level.
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
        // Mask names: `ยาบรรเทาริดสีดวง` is a product name, not a claim to relieve.
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

    /// Returns the patient groups and medicines mentioned in a text.
    fn about(&self, piece: &str) -> BTreeSet<String> {
        let (text, tokens) = self.engine.cut(piece);
        let named = self.engine.names_in(piece);
        let entity = |id: &str| id.starts_with("H:") || id.starts_with("F:");
        let taken: Vec<std::ops::Range<usize>> =
            named.iter().filter(|one| entity(&one.id)).map(|one| one.range.clone()).collect();
        let catalog = self.catalog;
        let patient = catalog.patient_words.read(catalog, &text, &tokens, &taken).patient;
        // Incidental groups such as long-term use are ignored: they are expressed in too many ways.
        let groups = patient.groups.into_iter().chain(patient.implied);
        let groups = groups.filter(|id| catalog.group(id).is_some_and(|group| !group.incidental));
        groups.chain(patient.medicines).collect()
    }

    /// A sentence with a stance must not cite a passage with a different stance about the same
    /// subject.
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

/// Returns whether a sentence is a passage, a part of one between clause boundaries, or quotes of
/// passages.
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
    // Text outside the quotes: punctuation, `but`, attribution, a PMID.
    let rest = rest.replace("says:", "").replace("the document", "").replace("เอกสาร", "");
    let rest = rest.replace("เขียนว่า", "").replace("แต่", "").replace(", but ", "");
    let quoted: String = rest.split(['“', '”', '"']).step_by(2).collect();
    clauses(&quoted).iter().all(|clause| clause.stances.is_empty() && clause.marks.is_empty())
        && quoted.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
            <= 4
}

/// Returns whether a text claims safety. Only official sources may do so in reply to a safety
/// question.
pub fn promises_safety(text: &str) -> bool {
    let normalized = normalize(text).text().to_owned();
    clauses(&normalized).iter().any(|clause| clause.stances.contains(&Stance::Permits))
}

fn names(engine: &Engine, text: &str) -> BTreeSet<String> {
    engine.names_in(text).into_iter().map(|mention| mention.id).collect()
}

/// Returns the numbers of a text with their units.
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

/// Returns the canonical unit of a spelling.
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
