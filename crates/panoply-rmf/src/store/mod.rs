//! Persistence: one packed file, replaced atomically, and its previous generations.

mod files;
mod fund_store;
mod generations;

pub use self::files::{JournalFolder, SyncLock, replace_dataset};
pub use self::fund_store::{FundStore, Origin};
pub use self::generations::{Generation, GenerationError, Generations};
