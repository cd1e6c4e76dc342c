//! Integration tests of the pack: sealed runs, tools through the kernel, and crash recovery.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests may fail as tests do"
)]

mod concurrent_writers;
mod contract;
mod counting;
mod crash;
mod currencies;
mod damage;
mod derived_state;
mod faults;
mod filters;
mod format;
mod generated_books;
mod golden;
mod helpers;
mod hostile;
mod importers;
mod ingest;
mod limits;
mod parquet;
mod quant;
mod reconcile;
mod report;
mod stream;
mod timeout;
mod tools;
mod trades;
mod validation;
