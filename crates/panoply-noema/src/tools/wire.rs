//! Wire types shared by the tools.

use panoply_contract::prelude::*;
use serde_json::json;

use crate::card::{Card, Hold};
use crate::deck::{Deck, DeckOptions, LeechAction};
use crate::fsrs::{Micros, Phase, Rating, Zone};
use crate::html;
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
            /// The domain id. Malformed ids map to -1, which no row has.
            pub(crate) fn domain(&self) -> ids::$domain {
                let digits = self.as_str().trim_start_matches($wire::PREFIX);
                ids::$domain(digits.parse().unwrap_or(-1))
            }

            /// The wire form of an id.
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

/// Schema of the value of a field.
pub(crate) fn field_value() -> serde_json::Value {
    json!({"type": "string", "maxLength": 100_000})
}

/// The arguments of a call for a deck, or for the whole collection.
pub(crate) fn deck_arguments(deck: Option<&DeckId>) -> serde_json::Value {
    deck.map_or_else(|| json!({}), |deck| json!({"deckId": deck.as_str()}))
}

/// Formats a timestamp as ISO 8601 UTC in whole seconds.
pub(crate) fn timestamp(at: Micros) -> String {
    jiff::Timestamp::from_second(at.div_euclid(1_000_000))
        .map_or_else(|_| "out of range".to_owned(), |at| at.to_string())
}

/// Longest text of a side in characters.
const MAX_SIDE_CHARS: usize = 8000;
/// Longest HTML of a side in bytes.
const MAX_SIDE_HTML_BYTES: usize = 24 << 10;

/// A side of a card as text and, if it has markup, as HTML. Long ones are cut or left out: a reply
/// has a size limit, and no card may block the queue.
pub(crate) fn side(html: String) -> (String, Option<String>) {
    let mut text = html::shown(&html);
    let html = (text != html && html.len() <= MAX_SIDE_HTML_BYTES).then(|| html::inert(&html));
    if let Some((end, _)) = text.char_indices().nth(MAX_SIDE_CHARS) {
        text.truncate(end);
        text.push_str(" … (cut)");
    }
    (text, html)
}

/// How well a card was recalled.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RatingParam {
    /// Not recalled.
    Again,
    /// Recalled with effort.
    Hard,
    /// Recalled.
    Good,
    /// Recalled immediately.
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

/// Study state of a card.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CardState {
    /// Never reviewed.
    New,
    /// In learning steps.
    Learning,
    /// In review, with intervals of days.
    Review,
    /// In relearning steps after a lapse.
    Relearning,
    /// Suspended until unsuspended.
    Suspended,
    /// Buried until tomorrow.
    Buried,
    /// Draft awaiting approval.
    Draft,
    /// Deleted; restorable for 30 days.
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

/// Schedule and memory state of a card.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduleView {
    /// Study state of the card.
    pub(crate) state: CardState,
    /// Due time; null if never reviewed.
    pub(crate) due: Option<String>,
    /// Interval in days; 0 in learning steps.
    pub(crate) interval_days: u32,
    /// Stability in days: the time until the probability of recall falls to 90 %; null if never reviewed.
    pub(crate) stability_days: Option<f64>,
    /// Difficulty from 1 (easy) to 10; null if never reviewed.
    pub(crate) difficulty: Option<f64>,
    /// Number of reviews.
    pub(crate) reviews: u32,
    /// Number of lapses.
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

/// Card counts of a deck and its subdecks.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct CountsView {
    /// All cards.
    pub(crate) cards: i64,
    /// New cards available for study.
    pub(crate) new: i64,
    /// In learning steps.
    pub(crate) learning: i64,
    /// In review.
    pub(crate) review: i64,
    /// In learning or review and due by the end of today.
    pub(crate) due: i64,
    /// Suspended.
    pub(crate) suspended: i64,
    /// Buried until tomorrow.
    pub(crate) buried: i64,
    /// Draft awaiting approval.
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
    /// Identifier.
    pub(crate) deck_id: DeckId,
    /// Name with its parents, joined by `::`.
    pub(crate) name: String,
    /// Description.
    pub(crate) description: String,
    /// Search of a filtered deck; null for a regular deck.
    pub(crate) search: Option<String>,
    /// Version, incremented by every change.
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

/// Deck options.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OptionsView {
    /// Desired retention: the probability of recall at which a card is due.
    pub(crate) desired_retention: f64,
    /// Learning steps in minutes.
    pub(crate) learning_steps_minutes: Vec<f64>,
    /// Relearning steps in minutes.
    pub(crate) relearning_steps_minutes: Vec<f64>,
    /// Maximum interval in days.
    pub(crate) maximum_interval_days: u32,
    /// Daily limit of new cards.
    pub(crate) new_per_day: u32,
    /// Daily limit of reviews.
    pub(crate) reviews_per_day: u32,
    /// Hour at which a day begins.
    pub(crate) rollover_hour: u8,
    /// Time zone of this deck's days; null for the learner's, see `get-settings`.
    pub(crate) time_zone: Option<String>,
    /// Fixed offset of this deck's days from UTC in minutes; 0 if `timeZone` is null or has a name.
    pub(crate) utc_offset_minutes: i16,
    /// Lapses that make a card a leech.
    pub(crate) leech_threshold: u32,
    /// Whether leeches are suspended; otherwise only tagged.
    pub(crate) suspend_leeches: bool,
    /// Whether siblings are buried until the next day once one is reviewed.
    pub(crate) bury_siblings: bool,
    /// Whether intervals are fuzzed.
    pub(crate) fuzz: bool,
    /// The 21 FSRS-6 weights; null for the defaults.
    pub(crate) parameters: Option<Vec<f64>>,
    /// When the weights were fitted; null for the defaults.
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
            time_zone: options.time_zone.map(|zone| zone.to_string()),
            utc_offset_minutes: options.time_zone.and_then(Zone::fixed_minutes).unwrap_or(0),
            leech_threshold: options.leech_threshold,
            suspend_leeches: options.leech_action == LeechAction::Suspend,
            bury_siblings: options.bury_siblings,
            fuzz: options.fuzz,
            parameters: options.parameters.as_ref().map(|parameters| parameters.weights().to_vec()),
            fitted_at: options.fitted_at.map(timestamp),
        }
    }
}

/// Parses a time zone; `default` is none.
pub(crate) fn parse_zone(name: &str) -> Result<Option<Zone>, ToolError> {
    if name.eq_ignore_ascii_case("default") {
        return Ok(None);
    }
    let invalid = |error: crate::fsrs::InvalidZone| {
        ToolError::validation("BAD_TIME_ZONE", error.to_string())
            .hint("use a name of the IANA time zone database, such as `Asia/Bangkok`")
    };
    Zone::parse(name).map(Some).map_err(invalid)
}

/// Options to change; omitted ones stay unchanged.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OptionsPatch {
    /// Desired retention: the probability of recall at which a card is due; default 0.9.
    #[schemars(range(min = 0.7, max = 0.99))]
    desired_retention: Option<f64>,
    /// Learning steps in minutes, such as `[1, 10]`; empty for none.
    #[schemars(length(max = 10), inner(range(min = 0.1, max = 20160.0)))]
    learning_steps_minutes: Option<Vec<f64>>,
    /// Relearning steps in minutes, such as `[10]`; empty for none.
    #[schemars(length(max = 10), inner(range(min = 0.1, max = 20160.0)))]
    relearning_steps_minutes: Option<Vec<f64>>,
    /// Maximum interval in days.
    #[schemars(range(min = 1, max = 36500))]
    maximum_interval_days: Option<u32>,
    /// Daily limit of new cards.
    #[schemars(range(min = 0, max = 9999))]
    new_per_day: Option<u32>,
    /// Daily limit of reviews.
    #[schemars(range(min = 0, max = 9999))]
    reviews_per_day: Option<u32>,
    /// Hour at which a day begins; default 4.
    #[schemars(range(min = 0, max = 23))]
    rollover_hour: Option<u8>,
    /// Time zone of this deck's days as an IANA name such as `Asia/Bangkok`, or an offset such as `+07:00`; `default` for the learner's. Set the learner's own with `update-settings`.
    #[schemars(length(min = 3, max = 64))]
    time_zone: Option<String>,
    /// Fixed offset from UTC in minutes, such as 420 in Bangkok; it has no summer time. Prefer `timeZone`.
    #[schemars(range(min = -840, max = 840))]
    utc_offset_minutes: Option<i16>,
    /// Lapses that make a card a leech; 0 turns leeches off.
    #[schemars(range(min = 0, max = 99))]
    leech_threshold: Option<u32>,
    /// Whether leeches are suspended; otherwise they are only tagged.
    suspend_leeches: Option<bool>,
    /// Whether siblings are buried until the next day once one is reviewed.
    bury_siblings: Option<bool>,
    /// Whether intervals are fuzzed, so that cards do not all fall on one day.
    fuzz: Option<bool>,
    /// The 21 FSRS-6 weights, as `optimize-parameters` proposes them.
    #[schemars(length(min = 17, max = 21), inner(range(min = 0.0, max = 100.0)))]
    parameters: Option<Vec<f64>>,
}

impl OptionsPatch {
    /// Applies the changes to options.
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
        options.time_zone = self.utc_offset_minutes.map(Zone::fixed).or(options.time_zone);
        if let Some(name) = &self.time_zone {
            options.time_zone = parse_zone(name)?;
        }
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
