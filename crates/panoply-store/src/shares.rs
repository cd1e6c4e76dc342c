//! Shares between tenants, in `kernel.db`: a change and the record of its call are one transaction.

use std::path::Path;

use panoply_contract::error::ToolError;
use panoply_contract::mutation::MutationRecord;
use panoply_contract::sharing::{Share, ShareStore};
use panoply_contract::tenant::TenantId;
use rusqlite::{Connection, Row, params};

use crate::error::StoreError;
use crate::kernel_db::KernelDb;
use crate::migrate::Migration;
use crate::mutations::HasMutations as _;
use crate::sqlite::{self, keys, transact};

/// Migration that creates the table. Times are RFC 3339 in UTC.
pub(crate) const MIGRATION: Migration = Migration {
    name: "shares",
    sql: "
        CREATE TABLE share (
            owner     TEXT NOT NULL,
            recipient TEXT NOT NULL,
            pack      TEXT NOT NULL,
            item      TEXT NOT NULL,
            created   TEXT NOT NULL,
            PRIMARY KEY (owner, recipient, pack, item)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX share_by_recipient ON share (recipient);
    ",
};

impl KernelDb {
    fn list(&self, sql: &str, tenant: &TenantId) -> Result<Vec<Share>, ToolError> {
        let list = |connection: &Connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let shares = statement.query_map([tenant.as_str()], share)?;
            shares.collect::<rusqlite::Result<Vec<_>>>()
        };
        let listed = self
            .with_connection(|connection| list(connection).map_err(|error| at(connection, error)));
        Ok(listed?)
    }

    pub(crate) fn in_transaction<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.with_connection(|connection| {
            transact(connection, work).map_err(|error| at(connection, error))
        })
    }

    /// Runs a statement on one share, and inserts the record; whether it changed a row.
    fn change(
        &self,
        record: Option<&MutationRecord>,
        statement: impl FnOnce(&Connection) -> rusqlite::Result<usize>,
    ) -> Result<bool, ToolError> {
        let changed = self.in_transaction(|connection| {
            let rows = statement(connection)?;
            if let Some(record) = record {
                self.mutations().insert(connection, record)?;
            }
            Ok(rows > 0)
        });
        Ok(changed?)
    }
}

impl ShareStore for KernelDb {
    fn add(&self, share: &Share, record: Option<&MutationRecord>) -> Result<bool, ToolError> {
        let Share { pack, item, owner, recipient, created } = share;
        self.change(record, |connection| {
            connection.execute(
                "INSERT OR IGNORE INTO share (owner, recipient, pack, item, created) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![owner.as_str(), recipient.as_str(), pack, item, created.to_string()],
            )
        })
    }

    fn remove(&self, share: &Share, record: Option<&MutationRecord>) -> Result<bool, ToolError> {
        let Share { pack, item, owner, recipient, .. } = share;
        self.change(record, |connection| {
            connection.execute(
                "DELETE FROM share \
                 WHERE owner = ?1 AND recipient = ?2 AND pack = ?3 AND item = ?4",
                params![owner.as_str(), recipient.as_str(), pack, item],
            )
        })
    }

    fn granted_by(&self, owner: &TenantId) -> Result<Vec<Share>, ToolError> {
        let sql = "SELECT owner, recipient, pack, item, created FROM share WHERE owner = ?1 \
                   ORDER BY pack, item, recipient";
        self.list(sql, owner)
    }

    fn received_by(&self, recipient: &TenantId) -> Result<Vec<Share>, ToolError> {
        let sql = "SELECT owner, recipient, pack, item, created FROM share WHERE recipient = ?1 \
                   ORDER BY pack, item, owner";
        self.list(sql, recipient)
    }
}

fn share(row: &Row<'_>) -> rusqlite::Result<Share> {
    Ok(Share {
        owner: keys::tenant(row, 0)?,
        recipient: keys::tenant(row, 1)?,
        pack: row.get(2)?,
        item: row.get(3)?,
        created: keys::time(4, &row.get::<_, String>(4)?)?,
    })
}

pub(crate) fn at(connection: &Connection, error: rusqlite::Error) -> StoreError {
    sqlite::store_error(Path::new(connection.path().unwrap_or("kernel.db")), error)
}

#[cfg(test)]
mod tests {
    use panoply_contract::sharing::MemoryShareStore;
    use panoply_contract::tenant::TenantKind;
    use panoply_contract::testing::noon;

    use super::*;
    use crate::kernel_db::KernelStore as _;

    fn tenant(number: u8) -> TenantId {
        TenantId::new(TenantKind::Person, [number; 16])
    }

    fn share(owner: u8, recipient: u8, item: &str) -> Share {
        Share {
            pack: "noema".to_owned(),
            item: item.to_owned(),
            owner: tenant(owner),
            recipient: tenant(recipient),
            created: noon(),
        }
    }

    #[test]
    fn a_share_exists_from_its_grant_to_its_withdrawal() {
        let folder = tempfile::tempdir().unwrap();
        let file = KernelDb::open(&folder.path().join("kernel.db")).unwrap();
        let stores: [&dyn ShareStore; 2] = [file.0.as_ref(), &MemoryShareStore::default()];
        for store in stores {
            let (first, second) = (share(1, 2, "deck_1"), share(1, 3, "deck_1"));
            assert!(store.add(&first, None).unwrap());
            assert!(
                !store
                    .add(
                        &Share {
                            created: noon() + jiff::SignedDuration::from_secs(1),
                            ..first.clone()
                        },
                        None
                    )
                    .unwrap()
            );
            assert!(store.add(&second, None).unwrap());
            assert_eq!(store.granted_by(&tenant(1)).unwrap(), [first.clone(), second.clone()]);
            assert_eq!(store.received_by(&tenant(2)).unwrap(), std::slice::from_ref(&first));
            assert_eq!(store.received_by(&tenant(1)).unwrap(), []);
            assert!(!store.remove(&share(2, 1, "deck_1"), None).unwrap());
            assert!(store.remove(&first, None).unwrap());
            assert!(!store.remove(&first, None).unwrap());
            assert_eq!(store.received_by(&tenant(2)).unwrap(), []);
            assert_eq!(store.granted_by(&tenant(1)).unwrap(), [second]);
        }
    }

    #[test]
    fn a_forgotten_tenant_neither_shares_nor_receives() {
        let folder = tempfile::tempdir().unwrap();
        let store = KernelDb::open(&folder.path().join("kernel.db")).unwrap().0;
        for one in [share(1, 2, "a"), share(2, 1, "b"), share(2, 3, "c")] {
            store.add(&one, None).unwrap();
        }
        store.forget_shares(&tenant(1)).unwrap();
        assert_eq!(store.granted_by(&tenant(2)).unwrap(), [share(2, 3, "c")]);
        assert_eq!(store.granted_by(&tenant(1)).unwrap(), []);
    }
}
