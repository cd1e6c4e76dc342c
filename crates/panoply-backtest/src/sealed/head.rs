//! What a sealed run says about itself, and the bitmaps it has.

use serde::{Deserialize, Serialize};

use crate::event::{Category, EventType, Severity};
use crate::run::RunHeader;
use crate::store::{BlobKey, BlobKind};

/// The form described in this folder. A reader refuses any other. Since 2 children that lie beside
/// their parents are not written.
pub(crate) const FORMAT: u32 = 2;

/// The head of a sealed run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    pub(crate) format: u32,
    /// What was said about the run.
    pub header: RunHeader,
    /// How many events it has.
    pub events: u32,
    /// Time of the first and last event, in nanoseconds; 0 when there are none.
    pub first: i64,
    /// See `first`.
    pub last: i64,
    /// How many events there are of each type (in the order of their codes) and severity.
    pub counts: Vec<[u32; 4]>,
    /// The numeric properties.
    pub columns: Vec<ColumnInfo>,
    /// Properties that were too many to be given a column.
    pub overflow: bool,
    /// Whether events arrived in the order of their times.
    pub(crate) in_order: bool,
    /// Lines that gave no event.
    pub rejected: u64,
    /// Events that came twice with the same content.
    pub repeated: u64,
    /// Events with an error, and with a warning.
    pub problems: [u64; 2],
    /// How many parents could not be found, and how many links were circular.
    #[serde(rename = "loose")]
    pub unresolved_parents: [u64; 2],
}

/// A numeric property of one type.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ColumnInfo {
    /// The type's code.
    pub(crate) event_type: u8,
    /// Names joined by dots.
    pub path: String,
    /// How many events have a number there.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl ColumnInfo {
    /// The type whose property it is.
    pub fn event_type(&self) -> EventType {
        EventType::of_code(self.event_type).unwrap_or(EventType::StateChange)
    }
}

impl Head {
    /// How many events there are of a type.
    pub fn count_of(&self, event_type: EventType) -> u64 {
        let row = self.counts.get(usize::from(event_type.code()));
        row.map_or(0, |row| row.iter().map(|count| u64::from(*count)).sum())
    }

    /// How many events there are of a severity.
    pub fn count_of_severity(&self, severity: Severity) -> u64 {
        let place = usize::from(severity.code());
        self.counts.iter().filter_map(|row| row.get(place)).map(|count| u64::from(*count)).sum()
    }
}

/// A mark that events share, each with its bitmap.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Attribute {
    Type(EventType),
    Severity(Severity),
    Category(Category),
    /// Has an error, or a warning.
    Error,
    Warning,
    /// Names no parent, or one that was cut off.
    Root,
    /// Places an order.
    OrderPlaced,
}

impl Attribute {
    pub(crate) fn key(self) -> BlobKey {
        let (group, number) = match self {
            Self::Type(event_type) => (0, event_type.code()),
            Self::Severity(severity) => (1, severity.code()),
            Self::Category(category) => (2, category.code()),
            Self::Error => (3, 0),
            Self::Warning => (3, 1),
            Self::Root => (4, 0),
            Self::OrderPlaced => (5, 0),
        };
        BlobKey::new(BlobKind::Bitmap, group, u32::from(number))
    }
}
