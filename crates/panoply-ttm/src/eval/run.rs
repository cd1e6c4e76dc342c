//! One run: which questions, in which measures, and what came out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::answers::{Answers, JudgedAnswer, Tally, Verdict, judged};
use super::measures::{ndcg_at, recall_at};
use super::metric::{MAX_DEPTH, Metric};
use super::retrieval::{Figures, Ranked, RankedQuestion, ask};
use super::sets::JudgedQuestion;
use crate::papers::UserStoreError;
use crate::search::{Engine, Tuning};

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The set's name, as a report shows it.
    pub set: String,
    /// The questions.
    pub questions: Vec<JudgedQuestion>,
    /// How many hits are asked for.
    pub k: usize,
    /// The measures, in the order in which they are told.
    pub metrics: Vec<Metric>,
    /// Chooses the questions of a sample, and the resamples behind the intervals.
    pub seed: u64,
    /// At most so many questions, chosen by the seed.
    pub limit: Option<usize>,
}

/// What came out. It holds no time and no chance but the seed's, so that the same plan on the
/// same data gives the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The set's name.
    pub set: String,
    /// The seed, as text: a JSON number of this size loses digits in many readers.
    pub seed: String,
    /// How many hits were asked for.
    pub k: usize,
    /// How many questions were asked.
    pub questions: usize,
    /// How many questions the set has.
    pub questions_in_set: usize,
    /// The SHA-256 of the questions that were asked.
    pub questions_sha256: String,
    /// How many documents could be found.
    pub documents: usize,
    /// The measures.
    pub metrics: Vec<Measured>,
    /// The same for each language.
    pub by_lang: BTreeMap<String, Vec<Measured>>,
    /// The same for each kind of question.
    pub by_kind: BTreeMap<String, Vec<Measured>>,
    /// How often answers were right, by how sure they were of themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<Bucket>,
    /// Every question.
    pub asked: Vec<Row>,
}

/// One measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its name, such as `R@10`.
    pub name: String,
    /// Its value from 0 to 1; nothing when no question is behind it.
    pub value: Option<f64>,
    /// Between these it lies in 95 of 100 resamples of the questions; nothing for fewer than two.
    pub interval: Option<[f64; 2]>,
    /// How many questions, statements, citations or facts are behind it.
    pub of: usize,
}

/// Answers that were about as sure of themselves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bucket {
    /// The least confidence.
    pub from: f64,
    /// The first confidence that is too high, or 1.
    pub to: f64,
    /// How many answers.
    pub answers: usize,
    /// How sure they were, on average.
    pub confidence: f64,
    /// The share of them whose question has an answer that the judge would take.
    pub right: f64,
}

/// A question, what was found and what was missed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The question.
    #[serde(flatten)]
    pub question: JudgedQuestion,
    /// What the search ranked, best first; empty when it is not judged by this question.
    pub ranked: Vec<Ranked>,
    /// The relevant ids that it did not rank.
    pub missed: Vec<String>,
    /// How good the ranking is.
    pub figures: Option<Figures>,
    /// The answer and what is wrong with it.
    pub answer: Option<JudgedAnswer>,
}

impl Row {
    /// How well the question went, from 0 to 1: the ranking and the answer count alike.
    pub fn goodness(&self) -> f64 {
        let ranking = self.figures.map(|figures| figures.ndcg);
        let answer = self.answer.as_ref().map(|one| f64::from(one.verdict == Verdict::Right));
        let parts: Vec<f64> = [ranking, answer].into_iter().flatten().collect();
        rounded(parts.iter().sum::<f64>() / parts.len().max(1) as f64)
    }
}

/// Runs a plan. `progress` hears how many questions are done, and may stop the run.
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

/// At most `limit` questions, in the order of the set; the seed chooses which.
fn sample(questions: Vec<JudgedQuestion>, seed: u64, limit: Option<usize>) -> Vec<JudgedQuestion> {
    let Some(limit) = limit.filter(|limit| *limit < questions.len()) else { return questions };
    let drawn = |question: &JudgedQuestion| Sha256::digest(format!("{seed}\n{}", question.id));
    let mut order: Vec<_> = questions.iter().map(|one| (drawn(one), one.id.clone())).collect();
    order.sort();
    let chosen: BTreeSet<String> = order.into_iter().take(limit).map(|(_, id)| id).collect();
    questions.into_iter().filter(|question| chosen.contains(&question.id)).collect()
}

/// Names the questions and what is judged of them.
pub fn fingerprint(questions: &[JudgedQuestion]) -> String {
    let text = serde_json::to_string(questions).unwrap_or_default();
    hex(&Sha256::digest(text))
}

/// Bytes as letters.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn row(
    question: JudgedQuestion,
    engine: &Engine,
    answers: Option<&dyn Answers>,
    (k, depth): (usize, usize),
) -> Result<Row, UserStoreError> {
    let answer = answers
        .filter(|_| question.expected.answer.is_some())
        .map(|answers| judged(answers, &question))
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

/// A measure is a sum over questions divided by another: each gives its share of both.
type Share = (f64, usize);

fn measured(metric: Metric, rows: &[&Row], seed: u64) -> Measured {
    let shares: Vec<Share> = rows.iter().map(|row| share(metric, row)).collect();
    let shares: Vec<Share> = shares.into_iter().filter(|(_, whole)| *whole > 0).collect();
    Measured {
        name: metric.to_string(),
        value: ratio(shares.iter()).map(rounded),
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
    }
}

fn ratio<'s>(shares: impl Iterator<Item = &'s Share>) -> Option<f64> {
    let (part, whole) = shares.fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (whole > 0).then(|| part / whole as f64)
}

/// The percentile bootstrap (Efron 1979): the questions are drawn anew with replacement.
fn interval(shares: &[Share], seed: u64) -> Option<[f64; 2]> {
    if shares.len() < 2 {
        return None;
    }
    let mut chance = SplitMix(seed);
    let mut values: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let drawn = (0..shares.len()).filter_map(|_| shares.get(chance.below(shares.len())));
            ratio(drawn)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().map(rounded);
    Some([at(values.len() * 25 / 1000)?, at(values.len() * 975 / 1000)?])
}

const RESAMPLES: usize = 1_000;

/// SplitMix64 (Steele, Lea and Flood 2014): small, and the same on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % (bound as u64).max(1)).unwrap_or_default()
    }
}

/// Six digits: what is below comes from the order of sums.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// How often questions have an answer that the judge takes, in fifths of confidence. An answer
/// that was withheld counts as taken when there is one to be had.
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
        let mean = |sum: f64| rounded(sum / of.len().max(1) as f64);
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
