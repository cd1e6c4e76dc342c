//! `optimize-parameters`: fits the 21 weights of FSRS-6 to the learner's own log and says how much better they predict; it proposes and changes nothing.

use panoply_contract::calculus::risk;
use panoply_contract::evidence::Sample;
use panoply_contract::hints::RiskKind;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, now, with_next};
use super::wire::DeckId;
use crate::error::NoemaError;
use crate::fsrs::fit;
use crate::numbers::{len_to_f64, round_to, round_to_u32};
use crate::statistics;

const SPEC: ToolSpec = ToolSpec {
    name: "optimize-parameters",
    title: "Optimize parameters",
    description: Description {
        does: "Fits the 21 weights of FSRS-6 to the learner's own log and says how much better they predict; it proposes and changes nothing.",
        when: "Use this about once a month, from 400 reviews on. Take the weights over with `update-deck`.",
        returns: "Returns the weights, the error before and after, and how many reviews they rest on.",
        asks: &["Are my intervals right for me?", "Tune the scheduler to my memory"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["schedule:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "a log that is too short", params: r##"{}"##, expect: Expect::Error("TOO_FEW_REVIEWS") },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["scheduling", "analytics"],
    rate_limit: Some(RateLimit { max_calls: 10, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Whose log.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it.
    deck_id: Option<DeckId>,
}

/// The proposal.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The weights, for `update-deck`.
    parameters: Vec<f64>,
    /// Answers they rest on.
    reviews: usize,
    /// How surprised the model is, with the weights as they are.
    log_loss_now: f64,
    /// The same with the proposed weights; lower is better.
    log_loss_proposed: f64,
    /// Distance of predicted from observed recall, with the weights as they are.
    rmse_now: f64,
    /// The same with the proposed weights.
    rmse_proposed: f64,
    /// Whether the proposal is better.
    better: bool,
}

/// See the module.
pub(super) struct OptimizeParameters {
    pub(super) service: NoemaService,
}

impl Tool for OptimizeParameters {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let (logs, options) = self.service.read(|reader| {
            let (decks, options) = statistics::scope(reader, deck)?;
            let log = reader.log(0, now, deck.map(|_| decks.as_slice()))?;
            Ok((statistics::review_logs(&log, options.calendar()), options))
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
                .hint("study on and try again with a longer log")
        })?;
        let better = after.log_loss < before.log_loss;
        let weights: Vec<f64> =
            proposed.weights().iter().map(|weight| round_to(*weight, 4)).collect();
        let text = if better {
            format!(
                "The fitted weights predict better: RMSE {:.4} instead of {:.4}, on {reviews} reviews.",
                after.rmse_bins, before.rmse_bins
            )
        } else {
            format!("The weights in use fit as well as any, on {reviews} reviews.")
        };
        let next = params.deck_id.as_ref().filter(|_| better).map(|deck| {
            NextAction::new(
                "update-deck",
                json!({"deckId": deck.as_str(), "options": {"parameters": weights}}),
                "use the fitted weights",
            )
        });
        let n = u64::try_from(reviews).unwrap_or(u64::MAX);
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
}
