//! FSRS-6: when a card comes back.
//!
//! [`Scheduler`] is exact and ours: f64, ties to even, one function from a card and an answer to
//! the next schedule. [`replay`] runs it over whole histories.

pub mod calendar;
pub mod fuzz;
pub mod memory;
pub mod parameters;
pub mod rating;
pub mod replay;
pub mod scheduler;

pub use self::calendar::{Calendar, DAY, Micros, SECOND};
pub use self::fuzz::Seed;
pub use self::memory::Memory;
pub use self::parameters::{BadParameters, Parameters};
pub use self::rating::Rating;
pub use self::scheduler::{Phase, Schedule, Scheduler};
