//! The pipeline and the kernel, seen from outside: every test goes through `pipeline::call`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail tests")]

mod caching;
mod checklist;
mod documents;
mod failures;
mod gates;
mod hints;
mod kernel_tools;
mod mutations;
mod tools;
