//! API keys in a SQLite file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use panoply_contract::permission::Profile;
use panoply_contract::tenant::{TenantId, Tenants};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::StoreError;
use crate::keys::{ApiKeys, CreatedKey, KeyRecord, NewKey};
use crate::migrate::{self, Migration};
use crate::sqlite::{self, Durability};

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "API keys",
        sql: "
        -- Times are RFC 3339 in UTC.
        CREATE TABLE api_key (
            id      TEXT PRIMARY KEY,
            hash    TEXT NOT NULL UNIQUE,
            label   TEXT NOT NULL,
            user_id TEXT NOT NULL,
            profile TEXT NOT NULL,
            created TEXT NOT NULL,
            expires TEXT,
            revoked TEXT
        ) STRICT, WITHOUT ROWID;
    ",
    },
    Migration { name: "users and tenants", sql: include_str!("users.sql") },
];

/// The API keys in a SQLite file.
pub struct SqliteApiKeys {
    file: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteApiKeys {
    /// Opens the file, creating it if it does not exist.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let connection = Mutex::new(migrate::open(file, Durability::Full, MIGRATIONS)?);
        Ok(Self { file: file.to_owned(), connection })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ApiKeys for SqliteApiKeys {
    fn create(&self, new: NewKey, now: Timestamp) -> Result<CreatedKey, StoreError> {
        let CreatedKey { record, text } = new.create(now)?;
        self.lock()
            .execute(
                "INSERT INTO api_key \
                 (id, hash, label, user_id, profile, created, expires, person, workspace) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    record.id,
                    record.hash,
                    record.label,
                    record.user_id,
                    record.profile.as_str(),
                    record.created.to_string(),
                    record.expires.map(|expires| expires.to_string()),
                    stored(&record.tenants.person),
                    stored(&record.tenants.workspace),
                ],
            )
            .map_err(sqlite::about(&self.file))?;
        Ok(CreatedKey { record, text })
    }

    fn find(&self, id: &str) -> Result<Option<KeyRecord>, StoreError> {
        let find = |connection: &Connection| {
            connection
                .prepare_cached(&format!("{SELECT} WHERE api_key.id = ?1"))?
                .query_row([id], record)
                .optional()
        };
        find(&self.lock()).map_err(sqlite::about(&self.file))
    }

    fn list(&self) -> Result<Vec<KeyRecord>, StoreError> {
        let list = |connection: &Connection| {
            let sql = format!("{SELECT} ORDER BY api_key.created, api_key.id");
            connection.prepare(&sql)?.query_map((), record)?.collect::<rusqlite::Result<_>>()
        };
        list(&self.lock()).map_err(sqlite::about(&self.file))
    }

    fn revoke(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        let changed = self.lock().execute(
            "UPDATE api_key SET revoked = coalesce(revoked, ?2) WHERE id = ?1",
            params![id, now.to_string()],
        );
        changed.map(|rows| rows > 0).map_err(sqlite::about(&self.file))
    }
}

/// One query, so that a lookup sees key, user and membership of one moment.
const SELECT: &str = "SELECT api_key.id, api_key.hash, api_key.label, api_key.user_id, \
     api_key.profile, api_key.created, api_key.expires, \
     coalesce(api_key.revoked, tenant.disabled, \
         CASE WHEN api_key.workspace IS NOT api_key.person AND member.person IS NULL \
              THEN api_key.created END), \
     api_key.person, api_key.workspace \
     FROM api_key LEFT JOIN tenant ON tenant.id = api_key.person \
     LEFT JOIN member ON member.person = api_key.person AND member.workspace = api_key.workspace";

/// The local tenant is stored as NULL.
fn stored(tenant: &TenantId) -> Option<&str> {
    (!tenant.is_local()).then(|| tenant.as_str())
}

fn record(row: &Row<'_>) -> rusqlite::Result<KeyRecord> {
    let profile: String = row.get(4)?;
    let optional_time =
        |column| row.get::<_, Option<String>>(column)?.map(|text| time(column, &text)).transpose();
    Ok(KeyRecord {
        id: row.get(0)?,
        hash: row.get(1)?,
        label: row.get(2)?,
        user_id: row.get(3)?,
        profile: Profile::parse(&profile)
            .ok_or_else(|| unreadable(4, format!("unknown profile `{profile}`").into()))?,
        created: time(5, &row.get::<_, String>(5)?)?,
        expires: optional_time(6)?,
        revoked: optional_time(7)?,
        tenants: Tenants { person: tenant(row, 8)?, workspace: tenant(row, 9)? },
    })
}

pub(crate) fn tenant(row: &Row<'_>, column: usize) -> rusqlite::Result<TenantId> {
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(TenantId::local()) };
    TenantId::parse(&text)
        .ok_or_else(|| unreadable(column, format!("`{text}` is not a tenant").into()))
}

pub(crate) fn time(column: usize, text: &str) -> rusqlite::Result<Timestamp> {
    text.parse().map_err(|error: jiff::Error| unreadable(column, Box::new(error)))
}

fn unreadable(column: usize, error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use panoply_contract::testing::noon;

    use super::*;
    use crate::keys::hash_of;

    fn keys() -> (tempfile::TempDir, SqliteApiKeys) {
        let folder = tempfile::tempdir().unwrap();
        let keys = SqliteApiKeys::open(&folder.path().join("keys.db")).unwrap();
        (folder, keys)
    }

    fn new_key(label: &str) -> NewKey {
        NewKey {
            label: label.to_owned(),
            tenants: Tenants::default(),
            profile: Profile::Agent,
            expires: None,
        }
    }

    #[test]
    fn a_key_is_found_by_id_and_verified_by_hash() {
        let (_folder, keys) = keys();
        let expires = noon() + Duration::from_secs(60);
        let new = NewKey { expires: Some(expires), profile: Profile::Reader, ..new_key("laptop") };
        let made = keys.create(new, noon()).unwrap();
        let parts: Vec<&str> = made.text.splitn(3, '_').collect();
        assert_eq!(parts[0], "pnp");
        assert_eq!(parts[1], made.record.id);
        assert_eq!(parts[2].len(), 43, "32 bytes in base64");
        assert_eq!(made.record.user_id, format!("user_{}", made.record.id));
        let found = keys.find(&made.record.id).unwrap().unwrap();
        assert_eq!(found, made.record);
        assert_eq!(found.hash, hash_of(&made.text));
        assert!(found.works_at(noon()));
        assert!(!found.works_at(expires));
        assert_eq!(keys.find("nobody").unwrap(), None);
    }

    #[test]
    fn no_file_and_no_log_line_holds_a_usable_key() {
        let (folder, keys) = keys();
        let made = keys.create(new_key("laptop"), noon()).unwrap();
        let secret = made.text.splitn(3, '_').last().unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let held = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!held);
        }
        assert!(!format!("{made:?}").contains(secret));
    }

    #[test]
    fn a_key_revoked_by_another_process_stops_working_here() {
        let (folder, keys) = keys();
        let made = keys.create(new_key("laptop"), noon()).unwrap();
        let other_process = SqliteApiKeys::open(&folder.path().join("keys.db")).unwrap();
        assert!(other_process.revoke(&made.record.id, noon()).unwrap());
        let found = keys.find(&made.record.id).unwrap().unwrap();
        assert!(!found.works_at(noon()));
        let later = noon() + Duration::from_secs(9);
        assert!(keys.revoke(&made.record.id, later).unwrap());
        let found = keys.find(&made.record.id).unwrap().unwrap();
        assert_eq!(found.revoked, Some(noon()), "the first time counts");
        assert!(!keys.revoke("nobody", noon()).unwrap());
    }

    #[test]
    fn keys_are_listed_in_creation_order_and_are_unique() {
        let (_folder, keys) = keys();
        for place in 0..20 {
            let now = noon() + Duration::from_secs(place);
            keys.create(new_key(&place.to_string()), now).unwrap();
        }
        let listed = keys.list().unwrap();
        let labels: Vec<&str> = listed.iter().map(|key| key.label.as_str()).collect();
        let expected: Vec<String> = (0..20).map(|place| place.to_string()).collect();
        assert_eq!(labels, expected);
        let ids: std::collections::BTreeSet<&str> =
            listed.iter().map(|key| key.id.as_str()).collect();
        assert_eq!(ids.len(), 20);
    }
}
