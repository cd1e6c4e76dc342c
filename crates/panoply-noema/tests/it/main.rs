//! Tests of the whole pack against what others say.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail tests")]

mod anki;
mod fsrs_reference;
mod study;
