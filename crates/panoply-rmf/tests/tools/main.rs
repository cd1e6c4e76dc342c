//! Tool tests through the kernel, as a client sees them.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

mod age;
mod bad_input;
mod common;
mod contract;
mod golden;
mod investor;
mod replies;
mod thai_errors;
