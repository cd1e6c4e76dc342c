//! The head of a sealed run: metadata, counts and columns, and the keys of the attribute bitmaps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checksum::ChecksummedBlobs;
use crate::error::LogError;
use crate::event::{Category, EventType, Severity};
use crate::performance::{CurveInfo, RunSummary};
use crate::run::RunHeader;
use crate::store::{BlobKey, BlobKind, Blobs};

/// Version of docs/formats/sealed-run.md; a reader rejects any other. Version 3 has checksums, the
/// books of the run, text columns and content hashes.
pub(crate) const FORMAT: u32 = 3;
/// The oldest version whose events can be exported.
pub(crate) const OLDEST_EXPORTED: u32 = 2;

const HEAD: BlobKey = BlobKey::new(BlobKind::Head, 0, 0);

/// The head of a sealed run, stored as JSON.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    pub(crate) format: u32,
    /// The run's metadata.
    pub header: RunHeader,
    /// Number of events.
    pub events: u32,
    /// Time of the first event, in nanoseconds; 0 when the run is empty.
    pub first: i64,
    /// Time of the last event, in nanoseconds; 0 when the run is empty.
    pub last: i64,
    /// Events by type and severity, both in the order of their codes.
    pub counts: Vec<[u32; 4]>,
    /// The numeric properties, by column number.
    pub columns: Vec<ColumnInfo>,
    /// Whether some numeric properties have no column, because there were too many.
    pub overflow: bool,
    /// Whether events arrived in order of time.
    pub(crate) in_order: bool,
    /// Number of rejected lines.
    pub rejected: u64,
    /// Duplicates with equal content.
    pub repeated: u64,
    /// Events with a validation error, and with a warning.
    pub problems: [u64; 2],
    /// Missing parents, and circular parent links.
    #[serde(rename = "loose")]
    pub unresolved_parents: [u64; 2],
    /// The text and boolean properties, by text column number.
    #[serde(default)]
    pub text_columns: Vec<TextColumnInfo>,
    /// Number of trades.
    #[serde(default)]
    pub trades: u64,
    /// The equity curves, by curve number.
    #[serde(default)]
    pub curves: Vec<CurveInfo>,
    /// The key figures.
    #[serde(default)]
    pub summary: RunSummary,
    /// Number of blobs, including this one and the report of sealing.
    #[serde(default)]
    pub(crate) blobs: u64,
}

/// A text column: a property of one event type that has texts or booleans.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextColumnInfo {
    pub(crate) event_type: u8,
    /// Member names joined by dots.
    pub path: String,
    /// Distinct values; `None` if there are too many for a column.
    pub values: Option<u32>,
}

/// A column: a numeric property of one event type.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ColumnInfo {
    pub(crate) event_type: u8,
    /// Member names joined by dots.
    pub path: String,
    /// Number of events with a value.
    pub count: u64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Codes of the dictionaries by which the column has statistics.
    #[serde(default)]
    pub(crate) grouped_by: Vec<u16>,
}

impl ColumnInfo {
    /// The event type.
    pub fn event_type(&self) -> EventType {
        EventType::of_code(self.event_type).unwrap_or(EventType::StateChange)
    }
}

impl Head {
    /// Reads the head of a sealed run. Fails for another version of the format.
    pub(crate) fn open(blobs: &Arc<dyn Blobs>) -> Result<Self, LogError> {
        let damaged = |_| LogError::Damaged("unreadable head of a sealed run");
        match ChecksummedBlobs::new(blobs).require(HEAD) {
            Ok(json) => {
                let head: Self = serde_json::from_slice(&json).map_err(damaged)?;
                match head.format {
                    FORMAT => Ok(head),
                    found => Err(LogError::OtherFormat { found, expected: FORMAT }),
                }
            }
            // Versions before 3 have no checksums.
            Err(error) => Err(Self::of_older_format(blobs).map_or(error, |head| {
                LogError::OtherFormat { found: head.format, expected: FORMAT }
            })),
        }
    }

    /// The head of a run in a version without checksums.
    pub(crate) fn of_older_format(blobs: &Arc<dyn Blobs>) -> Option<Self> {
        let json = blobs.get(HEAD).ok()??;
        let head: Self = serde_json::from_slice(&json).ok()?;
        (head.format < FORMAT).then_some(head)
    }

    /// Number of events of a type.
    pub fn count_of(&self, event_type: EventType) -> u64 {
        let row = self.counts.get(usize::from(event_type.code()));
        row.map_or(0, |row| row.iter().map(|count| u64::from(*count)).sum())
    }

    /// Number of events of a severity.
    pub fn count_of_severity(&self, severity: Severity) -> u64 {
        let place = usize::from(severity.code());
        self.counts.iter().filter_map(|row| row.get(place)).map(|count| u64::from(*count)).sum()
    }
}

/// An attribute of events that has a bitmap.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Attribute {
    Type(EventType),
    Severity(Severity),
    Category(Category),
    Error,
    Warning,
    /// Has no parent in the run, or a circular one.
    Root,
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
