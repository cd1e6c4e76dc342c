//! Import of user documents: text extraction, entity recognition, fact extraction and the plan.

mod add;
pub mod chunks;
pub mod facts;
pub mod gazetteer;
pub mod legible;
pub mod plan;
#[cfg(feature = "tools")]
pub mod reader;

pub use self::add::DOCUMENT;
