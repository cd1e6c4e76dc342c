//! Queries on a sealed run. Their cost depends on the size of the reply, not of the run.

pub mod aggregate;
pub mod books;
pub mod cache;
pub mod divergence;
pub mod events_query;
pub mod expression;
pub mod rates;
pub mod reader;
pub mod reconcile;
pub mod selection;
pub mod sequence;
pub mod snapshot;
