//! Users and workspaces.

use std::sync::Arc;

use jiff::Timestamp;
use panoply_contract::tenant::{Principal, TenantId, TenantKind, Tenants};
use panoply_store::StoreError;
use panoply_store::users::{
    Account, TenantRecord, Users, UsersError, checked_name, not_a_member, token_name,
};
use tokio_postgres::Row;

use crate::errors::unreadable;
use crate::keys::{get, tenant, time};
use crate::server::{Postgres, Value};
use crate::values;

/// Users and workspaces in a database.
pub struct PostgresUsers(pub Arc<Postgres>);

const COLUMNS: &str = "id, kind, name, subject, operator, created, disabled, erasing";

impl PostgresUsers {
    fn query(&self, sql: impl Into<String>, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let sql = sql.into();
        self.0.run(|server| async move { server.connection().await?.query(&sql, values).await })
    }

    /// Runs statements in one transaction; returns the number of rows of the last.
    fn change(&self, statements: Vec<(&'static str, Vec<Value>)>) -> Result<u64, StoreError> {
        self.0.run(|server| async move {
            let transaction = server.begin(None).await?;
            let mut changed = 0;
            for (sql, values) in statements {
                changed = transaction.execute(sql, values).await?;
            }
            transaction.commit().await?;
            Ok(changed)
        })
    }

    fn disable(&self, tenant: &TenantId, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE kernel.tenant SET disabled = coalesce(disabled, $2) WHERE id = $1";
        self.change(vec![(sql, values![tenant.to_string(), now.to_string()])]).map(drop)
    }

    /// Whether a workspace has a member whose access was not removed.
    fn has_members(&self, workspace: &TenantId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM kernel.member JOIN kernel.tenant ON tenant.id = member.person \
                   WHERE member.workspace = $1 AND tenant.disabled IS NULL LIMIT 1";
        Ok(!self.query(sql, values![workspace.to_string()])?.is_empty())
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
            let sql =
                format!("SELECT {COLUMNS} FROM kernel.tenant WHERE subject = $1 AND kind = $2");
            let rows = self.query(sql, values![subject.to_owned(), kind_text(kind)])?;
            rows.first().map(record).transpose()
        };
        if let Some(found) = find()? {
            return Ok(Some(found));
        }
        if !create {
            return Ok(None);
        }
        self.insert(kind, name, Some(subject), now)?;
        // Another replica may have created it first.
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
        let sql = "INSERT INTO kernel.tenant (id, kind, name, subject, created) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        let values = values![
            id.to_string(),
            kind_text(kind),
            name.to_owned(),
            subject.map(str::to_owned),
            now.to_string()
        ];
        match self.change(vec![(sql, values)])? {
            0 => Ok(None),
            _ => self.named(kind, name),
        }
    }

    fn named(&self, kind: TenantKind, name: &str) -> Result<Option<TenantRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM kernel.tenant WHERE kind = $1 AND name = $2");
        let rows = self.query(sql, values![kind_text(kind), name.to_owned()])?;
        rows.first().map(record).transpose()
    }
}

impl Users for PostgresUsers {
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
        let sql = "INSERT INTO kernel.member (person, workspace) \
                   SELECT $1, id FROM kernel.tenant WHERE kind = 'workspace' AND name = $2 \
                   ON CONFLICT DO NOTHING";
        self.change(vec![(sql, values![person.id.to_string(), workspace.to_owned()])])?;
        Ok(())
    }

    fn leave(&self, user: &str, workspace: &str) -> Result<(), UsersError> {
        let person = self.person(user)?;
        let sql = "DELETE FROM kernel.member WHERE person = $1 AND workspace IN \
                   (SELECT id FROM kernel.tenant WHERE kind = 'workspace' AND name = $2)";
        let left =
            self.change(vec![(sql, values![person.id.to_string(), workspace.to_owned()])])?;
        if left == 0 { Err(not_a_member(user, workspace)) } else { Ok(()) }
    }

    fn set_operator(&self, user: &str, operator: bool) -> Result<(), UsersError> {
        let person = self.person(user)?;
        let sql = "UPDATE kernel.tenant SET operator = $2 WHERE id = $1";
        self.change(vec![(sql, values![person.id.to_string(), operator])])?;
        Ok(())
    }

    fn remove(&self, user: &str, now: Timestamp) -> Result<(), UsersError> {
        Ok(self.disable(&self.person(user)?.id, now)?)
    }

    fn begin_erase(&self, name: &str, now: Timestamp) -> Result<TenantRecord, UsersError> {
        let tenant = self.tenant(name)?;
        if tenant.kind == TenantKind::Workspace && self.has_members(&tenant.id)? {
            return Err(UsersError::HasMembers(name.to_owned()));
        }
        self.disable(&tenant.id, now)?;
        let sql = "UPDATE kernel.tenant SET erasing = coalesce(erasing, $2) WHERE id = $1";
        self.change(vec![(sql, values![tenant.id.to_string(), now.to_string()])])?;
        Ok(tenant)
    }

    fn workspaces_without_members(&self) -> Result<Vec<TenantRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM kernel.tenant one WHERE kind = 'workspace' AND subject IS NULL \
             AND NOT EXISTS (SELECT 1 FROM kernel.member \
                JOIN kernel.tenant person ON person.id = member.person \
                WHERE member.workspace = one.id AND person.disabled IS NULL) \
             ORDER BY kind, name"
        );
        self.query(sql, values![])?.iter().map(record).collect()
    }

    fn forget(&self, tenant: &TenantId) -> Result<(), StoreError> {
        let id = || values![tenant.to_string()];
        self.change(vec![
            ("DELETE FROM kernel.api_key WHERE person = $1 OR workspace = $1", id()),
            ("DELETE FROM kernel.member WHERE person = $1 OR workspace = $1", id()),
            ("DELETE FROM kernel.tenant WHERE id = $1", id()),
        ])
        .map(drop)
    }

    fn list(&self) -> Result<Vec<TenantRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM kernel.tenant ORDER BY kind, name");
        self.query(sql, values![])?.iter().map(record).collect()
    }

    fn workspaces(&self, person: &TenantId) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT tenant.name FROM kernel.member \
                   JOIN kernel.tenant ON tenant.id = member.workspace \
                   WHERE member.person = $1 ORDER BY tenant.name";
        self.query(sql, values![person.to_string()])?.iter().map(|row| get(row, 0)).collect()
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
        let sql = "SELECT tenant.id FROM kernel.member \
                   JOIN kernel.tenant ON tenant.id = member.workspace \
                   WHERE member.person = $1 AND tenant.name = $2";
        let rows = self.query(sql, values![person.to_string(), workspace.to_owned()])?;
        match rows.first() {
            Some(row) => Ok(Tenants { person, workspace: tenant(row, 0)? }),
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

fn record(row: &Row) -> Result<TenantRecord, StoreError> {
    let kind: String = get(row, 1)?;
    Ok(TenantRecord {
        id: tenant(row, 0)?,
        kind: if kind == "person" { TenantKind::Person } else { TenantKind::Workspace },
        name: get(row, 2)?,
        from_token: get::<Option<String>>(row, 3)?.is_some(),
        operator: get(row, 4)?,
        created: time(row, 5)?.ok_or_else(|| unreadable("a tenant without a time"))?,
        disabled: time(row, 6)?,
        erasing: time(row, 7)?,
    })
}

const fn kind_text(kind: TenantKind) -> &'static str {
    match kind {
        TenantKind::Person => "person",
        TenantKind::Workspace => "workspace",
    }
}
