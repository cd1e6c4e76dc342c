//! `kernel.db`: the mutation log of packs without a database, the shares between tenants and the
//! preferences of persons.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_contract::mutation::MutationLog;
use panoply_contract::preferences::PreferenceStore;
use panoply_contract::sharing::ShareStore;
use panoply_contract::tenant::TenantId;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::migrate::{self, Migration};
use crate::mutations::{HasMutations, MIGRATION, MutationTable, SqliteMutationLog};
use crate::preferences;
use crate::shares;
use crate::sqlite::{self, Durability};

/// The kernel's own store.
pub trait KernelStore: ShareStore + PreferenceStore {
    /// Deletes all shares of and with a tenant.
    fn forget_shares(&self, tenant: &TenantId) -> Result<(), StoreError>;

    /// Deletes what the store has of a person: shares, preferences, idempotency keys and stored
    /// replies. An audit entry on its way to the log stays until it is there.
    fn forget_person(&self, person: &TenantId) -> Result<(), StoreError>;

    /// The mutation log of packs without a database.
    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog>;
}

/// The kernel's own database in SQLite.
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

impl KernelStore for KernelDb {
    fn forget_shares(&self, tenant: &TenantId) -> Result<(), StoreError> {
        self.in_transaction(|connection| {
            let sql = "DELETE FROM share WHERE owner = ?1 OR recipient = ?1";
            connection.execute(sql, [tenant.as_str()]).map(drop)
        })
    }

    fn forget_person(&self, person: &TenantId) -> Result<(), StoreError> {
        self.forget_shares(person)?;
        let of_person = "instr(partition, ?1) = 1";
        self.in_transaction(|connection| {
            let sql = "DELETE FROM preferences WHERE tenant = ?1";
            connection.execute(sql, [person.as_str()])?;
            let sql = format!("DELETE FROM mutation WHERE {of_person} AND audited = 1");
            connection.execute(&sql, [person.as_str()])?;
            let sql = format!(
                "UPDATE mutation SET key = NULL, reply_data = NULL, reply_text = NULL \
                 WHERE {of_person}"
            );
            connection.execute(&sql, [person.as_str()]).map(drop)
        })?;
        self.with_connection(|connection| {
            // Free space of pages and the write-ahead log contain older versions of the rows.
            connection
                .execute_batch("VACUUM")
                .and_then(|()| {
                    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
                })
                .map_err(|error| shares::at(connection, error))
        })
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        Arc::new(SqliteMutationLog(self))
    }
}
