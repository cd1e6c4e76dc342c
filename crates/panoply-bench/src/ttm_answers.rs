//! Answers of the ttm pack: latency, and calibration of the confidence curve.
//!
//! `ttm-calibrate` fits a curve per language on `data/ttm/eval/calibration.jsonl` and
//! `lay_tune.jsonl` by penalised logistic regression (Newton's method, which is deterministic), and
//! prints the constants for `crates/panoply-ttm/src/answer/confidence.rs`. The reliability
//! table uses ten folds: each question is judged by a curve fitted without it and its translation.

use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::kernel::Settings;
use panoply_contract::testing::kernel_in_memory;
use panoply_store::SystemClock;
use panoply_ttm::answer::confidence::{Curve, NAMES, SIGNALS, Signals};
use panoply_ttm::answer::{AnswerRequest, CITATIONS, Draft, Language, TAU};
use panoply_ttm::eval::MemoryReportStore;
use panoply_ttm::eval::sets::Bundled;
use panoply_ttm::knowledge::Knowledge;
use panoply_ttm::papers::NoPapers;
use panoply_ttm::search::{Engine, corpus};
use panoply_ttm::tools::pack;
use serde::Deserialize;
use serde_json::json;

use crate::{Outcome, child, report};

const CALIBRATION: &str = include_str!("../../../data/ttm/eval/calibration.jsonl");
const GOAL_MILLIS: f64 = 30.0;
/// Ridge penalty: large enough that a signal which separates a small set does not lead to a
/// probability of one.
const PENALTY: f64 = 0.3;
const STEPS: usize = 60;
const FOLDS: usize = 10;

/// A line of the calibration set.
#[derive(Deserialize)]
struct Line {
    id: String,
    pair: String,
    lang: String,
    question: String,
    answerable: bool,
    any_of: Vec<String>,
}

/// A question with the wordings of each expected fact.
struct JudgedQuestion {
    id: String,
    pair: String,
    lang: String,
    question: String,
    answerable: bool,
    facts: Vec<Vec<String>>,
}

/// Latency of an answer through the whole pipeline.
pub(crate) fn run() -> Outcome {
    report::heading(
        "Answers of the ttm pack",
        "first calls of rag_answer, one for each question of the calibration set",
    );
    let clock = SystemClock::new();
    let packs = vec![pack(Arc::new(NoPapers), Arc::new(MemoryReportStore::default()))];
    let kernel = kernel_in_memory(packs, Arc::new(SystemClock::new()), Settings::default())
        .map_err(|violations| format!("{violations:?}"))?;
    let questions = judged()?;
    let mut times: Vec<f64> = child::on_one_thread(async {
        // The first question loads the search engine.
        child::call(&kernel, "rag_answer", &json!({"question": "ขิง"})).await?;
        let mut times = Vec::new();
        for one in &questions {
            let start = clock.monotonic();
            child::call(&kernel, "rag_answer", &json!({"question": one.question})).await?;
            times.push(clock.monotonic().saturating_sub(start).as_secs_f64() * 1e3);
        }
        Outcome::Ok(times)
    })??;
    times.sort_by(f64::total_cmp);
    let ninety_nine = times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    report::figure("an extractive answer, median", report::median(times), "ms", Some(GOAL_MILLIS));
    report::figure("an extractive answer, 99 of 100", ninety_nine, "ms", Some(GOAL_MILLIS));
    Ok(())
}

/// Fits the curves and prints their reliability.
pub(crate) fn calibrate() -> Outcome {
    report::heading("Confidence of answers", &format!("logistic curves over {}", NAMES.join(", ")));
    let knowledge = Knowledge::bundled()?;
    let engine = Engine::new(corpus(&knowledge.catalog))?;
    let questions = judged()?;
    for (language, name) in [(Language::Th, "THAI"), (Language::En, "ENGLISH")] {
        let cases: Vec<Case> = questions
            .iter()
            .filter(|one| one.lang == language.code())
            .map(|one| Case::of(one, &knowledge, &engine))
            .collect::<Outcome<_>>()?;
        let curve = fit(&cases.iter().collect::<Vec<_>>());
        let shown: Vec<String> =
            curve.coefficients.iter().map(|value| format!("{value:.3}")).collect();
        report::line(&format!(
            "pub const {name}: Curve = Curve {{ constant: {:.3}, coefficients: [{}] }};",
            curve.constant,
            shown.join(", ")
        ));
        reliability(&cases);
    }
    Ok(())
}

/// A question with its signals, and whether the answer is correct.
struct Case {
    id: String,
    pair: String,
    question: String,
    signals: Signals,
    right: bool,
    answerable: bool,
    citations: usize,
    not_held: bool,
}

impl Case {
    fn of(judged: &JudgedQuestion, knowledge: &Knowledge, engine: &Engine) -> Outcome<Self> {
        let draft = Draft::of(knowledge, engine, &AnswerRequest::new(&judged.question))?;
        let text: Vec<String> =
            draft.sentences.iter().map(|sentence| sentence.text.to_lowercase()).collect();
        let text = text.join("\n");
        let has = |fact: &Vec<String>| fact.iter().any(|word| text.contains(&word.to_lowercase()));
        let held = judged.facts.iter().all(has);
        Ok(Self {
            id: judged.id.clone(),
            pair: judged.pair.clone(),
            question: judged.question.clone(),
            signals: draft.scores.signals,
            right: judged.answerable && held,
            answerable: judged.answerable,
            citations: draft.citations.len(),
            not_held: !draft.question.aspects_not_in_data().is_empty(),
        })
    }
}

fn judged() -> Outcome<Vec<JudgedQuestion>> {
    let mut questions: Vec<JudgedQuestion> = Vec::new();
    for line in CALIBRATION.lines().filter(|line| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line)?;
        questions.push(JudgedQuestion {
            id: line.id,
            pair: line.pair,
            lang: line.lang,
            question: line.question,
            answerable: line.answerable,
            facts: vec![line.any_of],
        });
    }
    for one in Bundled::LayTune.questions()? {
        let must = one.expected.must.into_iter();
        questions.push(JudgedQuestion {
            pair: one.id.clone(),
            id: one.id,
            lang: one.lang,
            question: one.query,
            answerable: one.expected.answer == Some(true),
            facts: must.map(|fact| fact.any_of).collect(),
        });
    }
    Ok(questions)
}

/// Newton's method on the penalised log-likelihood.
#[expect(clippy::indexing_slicing, reason = "loops over a fixed size, in the notation of matrices")]
fn fit(cases: &[&Case]) -> Curve {
    const SIZE: usize = SIGNALS + 1;
    let mut weights = [0.0_f64; SIZE];
    for _ in 0..STEPS {
        let mut gradient = weights.map(|weight| PENALTY * weight);
        let mut hessian = [[0.0_f64; SIZE]; SIZE];
        for (place, row) in hessian.iter_mut().enumerate() {
            row[place] = PENALTY;
        }
        for case in cases {
            let inputs = inputs(&case.signals);
            let sum: f64 = weights.iter().zip(inputs).map(|(weight, input)| weight * input).sum();
            let probability = 1.0 / (1.0 + (-sum).exp());
            let error = probability - if case.right { 1.0 } else { 0.0 };
            for (one, row) in hessian.iter_mut().enumerate() {
                gradient[one] += error * inputs[one];
                for (other, cell) in row.iter_mut().enumerate() {
                    *cell += probability * (1.0 - probability) * inputs[one] * inputs[other];
                }
            }
        }
        let step = solve_linear_system(hessian, gradient);
        for (weight, step) in weights.iter_mut().zip(step) {
            *weight -= step;
        }
    }
    let [constant, coefficients @ ..] = weights;
    Curve { constant, coefficients }
}

/// The intercept, then the signals.
fn inputs(signals: &Signals) -> [f64; SIGNALS + 1] {
    let mut inputs = [1.0; SIGNALS + 1];
    inputs.iter_mut().skip(1).zip(signals.values()).for_each(|(input, value)| *input = value);
    inputs
}

/// Solves a small linear system by Gaussian elimination.
#[expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "loops over a fixed size, in the notation of matrices"
)]
fn solve_linear_system<const SIZE: usize>(
    mut matrix: [[f64; SIZE]; SIZE],
    mut right: [f64; SIZE],
) -> [f64; SIZE] {
    for pivot in 0..SIZE {
        for row in pivot + 1..SIZE {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            for column in pivot..SIZE {
                matrix[row][column] -= factor * matrix[pivot][column];
            }
            right[row] -= factor * right[pivot];
        }
    }
    let mut solution = [0.0; SIZE];
    for row in (0..SIZE).rev() {
        let known: f64 = (row + 1..SIZE).map(|column| matrix[row][column] * solution[column]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    solution
}

/// Predicted and actual accuracy by quintile of confidence, out of fold, compared with the policy.
fn reliability(cases: &[Case]) {
    let mut judged: Vec<(f64, &Case)> = Vec::new();
    for fold in 0..FOLDS {
        let inside = |case: &&Case| number(&case.pair) % FOLDS == fold;
        let rest: Vec<&Case> = cases.iter().filter(|case| !inside(case)).collect();
        let curve = fit(&rest);
        judged.extend(
            cases.iter().filter(inside).map(|case| (curve.probability(&case.signals), case)),
        );
    }
    report::remark("confidence   questions   promised   right   (out of fold)");
    for fifth in 0..5_u32 {
        let low = f64::from(fifth) / 5.0;
        let within: Vec<&(f64, &Case)> = judged
            .iter()
            .filter(|(probability, _)| {
                *probability >= low && (*probability < low + 0.2 || fifth == 4)
            })
            .collect();
        let count = within.len().max(1) as f64;
        let promised = within.iter().map(|(probability, _)| probability).sum::<f64>() / count;
        let right = within.iter().filter(|(_, case)| case.right).count() as f64 / count;
        report::remark(&format!(
            "{low:.1} to {:.1}   {:>9}   {promised:>8.2}   {right:>5.2}",
            low + 0.2,
            within.len()
        ));
    }
    let given = |(probability, case): &&(f64, &Case)| {
        *probability >= TAU && case.citations >= CITATIONS && !case.not_held
    };
    let answerable = judged.iter().filter(|(_, case)| case.answerable).count();
    let answered = judged.iter().filter(given).filter(|(_, case)| case.answerable).count();
    let right = judged.iter().filter(given).filter(|(_, case)| case.right).count();
    let wrongly: Vec<&(f64, &Case)> =
        judged.iter().filter(given).filter(|(_, case)| !case.answerable).collect();
    let rest = judged.len() - answerable;
    report::remark(&format!(
        "given: {answered} of {answerable} with an answer ({right} of them right), {} of {rest} without",
        wrongly.len()
    ));
    for (probability, case) in &judged {
        let is_given = given(&&(*probability, *case));
        if is_given != case.answerable || (case.answerable && !case.right) {
            report::remark(&format!(
                "  {} {probability:.2} given {is_given} right {} citations {} {}",
                case.id, case.right, case.citations, case.question
            ));
        }
    }
}

fn number(pair: &str) -> usize {
    pair.trim_start_matches(|character: char| !character.is_ascii_digit()).parse().unwrap_or(0)
}
