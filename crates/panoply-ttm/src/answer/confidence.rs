//! Confidence of an answer: signals and the calibrated probability.
//!
//! Each signal lies between 0 and 1. A logistic regression per language maps them to the
//! probability that the answer contains what was asked. The coefficients are fitted on
//! `data/ttm/eval/calibration.jsonl` and `lay_tune.jsonl`, which judge nothing. Run `cargo run --release -p
//! panoply-bench -- ttm-calibrate` to refit; it prints the two tables below and the reliability
//! table of docs/packs/ttm-answers.md.

use super::Language;
use super::builder::AnswerBuilder;
use super::danger::Danger;
use super::question::{EntityKind, NamedEntity, ParsedQuestion};
use crate::arithmetic::exp;

/// Confidence signals, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// Share of the question covered by the sentences, weighted by idf.
    pub coverage: f64,
    /// Weight of the most important uncovered part; 0 if every slot of the question is filled, for
    /// then the other words are incidental.
    pub missing: f64,
    /// Certainty of the named entities.
    pub named: f64,
    /// Mean search score.
    pub retrieval: f64,
    /// Share of cited passages that are verified.
    pub checked: f64,
    /// 1 if every requested aspect is answered, 0 if one is not, 0.5 if the question names none.
    pub aspects: f64,
    /// 1 if the question asks for an aspect that the data do not contain.
    pub not_held: f64,
    /// Largest share of the question covered by a single document.
    pub together: f64,
    /// Share of the slots of the question (subject, patient, medicine, aspect) that are filled.
    pub resolved: f64,
    /// 1 if the question states more than a subject: a patient, a medicine, an aspect or a symptom.
    pub intent: f64,
}

impl Signals {
    /// Returns the signals in the order of the coefficients.
    pub const fn values(&self) -> [f64; SIGNALS] {
        [
            self.coverage,
            self.missing,
            self.named,
            self.retrieval,
            self.checked,
            self.aspects,
            self.not_held,
            self.together,
            self.resolved,
            self.intent,
        ]
    }
}

/// Number of signals.
pub const SIGNALS: usize = 10;

/// Signal names in the order of the coefficients.
pub const NAMES: [&str; SIGNALS] = [
    "coverage",
    "missing",
    "named",
    "retrieval",
    "checked",
    "aspects",
    "not_held",
    "together",
    "resolved",
    "intent",
];

/// Logistic regression: intercept and one coefficient per signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Intercept.
    pub constant: f64,
    /// Coefficients by signal.
    pub coefficients: [f64; SIGNALS],
}

/// Coefficients for Thai.
pub const THAI: Curve = Curve {
    constant: -1.569,
    coefficients: [1.433, -5.789, 0.421, 0.052, -0.291, 0.724, -2.696, 0.163, 2.517, 0.998],
};
/// Coefficients for English.
pub const ENGLISH: Curve = Curve {
    constant: -0.739,
    coefficients: [1.787, -5.151, 0.816, -0.014, 0.198, 0.313, -3.461, 0.636, 0.946, 0.835],
};

impl Curve {
    /// Returns the curve of a language.
    pub const fn of(language: Language) -> Self {
        match language {
            Language::Th => THAI,
            Language::En => ENGLISH,
        }
    }

    /// Returns the probability for these signals.
    pub fn probability(&self, signals: &Signals) -> f64 {
        let weighed = self.coefficients.iter().zip(signals.values());
        let sum: f64 = weighed.map(|(coefficient, value)| coefficient * value).sum();
        1.0 / (1.0 + exp(-(PLATT_SLOPE * (self.constant + sum) + PLATT_SHIFT)))
    }
}

/// Platt scaling of both curves, fitted on `calibration.jsonl` and `lay_tune.jsonl`: the penalty of
/// the regression keeps its probabilities too near the middle. The threshold 0.6 is a fixed point.
/// `panoply contract calibration` judges the result on other questions.
const PLATT_SLOPE: f64 = 1.5;
const PLATT_SHIFT: f64 = -0.2027;

/// Weight of a requested aspect, comparable to the idf of a rare word.
const ASPECT_WEIGHT: f32 = 3.0;
/// Approximate idf of a word in no document; normalises the `missing` signal.
const MAX_IDF: f32 = 7.0;

/// Computes the signals of an answer.
pub(super) fn signals(
    builder: &AnswerBuilder<'_>,
    question: &ParsedQuestion,
    dangers: &[Danger],
    retrieval: f64,
) -> Signals {
    let slots = Slots::of(builder, question, dangers);
    let mut parts: Vec<(f32, bool)> = Vec::new();
    for entity in &question.named_entities {
        parts.push((entity.weight * entity.certainty, builder.covers_entity(entity)));
    }
    for unit in &question.words {
        parts.push((unit.weight, builder.covers_word(unit)));
    }
    for aspect in &question.aspects {
        parts.push((ASPECT_WEIGHT, builder.answered_aspects.contains(aspect)));
    }
    let whole: f32 = parts.iter().map(|(weight, _)| weight).sum();
    let covered: f32 =
        parts.iter().filter(|(_, answered)| *answered).map(|(weight, _)| weight).sum();
    let missing = parts
        .iter()
        .filter(|(_, answered)| !answered)
        .map(|(weight, _)| *weight)
        .fold(0.0, f32::max);
    let named = question.named_entities.iter().filter(|entity| builder.covers_entity(entity));
    let named = named.map(|entity| entity.certainty).fold(0.0, f32::max);
    let checked = builder.citations.iter().filter(|citation| citation.verified).count();
    let in_data = question.aspects_in_data();
    let answered =
        in_data.iter().filter(|aspect| builder.answered_aspects.contains(aspect)).count();
    Signals {
        // The sum of an empty iterator is -0.0, which would be visible in the reply.
        coverage: if covered > 0.0 { f64::from(covered / whole) } else { 0.0 },
        missing: if slots.are_filled() {
            0.0
        } else if slots.are_empty() || slots.lacks_interrogated {
            1.0
        } else {
            f64::from((missing / MAX_IDF).min(1.0))
        },
        named: f64::from(named),
        retrieval,
        checked: share(checked, builder.citations.len()),
        aspects: if in_data.is_empty() { 0.5 } else { share(answered, in_data.len()) },
        not_held: if question.aspects_not_in_data().is_empty() { 0.0 } else { 1.0 },
        together: f64::from(builder.best_document_coverage(question)),
        resolved: slots.share(),
        intent: if slots.intent.is_empty() { 0.0 } else { 1.0 },
    }
}

/// Slots of a question: for each, whether the answer fills it.
struct Slots {
    /// Herbs and formulations.
    subjects: Vec<bool>,
    /// Patient, medicines, aspects, symptoms and constituents.
    intent: Vec<bool>,
    /// Whether a filled slot says all that is asked, so that the other words are incidental.
    /// `Does ginger cure Z` asks for Z.
    is_complete: bool,
    /// Whether a word is interrogated (`what amount of ginger`) that the answer does not contain.
    lacks_interrogated: bool,
}

impl Slots {
    fn of(builder: &AnswerBuilder<'_>, question: &ParsedQuestion, dangers: &[Danger]) -> Self {
        let covered = |entity: &&NamedEntity| builder.covers_entity(entity);
        let (subjects, others): (Vec<&NamedEntity>, Vec<&NamedEntity>) =
            question.named_entities.iter().partition(|entity| entity.is_subject());
        let subjects: Vec<bool> = subjects.iter().map(covered).collect();
        let mut aspects = question.aspects.iter();
        let mut is_complete = aspects.clone().any(|aspect| aspect.stands_alone());
        let dangerous = aspects.clone().any(|aspect| aspect.is_dangerous());
        let mut intent: Vec<bool> =
            aspects.by_ref().map(|aspect| builder.answered_aspects.contains(aspect)).collect();
        let warned = dangers.iter().any(|danger| danger.asked);
        let asks_danger = !subjects.is_empty() || dangerous || question.safety.asks_permission;
        let lacks_interrogated =
            question.interrogated.iter().any(|unit| !builder.covers_word(unit));
        if warned && asks_danger {
            // The symptom of `a pregnant woman with a cold` is incidental to the warning.
            intent.push(true);
            is_complete = true;
        } else {
            // Several symptoms describe one complaint.
            let (symptoms, others): (Vec<&NamedEntity>, Vec<&NamedEntity>) =
                others.iter().partition(|entity| entity.is(EntityKind::Indication));
            let complaint = symptoms.iter().map(covered).max();
            let others: Vec<bool> = others.iter().map(covered).collect();
            let found = complaint == Some(true) || others.contains(&true);
            is_complete |= found;
            intent.extend(complaint.into_iter().chain(others));
            if !question.safety.patient.is_unknown() && !found {
                intent.push(false);
            }
        }
        if lacks_interrogated {
            intent.push(false);
        }
        Self { subjects, intent, is_complete, lacks_interrogated }
    }

    fn share(&self) -> f64 {
        let all = self.subjects.iter().chain(&self.intent);
        share(all.clone().filter(|filled| **filled).count(), all.count())
    }

    /// Returns whether the question asks for something and nothing of it is answered.
    fn are_empty(&self) -> bool {
        !self.intent.is_empty() && self.subjects.iter().chain(&self.intent).all(|filled| !filled)
    }

    /// Returns whether the other words of the question are incidental. Without a subject they may
    /// name one that the data do not have: `does lavender help me sleep`.
    fn are_filled(&self) -> bool {
        self.is_complete
            && !self.subjects.is_empty()
            && self.subjects.iter().chain(&self.intent).all(|filled| *filled)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_rises_with_coverage_and_falls_for_missing_aspects() {
        for language in [Language::Th, Language::En] {
            let curve = Curve::of(language);
            let good = Signals {
                coverage: 1.0,
                named: 1.0,
                retrieval: 0.6,
                checked: 1.0,
                aspects: 1.0,
                together: 1.0,
                ..Signals::default()
            };
            let poor = Signals { coverage: 0.2, missing: 0.9, ..Signals::default() };
            let dose = Signals { not_held: 1.0, aspects: 0.5, missing: 0.5, coverage: 0.7, ..good };
            assert!(curve.probability(&good) > 0.6);
            assert!(curve.probability(&poor) < 0.3);
            assert!(curve.probability(&dose) < 0.6);
        }
    }
}
