//! Decks: a tree by name, with options inherited from parents.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fsrs::{Calendar, Micros, Parameters, Scheduler, Zone};
use crate::ids::DeckId;

/// Maximum length of a deck name in characters.
pub const MAX_NAME_CHARS: usize = 200;

/// A deck of cards.
#[derive(Clone, Debug, PartialEq)]
pub struct Deck {
    /// Identifier.
    pub id: DeckId,
    /// Full name including the parents.
    pub name: DeckName,
    /// Description.
    pub description: String,
    /// Own options; `None` inherits from the parent.
    pub options: Option<DeckOptions>,
    /// Set for a filtered deck, which contains no cards but shows those its search matches.
    pub filter: Option<Filter>,
    /// Creation time.
    pub created: Micros,
    /// Modification time.
    pub modified: Micros,
    /// Version, incremented by every change.
    pub version: i64,
    /// Deletion time; `None` unless soft-deleted.
    pub deleted: Option<Micros>,
}

/// The search of a filtered deck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filter {
    /// Query in Anki's search syntax.
    pub search: String,
    /// Maximum number of cards.
    pub limit: u32,
}

/// A deck name such as `Languages::Thai`: non-empty parts joined by `::`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct DeckName(String);

/// A text is not a valid deck name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{0}` is not the name of a deck: expected 1 to 200 characters, with parts such as `Languages::Thai`, none of them empty"
)]
pub struct InvalidDeckName(pub String);

impl DeckName {
    /// Parses a name and trims its parts.
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

    /// Fallback for imported decks with an invalid name.
    pub(crate) fn imported() -> Self {
        Self("Imported".to_owned())
    }

    /// The full name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The lower-case name; names compare case-insensitively.
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }

    /// The parent names, outermost first.
    pub fn parents(&self) -> impl Iterator<Item = Self> + '_ {
        self.0
            .match_indices("::")
            .filter_map(|(index, _)| self.0.get(..index))
            .map(|name| Self(name.to_owned()))
    }

    /// Whether the name equals `other` or is a descendant of it.
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

    /// Replaces the prefix `old` with `new`.
    #[must_use]
    pub fn with_prefix_replaced(&self, old: &Self, new: &Self) -> Self {
        let rest = self.0.get(old.0.len()..).unwrap_or_default();
        Self(format!("{}{rest}", new.0))
    }
}

impl fmt::Display for DeckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Deck options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeckOptions {
    /// Desired retention: the probability of recall at which a card is due.
    pub desired_retention: f64,
    /// Learning steps of new cards, in seconds.
    pub learning_steps: Vec<f64>,
    /// Relearning steps after a lapse, in seconds.
    pub relearning_steps: Vec<f64>,
    /// Maximum interval in days.
    pub maximum_interval: u32,
    /// Daily limit of new cards.
    pub new_per_day: u32,
    /// Daily limit of reviews.
    pub reviews_per_day: u32,
    /// Hour at which a day begins.
    pub rollover_hour: u8,
    /// Time zone of this deck's days; `None` for the learner's.
    #[serde(alias = "utc_offset_minutes", deserialize_with = "zone_or_offset")]
    pub time_zone: Option<Zone>,
    /// Lapses that make a card a leech; repeated every half threshold after.
    pub leech_threshold: u32,
    /// Action for leeches.
    pub leech_action: LeechAction,
    /// Whether siblings are buried until the next day once one is reviewed.
    pub bury_siblings: bool,
    /// Whether intervals are fuzzed.
    pub fuzz: bool,
    /// Fitted FSRS weights; `None` uses the defaults.
    pub parameters: Option<Parameters>,
    /// When the weights were fitted.
    pub fitted_at: Option<Micros>,
    /// Number of reviews the weights were fitted on.
    pub fitted_on: u32,
    /// Name of the Anki preset these options come from.
    pub preset: Option<String>,
}

/// Anki's name for the preset of decks without another.
pub const DEFAULT_PRESET: &str = "Default";

/// Action for a card that becomes a leech.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeechAction {
    /// Suspend the card and tag its note `leech`.
    #[default]
    Suspend,
    /// Tag the note `leech`.
    Tag,
}

/// Reads a zone, or the offset in minutes that earlier versions stored; they stored 0 for a deck
/// without one.
fn zone_or_offset<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Zone>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Offset(i16),
        Zone(Option<Zone>),
    }
    Ok(match Stored::deserialize(from)? {
        Stored::Offset(0) => None,
        Stored::Offset(minutes) => Some(Zone::fixed(minutes)),
        Stored::Zone(zone) => zone,
    })
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
            time_zone: None,
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
    /// The calendar of this deck, for a learner in `home`.
    pub fn calendar(&self, home: Zone) -> Calendar {
        Calendar::Rollover { hour: self.rollover_hour, zone: self.time_zone.unwrap_or(home) }
    }

    /// The scheduler of this deck, for a learner in `home`.
    pub fn scheduler(&self, home: Zone) -> Scheduler {
        Scheduler {
            parameters: self.parameters.clone().unwrap_or_default(),
            desired_retention: self.desired_retention,
            learning_steps: self.learning_steps.clone(),
            relearning_steps: self.relearning_steps.clone(),
            maximum_interval: self.maximum_interval,
            fuzz: self.fuzz,
            calendar: self.calendar(home),
            distinct_ratings: true,
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
        let renamed = deck.with_prefix_replaced(
            &DeckName::parse("A::Bc").unwrap(),
            &DeckName::parse("Z").unwrap(),
        );
        assert_eq!(renamed.as_str(), "Z::D");
    }
}
