//! How sure an answer is: what speaks for it, and the probability that follows.
//!
//! The signals are plain shares from 0 to 1. A logistic curve for each language turns them into
//! the probability that the answer holds what was asked; its coefficients are fitted on
//! `data/ttm/eval/calibration.jsonl`, which nothing is judged by. Make them anew with
//! `cargo run --release -p panoply-bench -- ttm-calibrate`, which prints the two tables below and
//! the reliability table of docs/packs/ttm-answers.md.

use super::Language;
use super::builder::AnswerBuilder;
use super::question::ParsedQuestion;

/// What speaks for an answer, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signals {
    /// The share of the question that the sentences cover, by how telling its parts are.
    pub coverage: f64,
    /// How telling the most telling part is that they do not cover.
    pub missing: f64,
    /// How surely the question names something of the graph.
    pub named: f64,
    /// The mean score of what the search found.
    pub retrieval: f64,
    /// The share of the cited passages that was checked.
    pub checked: f64,
    /// Whether what was asked for is there: 1, 0, or a half when the question does not say.
    pub aspects: f64,
    /// 1 when it asks for something that the data do not hold at all.
    pub not_held: f64,
    /// The largest share of the question's words and names that one document has.
    pub together: f64,
}

impl Signals {
    /// The signals in the order of the coefficients.
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
        ]
    }
}

/// How many signals there are.
pub const SIGNALS: usize = 8;

/// The names of the signals, in order.
pub const NAMES: [&str; SIGNALS] =
    ["coverage", "missing", "named", "retrieval", "checked", "aspects", "not_held", "together"];

/// A logistic curve: the constant, and a coefficient for each signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// The constant.
    pub constant: f64,
    /// By signal.
    pub coefficients: [f64; SIGNALS],
}

/// Fitted for Thai.
pub const THAI: Curve = Curve {
    constant: -1.657,
    coefficients: [1.760, -4.451, 1.660, 0.309, -0.704, 1.185, -2.542, 1.077],
};
/// Fitted for English.
pub const ENGLISH: Curve = Curve {
    constant: -1.501,
    coefficients: [2.377, -3.517, 1.535, 0.094, -0.837, 0.894, -3.214, 1.469],
};

impl Curve {
    /// The curve of a language.
    pub const fn of(language: Language) -> Self {
        match language {
            Language::Th => THAI,
            Language::En => ENGLISH,
        }
    }

    /// The probability that follows from signals.
    pub fn probability(&self, signals: &Signals) -> f64 {
        let weighed = self.coefficients.iter().zip(signals.values());
        let sum: f64 = weighed.map(|(coefficient, value)| coefficient * value).sum();
        1.0 / (1.0 + exp(-(self.constant + sum)))
    }
}

/// An asked aspect weighs as much as a word that a few documents have.
const ASPECT_WEIGHT: f32 = 3.0;
/// The idf of a word that no document has, nearly; what is missing is measured by it.
const MAX_IDF: f32 = 7.0;

/// What speaks for the answer on a page.
pub(super) fn signals(
    builder: &AnswerBuilder<'_>,
    question: &ParsedQuestion,
    retrieval: f64,
) -> Signals {
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
    let covered: f32 = parts.iter().filter(|(_, met)| *met).map(|(weight, _)| weight).sum();
    let missing =
        parts.iter().filter(|(_, met)| !met).map(|(weight, _)| *weight).fold(0.0, f32::max);
    let named = question.named_entities.iter().filter(|entity| builder.covers_entity(entity));
    let named = named.map(|entity| entity.certainty).fold(0.0, f32::max);
    let checked = builder.citations.iter().filter(|citation| citation.verified).count();
    let held = question.aspects_in_data();
    let met = held.iter().filter(|aspect| builder.answered_aspects.contains(aspect)).count();
    Signals {
        // A sum of nothing is minus nought, which would show.
        coverage: if covered > 0.0 { f64::from(covered / whole) } else { 0.0 },
        missing: f64::from((missing / MAX_IDF).min(1.0)),
        named: f64::from(named),
        retrieval,
        checked: share(checked, builder.citations.len()),
        aspects: if held.is_empty() { 0.5 } else { share(met, held.len()) },
        not_held: if question.aspects_not_in_data().is_empty() { 0.0 } else { 1.0 },
        together: f64::from(builder.best_document_coverage(question)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few at most")]
pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The exponential, by arithmetic that is the same on every machine: that of the standard library
/// is the platform's, and the hashes of replies would differ with its last bit.
pub fn exp(value: f64) -> f64 {
    let value = value.clamp(-60.0, 60.0);
    // exp(v) = exp(v / 1024)^1024; the series is short for so small a number.
    let small = value / 1024.0;
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut place = 1.0;
    for _ in 0..10 {
        term *= small / place;
        sum += term;
        place += 1.0;
    }
    (0..10).fold(sum, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_matches_published_tables() {
        // Abramowitz and Stegun, table 4.4.
        for (value, expected) in [
            (0.0, 1.0),
            (1.0, std::f64::consts::E),
            (-2.0, 0.135_335_283_236_613),
            (10.0, 22_026.465_794_806_72),
        ] {
            assert!((exp(value) / expected - 1.0).abs() < 1e-10, "{value}: {}", exp(value));
        }
    }

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
