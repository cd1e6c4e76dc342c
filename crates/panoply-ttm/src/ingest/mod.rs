//! Import of user documents: text extraction, entity recognition, fact extraction and the plan.

mod add;
pub mod chunks;
mod fact_cues;
pub mod facts;
pub mod gazetteer;
pub mod legible;
pub mod plan;
#[cfg(feature = "tools")]
pub mod reader;
mod tables;

pub use self::add::DOCUMENT;
