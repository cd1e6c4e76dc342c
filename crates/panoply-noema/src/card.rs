//! Cards and the log of their reviews.

use serde::{Deserialize, Serialize};

use crate::fsrs::{Micros, Schedule};
use crate::ids::{CardId, DeckId, NoteId, ReviewId};

/// One question of a note.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Its id.
    pub id: CardId,
    /// Its note.
    pub note: NoteId,
    /// Which template of the note type, or which cloze, from 0.
    pub ordinal: u32,
    /// Where it is kept.
    pub deck: DeckId,
    /// Its place among the new cards.
    pub position: i64,
    /// When it comes back.
    pub schedule: Schedule,
    /// How often it was answered.
    pub reps: u32,
    /// How often it was forgotten.
    pub lapses: u32,
    /// Anki's ease in permille, kept for exchange; we do not use it.
    pub ease: i64,
    /// From 1 to 7, or 0 for none.
    pub flag: u8,
    /// What keeps it out of the queue.
    pub hold: Hold,
    /// When a burial ends.
    pub held_until: Option<Micros>,
    /// Counts changes of the schedule: a token is good for one of them.
    pub sequence: i64,
    /// When it was made.
    pub created: Micros,
    /// When it was last changed.
    pub modified: Micros,
    /// When it was deleted.
    pub deleted: Option<Micros>,
    /// What add-ons of Anki keep with it, as JSON, or nothing: for exchange and searches.
    pub custom: String,
}

/// What keeps a card out of the queue.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Hash, Ord, PartialOrd, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Nothing.
    #[default]
    None,
    /// Somebody, until they take it back.
    Suspended,
    /// Somebody, until tomorrow.
    BuriedByHand,
    /// A card of the same note that was seen today.
    BuriedAsSibling,
    /// An agent made it and nobody has approved it yet.
    Draft,
}

impl Hold {
    /// Its number in the store.
    pub const fn code(self) -> i64 {
        match self {
            Self::None => 0,
            Self::Suspended => 1,
            Self::BuriedByHand => 2,
            Self::BuriedAsSibling => 3,
            Self::Draft => 4,
        }
    }

    /// The hold of that number.
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

    /// Whether it ends by itself.
    pub const fn is_burial(self) -> bool {
        matches!(self, Self::BuriedByHand | Self::BuriedAsSibling)
    }
}

impl Card {
    /// What keeps it out of the queue at `now`: a burial that has ended does not.
    pub fn active_hold(&self, now: Micros) -> Hold {
        let over = self.hold.is_burial() && self.held_until.is_none_or(|until| until <= now);
        if over { Hold::None } else { self.hold }
    }
}

/// One answer, or one change of a schedule by hand.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// Its id: the moment of the answer in milliseconds.
    pub id: ReviewId,
    /// The card.
    pub card: CardId,
    /// From 1 to 4; 0 for a change by hand.
    pub rating: u8,
    /// What the card was doing.
    pub kind: ReviewKind,
    /// Days when positive, seconds when negative, as in Anki.
    pub interval: i64,
    /// The interval before.
    pub last_interval: i64,
    /// Anki's ease, or its difficulty when scheduled by FSRS.
    pub factor: i64,
    /// Milliseconds it took.
    pub taken_ms: i64,
    /// The chance of recall that was predicted before the answer.
    pub predicted: Option<f64>,
    /// How sure the learner felt, from 0 to 1.
    pub felt: Option<f64>,
    /// The token it was submitted with, and what was answered, so that a repetition gets the same.
    pub stored_outcome: Option<StoredOutcome>,
}

/// What was submitted and what was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOutcome {
    /// The token.
    pub token: String,
    /// The answer, as JSON.
    pub outcome: String,
}

/// What a card was doing when it was answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewKind {
    /// Its first steps.
    Learning,
    /// Coming back.
    Review,
    /// Steps after a lapse.
    Relearning,
    /// Studied before it was due.
    Early,
    /// Not an answer: somebody changed the schedule.
    Manual,
    /// Not an answer: a program changed the schedule.
    Rescheduled,
}

impl ReviewKind {
    /// Anki's number.
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

    /// The kind of that number; a number of a future Anki is a change by hand.
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
