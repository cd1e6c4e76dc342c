//! Integration tests against external references.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail tests")]

#[cfg(feature = "tools")]
mod anki;
#[cfg(feature = "tools")]
mod consent;
#[cfg(feature = "tools")]
mod crash;
#[cfg(feature = "tools")]
mod first_day;
mod fsrs_reference;
#[cfg(feature = "tools")]
mod import_export;
#[cfg(feature = "tools")]
mod media;
#[cfg(feature = "tools")]
mod note_types;
mod offline;
#[cfg(feature = "tools")]
mod permissions;
#[cfg(feature = "tools")]
mod queue;
#[cfg(feature = "tools")]
mod retention;
#[cfg(feature = "tools")]
mod sessions;
mod study;
#[cfg(feature = "tools")]
mod tools;
#[cfg(feature = "tools")]
mod tutor;
