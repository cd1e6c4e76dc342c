//! `kernel.db`: the mutation log of packs without a database, the shares between tenants and the
//! preferences of persons.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::error::StoreError;
use crate::migrate::{self, Migration};
use crate::mutations::{HasMutations, MIGRATION, MutationTable, SqliteMutationLog};
use crate::preferences;
use crate::shares;
use crate::sqlite::{self, Durability};

/// The kernel's own database.
#[derive(Debug)]
pub struct KernelDb {
    file: PathBuf,
    /// `None` until the file could be opened; each use retries.
    connection: Mutex<Option<Connection>>,
    mutations: MutationTable,
}

impl KernelDb {
    /// Opens the file, creating it if it does not exist.
    pub fn open(file: &Path) -> Result<SqliteMutationLog<Self>, StoreError> {
        Ok(Self::with(file, Some(connect(file)?)))
    }

    /// Opens the file on first use and retries on each use until that succeeds.
    pub fn open_lazily(file: &Path) -> SqliteMutationLog<Self> {
        Self::with(file, None)
    }

    fn with(file: &Path, connection: Option<Connection>) -> SqliteMutationLog<Self> {
        SqliteMutationLog(Arc::new(Self {
            file: file.to_owned(),
            connection: Mutex::new(connection),
            mutations: MutationTable::default(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MIGRATIONS: [Migration; 3] = [MIGRATION, shares::MIGRATION, preferences::MIGRATION];

fn connect(file: &Path) -> Result<Connection, StoreError> {
    let connection = migrate::open(file, Durability::Full, &MIGRATIONS)?;
    sqlite::require_writable(&connection, file)?;
    Ok(connection)
}

/// Returns the connection, opening it if necessary.
fn opened<'a>(
    connection: &'a mut Option<Connection>,
    file: &Path,
) -> Result<&'a mut Connection, StoreError> {
    match connection {
        Some(connection) => Ok(connection),
        None => Ok(connection.insert(connect(file)?)),
    }
}

impl HasMutations for KernelDb {
    fn mutations(&self) -> &MutationTable {
        &self.mutations
    }

    fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(opened(&mut self.lock(), &self.file)?)
    }
}
