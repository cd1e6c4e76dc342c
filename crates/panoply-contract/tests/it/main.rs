//! Integration tests of kernel and pipeline through `pipeline::call`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail tests")]

mod caching;
mod checklist;
mod failures;
mod gates;
mod hints;
mod kernel_tools;
mod mutations;
mod resources;
mod tenants;
mod tools;
