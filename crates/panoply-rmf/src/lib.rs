//! Thai Retirement Mutual Funds: figures, comparisons, tax room and holding rules.
//!
//! The modules here are the domain: values in, values out, no clock, no network, no contract.
//! What agents can call is in `tools/`, behind the feature of that name.

pub mod book;
pub mod chart;
pub mod compare;
pub mod dataset;
pub mod figures;
pub mod fund;
pub mod holding;
pub mod lookup;
pub mod nav;
pub mod pack_data;
pub mod peers;
pub mod performance;
pub mod period;
pub mod query;
pub mod risk;
#[cfg(test)]
mod samples;
#[cfg(feature = "tools")]
pub mod store;
pub mod sync;
pub mod tax;
#[cfg(feature = "tools")]
pub mod tools;
