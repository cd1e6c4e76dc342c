//! Thai Retirement Mutual Funds: figures, comparisons, tax allowance and holding rules.
//!
//! The domain modules are pure functions over values: no clock, no network, no tool contract. Two
//! modules have I/O: `store` (files) and `sync` (the SEC's API, behind the traits `Http` and
//! `Timer`). The MCP tools are in `tools`, behind the feature of that name.

pub mod catalog;
pub mod chart;
pub mod class_names;
pub mod classify;
pub mod companies;
pub mod compare;
pub mod concepts;
pub mod dataset;
pub mod deductions;
pub mod diff;
pub mod figures;
pub mod fund;
pub mod holding;
pub mod lookup;
pub mod nav;
pub mod overlap;
pub mod pack_data;
pub mod peers;
pub mod performance;
pub mod period;
pub mod query;
pub mod risk;
#[cfg(test)]
mod samples;
pub mod screen;
pub mod search;
pub mod simulate;
#[cfg(feature = "tools")]
pub mod store;
pub mod sync;
pub mod tax;
#[cfg(feature = "tools")]
pub mod tools;
