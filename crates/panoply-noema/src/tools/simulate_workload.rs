//! `simulate-workload`: simulates reviews, study time and cards remembered for one desired
//! retention.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, memory_evidence, now, simulate, with_next};
use super::specs::{ANALYSIS, per_minute};
use super::wire::DeckId;
use crate::fsrs::DAY;
use crate::numbers::round_to;
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "simulate-workload",
    title: "Simulate the workload",
    description: Description {
        does: "Simulates the coming days with the current cards: reviews, new cards, minutes and cards remembered, for one desired retention.",
        when: "Use this to evaluate a plan before `update-deck`. To compare several retentions at once use `get-study-guidance`.",
        returns: "Returns totals and an entry per week.",
        asks: &["What if I learn 30 new cards a day?", "How long will I study each day with 95 % retention?"],
    },
    permissions: &["schedule:read"],
    response_time: ResponseTime::Slow,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "thirty days", params: r##"{"days": 30}"##, expect: Expect::Data(r##"{"days": 30}"##) },
        Example { shows: "another retention", params: r##"{"deckId": "deck_456", "days": 30, "desiredRetention": 0.8}"##, expect: Expect::Data(r##"{"desiredRetention": 0.8}"##) },
    ],
    tags: &["scheduling", "analytics"],
    rate_limit: per_minute(30),
    ..ANALYSIS
}
.checked();

/// The plan to simulate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Number of days.
    #[schemars(range(min = 7, max = 730))]
    #[serde(default = "default_days")]
    days: u32,
    /// Desired retention; default is that of the deck.
    #[schemars(range(min = 0.7, max = 0.99))]
    desired_retention: Option<f64>,
    /// Daily limit of new cards; default is that of the deck.
    #[schemars(range(min = 0, max = 9999))]
    new_per_day: Option<u32>,
    /// Cards to be added to the existing ones.
    #[schemars(range(min = 0, max = 100000))]
    #[serde(default)]
    additional_new_cards: u32,
}

const fn default_days() -> u32 {
    90
}

/// The simulated workload.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Number of simulated days.
    days: u32,
    /// Simulated desired retention.
    desired_retention: f64,
    /// Mean reviews per day.
    reviews_per_day: f64,
    /// Mean minutes per day.
    minutes_per_day: f64,
    /// Minutes on the busiest day.
    most_minutes: f64,
    /// New cards started in total.
    new_cards: u32,
    /// Expected number of cards recalled at the end if all were asked.
    remembered: f64,
    /// One entry per week.
    weeks: Vec<Week>,
}

/// One week.
#[derive(Debug, Serialize, JsonSchema)]
struct Week {
    /// Number of reviews.
    reviews: u32,
    /// Number of new cards.
    new: u32,
    /// Minutes.
    minutes: f64,
    /// Cards remembered at the end.
    remembered: f64,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (mut plan, options, calibration) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        let log = reader.log(now - 365 * DAY, now, deck.map(|_| decks.as_slice()))?;
        let logs = statistics::review_logs(&log, options.calendar(reader.learner_zone()?));
        let calibration = statistics::calibration(&logs, &options);
        Ok((
            statistics::simulation_input(reader, &decks, &options, now, params.days as usize)?,
            options,
            calibration,
        ))
    })?;
    plan.new_per_day = params.new_per_day.map_or(plan.new_per_day, |new| new as usize);
    plan.new_cards += params.additional_new_cards as usize;
    let retention = params.desired_retention.unwrap_or(options.desired_retention);
    let parameters = options.parameters.clone().unwrap_or_default();
    let simulated = simulate(&parameters, retention, &plan)?;
    let days = f64::from(params.days);
    let minutes: f64 = simulated.minutes.iter().sum();
    let reviews: u32 = simulated.reviews.iter().sum();
    let weeks = (0..simulated.reviews.len().div_ceil(7))
        .map(|week| {
            let span = |values: &[u32]| values.iter().skip(week * 7).take(7).sum::<u32>();
            Week {
                reviews: span(&simulated.reviews),
                new: span(&simulated.new),
                minutes: round_to(simulated.minutes.iter().skip(week * 7).take(7).sum(), 1),
                remembered: round_to(
                    simulated
                        .remembered
                        .iter()
                        .skip(week * 7)
                        .take(7)
                        .next_back()
                        .copied()
                        .unwrap_or_default(),
                    1,
                ),
            }
        })
        .collect();
    let output = Output {
        days: params.days,
        desired_retention: retention,
        reviews_per_day: round_to(f64::from(reviews) / days, 1),
        minutes_per_day: round_to(minutes / days, 1),
        most_minutes: round_to(simulated.minutes.iter().copied().fold(0.0, f64::max), 1),
        new_cards: simulated.new.iter().sum(),
        remembered: round_to(simulated.remembered.last().copied().unwrap_or_default(), 1),
        weeks,
    };
    let text = format!(
        "{:.0} minutes and {:.0} reviews a day for {} days, {:.0} cards remembered at the end.",
        output.minutes_per_day, output.reviews_per_day, params.days, output.remembered
    );
    let next = params
        .deck_id
        .as_ref()
        .filter(|_| retention.to_bits() != options.desired_retention.to_bits())
        .map(|deck| {
            NextAction::new(
                "update-deck",
                json!({"deckId": deck.as_str(), "options": {"desiredRetention": retention}}),
                "use this retention",
            )
        });
    let reply = Reply::new(output, text, memory_evidence(&calibration))
        .assuming("ratings and seconds per answer are those of an average learner");
    Ok(with_next(reply, next))
}
