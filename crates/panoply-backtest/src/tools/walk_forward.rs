//! Walk-forward analysis over stored summaries: in each fold the run that was best in sample, paired
//! with the run of the same parameters out of sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::Value;

use super::query_runs::{Candidate, plain};

/// Settings that name the fold and the sample, if the caller names no others.
const FOLD: &str = "fold";
const SAMPLE: &str = "sample";
/// Values of the sample that mean in sample and out of sample, in lower case.
const IN_SAMPLE: [&str; 5] = ["in", "insample", "in_sample", "is", "train"];
const OUT_OF_SAMPLE: [&str; 5] = ["out", "outofsample", "out_of_sample", "oos", "test"];

/// How the runs of a walk-forward analysis are marked.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct WalkForward {
    /// Parameter or tag with the number of the fold; default `fold`.
    #[schemars(length(max = 200))]
    fold: Option<String>,
    /// Parameter or tag that is `in` or `out` (or `train`, `test`); default `sample`.
    #[schemars(length(max = 200))]
    sample: Option<String>,
    /// Figure by which the best run in sample is chosen, the largest; default `sharpe`.
    #[schemars(length(max = 200))]
    figure: Option<String>,
}

/// A walk-forward analysis.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WalkForwardReply {
    /// The figure of the choice.
    figure: String,
    /// The folds, in order.
    folds: Vec<Fold>,
    /// Mean of the figure in sample, over the folds with a pair.
    mean_in_sample: Option<f64>,
    /// Mean of the figure out of sample, over the folds with a pair.
    mean_out_of_sample: Option<f64>,
    /// Mean out of sample divided by mean in sample (walk-forward efficiency); null unless the
    /// latter is positive.
    efficiency: Option<f64>,
    /// Folds whose chosen run is above the median of all runs out of sample.
    above_median: usize,
    /// Folds in which the chosen run has no partner out of sample.
    without_partner: usize,
}

/// One fold.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Fold {
    /// The fold.
    fold: Value,
    /// Runs in sample that have the figure.
    trials: usize,
    /// The parameters that were chosen.
    parameters: BTreeMap<String, Value>,
    /// The run that was best in sample.
    in_sample: Side,
    /// The run with the same parameters out of sample; null if there is none.
    out_of_sample: Option<Side>,
    /// Its place among the runs out of sample of the fold, 1 for the best.
    out_rank: Option<usize>,
    /// Number of runs out of sample that have the figure.
    out_trials: usize,
}

/// A run of a pair.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Side {
    /// The run's id.
    run_id: String,
    /// Its figure.
    value: f64,
}

/// The runs of one fold.
#[derive(Default)]
struct Runs<'a> {
    fold: Value,
    in_sample: Vec<(&'a Candidate, f64)>,
    out_of_sample: Vec<(&'a Candidate, f64)>,
}

pub(super) fn analyse(
    found: &[Arc<Candidate>],
    asked: &WalkForward,
) -> Result<WalkForwardReply, ToolError> {
    let fold = asked.fold.as_deref().unwrap_or(FOLD);
    let sample = asked.sample.as_deref().unwrap_or(SAMPLE);
    let figure = asked.figure.as_deref().unwrap_or("sharpe");
    let mut folds: BTreeMap<(u64, String), Runs<'_>> = BTreeMap::new();
    for own in found {
        let (Some(number), Some(side)) = (own.settings.get(fold), own.settings.get(sample)) else {
            continue;
        };
        let Some(value) = own.figures.get(figure) else { continue };
        // Numbers in their order, then texts.
        let order = super::query_runs::number(number).map_or(u64::MAX, ordered_bits);
        let runs = folds.entry((order, plain(number))).or_default();
        runs.fold = number.clone();
        let side = plain(side).to_lowercase();
        if IN_SAMPLE.contains(&side.as_str()) {
            runs.in_sample.push((own.as_ref(), *value));
        } else if OUT_OF_SAMPLE.contains(&side.as_str()) {
            runs.out_of_sample.push((own.as_ref(), *value));
        }
    }
    folds.retain(|_, runs| !runs.in_sample.is_empty());
    if folds.is_empty() {
        let message =
            format!("no matching run has `{fold}`, `{sample}` = `in` and the figure `{figure}`");
        return Err(ToolError::validation("INVALID_PARAMETER", message).hint(
            "give each run the parameters or tags `fold` and `sample`, or name others in `walkForward`",
        ));
    }
    let folds: Vec<Fold> =
        folds.into_values().filter_map(|runs| pair(&runs, &[fold, sample])).collect();
    Ok(summary(figure, folds))
}

/// Bits that sort like the number.
const fn ordered_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn pair(runs: &Runs<'_>, marks: &[&str]) -> Option<Fold> {
    let (chosen, value) = runs.in_sample.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let parameters = parameters(chosen, marks);
    let partner =
        runs.out_of_sample.iter().find(|(own, _)| self::parameters(own, marks) == parameters);
    let side = |own: &Candidate, value: f64| Side { run_id: own.record.id.to_string(), value };
    let better = |value: f64| runs.out_of_sample.iter().filter(|(_, own)| *own > value).count();
    Some(Fold {
        fold: runs.fold.clone(),
        trials: runs.in_sample.len(),
        in_sample: side(chosen, *value),
        out_of_sample: partner.map(|(own, value)| side(own, *value)),
        out_rank: partner.map(|(_, value)| better(*value) + 1),
        out_trials: runs.out_of_sample.len(),
        parameters,
    })
}

/// The settings of a run besides those that mark fold and sample.
fn parameters(own: &Candidate, marks: &[&str]) -> BTreeMap<String, Value> {
    let settings = own.settings.iter().filter(|(name, _)| !marks.contains(&name.as_str()));
    settings.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn summary(figure: &str, folds: Vec<Fold>) -> WalkForwardReply {
    let pairs: Vec<(f64, f64)> = folds
        .iter()
        .filter_map(|own| Some((own.in_sample.value, own.out_of_sample.as_ref()?.value)))
        .collect();
    let mean = |side: fn(&(f64, f64)) -> f64| {
        (!pairs.is_empty()).then(|| pairs.iter().map(side).sum::<f64>() / pairs.len() as f64)
    };
    let (inside, outside) = (mean(|own| own.0), mean(|own| own.1));
    let efficiency = inside.zip(outside).filter(|(inside, _)| *inside > 0.0);
    let is_above = |own: &&Fold| own.out_rank.is_some_and(|rank| rank * 2 <= own.out_trials);
    WalkForwardReply {
        figure: figure.to_owned(),
        mean_in_sample: inside,
        mean_out_of_sample: outside,
        efficiency: efficiency.map(|(inside, outside)| outside / inside),
        above_median: folds.iter().filter(is_above).count(),
        without_partner: folds.iter().filter(|own| own.out_of_sample.is_none()).count(),
        folds,
    }
}
