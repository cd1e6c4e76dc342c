//! Cards, decks and reviews for learners and their tutoring agents.
//!
//! The domain stands at the top: [`fsrs`] decides when a card comes back, [`deck`], [`note`] and
//! [`card`] are what a collection is made of, [`store`] keeps it and [`search`] finds things in
//! it. None of this knows of tools; what an agent sees is declared in `tools/`.

pub mod anki;
pub mod card;
pub mod collection;
pub mod deck;
pub mod error;
pub mod fsrs;
pub mod ids;
pub mod note;
pub mod numbers;
pub mod queue;
pub mod render;
pub mod review;
pub mod search;
pub mod statistics;
pub mod store;
pub mod text_notes;

#[cfg(feature = "tools")]
pub mod tools;
