//! `kernel.db`: the records of mutations of packs that have no database of their own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::migrate;
use crate::mutations::{HasMutations, MIGRATION, MutationTable, SqliteMutationLog};
use crate::sqlite::Durability;

/// The kernel's own database.
#[derive(Debug)]
pub struct KernelDb {
    file: PathBuf,
    connection: Mutex<Connection>,
    mutations: MutationTable,
}

impl KernelDb {
    /// Opens the file, making it if need be.
    pub fn open(file: &Path) -> Result<SqliteMutationLog<Self>, StoreError> {
        let connection = migrate::open(file, Durability::Full, &[MIGRATION])?;
        Ok(SqliteMutationLog(Arc::new(Self {
            file: file.to_owned(),
            connection: Mutex::new(connection),
            mutations: MutationTable::default(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HasMutations for KernelDb {
    fn mutations(&self) -> &MutationTable {
        &self.mutations
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        work(&self.lock()).map(Some).map_err(StoreError::about(&self.file))
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut connection = self.lock();
        let write = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        write().map_err(StoreError::about(&self.file))
    }
}
