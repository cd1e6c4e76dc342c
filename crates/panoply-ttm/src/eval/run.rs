//! An evaluation run: sampling, metrics with confidence intervals, and the report.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::answers::{Answers, JudgedAnswer, Tally, Verdict, judge};
use super::measures::{ndcg_at, recall_at};
use super::metric::{MAX_DEPTH, Metric};
use super::retrieval::{Figures, Ranked, RankedQuestion, ask};
use super::sets::JudgedQuestion;
use crate::arithmetic::{SplitMix64, round6};
use crate::papers::UserStoreError;
use crate::search::{Engine, Tuning};

/// Parameters of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the set.
    pub set: String,
    /// Questions.
    pub questions: Vec<JudgedQuestion>,
    /// Number of hits requested.
    pub k: usize,
    /// Metrics in reporting order.
    pub metrics: Vec<Metric>,
    /// Seed of the sample and of the bootstrap.
    pub seed: u64,
    /// Maximum number of questions, sampled by the seed.
    pub limit: Option<usize>,
}

/// Result of a run. It contains no timestamps and no randomness except the seed: the same plan and
/// data give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the set.
    pub set: String,
    /// Seed as text: JSON numbers of this size lose digits in many parsers.
    pub seed: String,
    /// Number of hits requested.
    pub k: usize,
    /// Number of questions asked.
    pub questions: usize,
    /// Number of questions in the set.
    pub questions_in_set: usize,
    /// SHA-256 of the questions asked.
    pub questions_sha256: String,
    /// Number of searchable documents.
    pub documents: usize,
    /// Metrics.
    pub metrics: Vec<Measured>,
    /// Metrics by language.
    pub by_lang: BTreeMap<String, Vec<Measured>>,
    /// Metrics by kind of question.
    pub by_kind: BTreeMap<String, Vec<Measured>>,
    /// Reliability diagram: accuracy by confidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<Bucket>,
    /// Questions with their results.
    pub asked: Vec<Row>,
}

/// A measured metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Name, such as `R@10`.
    pub name: String,
    /// Value from 0 to 1; `None` if no question is measured by it.
    pub value: Option<f64>,
    /// 95 % bootstrap interval; `None` for fewer than two questions.
    pub interval: Option<[f64; 2]>,
    /// Number of questions, statements, citations or facts.
    pub of: usize,
}

/// A bucket of the reliability diagram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bucket {
    /// Lower bound of the confidence, inclusive.
    pub from: f64,
    /// Upper bound of the confidence, exclusive.
    pub to: f64,
    /// Number of answers.
    pub answers: usize,
    /// Mean confidence.
    pub confidence: f64,
    /// Share of answers whose question has an acceptable answer.
    pub right: f64,
}

/// A question with its results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The question.
    #[serde(flatten)]
    pub question: JudgedQuestion,
    /// Ranking, best first; empty if the question does not judge the search.
    pub ranked: Vec<Ranked>,
    /// Relevant ids that were not found.
    pub missed: Vec<String>,
    /// Metrics of the ranking.
    pub figures: Option<Figures>,
    /// Answer with its verdict.
    pub answer: Option<JudgedAnswer>,
}

impl Row {
    /// Returns the score of the question from 0 to 1: the mean of ranking and answer.
    pub fn score(&self) -> f64 {
        let ranking = self.figures.map(|figures| figures.ndcg);
        let answer = self.answer.as_ref().map(|one| f64::from(one.verdict == Verdict::Right));
        let parts: Vec<f64> = [ranking, answer].into_iter().flatten().collect();
        round6(parts.iter().sum::<f64>() / parts.len().max(1) as f64)
    }
}

/// Executes a plan. `progress` receives the number of finished questions and may abort the run.
pub fn run<E: From<UserStoreError>>(
    plan: Plan,
    engine: &Engine,
    answers: Option<&dyn Answers>,
    progress: &mut dyn FnMut(usize, usize) -> Result<(), E>,
) -> Result<Report, E> {
    let questions_in_set = plan.questions.len();
    let questions = sample(plan.questions, plan.seed, plan.limit);
    let total = questions.len();
    let questions_sha256 = fingerprint(&questions);
    let depth = plan.metrics.iter().filter_map(|metric| metric.depth()).max().unwrap_or(0);
    let depth = depth.max(plan.k).min(MAX_DEPTH);
    let mut rows = Vec::with_capacity(total);
    for (done, question) in questions.into_iter().enumerate() {
        progress(done, total)?;
        rows.push(row(question, engine, answers, (plan.k, depth))?);
    }
    progress(total, total)?;
    let measure = |rows: &[&Row]| -> Vec<Measured> {
        plan.metrics.iter().map(|metric| measured(*metric, rows, plan.seed)).collect()
    };
    let all: Vec<&Row> = rows.iter().collect();
    Ok(Report {
        set: plan.set,
        seed: plan.seed.to_string(),
        k: plan.k,
        questions: total,
        questions_in_set,
        questions_sha256,
        documents: engine.len(),
        metrics: measure(&all),
        by_lang: grouped(&rows, |row| &row.question.lang, measure),
        by_kind: grouped(&rows, |row| &row.question.kind, measure),
        reliability: reliability(&rows),
        asked: rows,
    })
}

/// Samples at most `limit` questions by the seed, in the order of the set.
fn sample(questions: Vec<JudgedQuestion>, seed: u64, limit: Option<usize>) -> Vec<JudgedQuestion> {
    let Some(limit) = limit.filter(|limit| *limit < questions.len()) else { return questions };
    let drawn = |question: &JudgedQuestion| Sha256::digest(format!("{seed}\n{}", question.id));
    let mut order: Vec<_> = questions.iter().map(|one| (drawn(one), one.id.clone())).collect();
    order.sort();
    let chosen: BTreeSet<String> = order.into_iter().take(limit).map(|(_, id)| id).collect();
    questions.into_iter().filter(|question| chosen.contains(&question.id)).collect()
}

/// Returns a hash of the questions and their annotations.
pub fn fingerprint(questions: &[JudgedQuestion]) -> String {
    let text = serde_json::to_string(questions).unwrap_or_default();
    format!("{:x}", Sha256::digest(text))
}

fn row(
    question: JudgedQuestion,
    engine: &Engine,
    answers: Option<&dyn Answers>,
    (k, depth): (usize, usize),
) -> Result<Row, UserStoreError> {
    let answer = answers
        .filter(|_| question.expected.answer.is_some())
        .map(|answers| judge(answers, &question))
        .transpose()?;
    if question.relevant.is_empty() {
        return Ok(Row { question, ranked: Vec::new(), missed: Vec::new(), figures: None, answer });
    }
    let asked = ask(engine, &Tuning::default(), question, depth)?;
    let seen = asked.first(k);
    let missed = seen.missed().into_iter().map(str::to_owned).collect();
    let figures = seen.figures;
    let RankedQuestion { question, ranked, .. } = asked;
    Ok(Row { question, ranked, missed, figures, answer })
}

fn grouped<'r>(
    rows: &'r [Row],
    group: impl Fn(&'r Row) -> &'r str,
    measure: impl Fn(&[&Row]) -> Vec<Measured>,
) -> BTreeMap<String, Vec<Measured>> {
    let mut groups: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(group(row)).or_default().push(row);
    }
    groups.into_iter().map(|(name, rows)| (name.to_owned(), measure(&rows))).collect()
}

/// Numerator and denominator contributed by one question.
type Share = (f64, usize);

fn measured(metric: Metric, rows: &[&Row], seed: u64) -> Measured {
    let shares: Vec<Share> = rows.iter().map(|row| share(metric, row)).collect();
    let shares: Vec<Share> = shares.into_iter().filter(|(_, whole)| *whole > 0).collect();
    Measured {
        name: metric.to_string(),
        value: ratio(shares.iter()).map(round6),
        interval: interval(&shares, seed),
        of: shares.iter().map(|(_, whole)| whole).sum(),
    }
}

fn share(metric: Metric, row: &Row) -> Share {
    let ranked: Vec<&str> = row.ranked.iter().map(|one| one.id.as_str()).collect();
    let relevant: Vec<&str> = row.question.relevant.iter().map(String::as_str).collect();
    let tally = Tally::of(row.answer.iter().map(|answer| (&row.question, answer)));
    let of_ranking = |value: f64| (value, usize::from(!relevant.is_empty()));
    let of_answer = |part: usize, whole: usize| (part as f64, whole);
    match metric {
        Metric::Recall(k) => of_ranking(recall_at(k, &ranked, &relevant)),
        Metric::ReciprocalRank => of_ranking(row.figures.map_or(0.0, |one| one.reciprocal_rank)),
        Metric::Ndcg(k) => of_ranking(ndcg_at(k, &ranked, &relevant)),
        Metric::Factuality => of_answer(tally.supported, tally.statements),
        Metric::CitationPrecision => of_answer(tally.supporting, tally.citations),
        Metric::FactRecall => of_answer(tally.facts_there, tally.facts),
        Metric::WithholdingRate => of_answer(tally.withheld, tally.asked),
        Metric::WithholdingPrecision => of_answer(tally.rightly_withheld, tally.withheld),
        Metric::WithholdingRecall => of_answer(tally.rightly_withheld, tally.unanswerable),
        Metric::SafetyOmission => of_answer(tally.omitted, tally.warnings),
        Metric::FalseAbsence => of_answer(tally.denied_on_record, tally.on_record),
        Metric::SoftenedLevel => of_answer(tally.softened, tally.warning_statements),
        Metric::ReversedPolarity => of_answer(tally.reversed, tally.warning_statements),
        Metric::CitationRelevance => of_answer(tally.relevant, tally.judged_citations),
    }
}

fn ratio<'s>(shares: impl Iterator<Item = &'s Share>) -> Option<f64> {
    let (part, whole) = shares.fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (whole > 0).then(|| part / whole as f64)
}

/// Percentile bootstrap (Efron 1979).
fn interval(shares: &[Share], seed: u64) -> Option<[f64; 2]> {
    if shares.len() < 2 {
        return None;
    }
    let mut random = SplitMix64::seeded(seed);
    let mut values: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let drawn = (0..shares.len()).filter_map(|_| shares.get(random.below(shares.len())));
            ratio(drawn)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().map(round6);
    Some([at(values.len() * 25 / 1000)?, at(values.len() * 975 / 1000)?])
}

const RESAMPLES: usize = 1_000;

/// Returns the reliability diagram in fifths of confidence. A withheld answer counts as correct if
/// the question has an answer.
fn reliability(rows: &[Row]) -> Vec<Bucket> {
    let judged: Vec<(f64, bool)> = rows
        .iter()
        .filter_map(|row| {
            let answer = row.answer.as_ref()?;
            let given = answer.given.withheld.is_empty();
            let right =
                !row.question.has_no_answer() && (!given || answer.verdict == Verdict::Right);
            Some((answer.given.confidence, right))
        })
        .collect();
    let bucket = |fifth: u8| {
        let (from, to) = (f64::from(fifth) / 5.0, f64::from(fifth + 1) / 5.0);
        let inside = |sure: f64| sure >= from && (sure < to || fifth == 4);
        let of: Vec<&(f64, bool)> = judged.iter().filter(|(sure, _)| inside(*sure)).collect();
        let mean = |sum: f64| round6(sum / of.len().max(1) as f64);
        Bucket {
            from,
            to,
            answers: of.len(),
            confidence: mean(of.iter().map(|(sure, _)| sure).sum()),
            right: mean(of.iter().filter(|(_, right)| *right).count() as f64),
        }
    };
    if judged.is_empty() { Vec::new() } else { (0..5).map(bucket).collect() }
}
