//! Backtest event logs: an open run takes events, a sealed one answers questions in milliseconds.
//!
//! The way of an event: a [`mod@line`] of JSONL (or what an importer makes of an engine's own files)
//! becomes an [`event::Event`]; an open run keeps it in batches; sealing sorts the run by time,
//! checks it by the table in [`validate`], and writes it as blobs that `query` reads. A sealed
//! run never changes, so everything about it can be counted, sorted and summed beforehand.
//!
//! Nothing here knows of tools but `tools`, and nothing but `store` knows where blobs are kept.

pub mod error;
pub mod event;
pub mod import;
pub mod ingest;
pub mod line;
pub mod number;
mod outline;
pub mod position;
pub mod query;
pub mod report;
pub mod run;
pub mod sample;
pub mod scan;
pub mod sealed;
pub mod store;
pub mod stream;
pub mod timestamp;
#[cfg(feature = "tools")]
pub mod tools;
pub mod validate;
