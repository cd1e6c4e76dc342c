//! Spaced repetition: decks, notes, cards and reviews, scheduled by FSRS-6.
//!
//! Domain modules come first: [`fsrs`] schedules, [`deck`], [`note`] and [`card`] are the model,
//! [`collection`] and [`review`] the operations, [`store`] the persistence and [`search`] the query
//! language. They do not depend on `tools`, which declares the MCP tools.

pub mod anki;
pub mod card;
pub mod choice;
pub mod collection;
pub mod deck;
pub mod error;
pub mod exam;
pub mod fsrs;
pub mod grading;
pub mod html;
pub mod ids;
pub mod interference;
pub mod learner;
pub mod media;
pub mod note;
pub mod numbers;
pub mod occlusion;
pub mod quality;
pub mod queue;
pub mod render;
pub mod review;
pub mod search;
pub mod statistics;
pub mod store;
pub mod text_notes;

#[cfg(feature = "tools")]
pub mod tools;
