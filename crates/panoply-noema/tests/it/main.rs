//! Tests of the whole pack against what others say.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail tests")]

mod anki;
#[cfg(feature = "tools")]
mod crash;
mod fsrs_reference;
#[cfg(feature = "tools")]
mod gate;
mod study;
