//! `get-study-guidance`: says in numbers what to change: what each desired retention would cost in minutes a day and keep in cards, whether the load fits, whether the weights are stale.

use panoply_contract::calculus::risk;
use panoply_contract::hints::{ActionCategory, RiskKind};
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, memory_evidence, now, simulate, with_next};
use super::wire::DeckId;
use crate::deck::DeckOptions;
use crate::fsrs::{DAY, Micros};
use crate::numbers::{round_to, to_f64};
use crate::statistics;

const SPEC: ToolSpec = ToolSpec {
    name: "get-study-guidance",
    title: "Get study guidance",
    description: Description {
        does: "Says in numbers what to change: what each desired retention would cost in minutes a day and keep in cards, whether the load fits, whether the weights are stale.",
        when: "Use this when the learner asks how to study better or less. Apply an advice with `update-deck`.",
        returns: "Returns the choices with minutes, cards remembered and the difference to now, and advice in order of weight.",
        asks: &["Can I study less without forgetting?", "What should I change?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["stats:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Slow,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "a deck", params: r##"{"deckId": "deck_456", "days": 30}"##, expect: Expect::Data(r##"{"desiredRetention": 0.9}"##) },
        Example { shows: "a deck that is not there", params: r##"{"deckId": "deck_1"}"##, expect: Expect::Error("DECK_NOT_FOUND") },
    ],
    tags: &["analytics", "scheduling"],
    rate_limit: Some(RateLimit { max_calls: 30, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Of what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it.
    deck_id: Option<DeckId>,
    /// How many days to look ahead.
    #[schemars(range(min = 7, max = 365))]
    #[serde(default = "quarter")]
    days: u32,
}

const fn quarter() -> u32 {
    90
}

/// The guidance.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The retention in use.
    desired_retention: f64,
    /// What each retention would cost and keep.
    choices: Vec<Choice>,
    /// What to do, most important first.
    advice: Vec<String>,
    /// Answers that the predictions rest on.
    log_size: u64,
    /// The distance of predicted from observed recall in the learner's log.
    log_rmse: f64,
}

/// What a retention would cost and keep.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Choice {
    /// The retention.
    desired_retention: f64,
    /// Minutes a day.
    minutes_per_day: f64,
    /// Cards remembered at the end.
    remembered: f64,
    /// Minutes a day against the retention in use.
    minutes_difference: f64,
    /// Cards against the retention in use.
    remembered_difference: f64,
}

/// See the module.
pub(super) struct GetStudyGuidance {
    pub(super) service: NoemaService,
}

impl Tool for GetStudyGuidance {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let (plan, options, calibration, due) = self.service.read(|reader| {
            let (decks, options) = statistics::scope(reader, deck)?;
            let log = reader.log(now - 365 * DAY, now, deck.map(|_| decks.as_slice()))?;
            let logs = statistics::review_logs(&log, options.calendar());
            let calibration = statistics::calibration(&logs, &options);
            let plan =
                statistics::simulation_input(reader, &decks, &options, now, params.days as usize)?;
            let due = statistics::forecast(reader, &decks, options.calendar(), now, 7)?;
            Ok((plan, options, calibration, due))
        })?;
        let parameters = options.parameters.clone().unwrap_or_default();
        let mut retentions = vec![0.8, 0.85, 0.9, 0.95];
        if !retentions
            .iter()
            .any(|retention: &f64| (retention - options.desired_retention).abs() < 0.001)
        {
            retentions.push(options.desired_retention);
            retentions.sort_by(f64::total_cmp);
        }
        let mut choices = Vec::new();
        for retention in retentions {
            cx.check_cancelled()?;
            let simulated = simulate(&parameters, retention, &plan)?;
            choices.push(Choice {
                desired_retention: retention,
                minutes_per_day: simulated.minutes.iter().sum::<f64>() / f64::from(params.days),
                remembered: simulated.remembered.last().copied().unwrap_or_default(),
                minutes_difference: 0.0,
                remembered_difference: 0.0,
            });
        }
        let current = choices
            .iter()
            .find(|choice| (choice.desired_retention - options.desired_retention).abs() < 0.001)
            .cloned();
        for choice in &mut choices {
            if let Some(current) = &current {
                choice.minutes_difference =
                    round_to(choice.minutes_per_day - current.minutes_per_day, 1);
                choice.remembered_difference = round_to(choice.remembered - current.remembered, 1);
            }
            choice.minutes_per_day = round_to(choice.minutes_per_day, 1);
            choice.remembered = round_to(choice.remembered, 1);
        }
        let backlog = due.first().copied().unwrap_or_default();
        let stale = staleness(&options, calibration.reviews, now);
        let advice = advice(&choices, &options, backlog, stale);
        let text =
            advice.first().cloned().unwrap_or_else(|| "Nothing needs to be changed.".to_owned());
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
            let arguments = params
                .deck_id
                .as_ref()
                .map_or_else(|| json!({}), |deck| json!({"deckId": deck.as_str()}));
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
}

/// From 0, just fitted, to 1: never, with a log to fit to, or half a year ago.
fn staleness(options: &DeckOptions, reviews: u64, now: Micros) -> f64 {
    let enough = (to_f64(i64::try_from(reviews).unwrap_or(i64::MAX)) / 1000.0).min(1.0);
    let age =
        options.fitted_at.map_or(1.0, |at| (to_f64(now - at) / to_f64(180 * DAY)).clamp(0.0, 1.0));
    age * enough
}

fn advice(choices: &[Choice], options: &DeckOptions, backlog: u32, stale: f64) -> Vec<String> {
    let mut advice = Vec::new();
    if backlog > options.reviews_per_day {
        advice.push(format!(
            "{backlog} cards are due and the limit is {}: take no new cards until that is gone.",
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
            "Retention {:.2} keeps {:.0} more cards and costs {:.1} minutes a day.",
            choice.desired_retention, choice.remembered_difference, choice.minutes_difference
        ));
    }
    if stale > 0.5 {
        advice.push("Fit the weights to your own log with `optimize-parameters`.".to_owned());
    }
    advice
}
