//! `panoply contract calibration`: the confidence of replies beside how often judged replies are right.
//!
//! A forecast is calibrated if of all replies with confidence 0.9, 90 % are right. Each tool
//! here is asked judged questions on which its confidence was not fitted. Brier score: mean squared
//! difference of confidence and outcome. Expected calibration error: mean distance of confidence and
//! rate over ten equal bins, weighted by replies (Naeini et al. 2015).

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope};
use panoply_contract::pipeline::{self, Request};
use panoply_rmf::tools::judged::JudgedSearch;
use panoply_ttm::eval::sets::{Bundled, JudgedQuestion};
use panoply_ttm::text::normalize;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{LogReader, Session, block_on, start_log};
use crate::app::App;
use crate::failure::Failure;
use crate::out::{BAD, BOLD, FAINT, GOOD, Out};

/// Largest expected calibration error of a tool.
const MAX_ERROR: f64 = 0.05;
const BINS: usize = 10;
/// Largest page of `search_rmf_funds`.
const PAGE: usize = 50;

pub(super) fn run(as_json: bool, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    let _log = start_log(&config, LogReader::Person)?;
    // In memory: the questions must not enter the audit log.
    let app = App::in_memory(&config)?;
    let tools = [
        Calibration::of("search_rmf_funds", &fund_searches(&app.kernel)?),
        Calibration::of("hybrid_search", &medicine_searches(&app.kernel)?),
        Calibration::of("rag_answer", &answers(&app.kernel)?),
    ];
    let mut out = Out::new();
    if as_json {
        out.json(&json!({"maxError": MAX_ERROR, "tools": tools}))?;
    } else {
        for tool in &tools {
            tool.print(&mut out)?;
        }
    }
    out.finish()?;
    let is_calibrated = tools.iter().all(Calibration::holds);
    Ok(if is_calibrated { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A judged reply.
struct Outcome {
    confidence: f64,
    is_right: bool,
}

fn fund_searches(kernel: &Kernel) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    for search in JudgedSearch::all() {
        let mut arguments = search.arguments.clone();
        if let Some(object) = arguments.as_object_mut() {
            object.insert("limit".to_owned(), json!(PAGE));
        }
        let Some((reply, confidence)) = call(kernel, "search_rmf_funds", arguments)? else {
            continue;
        };
        let funds = reply.get("funds").and_then(Value::as_array);
        let codes = funds.into_iter().flatten().filter_map(|fund| fund.get("symbol")?.as_str());
        let found: BTreeSet<&str> = codes.collect();
        outcomes.push(Outcome { confidence, is_right: search.is_right(&found, PAGE) });
    }
    Ok(outcomes)
}

/// Every other question of the set that the rate was fitted on, and two other sets.
fn medicine_searches(kernel: &Kernel) -> Result<Vec<Outcome>, Failure> {
    let judging = |set: Bundled| {
        let all = questions(set)?.into_iter().filter(|question| !question.relevant.is_empty());
        Ok::<_, Failure>(all.collect::<Vec<_>>())
    };
    let others = judging(Bundled::Tune)?.into_iter().skip(1).step_by(2);
    let sets = [judging(Bundled::Held)?, judging(Bundled::Crosslingual)?];
    let mut outcomes = Vec::new();
    for question in others.chain(sets.into_iter().flatten()) {
        let input = json!({"query": question.query, "top_k": 5});
        let Some((reply, confidence)) = call(kernel, "hybrid_search", input)? else { continue };
        let first = reply.pointer("/hits/0/id").and_then(Value::as_str);
        let is_right = first.is_some_and(|first| question.relevant.iter().any(|id| id == first));
        outcomes.push(Outcome { confidence, is_right });
    }
    Ok(outcomes)
}

/// An answer is right if it has every expected fact; withheld answers state nothing.
fn answers(kernel: &Kernel) -> Result<Vec<Outcome>, Failure> {
    let spelled = |text: &str| normalize(text).text().to_lowercase();
    let mut outcomes = Vec::new();
    for question in questions(Bundled::LayHeld)?.into_iter().chain(questions(Bundled::Answers)?) {
        let input = json!({"question": question.query, "lang": question.lang});
        let Some((reply, confidence)) = call(kernel, "rag_answer", input)? else { continue };
        let Some(answer) = reply.get("answer").and_then(Value::as_str) else { continue };
        let answer = spelled(answer);
        let mut facts = question.expected.must.iter();
        let has_all =
            facts.all(|fact| fact.any_of.iter().any(|word| answer.contains(&spelled(word))));
        outcomes.push(Outcome { confidence, is_right: has_all && !question.has_no_answer() });
    }
    Ok(outcomes)
}

fn questions(set: Bundled) -> Result<Vec<JudgedQuestion>, Failure> {
    set.questions().map_err(|error| Failure::work(format!("a bundled set is damaged: {error}")))
}

/// Reply and confidence of a call; `None` when it is refused.
fn call(kernel: &Kernel, tool: &str, input: Value) -> Result<Option<(Value, f64)>, Failure> {
    let cx = CallContext::local(Arc::clone(kernel.clock()), TraceId::new(Uuid::new_v4()));
    let request = Request { tool, input, scope: &Scope::All };
    Ok(match block_on(pipeline::call(kernel, request, cx))? {
        Envelope::Result { structured: Some(reply), is_error: false, meta, .. } => {
            let hints = meta.get("panoply/agentHints").map(|hints| hints.value());
            let confidence = hints.as_ref().and_then(|hints| hints.get("confidence")?.as_f64());
            confidence.map(|confidence| (reply.value(), confidence))
        }
        Envelope::Result { .. } | Envelope::Refusal { .. } => None,
    })
}

/// Calibration of one tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Calibration {
    tool: &'static str,
    replies: usize,
    right: usize,
    brier_score: f64,
    expected_error: f64,
    bins: Vec<Bin>,
}

/// Replies of similar confidence.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Bin {
    replies: usize,
    mean_confidence: f64,
    rate: f64,
}

impl Calibration {
    fn of(tool: &'static str, outcomes: &[Outcome]) -> Self {
        let bins: Vec<Bin> = (0..BINS).filter_map(|place| Bin::of(outcomes, place)).collect();
        let squares = outcomes.iter().map(|one| {
            let outcome = f64::from(u8::from(one.is_right));
            (one.confidence - outcome).powi(2)
        });
        let distances =
            bins.iter().map(|bin| bin.replies as f64 * (bin.mean_confidence - bin.rate).abs());
        let all = outcomes.len().max(1) as f64;
        Self {
            tool,
            replies: outcomes.len(),
            right: outcomes.iter().filter(|one| one.is_right).count(),
            brier_score: round(squares.sum::<f64>() / all),
            expected_error: round(distances.sum::<f64>() / all),
            bins,
        }
    }

    fn holds(&self) -> bool {
        self.replies > 0 && self.expected_error <= MAX_ERROR
    }

    fn print(&self, out: &mut Out) -> Result<(), Failure> {
        let (style, verdict) = match self.holds() {
            true => (GOOD, "calibrated"),
            false => (BAD, "not calibrated"),
        };
        out.line(format_args!("{BOLD}{}{BOLD:#}  {style}{verdict}{style:#}", self.tool))?;
        out.line(format_args!(
            "  {} of {} judged replies right; Brier score {}, expected calibration error {} (at most {MAX_ERROR})",
            self.right, self.replies, self.brier_score, self.expected_error
        ))?;
        for bin in &self.bins {
            out.line(format_args!(
                "  {FAINT}confidence {:.3}: {:.3} right of {}{FAINT:#}",
                bin.mean_confidence, bin.rate, bin.replies
            ))?;
        }
        Ok(())
    }
}

impl Bin {
    /// The bin at `place`; `None` if it is empty.
    fn of(outcomes: &[Outcome], place: usize) -> Option<Self> {
        let (low, high) = (place as f64 / BINS as f64, (place + 1) as f64 / BINS as f64);
        let inside =
            |one: &&Outcome| one.confidence >= low && (one.confidence < high || place + 1 == BINS);
        let of: Vec<&Outcome> = outcomes.iter().filter(inside).collect();
        let replies = of.len();
        let right = of.iter().filter(|one| one.is_right).count();
        let sum: f64 = of.iter().map(|one| one.confidence).sum();
        (replies > 0).then(|| Self {
            replies,
            mean_confidence: round(sum / replies as f64),
            rate: round(right as f64 / replies as f64),
        })
    }
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_error_is_the_weighted_distance_of_confidence_and_rate() {
        let outcome = |confidence, is_right| Outcome { confidence, is_right };
        // Two replies at 0.9, one right; two at 0.25, none right. By hand: error (0.4 + 0.25) / 2,
        // Brier score (0.01 + 0.81 + 0.0625 + 0.0625) / 4.
        let outcomes =
            [outcome(0.9, true), outcome(0.9, false), outcome(0.25, false), outcome(0.25, false)];
        let calibration = Calibration::of("x", &outcomes);
        assert_eq!((calibration.replies, calibration.right), (4, 1));
        assert_eq!(calibration.expected_error.to_string(), "0.325");
        assert_eq!(calibration.brier_score.to_string(), "0.2363");
        assert!(!calibration.holds());
        assert!(Calibration::of("x", &[outcome(1.0, true)]).holds());
        assert!(!Calibration::of("x", &[]).holds());
    }
}
