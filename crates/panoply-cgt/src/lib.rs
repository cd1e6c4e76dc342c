//! UK Capital Gains Tax on shares: from transactions to the figures of the tax return, with the
//! statutory reference of each figure.
//!
//! The top-level modules are pure computation without tool contract or I/O. The MCP tools are in
//! `tools`, and the portfolios that they keep in `store`, behind the feature `tools`.

pub mod content;
pub mod currency;
pub mod document;
pub mod dsl;
pub mod engine;
pub mod eri;
pub mod estimate;
pub mod figures;
pub mod fx;
pub mod harvest;
pub mod html;
pub mod import;
pub mod income;
pub mod json;
pub mod losses;
pub mod money;
pub mod number;
pub mod parameters;
pub mod pdf;
pub mod portfolio;
pub mod problem;
pub mod ratio;
pub mod sa108;
pub mod scenario;
pub mod security;
pub mod spreadsheet;
#[cfg(feature = "tools")]
pub mod store;
pub mod tax_year;
pub mod text;
#[cfg(feature = "tools")]
pub mod tools;
pub mod transaction;
mod wide;
