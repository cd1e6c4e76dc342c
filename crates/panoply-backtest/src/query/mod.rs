//! Queries on a sealed run. Their cost depends on the size of the reply, not of the run.

pub mod aggregate;
pub mod cache;
pub mod reader;
pub mod reconcile;
pub mod selection;
pub mod sequence;
pub mod snapshot;
