//! `get-progress`: says in a few numbers how study goes: today, the last week against the week before, the streak, and how much is known.

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::wire::DeckId;
use crate::fsrs::DAY;
use crate::numbers::{round_to, to_f64};
use crate::statistics::{self, StudyStats};

const SPEC: ToolSpec = ToolSpec {
    name: "get-progress",
    title: "Get progress",
    description: Description {
        does: "Says in a few numbers how study goes: today, the last week against the week before, the streak, and how much is known.",
        when: "Use this to encourage and to report. For everything else there is `get-stats`.",
        returns: "Returns today, both weeks, the streak and the cards known.",
        asks: &["How am I doing?", "Have I studied enough this week?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["stats:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "everything", params: r##"{}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{}"##) },
    ],
    tags: &["analytics", "learning"],
    rate_limit: Some(RateLimit { max_calls: 120, window: Duration::from_secs(60) }),
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
}

/// The progress.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Answers today.
    today: u64,
    /// Answers in the last seven days, with today.
    this_week: u64,
    /// Answers in the seven days before.
    last_week: u64,
    /// Days in a row with study, up to today or yesterday.
    streak_days: u32,
    /// Share recalled in the last week; null without reviews.
    recalled_this_week: Option<f64>,
    /// The same in the week before.
    recalled_last_week: Option<f64>,
    /// Cards that would be recalled now.
    known: f64,
    /// Cards that have been begun.
    begun: usize,
    /// Cards left for today.
    left_today: usize,
}

/// See the module.
pub(super) struct GetProgress {
    pub(super) service: NoemaService,
}

impl Tool for GetProgress {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let now = now(cx);
        let deck = params.deck_id.as_ref().map(DeckId::domain);
        let (study, last, before, known, begun, left) = self.service.read(|reader| {
            let (decks, options) = statistics::scope(reader, deck)?;
            let calendar = options.calendar();
            let inside = |deck| decks.contains(&deck);
            let start = |back: i64| calendar.start(calendar.day(now) - back);
            let span = |from, to| {
                let within = deck.map(|_| decks.as_slice());
                statistics::study_stats(reader, within, calendar, (from, to), now)
            };
            let (study, last, before) = (
                span(start(365), now + DAY)?,
                span(start(6), now + DAY)?,
                span(start(13), start(6))?,
            );
            let scheduler = options.scheduler();
            let cards: Vec<_> =
                reader.answered_cards()?.into_iter().filter(|card| inside(card.deck)).collect();
            let known: f64 =
                cards.iter().filter_map(|card| scheduler.retrievability(&card.schedule, now)).sum();
            let left = self.service.queue_cache.day(reader, deck, now, |day| day.at(now).len())?;
            Ok((study, last, before, known, cards.len(), left))
        })?;
        let output = Output {
            today: study.by_day.get(&0).copied().unwrap_or_default(),
            this_week: last.reviews,
            last_week: before.reviews,
            streak_days: study.streak(),
            recalled_this_week: recalled(&last),
            recalled_last_week: recalled(&before),
            known: round_to(known, 1),
            begun,
            left_today: left,
        };
        let text = format!(
            "{} answers today, {} this week ({} the week before), a streak of {} days; about {:.0} of {} cards known.",
            output.today, output.this_week, output.last_week, output.streak_days, known, begun
        );
        let evidence = exact_evidence("the log of reviews")
            .sampled(Sample::Mean { n: study.reviews, variation: 0.5 });
        let next = (left > 0).then(|| {
            let arguments = params
                .deck_id
                .as_ref()
                .map_or_else(|| json!({}), |deck| json!({"deckId": deck.as_str()}));
            NextAction::new("get-next-card", arguments, format!("{left} cards are left for today"))
        });
        Ok(with_next(Reply::new(output, text, evidence), next))
    }
}

fn recalled(study: &StudyStats) -> Option<f64> {
    let to_f64 = |number: u64| to_f64(i64::try_from(number).unwrap_or(i64::MAX));
    let (seen, recalled) = (study.young.0 + study.mature.0, study.young.1 + study.mature.1);
    (seen > 0).then(|| round_to(to_f64(recalled) / to_f64(seen), 4))
}
