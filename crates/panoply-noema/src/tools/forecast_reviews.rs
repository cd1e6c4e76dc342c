//! `forecast-reviews`: counts the cards due on each of the next days.

use panoply_contract::calculus::risk;
use panoply_contract::hints::RiskKind;
use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::service::{NoemaService, changes_at, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{DeckId, timestamp};
use crate::numbers::len_to_f64;
use crate::statistics;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "forecast-reviews",
    title: "Forecast reviews",
    description: Description {
        does: "Counts the cards due on each of the next days, from the current schedule.",
        when: "Use this to plan a week or find overloaded days. Reviews caused by new cards are not included: see `simulate-workload`.",
        returns: "Returns a count per day, the busiest day and the overdue cards.",
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
    /// Cards due; overdue cards count for today.
    due: u32,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (due, options) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        Ok((statistics::forecast(reader, &decks, options.calendar(), now, params.days)?, options))
    })?;
    let calendar = options.calendar();
    let today = calendar.day(now);
    let days: Vec<Day> = (today..)
        .zip(&due)
        .map(|(day, due)| Day { begins: timestamp(calendar.start(day)), due: *due })
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
    let evidence = Evidence::from(Source::new(SourceClass::Exact, "the current schedule"))
        .changes(changes_at(calendar.next_start(now)));
    let reply = Reply::new(Output { days, total, limit: options.reviews_per_day }, text, evidence)
        .risk(overload)
        .assuming("every card is answered on its day and none is forgotten");
    Ok(with_next(reply, next))
}
