//! `optimize-parameters`: fits the FSRS-6 weights to the learner's log; proposes them without a
//! change.

use panoply_contract::calculus::risk;
use panoply_contract::evidence::Sample;
use panoply_contract::hints::RiskKind;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, now, with_next};
use super::specs::{ANALYSIS, per_minute};
use super::wire::DeckId;
use crate::error::NoemaError;
use crate::fsrs::fit;
use crate::numbers::{len_to_f64, len_to_u64, round_to, round_to_u32};
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "optimize-parameters",
    title: "Optimize parameters",
    description: Description {
        does: "Fits the 21 weights of FSRS-6 to the learner's log and reports the improvement; it proposes weights without changing anything.",
        when: "Use this about once a month, from 400 reviews on. Apply the weights with `update-deck`.",
        returns: "Returns the weights, the error before and after, and the number of reviews.",
        asks: &["Are my intervals right for me?", "Tune the scheduler to my memory"],
    },
    permissions: &["schedule:read"],
    response_time: ResponseTime::Slow,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "a log that is too short", params: r##"{}"##, expect: Expect::Error("TOO_FEW_REVIEWS") },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["scheduling", "analytics"],
    rate_limit: per_minute(10),
    ..ANALYSIS
}
.checked();

/// The log to fit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
}

/// The proposed weights.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The weights, for `update-deck`.
    parameters: Vec<f64>,
    /// Number of reviews they are fitted on.
    reviews: usize,
    /// Log loss of the current weights.
    log_loss_now: f64,
    /// Log loss of the proposed weights; lower is better.
    log_loss_proposed: f64,
    /// RMSE over bins of the current weights.
    rmse_now: f64,
    /// RMSE over bins of the proposed weights.
    rmse_proposed: f64,
    /// Whether the proposal is better.
    better: bool,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (logs, options) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        let log = reader.log(0, now, deck.map(|_| decks.as_slice()))?;
        Ok((statistics::review_logs(&log, options.calendar(reader.learner_zone()?)), options))
    })?;
    let reviews: usize = logs.iter().map(Vec::len).sum();
    if reviews < fit::MIN_REVIEWS {
        return Err(NoemaError::TooFewReviews { have: reviews, need: fit::MIN_REVIEWS }.into());
    }
    let current = options.parameters.clone().unwrap_or_default();
    let fitted = (|| {
        let proposed = fit::fit(&logs)?;
        Ok::<_, fit::FitError>((
            fit::evaluate(&current, &logs)?,
            fit::evaluate(&proposed, &logs)?,
            proposed,
        ))
    })();
    let (before, after, proposed) = fitted.map_err(|error| {
        ToolError::business("NOT_FITTED", error.to_string())
            .hint("continue studying and try again with a longer log")
    })?;
    let better = after.log_loss < before.log_loss;
    let weights: Vec<f64> = proposed.weights().iter().map(|weight| round_to(*weight, 4)).collect();
    let text = if better {
        format!(
            "The fitted weights predict better: RMSE {:.4} instead of {:.4}, on {reviews} reviews.",
            after.rmse_bins, before.rmse_bins
        )
    } else {
        format!("The current weights fit as well, on {reviews} reviews.")
    };
    let next = params.deck_id.as_ref().filter(|_| better).map(|deck| {
        NextAction::new(
            "update-deck",
            json!({"deckId": deck.as_str(), "options": {"parameters": weights}}),
            "use the fitted weights",
        )
    });
    let n = len_to_u64(reviews);
    let agreement = u64::from(round_to_u32((1.0 - after.rmse_bins) * 10_000.0));
    let evidence = Evidence::from(Source::new(SourceClass::Exact, "the learner's log"))
        .agreed(agreement, 10_000)
        .sampled(Sample::Mean { n, variation: 1.0 });
    let overfit = risk(
        RiskKind::Accuracy,
        "the weights may fit the past better than the future",
        (2000.0 / len_to_f64(reviews)).min(1.0),
        0.2,
        Some("fit again after more reviews".to_owned()),
    );
    let output = Output {
        parameters: weights,
        reviews,
        log_loss_now: round_to(before.log_loss, 5),
        log_loss_proposed: round_to(after.log_loss, 5),
        rmse_now: round_to(before.rmse_bins, 5),
        rmse_proposed: round_to(after.rmse_bins, 5),
        better,
    };
    Ok(with_next(Reply::new(output, text, evidence).risk(overfit), next))
}
