//! All rows of a tenant, to export and to erase them. Tables are found in the catalog of the
//! database, so that a table which a later version adds is not forgotten.

use std::sync::Arc;

use panoply_contract::tenant::TenantId;
use panoply_store::StoreError;

use crate::keys::get;
use crate::server::{Connection, Postgres};
use crate::transaction::Transaction;
use crate::values;

/// A large collection takes longer than a call.
const TIMEOUTS: &str = "SET LOCAL statement_timeout = '600s'; \
                        SET LOCAL idle_in_transaction_session_timeout = '600s'; SELECT 1";

/// Rows of a table that are a tenant's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableRows {
    /// Name of the pack, or `kernel`.
    pub schema: String,
    /// Name of the table.
    pub table: String,
    /// Each row as a JSON object.
    pub rows: Vec<String>,
}

/// Schema and name of the tables with a tenant.
async fn tables(connection: &Connection) -> Result<Vec<(String, String)>, StoreError> {
    let sql = "SELECT n.nspname::text, c.relname::text FROM pg_class c \
               JOIN pg_namespace n ON n.oid = c.relnamespace \
               JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant' \
               WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' ORDER BY 1, 2";
    let rows = connection.query(sql, values![]).await?;
    rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
}

/// Everything that is a tenant's, without the secrets of the server, and last its calls in the
/// audit log.
pub fn rows(server: &Arc<Postgres>, tenant: &TenantId) -> Result<Vec<TableRows>, StoreError> {
    let of = tenant.clone();
    server.run(|server| async move {
        let (transaction, _) = Transaction::snapshot(server, &of, TIMEOUTS).await?;
        let connection = transaction.connection()?;
        let mut found = Vec::new();
        for (schema, table) in tables(connection).await? {
            // The key that signs review tokens is the server's.
            if table == "collection" || table == "removed" {
                continue;
            }
            let sql = format!(
                "SELECT row_to_json(one)::text FROM \"{schema}\".\"{table}\" one WHERE tenant = $1"
            );
            found.push(read(connection, &sql, &of, schema, table).await?);
        }
        let sql = "SELECT row_to_json(one)::text FROM kernel.audit one \
                   WHERE split_part(split_part(partition, '/', 1), '@', 1) = $1 ORDER BY id";
        found.push(read(connection, sql, &of, "kernel".to_owned(), "audit".to_owned()).await?);
        transaction.rollback().await;
        Ok(found)
    })
}

async fn read(
    connection: &Connection,
    sql: &str,
    tenant: &TenantId,
    schema: String,
    table: String,
) -> Result<TableRows, StoreError> {
    let rows = connection.query(sql, values![tenant.to_string()]).await?;
    let rows = rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
    Ok(TableRows { schema, table, rows })
}

/// Deletes the data of packs. What the kernel has of a person is deleted by its own store, which
/// keeps an audit entry on its way to the log.
pub fn erase(server: &Arc<Postgres>, tenant: &TenantId) -> Result<(), StoreError> {
    let of = tenant.clone();
    server.run(|server| async move {
        let (transaction, _) = Transaction::begin(server, Some(&of), TIMEOUTS).await?;
        let connection = transaction.connection()?;
        for (schema, table) in tables(connection).await? {
            if schema != "kernel" {
                let sql = format!("DELETE FROM \"{schema}\".\"{table}\" WHERE tenant = $1");
                connection.execute(&sql, values![of.to_string()]).await?;
            }
        }
        transaction.commit().await
    })
}
