//! Parquet files of a run: one file per event type, with a typed column per property.
//!
//! Files lie in `runId=<id>/eventType=<type>/part-0.parquet`, the layout that DuckDB, Polars and
//! Spark read as partitions. Besides the columns of the properties, which are doubles and texts, a
//! file has the properties as they were logged, so that an import loses nothing.

mod read;
mod write;

pub use self::read::read;
pub use self::write::write;

/// Members of the footer: the run and the type that a file belongs to, and the run's metadata.
const RUN_ID: &str = "panoply.runId";
const RUN: &str = "panoply.run";
const EVENT_TYPE: &str = "panoply.eventType";

/// The columns that every file has, in this order.
const ARRIVAL: &str = "arrival";
const EVENT_ID: &str = "eventId";
const TIMESTAMP: &str = "timestamp";
const SEVERITY: &str = "severity";
const CATEGORY: &str = "category";
const PARENT: &str = "parentEventId";
const PROPERTIES: &str = "properties";
const ORIGINAL: &str = "originalLine";

/// Names that a property's column cannot have; `runId` and `eventType` are partitions.
const FIXED: [&str; 10] = [
    ARRIVAL,
    EVENT_ID,
    TIMESTAMP,
    SEVERITY,
    CATEGORY,
    PARENT,
    PROPERTIES,
    ORIGINAL,
    "runId",
    "eventType",
];
