//! Verifies that a sentence is entailed by its citations.
//!
//! A verbatim sentence is supported ([`quotes`]). Any other must preserve words, numbers, units and
//! names, and its typed claims: every clause that forbids, cautions or permits needs a clause of one
//! cited passage with the same stance about the same herb, populations and medicines, neither denied
//! nor doubted. Comparisons, exceptions, generalisations, certainty, and treats/causes/prevents must
//! match the passage ([`crate::claims`]). A sentence about safety uses only known words
//! ([`vocabulary`]). So `is safe` never passes against a warning, and a contraindication never
//! becomes a caution.

mod quotes;
mod vocabulary;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::catalog::HerbCatalog;
use crate::claims::{Clause, Mark, Stance, clauses, cue_ranges};
use crate::safety::ParsedPatient;
use crate::search::{Engine, Mention, TextWords};
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
    /// Whether every quotation in it occurs in a passage.
    pub same_quotes: bool,
    /// Whether its claims are entailed.
    pub entailed: bool,
}

impl Support {
    /// Returns whether the sentence is supported.
    pub fn holds(&self) -> bool {
        self.verbatim
            || self.coverage >= COVERAGE
                && self.same_numbers
                && self.same_names
                && self.same_quotes
                && self.entailed
    }

    /// Support of a verbatim sentence.
    const VERBATIM: Self = Self {
        verbatim: true,
        coverage: 1.0,
        same_numbers: true,
        same_names: true,
        same_quotes: true,
        entailed: true,
    };
}

/// Judges entailment. [`ClaimEntailment`] is the default; a local NLI model can implement the same
/// trait.
pub trait Entailment: std::fmt::Debug + Send + Sync {
    /// Returns whether the passages together entail `sentence`, which may name the `labels`.
    fn entails(&self, sentence: &str, passages: &[&str], labels: &[&str]) -> bool;
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
    if quotes::is_verbatim(sentence, passages, labels) {
        return Support::VERBATIM;
    }
    let cited = words_of(engine, passages, labels);
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
        verbatim: false,
        coverage,
        same_numbers: numbers(engine, sentence).is_subset(&known_numbers),
        same_names: names(engine, sentence).is_subset(&known_names),
        same_quotes: quotes::quotes_hold(sentence, passages, labels),
        entailed: judge.entails(sentence, passages, labels),
    }
}

fn words_of(engine: &Engine, passages: &[&str], labels: &[&str]) -> TextWords {
    let mut words = TextWords::default();
    passages.iter().chain(labels).for_each(|text| words.join(&engine.words_of(text)));
    words
}

impl Entailment for ClaimEntailment<'_> {
    fn entails(&self, sentence: &str, passages: &[&str], labels: &[&str]) -> bool {
        // A question asserts nothing.
        if sentence.contains(['?', '？']) {
            return false;
        }
        let analyzed = self.analyze(sentence);
        let own = analyzed.claims(self.catalog);
        let cited_texts: Vec<AnalyzedText> =
            passages.iter().map(|text| self.analyze(text)).collect();
        let cited: Vec<Vec<TypedClause>> =
            cited_texts.iter().map(|text| text.claims(self.catalog)).collect();
        let all = || cited.iter().flatten();
        let warns = |claim: &TypedClause| !claim.clause.stances.is_empty();
        // An indication may be paraphrased; its ICD code, names and groups are compared.
        let is_indication = own.iter().all(TypedClause::is_indication) && !all().any(warns);
        // An interaction may be stated without a cue: `with phenytoin: phenytoin toxicity`.
        let on_safety = !is_indication
            && (own.iter().any(TypedClause::claims_something)
                || all().any(|claim| warns(claim) || !claim.about.is_empty()));
        if on_safety {
            // Groups that are no part of a claim, such as long use, must occur in a passage too.
            let known = cited_texts.iter().flat_map(|text| text.incidental_groups(self.catalog));
            let known: BTreeSet<&String> = known.collect();
            let words = words_of(self.engine, passages, labels);
            if !analyzed.incidental_groups(self.catalog).all(|group| known.contains(group))
                || !vocabulary::is_known(self.engine, sentence, &words, &analyzed.understood())
            {
                return false;
            }
        }
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
            && own.iter().all(|claim| claim.follows_from_one(&cited))
            && self.no_passage_disagrees(&own, &cited)
    }
}

/// A clause with the herbs, populations and medicines it mentions.
struct TypedClause {
    clause: Clause,
    about: BTreeSet<String>,
    /// Herbs and formulations.
    subjects: BTreeSet<String>,
}

impl TypedClause {
    fn claims_something(&self) -> bool {
        let Clause { stances, marks, denied, doubted, .. } = &self.clause;
        !stances.is_empty() || !marks.is_empty() || *denied || *doubted
    }

    /// Returns whether the clause states an indication and nothing else.
    fn is_indication(&self) -> bool {
        let Clause { stances, marks, denied, doubted, .. } = &self.clause;
        let is_use = marks.contains(&Mark::Treats) && marks.len() == 1;
        is_use && stances.is_empty() && !denied && !doubted
    }

    /// Returns whether the clause follows from one passage. A list cites one passage per item: each
    /// item needs a passage of its own, so that a herb does not take over the warning of another.
    fn follows_from_one(&self, cited: &[Vec<Self>]) -> bool {
        let names = |passage: &[Self], subject: &String| {
            passage.iter().any(|other| other.subjects.contains(subject))
        };
        let fitting: Vec<&Vec<Self>> =
            cited.iter().filter(|passage| self.follows_from(passage)).collect();
        // A list of indications names what the catalog lists under one ICD code.
        let is_list_of_uses = self.is_indication() && self.about.is_empty();
        !fitting.is_empty()
            && self.subjects.iter().all(|subject| {
                is_list_of_uses || {
                    // A subject that only a title names cannot be attributed to a passage.
                    let in_text = cited.iter().any(|passage| names(passage, subject));
                    !in_text || fitting.iter().any(|passage| names(passage, subject))
                }
            })
    }

    fn follows_from(&self, passage: &[Self]) -> bool {
        let own = &self.clause.stances;
        let fitting = passage.iter().filter(|other| {
            if other.clause.denied != self.clause.denied
                || other.clause.doubted != self.clause.doubted
            {
                return false;
            }
            if own.is_empty() {
                // A clause without a stance must rest on one without a stance: a warning keeps its
                // level.
                return other.clause.stances.is_empty() || self.about.is_empty();
            }
            own.is_subset(&other.clause.stances)
        });
        let fitting: Vec<&Self> = fitting.collect();
        let about: BTreeSet<&String> = fitting.iter().flat_map(|other| &other.about).collect();
        !fitting.is_empty() && self.about.iter().all(|one| about.contains(one))
    }
}

/// A text with its names, patient groups and medicines.
struct AnalyzedText {
    /// Normalised text with the names of herbs and formulations masked: `ยาบรรเทาริดสีดวง` is a
    /// product name, not a claim to relieve.
    unnamed: String,
    /// All names.
    named: Vec<Mention>,
    patient: ParsedPatient,
}

impl AnalyzedText {
    fn subjects(&self) -> impl Iterator<Item = &Mention> {
        self.named.iter().filter(|one| is_subject(one))
    }

    fn claims(&self, catalog: &HerbCatalog) -> Vec<TypedClause> {
        let typed = clauses(&self.unnamed).into_iter().map(|clause| {
            let range = clause.range.clone();
            let inside = |place: &Range<usize>| range.contains(&place.start);
            let phrases = self.patient.phrases.iter().filter(|(place, _)| inside(place));
            // Incidental groups such as long use are ignored: they are expressed in too many ways.
            let about = phrases.flat_map(|(_, ids)| ids);
            let about = about.filter(|id| !is_incidental(catalog, id)).cloned().collect();
            let subjects = self.subjects().filter(|one| inside(&one.range));
            let subjects = subjects.map(|one| one.id.clone()).collect();
            TypedClause { clause, about, subjects }
        });
        typed.collect()
    }

    /// Returns the groups that are no part of a claim.
    fn incidental_groups<'t>(
        &'t self,
        catalog: &'t HerbCatalog,
    ) -> impl Iterator<Item = &'t String> {
        let ids = self.patient.phrases.iter().flat_map(|(_, ids)| ids);
        ids.filter(|id| is_incidental(catalog, id))
    }

    /// Returns the ranges of cues, names, groups and medicines.
    fn understood(&self) -> Vec<Range<usize>> {
        let mut ranges = cue_ranges(&self.unnamed);
        ranges.extend(self.named.iter().map(|one| one.range.clone()));
        ranges.extend(self.patient.ranges.iter().cloned());
        ranges
    }
}

fn is_subject(mention: &Mention) -> bool {
    mention.id.starts_with("H:") || mention.id.starts_with("F:")
}

fn is_incidental(catalog: &HerbCatalog, id: &str) -> bool {
    catalog.group(id).is_some_and(|group| group.incidental)
}

impl ClaimEntailment<'_> {
    fn analyze(&self, text: &str) -> AnalyzedText {
        let (normalized, tokens) = self.engine.cut(text);
        let named = self.engine.names_in_cut(&normalized, &tokens);
        let taken = named.iter().filter(|one| is_subject(one)).map(|one| one.range.clone());
        let taken: Vec<Range<usize>> = taken.collect();
        let words = &self.catalog.patient_words;
        let patient = words.read(self.catalog, &normalized, &tokens, &taken);
        AnalyzedText { unnamed: masked(normalized, &taken), named, patient }
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

/// Replaces ranges of a text by spaces.
fn masked(normalized: String, ranges: &[Range<usize>]) -> String {
    let mut masked = normalized.clone().into_bytes();
    for range in ranges {
        if let Some(name) = masked.get_mut(range.clone()) {
            name.fill(b' ');
        }
    }
    String::from_utf8(masked).unwrap_or(normalized)
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
