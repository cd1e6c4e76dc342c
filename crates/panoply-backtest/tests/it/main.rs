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
mod faults;
mod format;
mod golden;
mod helpers;
mod hostile;
mod importers;
mod ingest;
mod limits;
mod quant;
mod reconcile;
mod report;
mod stream;
mod timeout;
mod tools;
mod validation;
