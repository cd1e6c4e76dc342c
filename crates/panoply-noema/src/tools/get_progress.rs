//! `get-progress`: returns key figures of study: today, both weeks, streak and cards known.

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;

use super::service::{NoemaService, exact_evidence, now, with_next};
use super::specs::ANALYSIS;
use super::wire::{DeckId, deck_arguments};
use crate::fsrs::DAY;
use crate::numbers::round_to;
use crate::statistics::{self, share_recalled};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "get-progress",
    title: "Get progress",
    description: Description {
        does: "Returns key figures of study: today, the last week compared with the week before, the streak and the cards known.",
        when: "Use this to encourage and to report. For details use `get-stats`.",
        returns: "Returns today, both weeks, the streak and the cards known.",
        asks: &["How am I doing?", "Have I studied enough this week?"],
    },
    permissions: &["stats:read"],
    data: &["cards", "schedule", "reviews"],
    examples: &[
        Example { shows: "everything", params: r##"{}"##, expect: Expect::Data(r##"{}"##) },
        Example { shows: "a deck", params: r##"{"deckId": "deck_456"}"##, expect: Expect::Data(r##"{}"##) },
    ],
    tags: &["analytics", "learning"],
    ..ANALYSIS
}
.checked();

/// The scope of the report.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Only this deck and its subdecks.
    deck_id: Option<DeckId>,
}

/// Key figures of study.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Reviews today.
    today: u64,
    /// Reviews in the last seven days, including today.
    this_week: u64,
    /// Reviews in the seven days before.
    last_week: u64,
    /// Consecutive days with study, up to today or yesterday.
    streak_days: u32,
    /// Share recalled in the last week; null without reviews.
    recalled_this_week: Option<f64>,
    /// The same for the week before.
    recalled_last_week: Option<f64>,
    /// Expected number of cards recalled now.
    known: f64,
    /// Cards reviewed at least once.
    begun: usize,
    /// Cards remaining today.
    left_today: usize,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.as_ref().map(DeckId::domain);
    let (study, last, before, known, begun, left) = service.read(|reader| {
        let (decks, options) = statistics::scope(reader, deck)?;
        let calendar = options.calendar(reader.learner_zone()?);
        let inside = |deck| decks.contains(&deck);
        let start = |back: i64| calendar.start(calendar.day(now) - back);
        let span = |from, to| {
            let within = deck.map(|_| decks.as_slice());
            statistics::study_stats(reader, within, calendar, (from, to), now)
        };
        let (study, last, before) =
            (span(start(365), now + DAY)?, span(start(6), now + DAY)?, span(start(13), start(6))?);
        let scheduler = options.scheduler(reader.learner_zone()?);
        let cards: Vec<_> =
            reader.answered_cards()?.into_iter().filter(|card| inside(card.deck)).collect();
        let known: f64 =
            cards.iter().filter_map(|card| scheduler.retrievability(&card.schedule, now)).sum();
        let left = service.queue_cache.day(reader, deck, now, |day| day.at(now).len())?;
        Ok((study, last, before, known, cards.len(), left))
    })?;
    let output = Output {
        today: study.by_day.get(&0).copied().unwrap_or_default(),
        this_week: last.reviews,
        last_week: before.reviews,
        streak_days: study.streak(),
        recalled_this_week: share_recalled(last.in_review()),
        recalled_last_week: share_recalled(before.in_review()),
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
        let arguments = deck_arguments(params.deck_id.as_ref());
        NextAction::new("get-next-card", arguments, format!("{left} cards are left for today"))
    });
    Ok(with_next(Reply::new(output, text, evidence), next))
}
