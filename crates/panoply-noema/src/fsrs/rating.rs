//! Review ratings.

use serde::{Deserialize, Serialize};

/// How well a card was recalled.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rating {
    /// Not recalled.
    Again,
    /// Recalled with effort.
    Hard,
    /// Recalled.
    Good,
    /// Recalled immediately.
    Easy,
}

impl Rating {
    /// All ratings, worst first.
    pub const ALL: [Self; 4] = [Self::Again, Self::Hard, Self::Good, Self::Easy];

    /// The number from 1 to 4 used in review logs.
    pub const fn ordinal(self) -> u8 {
        match self {
            Self::Again => 1,
            Self::Hard => 2,
            Self::Good => 3,
            Self::Easy => 4,
        }
    }

    /// Decodes a number from 1 to 4.
    pub const fn from_ordinal(ordinal: i64) -> Option<Self> {
        match ordinal {
            1 => Some(Self::Again),
            2 => Some(Self::Hard),
            3 => Some(Self::Good),
            4 => Some(Self::Easy),
            _ => None,
        }
    }

    /// Name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Again => "again",
            Self::Hard => "hard",
            Self::Good => "good",
            Self::Easy => "easy",
        }
    }

    /// Whether the card was recalled.
    pub const fn passed(self) -> bool {
        !matches!(self, Self::Again)
    }

    pub(super) fn number(self) -> f64 {
        f64::from(self.ordinal())
    }
}
