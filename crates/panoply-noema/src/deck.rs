//! Decks: a tree by name, with options that children take over from their parents.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fsrs::{Calendar, Micros, Parameters, Scheduler};
use crate::ids::DeckId;

/// The longest name of a deck, in characters.
pub const MAX_NAME_CHARS: usize = 200;

/// A place for cards.
#[derive(Clone, Debug, PartialEq)]
pub struct Deck {
    /// Its id.
    pub id: DeckId,
    /// Its name, with the names of its parents.
    pub name: DeckName,
    /// What it is for.
    pub description: String,
    /// Its own options; without them those of its parent hold.
    pub options: Option<DeckOptions>,
    /// Set for a filtered deck, which holds no cards but shows those that a search finds.
    pub filter: Option<Filter>,
    /// When it was made.
    pub created: Micros,
    /// When it was last changed.
    pub modified: Micros,
    /// Counts its changes.
    pub version: i64,
    /// When it was deleted.
    pub deleted: Option<Micros>,
}

/// A saved search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filter {
    /// In Anki's syntax.
    pub search: String,
    /// How many cards at most.
    pub limit: u32,
}

/// A name such as `Languages::Thai`: parts joined by `::`, none of them empty.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct DeckName(String);

/// Why a text is not the name of a deck.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{0}` is not the name of a deck: expected 1 to 200 characters, with parts such as `Languages::Thai`, none of them empty"
)]
pub struct InvalidDeckName(pub String);

impl DeckName {
    /// Takes a name, without the blanks around its parts.
    pub fn parse(text: &str) -> Result<Self, InvalidDeckName> {
        let parts: Vec<&str> = text.split("::").map(str::trim).collect();
        let fits = text.chars().count() <= MAX_NAME_CHARS
            && parts.iter().all(|part| !part.is_empty())
            && !text.contains(['\u{1f}', '"', '\n']);
        if fits {
            Ok(Self(parts.join("::")))
        } else {
            Err(InvalidDeckName(text.chars().take(80).collect()))
        }
    }

    /// For decks whose own name cannot be one.
    pub(crate) fn imported() -> Self {
        Self("Imported".to_owned())
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name without regard to case, which is how names are compared.
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }

    /// The names of its parents, outermost first.
    pub fn parents(&self) -> impl Iterator<Item = Self> + '_ {
        self.0
            .match_indices("::")
            .filter_map(|(place, _)| self.0.get(..place))
            .map(|name| Self(name.to_owned()))
    }

    /// Whether it is `other` or lies under it.
    pub fn is_within(&self, other: &Self) -> bool {
        let parts = |rest: &str| rest.is_empty() || rest.starts_with("::");
        if self.0.is_ascii() && other.0.is_ascii() {
            return self
                .0
                .split_at_checked(other.0.len())
                .is_some_and(|(start, rest)| start.eq_ignore_ascii_case(&other.0) && parts(rest));
        }
        self.folded().strip_prefix(&other.folded()).is_some_and(parts)
    }

    /// The same name with `old` at its start replaced by `new`.
    #[must_use]
    pub fn moved(&self, old: &Self, new: &Self) -> Self {
        let rest = self.0.get(old.0.len()..).unwrap_or_default();
        Self(format!("{}{rest}", new.0))
    }
}

impl fmt::Display for DeckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a deck is studied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeckOptions {
    /// The chance of recall at which a card comes back.
    pub desired_retention: f64,
    /// Seconds between the first showings of a new card.
    pub learning_steps: Vec<f64>,
    /// Seconds between the showings of a card that was forgotten.
    pub relearning_steps: Vec<f64>,
    /// The longest interval, in days.
    pub maximum_interval: u32,
    /// New cards a day.
    pub new_per_day: u32,
    /// Reviews a day.
    pub reviews_per_day: u32,
    /// The hour at which a day begins.
    pub rollover_hour: u8,
    /// Minutes that the learner's clock is ahead of UTC.
    pub utc_offset_minutes: i16,
    /// A card is a leech after so many lapses, and again after every half as many.
    pub leech_threshold: u32,
    /// What happens to a leech.
    pub leech_action: LeechAction,
    /// Whether other cards of a note wait until tomorrow once one was seen.
    pub bury_siblings: bool,
    /// Whether intervals are spread.
    pub fuzz: bool,
    /// The learner's weights; without them the published ones.
    pub parameters: Option<Parameters>,
    /// When the weights were fitted.
    pub fitted_at: Option<Micros>,
    /// On how many reviews.
    pub fitted_on: u32,
    /// The name these options have in Anki, where several decks may share them.
    pub preset: Option<String>,
}

/// What Anki calls the options of decks that have no others.
pub const DEFAULT_PRESET: &str = "Default";

/// What happens to a card that is forgotten too often.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeechAction {
    /// It is suspended and its note tagged `leech`.
    #[default]
    Suspend,
    /// Its note is tagged `leech`.
    Tag,
}

impl Default for DeckOptions {
    fn default() -> Self {
        Self {
            desired_retention: 0.9,
            learning_steps: vec![60.0, 600.0],
            relearning_steps: vec![600.0],
            maximum_interval: 36_500,
            new_per_day: 20,
            reviews_per_day: 200,
            rollover_hour: 4,
            utc_offset_minutes: 0,
            leech_threshold: 8,
            leech_action: LeechAction::Suspend,
            bury_siblings: true,
            fuzz: true,
            parameters: None,
            fitted_at: None,
            fitted_on: 0,
            preset: None,
        }
    }
}

impl DeckOptions {
    /// How days are counted in this deck.
    pub const fn calendar(&self) -> Calendar {
        Calendar::Rollover { hour: self.rollover_hour, utc_offset: self.utc_offset_minutes }
    }

    /// The scheduler of this deck.
    pub fn scheduler(&self) -> Scheduler {
        Scheduler {
            parameters: self.parameters.clone().unwrap_or_default(),
            desired_retention: self.desired_retention,
            learning_steps: self.learning_steps.clone(),
            relearning_steps: self.relearning_steps.clone(),
            maximum_interval: self.maximum_interval,
            fuzz: self.fuzz,
            calendar: self.calendar(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deck_names_are_parts_joined_by_two_colons() {
        let cases = [
            ("Thai", Some("Thai")),
            (" Languages :: Thai ", Some("Languages::Thai")),
            ("Languages::", None),
            ("::Thai", None),
            ("", None),
            ("a\"b", None),
        ];
        for (text, expected) in cases {
            let parsed = DeckName::parse(text).ok();
            assert_eq!(parsed.as_ref().map(DeckName::as_str), expected, "name: {text:?}");
        }
    }

    #[test]
    fn deck_containment_ignores_case() {
        let deck = DeckName::parse("A::Bc::D").unwrap();
        let parents: Vec<String> = deck.parents().map(|name| name.to_string()).collect();
        assert_eq!(parents, ["A", "A::Bc"]);
        assert!(deck.is_within(&DeckName::parse("a::BC").unwrap()));
        assert!(!deck.is_within(&DeckName::parse("A::B").unwrap()));
        let moved = deck.moved(&DeckName::parse("A::Bc").unwrap(), &DeckName::parse("Z").unwrap());
        assert_eq!(moved.as_str(), "Z::D");
    }
}
