//! The mutation log: one table for the kernel and all packs, in the database of their data.

use std::sync::Arc;

use jiff::Timestamp;
use panoply_contract::error::ToolError;
use panoply_contract::ids::CallId;
use panoply_contract::json::Json;
use panoply_contract::mutation::{
    IdempotencyKey, KEY_LIFETIME, MutationLog, MutationRecord, StoredReply,
};
use panoply_contract::tenant::TenantId;
use panoply_store::StoreError;
use tokio_postgres::Row;

use crate::errors::unreadable;
use crate::keys::get;
use crate::nul;
use crate::server::{Postgres, Statements};
use crate::values;

/// Which records a log has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Scope {
    /// Those of packs without data, of all tenants.
    Kernel,
    /// Those of a pack for one tenant.
    Pack(&'static str, TenantId),
}

impl Scope {
    const fn pack(&self) -> &'static str {
        match self {
            Self::Kernel => "",
            Self::Pack(pack, _) => pack,
        }
    }

    /// The tenant whose row it is; of the kernel's log, the person in the partition.
    fn tenant(&self, partition: &str) -> TenantId {
        match self {
            Self::Kernel => person_of(partition),
            Self::Pack(_, tenant) => tenant.clone(),
        }
    }
}

/// The person of a partition, see `Tenants::partition`.
fn person_of(partition: &str) -> TenantId {
    let person = partition.split(['/', '@']).next().unwrap_or_default();
    TenantId::parse(person).unwrap_or_else(TenantId::local)
}

/// The mutation log of the kernel or of a pack.
pub struct PostgresMutationLog {
    server: Arc<Postgres>,
    scope: Scope,
}

impl PostgresMutationLog {
    /// The log with these records.
    pub const fn new(server: Arc<Postgres>, scope: Scope) -> Self {
        Self { server, scope }
    }
}

const COLUMNS: &str = "partition, tool, key, entry, reply_data, reply_text";

/// Statements that insert a record in the transaction of the change, with their values; the
/// transaction must have the tenant set. The insert fails when the key exists.
pub(crate) fn insert(
    scope: &Scope,
    record: &MutationRecord,
) -> Result<(TenantId, Statements), StoreError> {
    let MutationRecord { key, entry, reply } = record;
    let tenant = scope.tenant(&entry.partition);
    let json = serde_json::to_string(entry).map_err(unreadable)?;
    let call_id = entry.call_id.ok_or_else(|| unreadable("a mutation without a call id"))?;
    let expired = (entry.at - KEY_LIFETIME).as_microsecond();
    let statements = vec![
        (
            "DELETE FROM kernel.mutation WHERE tenant = $1 AND audited AND at <= $2".to_owned(),
            values![tenant.to_string(), expired],
        ),
        (
            "INSERT INTO kernel.mutation (tenant, pack, call_id, at, partition, tool, key, entry, \
             reply_data, reply_text) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
                .to_owned(),
            values![
                tenant.to_string(),
                scope.pack(),
                call_id.as_bytes().to_vec(),
                entry.at.as_microsecond(),
                entry.partition.clone(),
                entry.tool.to_string(),
                key.as_ref().map(|key| key.key.clone()),
                json,
                reply.as_ref().map(|reply| reply.data.text().to_owned()),
                reply.as_ref().map(|reply| nul::escape(reply.text.clone())),
            ],
        ),
    ];
    Ok((tenant, statements))
}

impl MutationLog for PostgresMutationLog {
    fn find(
        &self,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<MutationRecord>, ToolError> {
        let tenant = self.scope.tenant(&key.partition);
        let sql = format!(
            "SELECT {COLUMNS} FROM kernel.mutation WHERE tenant = $1 AND pack = $2 \
             AND partition = $3 AND tool = $4 AND key = $5 AND at > $6"
        );
        let values = values![
            tenant.to_string(),
            self.scope.pack(),
            key.partition.clone(),
            key.tool.clone(),
            key.key.clone(),
            (now - KEY_LIFETIME).as_microsecond(),
        ];
        let rows =
            self.server.run(|server| async move { server.read(&tenant, &sql, values).await })?;
        Ok(rows.first().map(record).transpose()?)
    }

    fn find_call(&self, call_id: CallId) -> Result<Option<MutationRecord>, ToolError> {
        let sql = format!("SELECT {COLUMNS} FROM kernel.unaudited_call($1)");
        let values = values![call_id.as_bytes().to_vec()];
        let rows = self
            .server
            .run(|server| async move { server.connection().await?.query(&sql, values).await })?;
        Ok(rows.first().map(record).transpose()?)
    }

    fn commit(&self, record: &MutationRecord) -> Result<(), ToolError> {
        let (tenant, statements) = insert(&self.scope, record)?;
        self.server.run(|server| async move {
            let transaction = server.begin(Some(&tenant)).await?;
            transaction.connection()?.pipeline(statements).await?;
            transaction.commit().await
        })?;
        Ok(())
    }

    fn unaudited(&self) -> Result<Vec<MutationRecord>, ToolError> {
        // The kernel's log also recovers the records of the packs: a replica cannot open every
        // tenant at its start.
        let (pack, tenant) = match &self.scope {
            Scope::Kernel => (None, None),
            Scope::Pack(pack, tenant) => (Some((*pack).to_owned()), Some(tenant.to_string())),
        };
        let sql = format!("SELECT {COLUMNS} FROM kernel.unaudited($1, $2)");
        let values = values![pack, tenant];
        let rows = self
            .server
            .run(|server| async move { server.connection().await?.query(&sql, values).await })?;
        Ok(rows.iter().map(record).collect::<Result<_, _>>()?)
    }

    /// Nothing to do: the audit log marks the record in the transaction of the row.
    fn audited(&self, _: CallId) {}
}

fn record(row: &Row) -> Result<MutationRecord, StoreError> {
    let (partition, tool) = (get(row, 0)?, get(row, 1)?);
    let key: Option<String> = get(row, 2)?;
    let entry: String = get(row, 3)?;
    let data: Option<String> = get(row, 4)?;
    let data = data.map(|text| Json::parse(text).map_err(unreadable)).transpose()?;
    let text: Option<String> = get(row, 5)?;
    Ok(MutationRecord {
        key: key.map(|key| IdempotencyKey { partition, tool, key }),
        entry: serde_json::from_str(&entry).map_err(unreadable)?,
        reply: data.map(|data| StoredReply { data, text: nul::restore(text.unwrap_or_default()) }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn person_of_a_partition_is_before_the_credential() {
        let person = format!("person-{}", "0".repeat(32));
        let cases = [
            ("local".to_owned(), "local".to_owned()),
            ("key:abc".to_owned(), "local".to_owned()),
            (format!("{person}/key:abc"), person.clone()),
            (format!("{person}@team-{}/key:abc", "1".repeat(32)), person),
        ];
        for (partition, expected) in cases {
            assert_eq!(person_of(&partition).as_str(), expected, "{partition}");
        }
    }
}
