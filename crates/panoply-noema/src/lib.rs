//! Cards, decks and reviews for learners and their tutoring agents.
//!
//! The domain stands at the top: [`fsrs`] decides when a card comes back. It knows nothing of
//! tools; what an agent sees is declared in `tools/`.

pub mod fsrs;
pub mod numbers;
