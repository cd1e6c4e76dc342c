//! Cards and review log entries.

use serde::{Deserialize, Serialize};

use crate::fsrs::{Micros, Schedule};
use crate::ids::{CardId, DeckId, NoteId, ReviewId};

/// One question that a note generates.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Identifier.
    pub id: CardId,
    /// Note id.
    pub note: NoteId,
    /// Index of the template, or cloze number minus one.
    pub ordinal: u32,
    /// Deck that contains the card.
    pub deck: DeckId,
    /// Position among new cards.
    pub position: i64,
    /// Next due time and memory state.
    pub schedule: Schedule,
    /// Number of reviews.
    pub reps: u32,
    /// Number of lapses.
    pub lapses: u32,
    /// Anki's ease factor in permille; stored for export only.
    pub ease: i64,
    /// Flag from 1 to 7; 0 for none.
    pub flag: u8,
    /// Reason the card is excluded from study.
    pub hold: Hold,
    /// End of a burial.
    pub held_until: Option<Micros>,
    /// Number of schedule changes; a review token is valid for one value.
    pub sequence: i64,
    /// Creation time.
    pub created: Micros,
    /// Modification time.
    pub modified: Micros,
    /// Deletion time; `None` unless soft-deleted.
    pub deleted: Option<Micros>,
    /// Custom data of Anki add-ons as a JSON object, or empty; for export and search.
    pub custom: String,
}

/// Reason a card is excluded from study.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Hash, Ord, PartialOrd, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Not excluded.
    #[default]
    None,
    /// Suspended until unsuspended.
    Suspended,
    /// Buried manually until the next day.
    BuriedByHand,
    /// Buried until the next day because a sibling was reviewed.
    BuriedAsSibling,
    /// Created by an agent, awaiting approval.
    Draft,
}

impl Hold {
    /// Code in the database.
    pub const fn code(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Suspended => 1,
            Self::BuriedByHand => 2,
            Self::BuriedAsSibling => 3,
            Self::Draft => 4,
        }
    }

    /// Decodes a database code.
    pub const fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::None),
            1 => Some(Self::Suspended),
            2 => Some(Self::BuriedByHand),
            3 => Some(Self::BuriedAsSibling),
            4 => Some(Self::Draft),
            _ => None,
        }
    }

    /// Whether the hold expires by itself.
    pub const fn is_burial(self) -> bool {
        matches!(self, Self::BuriedByHand | Self::BuriedAsSibling)
    }
}

impl Card {
    /// The hold in effect at `now`; an expired burial is none.
    pub fn active_hold(&self, now: Micros) -> Hold {
        let over = self.hold.is_burial() && self.held_until.is_none_or(|until| until <= now);
        if over { Hold::None } else { self.hold }
    }
}

/// An entry of the review log: a review or a manual change of the schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// Time of the review in Unix milliseconds.
    pub id: ReviewId,
    /// Card.
    pub card: CardId,
    /// Rating from 1 to 4; 0 for a manual change.
    pub rating: u8,
    /// State of the card at the review.
    pub kind: ReviewKind,
    /// New interval: days if positive, seconds if negative, as in Anki.
    pub interval: i64,
    /// Previous interval.
    pub last_interval: i64,
    /// Anki's ease factor, or the difficulty if scheduled by FSRS.
    pub factor: i64,
    /// Answer time in milliseconds.
    pub taken_ms: i64,
    /// Predicted probability of recall before the review.
    pub predicted: Option<f64>,
    /// Confidence the learner reported, from 0 to 1.
    pub felt: Option<f64>,
    /// Token and outcome of the submission, returned again when it is repeated.
    pub stored_outcome: Option<StoredOutcome>,
}

/// A submission and its outcome, for idempotent resubmission.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOutcome {
    /// The review token.
    pub token: String,
    /// The outcome as JSON.
    pub outcome: String,
}

/// State of a card at a review.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewKind {
    /// Learning steps.
    Learning,
    /// Review.
    Review,
    /// Relearning steps after a lapse.
    Relearning,
    /// Review before the due date.
    Early,
    /// Manual change of the schedule, not a review.
    Manual,
    /// Automatic change of the schedule, not a review.
    Rescheduled,
}

impl ReviewKind {
    /// Anki's code.
    pub const fn code(self) -> i64 {
        match self {
            Self::Learning => 0,
            Self::Review => 1,
            Self::Relearning => 2,
            Self::Early => 3,
            Self::Manual => 4,
            Self::Rescheduled => 5,
        }
    }

    /// Decodes Anki's code; unknown codes of future versions count as manual.
    pub const fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Learning,
            1 => Self::Review,
            2 => Self::Relearning,
            3 => Self::Early,
            5 => Self::Rescheduled,
            _ => Self::Manual,
        }
    }
}
