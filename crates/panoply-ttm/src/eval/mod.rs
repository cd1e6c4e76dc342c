//! How good search and answers are, on questions with judged answers.
//!
//! Questions come in [sets](sets): two that ship and one that a user brings. [`retrieval`] asks
//! an engine and measures what it ranks. Nothing here tunes anything: `data/ttm/eval/README.md`
//! says which questions may, and a test sees to it that those never judge.

pub mod measures;
mod retrieval;
pub mod sets;

pub use self::retrieval::{Asked, Figures, Ranked, Retrieval, retrieval};
