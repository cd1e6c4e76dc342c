//! Transactions that write, and the only place that commits one.
//!
//! tokio-postgres reports a `COMMIT` as success even when the server answers it with `ROLLBACK`,
//! because an earlier statement failed. Therefore the server is asked for the state of the
//! transaction in the message of the `COMMIT`. When the connection is lost during a commit, the
//! same question is asked on another connection until the answer is certain.

use std::sync::Arc;
use std::time::Duration;

use panoply_contract::clock::Clock as _;
use panoply_contract::tenant::TenantId;
use panoply_store::{StoreError, SystemClock};
use tokio_postgres::{Row, SimpleQueryRow};

use crate::errors;
use crate::server::{Connection, Postgres, Value, rows, set_tenant};

/// How long the outcome of a commit is asked for after the connection was lost.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(8);
const RESOLVE_INTERVAL: Duration = Duration::from_millis(100);

/// An open transaction. Dropped without [`commit`](Self::commit) or [`rollback`](Self::rollback),
/// its connection is closed.
pub struct Transaction {
    postgres: Arc<Postgres>,
    connection: Option<Connection>,
    /// Id of the transaction, in decimal.
    id: String,
}

impl Transaction {
    /// Begins, sets the tenant and runs `first`, in one round trip; returns the rows of `first`.
    pub async fn begin(
        postgres: Arc<Postgres>,
        tenant: Option<&TenantId>,
        first: &str,
    ) -> Result<(Self, Vec<SimpleQueryRow>), StoreError> {
        Self::begin_as("BEGIN", postgres, tenant, first).await
    }

    /// As [`begin`](Self::begin), with one snapshot for all statements.
    pub async fn snapshot(
        postgres: Arc<Postgres>,
        tenant: &TenantId,
        first: &str,
    ) -> Result<(Self, Vec<SimpleQueryRow>), StoreError> {
        Self::begin_as("BEGIN ISOLATION LEVEL REPEATABLE READ", postgres, Some(tenant), first).await
    }

    async fn begin_as(
        how: &str,
        postgres: Arc<Postgres>,
        tenant: Option<&TenantId>,
        first: &str,
    ) -> Result<(Self, Vec<SimpleQueryRow>), StoreError> {
        let connection = postgres.connection().await?;
        let tenant = tenant.map(set_tenant).unwrap_or_else(|| "SELECT 1".to_owned());
        let sql = format!("{how}; SELECT pg_current_xact_id()::text; {tenant}; {first}");
        let mut begun = Self { postgres, connection: Some(connection), id: String::new() };
        let mut rows = begun.connection()?.script(&sql).await?.into_iter();
        let id = rows.next().and_then(|row| row.get(0).map(str::to_owned));
        begun.id = id.ok_or_else(|| errors::unreadable("the id of a transaction"))?;
        Ok((begun, rows.skip(1).collect()))
    }

    /// The connection, for statements of this transaction.
    pub fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or_else(|| errors::unreadable("the transaction ended"))
    }

    /// Rows of a query.
    pub async fn query(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        self.connection()?.query(sql, values).await
    }

    /// Runs a statement; returns the number of rows.
    pub async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        self.connection()?.execute(sql, values).await
    }

    /// Undoes everything.
    pub async fn rollback(mut self) {
        if let Some(connection) = self.connection.take()
            && connection.script("ROLLBACK").await.is_err()
        {
            close(connection);
        }
    }

    /// Commits. Returns `Ok` only if the server says that the transaction is committed.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        let Some(connection) = self.connection.take() else {
            return Err(errors::unreadable("the transaction ended"));
        };
        let sql = format!("COMMIT; {}", status(&self.id));
        connection.count();
        match connection.client.simple_query(&sql).await {
            Ok(messages) => match outcome(&rows(messages)) {
                Outcome::Committed => Ok(()),
                Outcome::Aborted => Err(aborted("an earlier statement failed")),
                Outcome::Running | Outcome::Unknown => {
                    Err(StoreError::OutcomeUnknown { source: "the server does not know".into() })
                }
            },
            Err(error) if error.code().is_some_and(|code| !errors::is_lost(code)) => {
                connection.script("ROLLBACK").await.ok();
                Err(errors::statement(error))
            }
            Err(error) => {
                close(connection);
                self.resolve(error).await
            }
        }
    }

    /// Asks what became of the transaction, on new connections.
    async fn resolve(&self, lost: tokio_postgres::Error) -> Result<(), StoreError> {
        let clock = SystemClock::new();
        loop {
            match self.ask().await {
                Ok(Outcome::Committed) => return Ok(()),
                Ok(Outcome::Aborted) => {
                    return Err(aborted("the connection was lost, and the change was not made"));
                }
                Ok(Outcome::Unknown) => break,
                // While the old backend still runs, or the server is not back.
                Ok(Outcome::Running) | Err(_) if clock.monotonic() < RESOLVE_TIMEOUT => {
                    tokio::time::sleep(RESOLVE_INTERVAL).await;
                }
                Ok(Outcome::Running) | Err(_) => break,
            }
        }
        tracing::error!(transaction = self.id, "the outcome of a commit is unknown");
        Err(StoreError::OutcomeUnknown { source: lost.into() })
    }

    async fn ask(&self) -> Result<Outcome, StoreError> {
        let connection = self.postgres.unchecked().await?;
        match connection.script(&status(&self.id)).await {
            Ok(rows) => Ok(outcome(&rows)),
            // "transaction ID is in the future": this server never had it.
            Err(StoreError::Server { .. }) => Ok(Outcome::Unknown),
            Err(error) => {
                close(connection);
                Err(error)
            }
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.connection.take().into_iter().for_each(close);
    }
}

/// Closes a connection in place of returning it to the pool; the server rolls back.
fn close(connection: Connection) {
    drop(deadpool_postgres::Object::take(connection.client));
}

fn status(id: &str) -> String {
    format!("SELECT pg_xact_status('{id}'::xid8)")
}

enum Outcome {
    Committed,
    Aborted,
    Running,
    Unknown,
}

fn outcome(rows: &[SimpleQueryRow]) -> Outcome {
    match rows.last().and_then(|row| row.get(0)) {
        Some("committed") => Outcome::Committed,
        Some("aborted") => Outcome::Aborted,
        Some("in progress") => Outcome::Running,
        // NULL: so old that the server forgot it.
        _ => Outcome::Unknown,
    }
}

fn aborted(why: &'static str) -> StoreError {
    errors::busy("rolled a transaction back", Duration::from_secs(1), why)
}
