//! A collection in a file of the program's home, made and brought up to date on the way.

use std::path::Path;

use panoply_store::StoreError;
use panoply_store::migrate::{self, Migration};
use panoply_store::sqlite::Durability;

use super::SqliteStore;
use crate::problem::Problem;

/// Never edited once released: a change is a new step.
const STEPS: &[Migration] = &[Migration {
    name: "a collection",
    sql: concat!(include_str!("schema.sql"), include_str!("triggers.sql")),
}];

/// Why a collection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// The file.
    #[error(transparent)]
    File(#[from] StoreError),
    /// What is in it.
    #[error(transparent)]
    Content(#[from] Problem),
}

impl SqliteStore {
    /// Opens a file, or makes it. What is acknowledged survives loss of power.
    pub fn open(file: &Path) -> Result<Self, NotOpened> {
        Ok(Self::over(migrate::open(file, Durability::Full, STEPS)?)?)
    }
}
