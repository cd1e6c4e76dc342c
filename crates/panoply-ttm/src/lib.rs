//! Thai traditional medicine: a knowledge graph of herbs and formulations with search, cited
//! answers and safety checks.
//!
//! The modules here are the domain: pure functions without clock, network or contract. `tools/` has
//! the MCP tools, behind the feature of that name.

pub mod answer;
mod arithmetic;
pub mod catalog;
pub mod claims;
mod collections;
pub mod eval;
pub mod graph;
pub mod ingest;
#[cfg(feature = "tools")]
pub mod jobs;
pub mod knowledge;
pub mod model;
pub mod names;
#[cfg(feature = "tools")]
mod openai;
pub mod papers;
#[cfg(feature = "tools")]
pub use panoply_store::roots;
pub mod safety;
pub mod search;
#[cfg(feature = "tools")]
pub mod store;
pub mod text;
#[cfg(feature = "tools")]
pub mod tools;
pub mod user_data;
