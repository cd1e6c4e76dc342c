//! Preview of the four ratings.

use panoply_contract::prelude::*;

use super::wire::{CardState, RatingParam, timestamp};
use crate::card::Card;
use crate::fsrs::{Micros, Scheduler};
use crate::numbers::round_to;
use crate::review;

/// The effect of one rating.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Preview {
    /// Rating.
    pub(crate) rating: RatingParam,
    /// State of the card afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<CardState>,
    /// Due time afterwards.
    pub(crate) due: String,
    /// Interval in days; 0 in learning steps.
    pub(crate) interval_days: u32,
    /// Stability in days afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stability_days: Option<f64>,
}

impl Preview {
    /// Only what a learner is shown before rating.
    pub(crate) fn brief(self) -> Self {
        Self { state: None, stability_days: None, ..self }
    }
}

/// Previews the four ratings of a card.
pub(crate) fn previews(scheduler: &Scheduler, card: &Card, now: Micros) -> Vec<Preview> {
    let futures = scheduler.preview(&card.schedule, now, review::seed(card));
    futures
        .into_iter()
        .map(|(rating, schedule)| Preview {
            rating: RatingParam::of(rating),
            state: Some(CardState::in_phase(schedule.phase)),
            due: timestamp(schedule.due),
            interval_days: schedule.interval_days,
            stability_days: Some(round_to(
                schedule.memory.map_or(0.0, |memory| memory.stability),
                4,
            )),
        })
        .collect()
}
