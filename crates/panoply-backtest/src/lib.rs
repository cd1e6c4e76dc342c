//! Backtest event logs: open runs accept events, sealed runs answer queries in milliseconds.
//!
//! Data flow: a [`mod@line`] of JSONL, or a record that an importer reads from an engine's files,
//! becomes an [`event::Event`]; an open run stores events in batches; sealing sorts the run by
//! time, validates it and writes the blobs that `query` reads. A sealed run is immutable, so
//! counts, sorted indexes and sums are computed once, when it is sealed.
//!
//! Only `tools` depends on the tool contract, and only `store` knows where blobs are stored.

pub mod columns;
pub mod error;
pub mod event;
pub mod import;
pub mod ingest;
pub mod line;
mod number;
pub mod performance;
mod position;
pub mod query;
pub mod report;
pub mod run;
pub mod sample;
mod scan;
mod sealed;
pub mod store;
pub mod stream;
pub mod timestamp;
#[cfg(feature = "tools")]
pub mod tools;
mod validate;
