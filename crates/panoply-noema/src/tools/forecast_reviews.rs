//! `forecast-reviews`: counts the cards due on each of the next days.

use panoply_contract::calculus::risk;
use panoply_contract::hints::RiskKind;
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::service::{NoemaService, changes_at, memory_evidence, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{DeckId, timestamp};
use crate::fsrs::DAY;
use crate::numbers::{len_to_f64, round_to};
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "forecast-reviews",
    title: "Forecast reviews",
    description: Description {
        does: "Counts the cards due on each of the next days in the current schedule, and the answers to expect with lapses and new cards, by simulation.",
        when: "Use this to plan a week or find overloaded days. For other options see `simulate-workload`, for an exam `plan-exam`.",
        returns: "Returns per day the cards due and the expected answers with a 95 % interval, and the busiest day.",
        asks: &["How many reviews do I have this week?", "When is my worst day?"],
    },
    permissions: &["schedule:read"],
    cache: CachePolicy::For(Duration::from_secs(30)),
    data: &["cards", "schedule"],
    examples: &[
        Example { shows: "a week", params: r##"{"days": 7}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a deck", params: r##"{"deckId": "deck_456", "days": 1}"##, expect: Expect::Data(r##"{}"##) },
    ],
    tags: &["scheduling", "analytics"],
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/noema-forecast-v1.html",
        invoking: "Counting due cards…",
        invoked: "Upcoming reviews",
    }),
    ..ANALYSIS
}
.checked();

/// The days to cover.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Number of days from today on.
    #[schemars(range(min = 1, max = 365))]
    #[serde(default = "default_days")]
    days: u32,
}

const fn default_days() -> u32 {
    30
}

/// The forecast.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// One entry per day, today first.
    days: Vec<Day>,
    /// Sum over all days.
    total: u32,
    /// Daily limit of reviews.
    limit: u32,
}

/// One day.
#[derive(Debug, Serialize, JsonSchema)]
struct Day {
    /// Start of the day.
    begins: String,
    /// Cards due in the current schedule; overdue cards count for today.
    due: u32,
    /// Expected answers, with lapses and new cards.
    expected: f64,
    /// Lower end of its 95 % interval.
    low: f64,
    /// Upper end of its 95 % interval.
    high: f64,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (due, options, calendar, input, calibration) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        let calendar = options.calendar(reader.learner_zone()?);
        let due = statistics::forecast(reader, &decks, calendar, now, params.days)?;
        let input =
            statistics::simulation_input(reader, &decks, &options, now, params.days as usize)?;
        let log = reader.log(now - 365 * DAY, now, deck.map(|_| decks.as_slice()))?;
        let logs = statistics::review_logs(&log, calendar);
        let calibration = statistics::calibration(&logs, &options);
        Ok((due, options, calendar, input, calibration))
    })?;
    let today = calendar.day(now);
    let parameters = options.parameters.clone().unwrap_or_default();
    let expected = statistics::expected_days(&parameters, options.desired_retention, &input);
    let expected = expected.map_err(|error| {
        ToolError::business("NOT_SIMULATED", error.to_string()).hint("ask for fewer days")
    })?;
    let days: Vec<Day> = (today..)
        .zip(due.iter().zip(&expected))
        .map(|(day, (due, expected))| Day {
            begins: timestamp(calendar.start(day)),
            due: *due,
            expected: round_to(expected.mean, 1),
            low: round_to(expected.low, 1),
            high: round_to(expected.high, 1),
        })
        .collect();
    let total: u32 = due.iter().sum();
    let (fullest, most) = days
        .iter()
        .zip(&due)
        .max_by_key(|(_, due)| **due)
        .map_or(("", 0), |(day, due)| (day.begins.as_str(), *due));
    let text = format!(
        "{total} cards in {} days; the busiest day begins {fullest} with {most}.",
        params.days
    );
    let over = due.iter().filter(|due| **due > options.reviews_per_day).count();
    let overload = risk(
        RiskKind::UserExperience,
        format!(
            "{over} of {} days have more reviews than the limit of {}",
            params.days, options.reviews_per_day
        ),
        len_to_f64(over) / f64::from(params.days),
        (f64::from(most) / f64::from(options.reviews_per_day.max(1)) - 1.0).clamp(0.0, 1.0),
        Some("reduce new cards per day or the desired retention".to_owned()),
    );
    let next = (total > 0).then(|| {
        NextAction::new("get-study-guidance", json!({}), "see what other options would cost")
    });
    let evidence = memory_evidence(&calibration).changes(changes_at(calendar.next_start(now)));
    let reply = Reply::new(Output { days, total, limit: options.reviews_per_day }, text, evidence)
        .risk(overload)
        .assuming("every card is answered on its day");
    Ok(with_next(reply, next))
}
