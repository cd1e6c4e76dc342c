//! FSRS-6 scheduling.
//!
//! [`Scheduler`] maps a card's schedule and a rating to the next schedule, in f64 with ties to
//! even. [`replay`] runs it over whole histories. [`fit`] wraps the `fsrs` crate for fitting,
//! evaluation and simulation.

pub mod calendar;
pub mod fit;
pub mod fuzz;
pub mod memory;
pub mod parameters;
pub mod rating;
pub mod replay;
pub mod scheduler;
pub mod zone;

pub use self::calendar::{Calendar, DAY, Micros, SECOND};
pub use self::fuzz::Seed;
pub use self::memory::Memory;
pub use self::parameters::{InvalidParameters, Parameters};
pub use self::rating::Rating;
pub use self::scheduler::{Phase, Schedule, Scheduler};
pub use self::zone::{InvalidZone, Zone};
