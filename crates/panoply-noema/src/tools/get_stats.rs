//! `get-stats`: sums up study over a span of days: answers, true retention of young and mature cards, time, ratings, hours of the day, streak, and how cards stand.

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::wire::{CountsView, DeckId};
use crate::fsrs::DAY;
use crate::numbers::{round_to, to_f64};
use crate::statistics;

const SPEC: ToolSpec = ToolSpec {
    name: "get-stats",
    title: "Get statistics",
    description: Description {
        does: "Sums up study over a span of days: answers, true retention of young and mature cards, time, ratings, hours of the day, streak, and how cards stand.",
        when: "Use this for numbers about a deck or the whole collection. For a short word on how it goes use `get-progress`.",
        returns: "Returns the sums, a count for each day and hour, and the states of all cards.",
        asks: &["What was my retention last month?", "How much time do I spend on cards?", "When do I learn best?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["stats:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::For(Duration::from_secs(60)),
    idempotent: true,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "the last month", params: r##"{"days": 30}"##, expect: Expect::Data(r##"{"days": 30}"##) },
        Example { shows: "a deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{}"##) },
    ],
    tags: &["analytics", "learning"],
    rate_limit: Some(RateLimit { max_calls: 120, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Which days.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it.
    deck_id: Option<DeckId>,
    /// How many days, up to today.
    #[schemars(range(min = 1, max = 3650))]
    #[serde(default = "year")]
    days: u32,
}

const fn year() -> u32 {
    365
}

/// The statistics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// How many days they are of.
    days: u32,
    /// Answers.
    reviews: u64,
    /// Cards answered for the first time.
    introduced: u64,
    /// Hours of answering.
    hours: f64,
    /// Seconds an answer takes.
    seconds_per_answer: f64,
    /// Share recalled of cards in review below 21 days; null without any.
    young_retention: Option<f64>,
    /// Share recalled of cards in review from 21 days on; null without any.
    mature_retention: Option<f64>,
    /// Answers by rating: again, hard, good, easy.
    ratings: [u64; 4],
    /// Days in a row with study, up to today or yesterday.
    streak_days: u32,
    /// Days with study.
    days_studied: usize,
    /// Answers on each of the last 30 days, today last.
    last_days: Vec<u64>,
    /// For each hour of the learner's day with answers: how many, and the share recalled.
    hourly: Vec<Hour>,
    /// How the cards stand.
    cards: CountsView,
}

/// An hour of the day.
#[derive(Debug, Serialize, JsonSchema)]
struct Hour {
    /// From 0 to 23.
    hour: u8,
    /// Answers.
    reviews: u64,
    /// Share recalled.
    recalled: f64,
}

/// See the module.
pub(super) struct GetStats {
    pub(super) service: NoemaService,
}

impl Tool for GetStats {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let (study, counts) = self.service.read(|reader| {
            let (decks, options) = statistics::scope(reader, deck)?;
            let calendar = options.calendar();
            let from = calendar.start(calendar.day(now) - i64::from(params.days) + 1);
            let within = deck.map(|_| decks.as_slice());
            let study = statistics::study_stats(reader, within, calendar, (from, now + DAY), now)?;
            let all = reader.decks()?;
            let counts = statistics::counts(reader, &all, now)?;
            let tops = all.iter().filter(|each| {
                deck.map_or(each.name.parents().next().is_none(), |deck| each.id == deck)
            });
            let cards: statistics::Counts =
                tops.filter_map(|each| counts.get(&each.id)).copied().sum();
            Ok((study, cards))
        })?;
        let (seen, recalled) = (study.young.0 + study.mature.0, study.young.1 + study.mature.1);
        let output = Output {
            days: params.days,
            reviews: study.reviews,
            introduced: study.introduced,
            hours: round_to(to_f64(study.taken_ms) / 3_600_000.0, 2),
            seconds_per_answer: round_to(study.seconds_per_answer(), 1),
            young_retention: share(study.young),
            mature_retention: share(study.mature),
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
                    recalled: share(*sums).unwrap_or_default(),
                })
                .collect(),
            cards: counts.into(),
        };
        let retention = share((seen, recalled))
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
}

fn share((seen, recalled): (u64, u64)) -> Option<f64> {
    let to_f64 = |number: u64| to_f64(i64::try_from(number).unwrap_or(i64::MAX));
    (seen > 0).then(|| round_to(to_f64(recalled) / to_f64(seen), 4))
}
