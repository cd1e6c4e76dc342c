//! Persistence: one packed file, replaced atomically.

mod files;
mod fund_store;

pub use self::files::{JournalFolder, replace_dataset};
pub use self::fund_store::{FundStore, Origin};
