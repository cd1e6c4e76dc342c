//! Questions to a sealed run. Each costs what its answer is worth, not what the run is long.

pub mod aggregate;
pub mod cache;
pub mod reader;
pub mod reconcile;
pub mod selection;
pub mod sequence;
pub mod snapshot;
