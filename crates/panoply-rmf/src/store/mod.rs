//! Where figures are kept outside the program: one packed file, swapped as a whole.

mod shelf;

pub use self::shelf::{Origin, Shelf};
