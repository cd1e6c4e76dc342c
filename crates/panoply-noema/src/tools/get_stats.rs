//! `get-stats`: returns study statistics over a range of days.

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{CountsView, DeckId};
use crate::fsrs::DAY;
use crate::numbers::{round_to, to_f64};
use crate::statistics::{self, share_recalled};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-stats",
    title: "Get statistics",
    description: Description {
        does: "Summarises study over a range of days: reviews, true retention of young and mature cards, time, ratings, hours of the day, streak and card states.",
        when: "Use this for numbers about a deck or the whole collection. For a short summary use `get-progress`.",
        returns: "Returns the totals, counts per day and hour, and the states of all cards.",
        asks: &["What was my retention last month?", "How much time do I spend on cards?", "When do I learn best?"],
    },
    permissions: &["stats:read"],
    cache: CachePolicy::For(Duration::from_secs(60)),
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "the last month", params: r##"{"days": 30}"##, expect: Expect::Data(r##"{"days": 30}"##) },
        Example { shows: "a deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{}"##) },
    ],
    tags: &["analytics", "learning"],
    listing: Listing::Core,
    ..ANALYSIS
}
.checked();

/// The days to cover.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
    /// Number of days up to today.
    #[schemars(range(min = 1, max = 3650))]
    #[serde(default = "default_days")]
    days: u32,
}

const fn default_days() -> u32 {
    365
}

/// Study statistics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Number of days covered.
    days: u32,
    /// Number of reviews.
    reviews: u64,
    /// Cards reviewed for the first time.
    introduced: u64,
    /// Answer time in hours.
    hours: f64,
    /// Mean seconds per review.
    seconds_per_answer: f64,
    /// Share recalled of cards with an interval below 21 days; null without any.
    young_retention: Option<f64>,
    /// Share recalled of cards with an interval from 21 days on; null without any.
    mature_retention: Option<f64>,
    /// Reviews by rating: again, hard, good, easy.
    ratings: [u64; 4],
    /// Consecutive days with study, up to today or yesterday.
    streak_days: u32,
    /// Number of days with study.
    days_studied: usize,
    /// Reviews on each of the last 30 days, today last.
    last_days: Vec<u64>,
    /// Reviews and share recalled for each local hour with reviews.
    hourly: Vec<Hour>,
    /// Card counts by state.
    cards: CountsView,
}

/// An hour of the day.
#[derive(Debug, Serialize, JsonSchema)]
struct Hour {
    /// Hour from 0 to 23.
    hour: u8,
    /// Number of reviews.
    reviews: u64,
    /// Share recalled.
    recalled: f64,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (study, counts) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        let calendar = options.calendar(reader.learner_zone()?);
        let from = calendar.start(calendar.day(now) - i64::from(params.days) + 1);
        let within = deck.map(|_| decks.as_slice());
        let study = statistics::study_stats(reader, within, calendar, (from, now + DAY), now)?;
        let all = reader.decks()?;
        let counts = statistics::counts(reader, &all, now)?;
        let tops = all.iter().filter(|each| {
            deck.map_or(each.name.parents().next().is_none(), |deck| each.id == deck)
        });
        let cards: statistics::Counts = tops.filter_map(|each| counts.get(&each.id)).copied().sum();
        Ok((study, cards))
    })?;
    let (seen, recalled) = study.in_review();
    let output = Output {
        days: params.days,
        reviews: study.reviews,
        introduced: study.introduced,
        hours: round_to(to_f64(study.taken_ms) / 3_600_000.0, 2),
        seconds_per_answer: round_to(study.seconds_per_answer(), 1),
        young_retention: share_recalled(study.young),
        mature_retention: share_recalled(study.mature),
        ratings: study.ratings,
        streak_days: study.streak(),
        days_studied: study.by_day.len(),
        last_days: (0..30)
            .rev()
            .map(|day| study.by_day.get(&day).copied().unwrap_or_default())
            .collect(),
        hourly: study
            .by_hour
            .iter()
            .map(|(hour, sums)| Hour {
                hour: *hour,
                reviews: sums.0,
                recalled: share_recalled(*sums).unwrap_or_default(),
            })
            .collect(),
        cards: counts.into(),
    };
    let retention = share_recalled((seen, recalled))
        .map(|share| format!(", {:.1} % recalled in review", share * 100.0))
        .unwrap_or_default();
    let text = format!(
        "{} answers in {} days{retention}; a streak of {} days.",
        output.reviews, params.days, output.streak_days
    );
    let evidence = exact_evidence("the log of reviews")
        .sampled(Sample::Proportion { successes: recalled, n: seen });
    let next = (study.reviews > 0)
        .then(|| NextAction::new("get-study-guidance", json!({}), "see what to change"));
    Ok(with_next(Reply::new(output, text, evidence), next))
}
