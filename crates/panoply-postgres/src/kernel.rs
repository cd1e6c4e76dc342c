//! Shares, preferences and the mutation log of packs without data.

use std::sync::Arc;

use panoply_contract::error::ToolError;
use panoply_contract::mutation::{MutationLog, MutationRecord};
use panoply_contract::preferences::{PreferenceStore, Preferences, StoredPreferences};
use panoply_contract::sharing::{Share, ShareStore};
use panoply_contract::tenant::TenantId;
use panoply_store::{KernelStore, StoreError};
use tokio_postgres::Row;

use crate::errors::unreadable;
use crate::keys::{get, tenant, time};
use crate::mutations::{self, PostgresMutationLog, Scope};
use crate::server::{Postgres, Statements, Value};
use crate::transaction::Transaction;
use crate::values;

/// The kernel's own store in a database.
pub struct PostgresKernelStore(pub Arc<Postgres>);

impl PostgresKernelStore {
    /// Runs a statement of a tenant, and inserts the record; whether it changed a row.
    fn change(
        &self,
        of: &TenantId,
        sql: &'static str,
        values: Vec<Value>,
        record: Option<&MutationRecord>,
    ) -> Result<bool, ToolError> {
        let record = record.map(|record| mutations::insert(&Scope::Kernel, record)).transpose()?;
        let of = of.clone();
        let changed = self.0.run(|server| async move {
            let transaction = server.begin(Some(&of)).await?;
            let rows = transaction.execute(sql, values).await?;
            add(&transaction, record).await?;
            transaction.commit().await?;
            Ok(rows > 0)
        });
        Ok(changed?)
    }

    fn shares(&self, of: &TenantId, sql: &'static str) -> Result<Vec<Share>, ToolError> {
        let of = of.clone();
        let rows = self.0.run(|server| async move {
            let values = values![of.to_string()];
            server.read(&of, sql, values).await
        })?;
        Ok(rows.iter().map(share).collect::<Result<_, _>>()?)
    }
}

/// Inserts a record, for the tenant of its caller.
async fn add(
    transaction: &Transaction,
    record: Option<(TenantId, Statements)>,
) -> Result<(), StoreError> {
    let Some((tenant, statements)) = record else { return Ok(()) };
    let connection = transaction.connection()?;
    connection.script(&crate::server::set_tenant(&tenant)).await?;
    connection.pipeline(statements).await.map(drop)
}

impl ShareStore for PostgresKernelStore {
    fn add(&self, share: &Share, record: Option<&MutationRecord>) -> Result<bool, ToolError> {
        let Share { pack, item, owner, recipient, created } = share;
        let values = values![
            owner.to_string(),
            recipient.to_string(),
            pack.clone(),
            item.clone(),
            created.to_string()
        ];
        let sql = "INSERT INTO kernel.share (owner, recipient, pack, item, created) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
        self.change(owner, sql, values, record)
    }

    fn remove(&self, share: &Share, record: Option<&MutationRecord>) -> Result<bool, ToolError> {
        let Share { pack, item, owner, recipient, .. } = share;
        let values = values![owner.to_string(), recipient.to_string(), pack.clone(), item.clone()];
        let sql = "DELETE FROM kernel.share \
                   WHERE owner = $1 AND recipient = $2 AND pack = $3 AND item = $4";
        self.change(owner, sql, values, record)
    }

    fn granted_by(&self, owner: &TenantId) -> Result<Vec<Share>, ToolError> {
        let sql = "SELECT owner, recipient, pack, item, created FROM kernel.share \
                   WHERE owner = $1 ORDER BY pack, item, recipient";
        self.shares(owner, sql)
    }

    fn received_by(&self, recipient: &TenantId) -> Result<Vec<Share>, ToolError> {
        let sql = "SELECT owner, recipient, pack, item, created FROM kernel.share \
                   WHERE recipient = $1 ORDER BY pack, item, owner";
        self.shares(recipient, sql)
    }
}

fn share(row: &Row) -> Result<Share, StoreError> {
    Ok(Share {
        owner: tenant(row, 0)?,
        recipient: tenant(row, 1)?,
        pack: get(row, 2)?,
        item: get(row, 3)?,
        created: time(row, 4)?.ok_or_else(|| unreadable("a share without a time"))?,
    })
}

impl PreferenceStore for PostgresKernelStore {
    fn get(&self, tenant: &TenantId) -> Result<StoredPreferences, ToolError> {
        let of = tenant.clone();
        let rows = self.0.run(|server| async move {
            let sql = "SELECT version, members FROM kernel.preferences WHERE tenant = $1";
            let values = values![of.to_string()];
            server.read(&of, sql, values).await
        })?;
        let Some(row) = rows.first() else { return Ok(StoredPreferences::default()) };
        let (version, members) = (get::<i32>(row, 0)?, get::<String>(row, 1)?);
        let preferences = serde_json::from_str(&members).map_err(|error| {
            ToolError::system("the stored preferences cannot be read").cause(error)
        })?;
        Ok(StoredPreferences { preferences, version: u32::try_from(version).unwrap_or_default() })
    }

    fn set(
        &self,
        tenant: &TenantId,
        preferences: &Preferences,
        record: Option<&MutationRecord>,
    ) -> Result<u32, ToolError> {
        let members = serde_json::to_string(preferences)
            .map_err(|error| ToolError::system("preferences cannot be written").cause(error))?;
        let record = record.map(|record| mutations::insert(&Scope::Kernel, record)).transpose()?;
        let of = tenant.clone();
        let version = self.0.run(|server| async move {
            let transaction = server.begin(Some(&of)).await?;
            let sql = "INSERT INTO kernel.preferences (tenant, version, members) \
                       VALUES ($1, 1, $2) ON CONFLICT (tenant) DO UPDATE \
                       SET version = preferences.version + 1, members = excluded.members \
                       RETURNING version";
            let rows = transaction.query(sql, values![of.to_string(), members]).await?;
            let version = rows.first().map(|row| get::<i32>(row, 0)).transpose()?;
            add(&transaction, record).await?;
            transaction.commit().await?;
            version.ok_or_else(|| unreadable("a version"))
        })?;
        Ok(u32::try_from(version).unwrap_or_default())
    }
}

impl KernelStore for PostgresKernelStore {
    fn forget_shares(&self, tenant: &TenantId) -> Result<(), StoreError> {
        let of = tenant.clone();
        self.0.run(|server| async move {
            let transaction = server.begin(Some(&of)).await?;
            let sql = "DELETE FROM kernel.share WHERE owner = $1 OR recipient = $1";
            transaction.execute(sql, values![of.to_string()]).await?;
            transaction.commit().await
        })
    }

    fn forget_person(&self, person: &TenantId) -> Result<(), StoreError> {
        self.forget_shares(person)?;
        let of = person.clone();
        self.0.run(|server| async move {
            let transaction = server.begin(Some(&of)).await?;
            let statements = [
                "DELETE FROM kernel.preferences WHERE tenant = $1",
                "DELETE FROM kernel.mutation WHERE tenant = $1 AND audited",
                "UPDATE kernel.mutation SET key = NULL, reply_data = NULL, reply_text = NULL \
                 WHERE tenant = $1",
            ];
            for sql in statements {
                transaction.execute(sql, values![of.to_string()]).await?;
            }
            transaction.commit().await
        })
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        Arc::new(PostgresMutationLog::new(Arc::clone(&self.0), Scope::Kernel))
    }
}
