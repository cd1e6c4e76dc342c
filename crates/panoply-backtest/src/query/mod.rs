//! Queries on a sealed run. Their cost depends on the size of the reply, not of the run.

pub mod aggregate;
pub mod books;
pub mod cache;
mod candidates;
pub mod divergence;
mod event_groups;
mod event_scan;
pub mod events_query;
pub mod expression;
pub mod rates;
pub mod reader;
pub mod reconcile;
pub mod selection;
pub mod sequence;
pub mod snapshot;
pub(crate) mod typed_literal;
