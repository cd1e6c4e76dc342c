//! UK Capital Gains Tax on shares: from a list of trades to the figures of the return, with the
//! law behind each number.
//!
//! Everything at the top is the computation alone: values in, values out, no contract, no I/O.
//! `tools` is what an agent calls.

pub mod content;
pub mod currency;
pub mod document;
pub mod dsl;
pub mod engine;
pub mod eri;
pub mod estimate;
pub mod fx;
pub mod html;
pub mod import;
pub mod json;
pub mod money;
pub mod number;
pub mod parameters;
pub mod pdf;
pub mod problem;
pub mod ratio;
pub mod sa108;
pub mod scenario;
pub mod tax_year;
#[cfg(feature = "tools")]
pub mod tools;
pub mod transaction;
mod wide;
