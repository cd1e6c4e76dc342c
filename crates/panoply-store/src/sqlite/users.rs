//! Users and workspaces in the SQLite file of the API keys, so that one query answers a request.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use panoply_contract::tenant::{Principal, TenantId, TenantKind, Tenants};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::keys;
use crate::error::StoreError;
use crate::migrate;
use crate::sqlite::{self, Durability, transact};
use crate::users::{
    Account, TenantRecord, Users, UsersError, checked_name, not_a_member, token_name,
};

/// Users and workspaces in the file of the keys.
pub struct SqliteUsers {
    file: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteUsers {
    /// Opens the file, creating it if it does not exist.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let connection = migrate::open(file, Durability::Full, keys::MIGRATIONS)?;
        Ok(Self { file: file.to_owned(), connection: Mutex::new(connection) })
    }

    fn disable(&self, tenant: &TenantId, now: Timestamp) -> Result<(), UsersError> {
        let sql = "UPDATE tenant SET disabled = coalesce(disabled, ?2) WHERE id = ?1";
        let changed = self.lock().execute(sql, params![tenant.as_str(), now.to_string()]);
        changed.map(drop).map_err(|error| self.failed(error))
    }

    /// Whether a workspace has a member whose access was not removed.
    fn has_members(&self, workspace: &TenantId) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM member JOIN tenant ON tenant.id = member.person \
                   WHERE member.workspace = ?1 AND tenant.disabled IS NULL)";
        let found = self.lock().query_row(sql, [workspace.as_str()], |row| row.get(0));
        found.map_err(sqlite::about(&self.file))
    }

    fn of_subject(
        &self,
        kind: TenantKind,
        name: &str,
        subject: &str,
        create: bool,
        now: Timestamp,
    ) -> Result<Option<TenantRecord>, StoreError> {
        let find = || {
            let sql = format!("SELECT {COLUMNS} FROM tenant WHERE subject = ?1 AND kind = ?2");
            let connection = self.lock();
            let found = connection
                .prepare_cached(&sql)
                .and_then(|mut of| of.query_row([subject, kind_text(kind)], record).optional());
            found.map_err(sqlite::about(&self.file))
        };
        if let Some(found) = find()? {
            return Ok(Some(found));
        }
        if !create {
            return Ok(None);
        }
        self.insert(kind, name, Some(subject), now)?;
        // Another process may have created it first.
        find()
    }

    /// Inserts a tenant; `None` when its name or subject exists.
    fn insert(
        &self,
        kind: TenantKind,
        name: &str,
        subject: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<TenantRecord>, StoreError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(StoreError::NoRandomness)?;
        let id = TenantId::new(kind, random);
        let inserted = self.lock().execute(
            "INSERT OR IGNORE INTO tenant (id, kind, name, subject, created) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![id.as_str(), kind_text(kind), name, subject, now.to_string()],
        );
        let inserted = inserted.map_err(sqlite::about(&self.file))?;
        if inserted == 0 { Ok(None) } else { self.named(kind, name) }
    }

    fn named(&self, kind: TenantKind, name: &str) -> Result<Option<TenantRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM tenant WHERE kind = ?1 AND name = ?2");
        let found = self.lock().query_row(&sql, [kind_text(kind), name], record).optional();
        found.map_err(sqlite::about(&self.file))
    }

    fn failed(&self, error: rusqlite::Error) -> UsersError {
        UsersError::Store(sqlite::store_error(&self.file, error))
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Users for SqliteUsers {
    fn add(
        &self,
        name: &str,
        subject: Option<&Principal>,
        now: Timestamp,
    ) -> Result<TenantRecord, UsersError> {
        let name = checked_name(name)?;
        let subject = subject.map(Principal::as_str);
        self.insert(TenantKind::Person, name, subject, now)?
            .ok_or_else(|| UsersError::Taken(name.to_owned()))
    }

    fn join(&self, user: &str, workspace: &str, now: Timestamp) -> Result<(), UsersError> {
        let person = self.person(user)?;
        let workspace = checked_name(workspace)?;
        self.insert(TenantKind::Workspace, workspace, None, now)?;
        let joined = self.lock().execute(
            "INSERT OR IGNORE INTO member (person, workspace) \
             SELECT ?1, id FROM tenant WHERE kind = 'workspace' AND name = ?2",
            params![person.id.as_str(), workspace],
        );
        joined.map(drop).map_err(|error| self.failed(error))
    }

    fn leave(&self, user: &str, workspace: &str) -> Result<(), UsersError> {
        let person = self.person(user)?;
        let left = self.lock().execute(
            "DELETE FROM member WHERE person = ?1 AND workspace IN \
             (SELECT id FROM tenant WHERE kind = 'workspace' AND name = ?2)",
            params![person.id.as_str(), workspace],
        );
        match left.map_err(|error| self.failed(error))? {
            0 => Err(not_a_member(user, workspace)),
            _ => Ok(()),
        }
    }

    fn set_operator(&self, user: &str, operator: bool) -> Result<(), UsersError> {
        let person = self.person(user)?;
        let sql = "UPDATE tenant SET operator = ?2 WHERE id = ?1";
        let changed = self.lock().execute(sql, params![person.id.as_str(), operator]);
        changed.map(drop).map_err(|error| self.failed(error))
    }

    fn remove(&self, user: &str, now: Timestamp) -> Result<(), UsersError> {
        self.disable(&self.person(user)?.id, now)
    }

    fn begin_erase(&self, name: &str, now: Timestamp) -> Result<TenantRecord, UsersError> {
        let tenant = self.tenant(name)?;
        if tenant.kind == TenantKind::Workspace && self.has_members(&tenant.id)? {
            return Err(UsersError::HasMembers(name.to_owned()));
        }
        self.disable(&tenant.id, now)?;
        let sql = "UPDATE tenant SET erasing = coalesce(erasing, ?2) WHERE id = ?1";
        let changed = self.lock().execute(sql, params![tenant.id.as_str(), now.to_string()]);
        changed.map_err(|error| self.failed(error))?;
        Ok(tenant)
    }

    fn workspaces_without_members(&self) -> Result<Vec<TenantRecord>, StoreError> {
        let mut found = self.list()?;
        found.retain(|tenant| tenant.kind == TenantKind::Workspace && !tenant.from_token);
        let mut without = Vec::new();
        for tenant in found {
            if !self.has_members(&tenant.id)? {
                without.push(tenant);
            }
        }
        Ok(without)
    }

    fn forget(&self, tenant: &TenantId) -> Result<(), StoreError> {
        let forget = |connection: &Connection| {
            let sql = "DELETE FROM api_key WHERE person = ?1 OR workspace = ?1";
            connection.execute(sql, [tenant.as_str()])?;
            connection
                .execute("DELETE FROM member WHERE ?1 IN (person, workspace)", [tenant.as_str()])?;
            connection.execute("DELETE FROM tenant WHERE id = ?1", [tenant.as_str()])
        };
        let mut connection = self.lock();
        transact(&mut connection, forget)
            // Free space of pages and the write-ahead log contain older versions of the rows.
            .and_then(|_| connection.execute_batch("VACUUM"))
            .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())))
            .map_err(sqlite::about(&self.file))
    }

    fn list(&self) -> Result<Vec<TenantRecord>, StoreError> {
        let list = |connection: &Connection| {
            let sql = format!("SELECT {COLUMNS} FROM tenant ORDER BY kind, name");
            connection.prepare(&sql)?.query_map((), record)?.collect::<rusqlite::Result<_>>()
        };
        list(&self.lock()).map_err(sqlite::about(&self.file))
    }

    fn workspaces(&self, person: &TenantId) -> Result<Vec<String>, StoreError> {
        let list = |connection: &Connection| {
            let sql = "SELECT tenant.name FROM member JOIN tenant ON tenant.id = member.workspace \
                       WHERE member.person = ?1 ORDER BY tenant.name";
            let mut statement = connection.prepare(sql)?;
            let names = statement.query_map([person.as_str()], |row| row.get(0))?;
            names.collect::<rusqlite::Result<_>>()
        };
        list(&self.lock()).map_err(sqlite::about(&self.file))
    }

    fn tenant(&self, name: &str) -> Result<TenantRecord, UsersError> {
        let person = self.named(TenantKind::Person, name)?;
        let found = match person {
            None => self.named(TenantKind::Workspace, name)?,
            Some(_) => person,
        };
        found.ok_or_else(|| UsersError::UnknownUser(name.to_owned()))
    }

    fn person(&self, name: &str) -> Result<TenantRecord, UsersError> {
        self.named(TenantKind::Person, name)?
            .ok_or_else(|| UsersError::UnknownUser(name.to_owned()))
    }

    fn tenants_of(&self, user: &str, workspace: Option<&str>) -> Result<Tenants, UsersError> {
        let person = self.person(user)?.id;
        let Some(workspace) = workspace else { return Ok(Tenants::of(person)) };
        let find = |connection: &Connection| {
            let sql = "SELECT tenant.id FROM member JOIN tenant ON tenant.id = member.workspace \
                       WHERE member.person = ?1 AND tenant.name = ?2";
            let of = params![person.as_str(), workspace];
            connection.query_row(sql, of, |row| keys::tenant(row, 0)).optional()
        };
        match find(&self.lock()).map_err(|error| self.failed(error))? {
            Some(workspace) => Ok(Tenants { person, workspace }),
            None => Err(not_a_member(user, workspace)),
        }
    }

    fn account(
        &self,
        subject: &Principal,
        workspace: Option<&str>,
        create: bool,
        now: Timestamp,
    ) -> Result<Option<Account>, StoreError> {
        let (kind, name) = (TenantKind::Person, token_name(subject.as_str()));
        let Some(person) = self.of_subject(kind, &name, subject.as_str(), create, now)? else {
            return Ok(None);
        };
        let mut tenants = Tenants::of(person.id.clone());
        if let Some(key) = workspace {
            // The issuer vouches for the membership, so an unknown workspace is created.
            let kind = TenantKind::Workspace;
            let found = self.of_subject(kind, &token_name(key), key, true, now)?;
            tenants.workspace = found.map_or(person.id, |workspace| workspace.id);
        }
        let disabled = person.disabled.is_some();
        Ok(Some(Account { tenants, operator: person.operator, disabled }))
    }
}

const COLUMNS: &str = "id, kind, name, subject, operator, created, disabled, erasing";

fn record(row: &Row<'_>) -> rusqlite::Result<TenantRecord> {
    let time = |column| {
        let text = row.get::<_, Option<String>>(column)?;
        text.map(|text| keys::time(column, &text)).transpose()
    };
    let kind: String = row.get(1)?;
    Ok(TenantRecord {
        id: keys::tenant(row, 0)?,
        kind: if kind == "person" { TenantKind::Person } else { TenantKind::Workspace },
        name: row.get(2)?,
        from_token: row.get::<_, Option<String>>(3)?.is_some(),
        operator: row.get(4)?,
        created: keys::time(5, &row.get::<_, String>(5)?)?,
        disabled: time(6)?,
        erasing: time(7)?,
    })
}

const fn kind_text(kind: TenantKind) -> &'static str {
    match kind {
        TenantKind::Person => "person",
        TenantKind::Workspace => "workspace",
    }
}

#[cfg(test)]
mod tests;
