//! FSRS-6: when a card comes back.
//!
//! [`Scheduler`] is exact and ours: f64, ties to even, one function from a card and an answer to
//! the next schedule. [`replay`] runs it over whole histories. What needs a
//! learner's whole log (fitting, evaluating, simulating) is the crate `fsrs`, behind [`fit`].

pub mod calendar;
pub mod fit;
pub mod fuzz;
pub mod memory;
pub mod parameters;
pub mod rating;
pub mod replay;
pub mod scheduler;

pub use self::calendar::{Calendar, DAY, Micros, SECOND};
pub use self::fuzz::Seed;
pub use self::memory::Memory;
pub use self::parameters::{InvalidParameters, Parameters};
pub use self::rating::Rating;
pub use self::scheduler::{Phase, Schedule, Scheduler};
