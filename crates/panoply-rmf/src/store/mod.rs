//! Where figures are kept outside the program: one packed file, swapped as a whole.

mod files;
mod shelf;

pub use self::files::{JournalFolder, swap_in};
pub use self::shelf::{Origin, Shelf};
