//! What agents see of decks and cards.

use panoply_contract::prelude::*;

use crate::card::{Card, Hold};
use crate::deck::{Deck, DeckOptions, LeechAction};
use crate::fsrs::{Micros, Phase, Rating};
use crate::ids;
use crate::numbers::round_to;
use crate::statistics::Counts;

panoply_contract::branded_id!(CardId, "card_", "The id of a card, such as `card_123`.");
panoply_contract::branded_id!(DeckId, "deck_", "The id of a deck, such as `deck_456`.");
panoply_contract::branded_id!(SessionId, "session_", "The id of a session, such as `session_789`.");
panoply_contract::branded_id!(ActionId, "action_", "The id of a change, as its reply gave it.");

macro_rules! convert_id {
    ($wire:ident, $domain:ident) => {
        impl $wire {
            /// The domain's id. No id of ours has anything but digits, so others name nothing.
            pub(crate) fn domain(&self) -> ids::$domain {
                let digits = self.as_str().trim_start_matches($wire::PREFIX);
                ids::$domain(digits.parse().unwrap_or(-1))
            }

            /// The wire's form of an id.
            pub(crate) fn of(id: ids::$domain) -> Self {
                Self(format!("{}{}", $wire::PREFIX, id.0.max(0)))
            }
        }
    };
}

convert_id!(CardId, CardId);
convert_id!(DeckId, DeckId);
convert_id!(SessionId, SessionId);
convert_id!(ActionId, ActionId);

/// A moment as ISO 8601, UTC, to the second.
pub(crate) fn timestamp(at: Micros) -> String {
    jiff::Timestamp::from_second(at.div_euclid(1_000_000))
        .map_or_else(|_| "beyond the calendar".to_owned(), |at| at.to_string())
}

/// How well a card was recalled.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RatingParam {
    /// Not recalled.
    Again,
    /// Recalled with effort.
    Hard,
    /// Recalled as it should be.
    Good,
    /// Recalled at once.
    Easy,
}

impl RatingParam {
    pub(crate) const fn domain(self) -> Rating {
        match self {
            Self::Again => Rating::Again,
            Self::Hard => Rating::Hard,
            Self::Good => Rating::Good,
            Self::Easy => Rating::Easy,
        }
    }

    pub(crate) const fn of(rating: Rating) -> Self {
        match rating {
            Rating::Again => Self::Again,
            Rating::Hard => Self::Hard,
            Rating::Good => Self::Good,
            Rating::Easy => Self::Easy,
        }
    }
}

/// Where a card stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CardState {
    /// Never answered.
    New,
    /// In its first steps.
    Learning,
    /// Coming back after days.
    Review,
    /// Forgotten, and in steps again.
    Relearning,
    /// Suspended until somebody takes that back.
    Suspended,
    /// Buried until tomorrow.
    Buried,
    /// Waiting for approval.
    Draft,
    /// Deleted; can be restored for 30 days.
    Deleted,
}

impl CardState {
    pub(crate) fn of(card: &Card, now: Micros) -> Self {
        match (card.deleted, card.active_hold(now), card.schedule.phase) {
            (Some(_), ..) => Self::Deleted,
            (_, Hold::Suspended, _) => Self::Suspended,
            (_, Hold::BuriedByHand | Hold::BuriedAsSibling, _) => Self::Buried,
            (_, Hold::Draft, _) => Self::Draft,
            (_, Hold::None, phase) => Self::in_phase(phase),
        }
    }

    pub(crate) const fn in_phase(phase: Phase) -> Self {
        match phase {
            Phase::New => Self::New,
            Phase::Learning => Self::Learning,
            Phase::Review => Self::Review,
            Phase::Relearning => Self::Relearning,
        }
    }
}

/// When a card comes back and how well it is remembered.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduleView {
    /// Where the card stands.
    pub(crate) state: CardState,
    /// When it comes back; null for a card never answered.
    pub(crate) due: Option<String>,
    /// Its interval in days; 0 while in steps.
    pub(crate) interval_days: u32,
    /// Days until the chance of recall falls to nine in ten; null for a card never answered.
    pub(crate) stability_days: Option<f64>,
    /// From 1 (easy) to 10; null for a card never answered.
    pub(crate) difficulty: Option<f64>,
    /// How often it was answered.
    pub(crate) reviews: u32,
    /// How often it was forgotten.
    pub(crate) lapses: u32,
}

impl ScheduleView {
    pub(crate) fn of(card: &Card, now: Micros) -> Self {
        let schedule = &card.schedule;
        Self {
            state: CardState::of(card, now),
            due: (schedule.phase != Phase::New).then(|| timestamp(schedule.due)),
            interval_days: schedule.interval_days,
            stability_days: schedule.memory.map(|memory| round_to(memory.stability, 4)),
            difficulty: schedule.memory.map(|memory| round_to(memory.difficulty, 3)),
            reviews: card.reps,
            lapses: card.lapses,
        }
    }
}

/// Cards of a deck and of those under it.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct CountsView {
    /// All cards.
    pub(crate) cards: i64,
    /// Never answered and free to be studied.
    pub(crate) new: i64,
    /// In steps.
    pub(crate) learning: i64,
    /// In review.
    pub(crate) review: i64,
    /// In steps or review and due by the end of today.
    pub(crate) due: i64,
    /// Suspended.
    pub(crate) suspended: i64,
    /// Buried until tomorrow.
    pub(crate) buried: i64,
    /// Waiting for approval.
    pub(crate) drafts: i64,
}

impl From<Counts> for CountsView {
    fn from(counts: Counts) -> Self {
        let Counts { cards, new, learning, review, due, suspended, buried, drafts } = counts;
        Self { cards, new, learning, review, due, suspended, buried, drafts }
    }
}

/// A deck.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeckView {
    /// Its id.
    pub(crate) deck_id: DeckId,
    /// Its name with the names above it, joined by `::`.
    pub(crate) name: String,
    /// What it is for.
    pub(crate) description: String,
    /// The search of a filtered deck; null for one that holds cards.
    pub(crate) search: Option<String>,
    /// Counts its changes.
    pub(crate) version: i64,
}

impl From<&Deck> for DeckView {
    fn from(deck: &Deck) -> Self {
        Self {
            deck_id: DeckId::of(deck.id),
            name: deck.name.to_string(),
            description: deck.description.clone(),
            search: deck.filter.as_ref().map(|filter| filter.search.clone()),
            version: deck.version,
        }
    }
}

/// How a deck is studied.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OptionsView {
    /// The chance of recall at which a card comes back.
    pub(crate) desired_retention: f64,
    /// Minutes between the first showings of a new card.
    pub(crate) learning_steps_minutes: Vec<f64>,
    /// Minutes between the showings of a card that was forgotten.
    pub(crate) relearning_steps_minutes: Vec<f64>,
    /// The longest interval.
    pub(crate) maximum_interval_days: u32,
    /// New cards a day.
    pub(crate) new_per_day: u32,
    /// Reviews a day.
    pub(crate) reviews_per_day: u32,
    /// The hour at which a day begins.
    pub(crate) rollover_hour: u8,
    /// Minutes that the learner's clock is ahead of UTC.
    pub(crate) utc_offset_minutes: i16,
    /// A card is a leech after so many lapses.
    pub(crate) leech_threshold: u32,
    /// Whether leeches are suspended; otherwise only tagged.
    pub(crate) suspend_leeches: bool,
    /// Whether other cards of a note wait until tomorrow once one was seen.
    pub(crate) bury_siblings: bool,
    /// Whether intervals are spread a little.
    pub(crate) fuzz: bool,
    /// The 21 weights of FSRS-6; null for the published ones.
    pub(crate) parameters: Option<Vec<f64>>,
    /// When the weights were fitted; null for the published ones.
    pub(crate) fitted_at: Option<String>,
}

impl From<&DeckOptions> for OptionsView {
    fn from(options: &DeckOptions) -> Self {
        let minutes =
            |steps: &[f64]| steps.iter().map(|seconds| round_to(seconds / 60.0, 3)).collect();
        Self {
            desired_retention: options.desired_retention,
            learning_steps_minutes: minutes(&options.learning_steps),
            relearning_steps_minutes: minutes(&options.relearning_steps),
            maximum_interval_days: options.maximum_interval,
            new_per_day: options.new_per_day,
            reviews_per_day: options.reviews_per_day,
            rollover_hour: options.rollover_hour,
            utc_offset_minutes: options.utc_offset_minutes,
            leech_threshold: options.leech_threshold,
            suspend_leeches: options.leech_action == LeechAction::Suspend,
            bury_siblings: options.bury_siblings,
            fuzz: options.fuzz,
            parameters: options.parameters.as_ref().map(|parameters| parameters.weights().to_vec()),
            fitted_at: options.fitted_at.map(timestamp),
        }
    }
}

/// Options to change; what is left out stays as it is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OptionsPatch {
    /// The chance of recall at which a card comes back; 0.9 unless changed.
    #[schemars(range(min = 0.7, max = 0.99))]
    desired_retention: Option<f64>,
    /// Minutes between the first showings of a new card, such as `[1, 10]`; empty for none.
    #[schemars(length(max = 10), inner(range(min = 0.1, max = 20160.0)))]
    learning_steps_minutes: Option<Vec<f64>>,
    /// Minutes between the showings of a card that was forgotten, such as `[10]`; empty for none.
    #[schemars(length(max = 10), inner(range(min = 0.1, max = 20160.0)))]
    relearning_steps_minutes: Option<Vec<f64>>,
    /// The longest interval in days.
    #[schemars(range(min = 1, max = 36500))]
    maximum_interval_days: Option<u32>,
    /// New cards a day.
    #[schemars(range(min = 0, max = 9999))]
    new_per_day: Option<u32>,
    /// Reviews a day.
    #[schemars(range(min = 0, max = 9999))]
    reviews_per_day: Option<u32>,
    /// The hour at which a day begins; 4 unless changed.
    #[schemars(range(min = 0, max = 23))]
    rollover_hour: Option<u8>,
    /// Minutes that the learner's clock is ahead of UTC, such as 420 in Bangkok.
    #[schemars(range(min = -840, max = 840))]
    utc_offset_minutes: Option<i16>,
    /// A card is a leech after so many lapses; 0 turns that off.
    #[schemars(range(min = 0, max = 99))]
    leech_threshold: Option<u32>,
    /// Whether leeches are suspended; otherwise they are only tagged.
    suspend_leeches: Option<bool>,
    /// Whether other cards of a note wait until tomorrow once one was seen.
    bury_siblings: Option<bool>,
    /// Whether intervals are spread a little, so that cards do not come back in a crowd.
    fuzz: Option<bool>,
    /// The 21 weights of FSRS-6, as `optimize-parameters` proposes them.
    #[schemars(length(min = 17, max = 21), inner(range(min = 0.0, max = 100.0)))]
    parameters: Option<Vec<f64>>,
}

impl OptionsPatch {
    /// The options with these changes.
    pub(crate) fn apply(
        self,
        mut options: DeckOptions,
        now: Micros,
    ) -> Result<DeckOptions, ToolError> {
        let seconds =
            |minutes: Vec<f64>| minutes.into_iter().map(|minutes| minutes * 60.0).collect();
        options.desired_retention = self.desired_retention.unwrap_or(options.desired_retention);
        options.learning_steps =
            self.learning_steps_minutes.map_or(options.learning_steps, seconds);
        options.relearning_steps =
            self.relearning_steps_minutes.map_or(options.relearning_steps, seconds);
        options.maximum_interval = self.maximum_interval_days.unwrap_or(options.maximum_interval);
        options.new_per_day = self.new_per_day.unwrap_or(options.new_per_day);
        options.reviews_per_day = self.reviews_per_day.unwrap_or(options.reviews_per_day);
        options.rollover_hour = self.rollover_hour.unwrap_or(options.rollover_hour);
        options.utc_offset_minutes = self.utc_offset_minutes.unwrap_or(options.utc_offset_minutes);
        options.leech_threshold = self.leech_threshold.unwrap_or(options.leech_threshold);
        options.bury_siblings = self.bury_siblings.unwrap_or(options.bury_siblings);
        options.fuzz = self.fuzz.unwrap_or(options.fuzz);
        if let Some(suspend) = self.suspend_leeches {
            options.leech_action = if suspend { LeechAction::Suspend } else { LeechAction::Tag };
        }
        if let Some(weights) = self.parameters {
            let parameters = crate::fsrs::Parameters::new(&weights).map_err(|error| {
                ToolError::validation("BAD_PARAMETERS", error.to_string())
                    .hint("use the weights that `optimize-parameters` proposes")
            })?;
            options.parameters = Some(parameters);
            options.fitted_at = Some(now);
        }
        Ok(options)
    }
}
