//! `simulate-workload`: plays the coming days through with the cards as they are: reviews, new cards, minutes and cards remembered, for one desired retention.

use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, memory_evidence, now, simulate, with_next};
use super::wire::DeckId;
use crate::fsrs::DAY;
use crate::numbers::round_to;
use crate::statistics;

const SPEC: ToolSpec = ToolSpec {
    name: "simulate-workload",
    title: "Simulate the workload",
    description: Description {
        does: "Plays the coming days through with the cards as they are: reviews, new cards, minutes and cards remembered, for one desired retention.",
        when: "Use this to see what a plan means before `update-deck`. To compare several retentions at once use `get-study-guidance`.",
        returns: "Returns sums and a line for each week.",
        asks: &["What if I learn 30 new cards a day?", "How long will I study each day with 95 % retention?"],
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
        Example { shows: "thirty days", params: r##"{"days": 30}"##, expect: Expect::Data(r##"{"days": 30}"##) },
        Example { shows: "another retention", params: r##"{"deckId": "deck_456", "days": 30, "desiredRetention": 0.8}"##, expect: Expect::Data(r##"{"desiredRetention": 0.8}"##) },
    ],
    tags: &["scheduling", "analytics"],
    rate_limit: Some(RateLimit { max_calls: 30, window: Duration::from_secs(60) }),
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// The plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and those under it.
    deck_id: Option<DeckId>,
    /// How many days.
    #[schemars(range(min = 7, max = 730))]
    #[serde(default = "quarter")]
    days: u32,
    /// The chance of recall at which a card comes back; that of the deck if left out.
    #[schemars(range(min = 0.7, max = 0.99))]
    desired_retention: Option<f64>,
    /// New cards a day; those of the deck if left out.
    #[schemars(range(min = 0, max = 9999))]
    new_per_day: Option<u32>,
    /// Cards that are going to be added, beside those that are there.
    #[schemars(range(min = 0, max = 100000))]
    #[serde(default)]
    additional_new_cards: u32,
}

const fn quarter() -> u32 {
    90
}

/// What would come.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// How many days were played.
    days: u32,
    /// The retention they were played with.
    desired_retention: f64,
    /// Reviews a day, on average.
    reviews_per_day: f64,
    /// Minutes a day, on average.
    minutes_per_day: f64,
    /// Minutes on the fullest day.
    most_minutes: f64,
    /// New cards begun in all.
    new_cards: u32,
    /// Cards that would be recalled at the end if all were asked.
    remembered: f64,
    /// A line for each week.
    weeks: Vec<Week>,
}

/// A week.
#[derive(Debug, Serialize, JsonSchema)]
struct Week {
    /// Reviews.
    reviews: u32,
    /// New cards.
    new: u32,
    /// Minutes.
    minutes: f64,
    /// Cards remembered at its end.
    remembered: f64,
}

/// See the module.
pub(super) struct SimulateWorkload {
    pub(super) service: NoemaService,
}

impl Tool for SimulateWorkload {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let (mut plan, options, calibration) = self.service.read(|reader| {
            let (decks, options) = statistics::scope(reader, deck)?;
            let log = reader.log(now - 365 * DAY, now, deck.map(|_| decks.as_slice()))?;
            let logs = statistics::review_logs(&log, options.calendar());
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
}
