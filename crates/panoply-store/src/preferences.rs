//! Preferences of persons, in `kernel.db`: a change and the record of its call are one transaction.

use panoply_contract::error::ToolError;
use panoply_contract::mutation::MutationRecord;
use panoply_contract::preferences::{PreferenceStore, Preferences, StoredPreferences};
use panoply_contract::tenant::TenantId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::kernel_db::KernelDb;
use crate::migrate::Migration;
use crate::mutations::HasMutations as _;
use crate::shares::at;

/// Migration that creates the table. `members` is the JSON of [`Preferences`].
pub(crate) const MIGRATION: Migration = Migration {
    name: "preferences",
    sql: "
        CREATE TABLE preferences (
            tenant  TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            members TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
    ",
};

impl PreferenceStore for KernelDb {
    fn get(&self, tenant: &TenantId) -> Result<StoredPreferences, ToolError> {
        let sql = "SELECT version, members FROM preferences WHERE tenant = ?1";
        let read = |connection: &Connection| {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([tenant.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        };
        let found: Option<(u32, String)> = self.with_connection(|connection| {
            read(connection).map_err(|error| at(connection, error))
        })?;
        let Some((version, members)) = found else { return Ok(StoredPreferences::default()) };
        let preferences = serde_json::from_str(&members).map_err(|error| {
            ToolError::system("the stored preferences cannot be read").cause(error)
        })?;
        Ok(StoredPreferences { preferences, version })
    }

    fn set(
        &self,
        tenant: &TenantId,
        preferences: &Preferences,
        record: Option<&MutationRecord>,
    ) -> Result<u32, ToolError> {
        let members = serde_json::to_string(preferences)
            .map_err(|error| ToolError::system("preferences cannot be written").cause(error))?;
        let version = self.in_transaction(|connection| {
            let version = connection.query_row(
                "INSERT INTO preferences (tenant, version, members) VALUES (?1, 1, ?2) \
                 ON CONFLICT (tenant) DO UPDATE \
                 SET version = version + 1, members = excluded.members RETURNING version",
                params![tenant.as_str(), members],
                |row| row.get(0),
            )?;
            if let Some(record) = record {
                self.mutations().insert(connection, record)?;
            }
            Ok(version)
        })?;
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use panoply_contract::preferences::MemoryPreferenceStore;
    use panoply_contract::tenant::TenantKind;

    use super::*;
    use crate::kernel_db::KernelStore as _;

    #[test]
    fn preferences_are_kept_apart_by_tenant_and_versioned() {
        let folder = tempfile::tempdir().unwrap();
        let file = KernelDb::open(&folder.path().join("kernel.db")).unwrap();
        let stores: [&dyn PreferenceStore; 2] =
            [file.0.as_ref(), &MemoryPreferenceStore::default()];
        let [ann, bob] = [1, 2].map(|number| TenantId::new(TenantKind::Person, [number; 16]));
        for store in stores {
            assert_eq!(store.get(&ann).unwrap(), StoredPreferences::default());
            let preferences = Preferences { study_minutes: Some(20), ..Preferences::default() };
            assert_eq!(store.set(&ann, &preferences, None).unwrap(), 1);
            assert_eq!(store.set(&ann, &preferences, None).unwrap(), 2);
            assert_eq!(store.get(&ann).unwrap(), StoredPreferences { preferences, version: 2 });
            assert_eq!(store.get(&bob).unwrap(), StoredPreferences::default());
        }
        file.0.forget_person(&ann).unwrap();
        assert_eq!(file.0.get(&ann).unwrap(), StoredPreferences::default());
    }
}
