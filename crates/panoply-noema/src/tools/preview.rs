//! What the four ratings would do, as agents see it.

use panoply_contract::prelude::*;

use super::wire::{CardState, RatingParam, timestamp};
use crate::card::Card;
use crate::fsrs::{Micros, Scheduler};
use crate::numbers::round_to;
use crate::review;

/// What one rating would do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Preview {
    /// The rating.
    pub(crate) rating: RatingParam,
    /// Where the card would be.
    pub(crate) state: CardState,
    /// When it would come back.
    pub(crate) due: String,
    /// In how many days; 0 while in steps.
    pub(crate) interval_days: u32,
    /// Days until the chance of recall would fall to nine in ten.
    pub(crate) stability_days: f64,
}

/// What the four ratings would do to a card.
pub(crate) fn previews(scheduler: &Scheduler, card: &Card, now: Micros) -> Vec<Preview> {
    let futures = scheduler.preview(&card.schedule, now, review::seed(card));
    futures
        .into_iter()
        .map(|(rating, schedule)| Preview {
            rating: RatingParam::of(rating),
            state: CardState::in_phase(schedule.phase),
            due: timestamp(schedule.due),
            interval_days: schedule.interval_days,
            stability_days: round_to(schedule.memory.map_or(0.0, |memory| memory.stability), 4),
        })
        .collect()
}
