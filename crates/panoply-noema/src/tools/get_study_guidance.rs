//! `get-study-guidance`: compares desired retentions by study time and cards retained, and gives
//! advice.

use panoply_contract::calculus::risk;
use panoply_contract::hints::{ActionCategory, RiskKind};
use panoply_contract::prelude::*;

use super::service::{NoemaService, memory_evidence, now, simulate, with_next};
use super::specs::{ANALYSIS, per_minute};
use super::wire::{DeckId, deck_arguments};
use crate::deck::DeckOptions;
use crate::fsrs::fit::SimulationInput;
use crate::fsrs::{DAY, Micros};
use crate::numbers::{len_to_f64, round_to, to_f64, u64_to_f64};
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-study-guidance",
    title: "Get study guidance",
    description: Description {
        does: "Compares desired retentions by minutes per day and cards retained, checks the workload against the limits, and checks whether the weights are stale.",
        when: "Use this when the learner asks how to study better or less. Apply advice with `update-deck`.",
        returns: "Returns the choices with minutes, cards remembered and the difference to the current setting, and advice by importance.",
        asks: &["Can I study less without forgetting?", "What should I change?"],
    },
    permissions: &["stats:read"],
    response_time: ResponseTime::Slow,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "a deck", params: r##"{"deckId": "deck_456", "days": 30}"##, expect: Expect::Data(r##"{"desiredRetention": 0.9}"##) },
        Example { shows: "a deck that does not exist", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["analytics", "scheduling"],
    rate_limit: per_minute(30),
    ..ANALYSIS
}
.checked();

/// The scope of the report.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Number of days to simulate.
    #[schemars(range(min = 7, max = 365))]
    #[serde(default = "default_days")]
    days: u32,
}

const fn default_days() -> u32 {
    90
}

/// The guidance.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Current desired retention.
    desired_retention: f64,
    /// Cost and benefit of each desired retention.
    choices: Vec<Choice>,
    /// Advice, most important first.
    advice: Vec<String>,
    /// Number of reviews behind the predictions.
    log_size: u64,
    /// RMSE between predicted and observed recall in the learner's log.
    log_rmse: f64,
}

/// Cost and benefit of a desired retention.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Choice {
    /// Desired retention.
    desired_retention: f64,
    /// Minutes per day.
    minutes_per_day: f64,
    /// Cards remembered at the end.
    remembered: f64,
    /// Difference in minutes per day to the current retention.
    minutes_difference: f64,
    /// Difference in cards to the current retention.
    remembered_difference: f64,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (plan, options, calibration, due) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        let log = reader.log(now - 365 * DAY, now, deck.map(|_| decks.as_slice()))?;
        let logs = statistics::review_logs(&log, options.calendar(reader.learner_zone()?));
        let calibration = statistics::calibration(&logs, &options);
        let plan =
            statistics::simulation_input(reader, &decks, &options, now, params.days as usize)?;
        let due =
            statistics::forecast(reader, &decks, options.calendar(reader.learner_zone()?), now, 7)?;
        Ok((plan, options, calibration, due))
    })?;
    let choices = compare_retentions(&options, &plan, cx)?;
    let backlog = due.first().copied().unwrap_or_default();
    let stale = staleness(&options, calibration.reviews, now);
    let advice = advice(&choices, &options, backlog, stale);
    let text = advice.first().cloned().unwrap_or_else(|| "Nothing needs to be changed.".to_owned());
    let table = choices.iter().fold(
        Table::new(["retention", "minutes a day", "remembered"]),
        |table, choice| {
            table.row([
                format!("{:.2}", choice.desired_retention),
                format!("{:.1}", choice.minutes_per_day),
                format!("{:.0}", choice.remembered),
            ])
        },
    );
    let overload = risk(
        RiskKind::UserExperience,
        format!("{backlog} cards are due today, the limit is {}", options.reviews_per_day),
        f64::from(backlog) / f64::from(options.reviews_per_day.max(1)) - 0.5,
        0.6,
        Some("take fewer new cards until the backlog is gone".to_owned()),
    );
    let outdated = risk(
        RiskKind::Accuracy,
        "the weights were fitted long ago or never",
        stale,
        0.3,
        Some("fit them with `optimize-parameters`".to_owned()),
    );
    let next = (stale > 0.5).then(|| {
        let arguments = deck_arguments(params.deck_id.as_ref());
        NextAction::new(
            "optimize-parameters",
            arguments,
            "fit the weights to the learner's own memory",
        )
        .category(ActionCategory::Optimization)
    });
    let output = Output {
        desired_retention: options.desired_retention,
        choices,
        advice,
        log_size: calibration.reviews,
        log_rmse: round_to(calibration.rmse, 4),
    };
    let reply = Reply::new(output, text, memory_evidence(&calibration))
        .table(table)
        .risk(overload)
        .risk(outdated)
        .assuming("ratings and seconds per answer are those of an average learner");
    Ok(with_next(reply, next))
}

/// Simulates the standard retentions and the current one.
fn compare_retentions(
    options: &DeckOptions,
    plan: &SimulationInput,
    cx: &CallContext,
) -> Result<Vec<Choice>, ToolError> {
    let parameters = options.parameters.clone().unwrap_or_default();
    let current = options.desired_retention;
    let is_current = |retention: f64| (retention - current).abs() < 0.001;
    let mut retentions = vec![0.8, 0.85, 0.9, 0.95];
    if !retentions.iter().copied().any(is_current) {
        retentions.push(current);
        retentions.sort_by(f64::total_cmp);
    }
    let mut results = Vec::new();
    for retention in retentions {
        cx.check_cancelled()?;
        let simulated = simulate(&parameters, retention, plan)?;
        let minutes = simulated.minutes.iter().sum::<f64>() / len_to_f64(plan.days);
        let remembered = simulated.remembered.last().copied().unwrap_or_default();
        results.push((retention, minutes, remembered));
    }
    let baseline = results.iter().copied().find(|(retention, ..)| is_current(*retention));
    let (_, base_minutes, base_remembered) = baseline.unwrap_or_default();
    let choice = |(retention, minutes, remembered): (f64, f64, f64)| Choice {
        desired_retention: retention,
        minutes_per_day: round_to(minutes, 1),
        remembered: round_to(remembered, 1),
        minutes_difference: round_to(minutes - base_minutes, 1),
        remembered_difference: round_to(remembered - base_remembered, 1),
    };
    Ok(results.into_iter().map(choice).collect())
}

/// From 0 (just fitted) to 1 (never fitted despite enough reviews, or half a year ago).
fn staleness(options: &DeckOptions, reviews: u64, now: Micros) -> f64 {
    let enough = (u64_to_f64(reviews) / 1000.0).min(1.0);
    let age =
        options.fitted_at.map_or(1.0, |at| (to_f64(now - at) / to_f64(180 * DAY)).clamp(0.0, 1.0));
    age * enough
}

fn advice(choices: &[Choice], options: &DeckOptions, backlog: u32, stale: f64) -> Vec<String> {
    let mut advice = Vec::new();
    if backlog > options.reviews_per_day {
        advice.push(format!(
            "{backlog} cards are due and the limit is {}: take no new cards until the backlog is gone.",
            options.reviews_per_day
        ));
    }
    let cheaper = choices
        .iter()
        .filter(|choice| choice.minutes_difference < -0.5)
        .min_by(|a, b| a.remembered_difference.abs().total_cmp(&b.remembered_difference.abs()));
    if let Some(choice) = cheaper {
        advice.push(format!(
            "Retention {:.2} instead of {:.2} saves {:.1} minutes a day and costs {:.0} cards.",
            choice.desired_retention,
            options.desired_retention,
            -choice.minutes_difference,
            -choice.remembered_difference
        ));
    }
    let dearer = choices.iter().find(|choice| choice.remembered_difference > 0.5);
    if let Some(choice) = dearer {
        advice.push(format!(
            "Retention {:.2} retains {:.0} more cards and costs {:.1} minutes a day.",
            choice.desired_retention, choice.remembered_difference, choice.minutes_difference
        ));
    }
    if stale > 0.5 {
        advice.push("Fit the weights to your own log with `optimize-parameters`.".to_owned());
    }
    advice
}
