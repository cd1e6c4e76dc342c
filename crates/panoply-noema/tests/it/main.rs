//! Tests of the whole pack against what others say.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail tests")]

#[cfg(feature = "tools")]
mod anki;
#[cfg(feature = "tools")]
mod consent;
#[cfg(feature = "tools")]
mod crash;
#[cfg(feature = "tools")]
mod exchange;
mod fsrs_reference;
#[cfg(feature = "tools")]
mod gate;
#[cfg(feature = "tools")]
mod keeping;
#[cfg(feature = "tools")]
mod lessons;
#[cfg(feature = "tools")]
mod permissions;
#[cfg(feature = "tools")]
mod queue;
mod study;
