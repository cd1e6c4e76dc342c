//! The catalog of runs and the blobs of open runs in PostgreSQL; sealed runs are files of a folder,
//! which all servers share.
//!
//! A seal has a name, which the catalog keeps for a while ([`SEAL_LEASE`]). Meanwhile batches are
//! refused. A batch that comes later takes the name away, and then the seal cannot be finished: no
//! acknowledged batch is lost, however long a server slept.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::run::{RunRecord, Status};
use panoply_backtest::store::sqlite::SealedFiles;
use panoply_backtest::store::{BlobKey, BlobKind, Blobs, Store};
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::mutation::MutationLog;
use panoply_contract::tenant::TenantId;
use panoply_store::StoreError;
use tokio_postgres::Row;

use crate::errors::unreadable;
use crate::keys::get;
use crate::mutations::{PostgresMutationLog, Scope};
use crate::nul;
use crate::server::{Postgres, Statements, Value};
use crate::transaction::Transaction;
use crate::values;

/// How long a seal keeps batches out, as an interval of PostgreSQL.
const SEAL_LEASE: &str = "15 minutes";

/// Versions that could not be read.
static UNKNOWN: AtomicU64 = AtomicU64::new(0);

const COLUMNS: &str = "id, status, header, created_at, events, first, last, summary";

/// Runs of a tenant.
pub struct PostgresRuns {
    server: Arc<Postgres>,
    tenant: TenantId,
    files: SealedFiles,
    /// Names of the seals in progress in this process.
    seals: Mutex<HashMap<Guid, String>>,
}

impl PostgresRuns {
    /// The runs of a tenant, with sealed runs in this folder.
    pub fn new(server: Arc<Postgres>, tenant: TenantId, folder: PathBuf) -> Self {
        Self { server, tenant, files: SealedFiles::at(folder), seals: Mutex::default() }
    }

    /// The log with the records of calls.
    pub fn mutation_log(&self) -> Arc<dyn MutationLog> {
        let scope = Scope::Pack("backtest", self.tenant.clone());
        Arc::new(PostgresMutationLog::new(Arc::clone(&self.server), scope))
    }

    fn seals(&self) -> MutexGuard<'_, HashMap<Guid, String>> {
        self.seals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rows of a query whose first value is the tenant.
    fn query(&self, sql: String, more: Vec<Value>) -> Result<Vec<Row>, LogError> {
        read(&self.server, &self.tenant, sql, more)
    }

    /// Runs statements whose first value is the tenant in one transaction. Changes nothing unless
    /// the first one changes a row; whether it did.
    fn change(&self, statements: Vec<(&str, Vec<Value>)>) -> Result<bool, LogError> {
        let with_tenant = |(sql, more): (&str, Vec<Value>)| {
            let mut values = values![self.tenant.to_string()];
            values.extend(more);
            (sql.to_owned(), values)
        };
        let statements: Statements = statements.into_iter().map(with_tenant).collect();
        let tenant = self.tenant.clone();
        let changed = self.server.run(|server| async move {
            let transaction = server.begin(Some(&tenant)).await?;
            let counts = transaction.connection()?.pipeline(statements).await?;
            if counts.first() == Some(&0) {
                transaction.rollback().await;
                return Ok(false);
            }
            transaction.commit().await?;
            Ok(true)
        });
        changed.map_err(LogError::store)
    }
}

const NEXT_VERSION: &str = "INSERT INTO backtest.collection (tenant, version) VALUES ($1, 1) \
     ON CONFLICT (tenant) DO UPDATE SET version = collection.version + 1";
const DELETE_BLOBS: &str = "DELETE FROM backtest.blob WHERE tenant = $1 AND run = $2";

impl Store for PostgresRuns {
    fn runs(&self) -> Result<Vec<RunRecord>, LogError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM backtest.run WHERE tenant = $1 ORDER BY created_at DESC, id"
        );
        self.query(sql, values![])?.iter().map(record).collect()
    }

    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError> {
        let sql = format!("SELECT {COLUMNS} FROM backtest.run WHERE tenant = $1 AND id = $2");
        self.query(sql, values![id.to_string()])?.first().map(record).transpose()
    }

    fn save(&self, record: &RunRecord) -> Result<(), LogError> {
        // A sealed run is not opened again by a server that has not seen the seal.
        let sql = "INSERT INTO backtest.run \
             (tenant, id, status, header, created_at, events, first, last, summary) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (tenant, id) DO UPDATE \
             SET status = excluded.status, header = excluded.header, \
                 created_at = excluded.created_at, events = excluded.events, \
                 first = excluded.first, last = excluded.last, summary = excluded.summary \
             WHERE run.status = 'running' OR excluded.status <> 'running'";
        match self.change(vec![(sql, values_of(record)?)])? {
            true => Ok(()),
            false => Err(LogError::ConcurrentWriter),
        }
    }

    fn delete(&self, id: Guid) -> Result<(), LogError> {
        let run = "DELETE FROM backtest.run WHERE tenant = $1 AND id = $2";
        self.change(vec![
            (NEXT_VERSION, values![]),
            (run, values![id.to_string()]),
            (DELETE_BLOBS, values![id.to_string()]),
        ])?;
        self.files.remove(id)
    }

    fn open_run(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let (server, tenant) = (Arc::clone(&self.server), self.tenant.clone());
        Ok(Arc::new(OpenBlobs { server, tenant, run: id.to_string() }))
    }

    /// A commit is durable.
    fn make_durable(&self, _: Guid) -> Result<(), LogError> {
        Ok(())
    }

    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random)
            .map_err(|error| LogError::store(StoreError::NoRandomness(error)))?;
        let name = format!("{:016x}", u64::from_ne_bytes(random));
        let sql = format!(
            "UPDATE backtest.run SET sealing = $3, sealing_until = now() + '{SEAL_LEASE}' \
             WHERE tenant = $1 AND id = $2 AND status = 'running' \
               AND (sealing_until IS NULL OR sealing_until < now())"
        );
        if !self.change(vec![(sql.as_str(), values![id.to_string(), name.clone()])])? {
            return Err(LogError::ConcurrentWriter);
        }
        let created = self.files.create(id, &name);
        self.seals().insert(id, name);
        created
    }

    fn abandon_seal(&self, id: Guid) -> Result<(), LogError> {
        // Only the process that started the seal may end it.
        let Some(name) = self.seals().remove(&id) else { return Ok(()) };
        let sql = "UPDATE backtest.run SET sealing = NULL, sealing_until = NULL \
                   WHERE tenant = $1 AND id = $2 AND sealing = $3";
        self.change(vec![(sql, values![id.to_string(), name.clone()])])?;
        self.files.discard(id, &name)
    }

    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError> {
        let Some(name) = self.seals().remove(&record.id) else {
            return Err(LogError::ConcurrentWriter);
        };
        // The name is still that of this seal, so that no batch was stored since it began.
        let sql = "UPDATE backtest.run SET status = $3, header = $4, created_at = $5, events = $6, \
                       first = $7, last = $8, summary = $9, sealing = NULL, sealing_until = NULL \
                   WHERE tenant = $1 AND id = $2 AND sealing = $10";
        let mut values = values_of(record)?;
        values.push(Box::new(name.clone()));
        let tenant = self.tenant.to_string();
        let more = vec![
            (DELETE_BLOBS.to_owned(), values![tenant.clone(), record.id.to_string()]),
            (NEXT_VERSION.to_owned(), values![tenant.clone()]),
        ];
        let of = self.tenant.clone();
        // The file is there before the catalog says so; the row is locked meanwhile.
        let transaction = self.server.run(|server| async move {
            let transaction = server.begin(Some(&of)).await?;
            let mut all = values![tenant];
            all.extend(values);
            if transaction.execute(sql, all).await? == 0 {
                transaction.rollback().await;
                return Ok(None);
            }
            Ok(Some(transaction))
        });
        let Some(transaction) = transaction.map_err(LogError::store)? else {
            self.files.discard(record.id, &name)?;
            return Err(LogError::ConcurrentWriter);
        };
        self.publish(transaction, record.id, &name, more)
    }

    fn sealed(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        if let Some(blobs) = self.files.open(id) {
            return Ok(blobs);
        }
        match self.run(id)? {
            Some(run) if run.status == Status::Completed => Err(LogError::store(format!(
                "the file of the sealed run `{id}` is not on this server: its folder must be shared"
            ))),
            Some(_) | None => Err(LogError::UnknownRun(id)),
        }
    }

    fn version(&self) -> u64 {
        let sql = "SELECT version FROM backtest.collection WHERE tenant = $1".to_owned();
        let read = || -> Result<i64, LogError> {
            let rows = self.query(sql, values![])?;
            let version = rows.first().map(|row| get(row, 0)).transpose();
            Ok(version.map_err(LogError::store)?.unwrap_or(0))
        };
        match read() {
            Ok(version) => version.cast_unsigned(),
            // An unknown version is never that of a reply that was kept.
            Err(_) => (1 << 63) + UNKNOWN.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl PostgresRuns {
    fn publish(
        &self,
        transaction: Transaction,
        id: Guid,
        name: &str,
        more: Statements,
    ) -> Result<(), LogError> {
        if let Err(error) = self.files.publish(id, name) {
            let ended = self.server.run(|_| async move {
                transaction.rollback().await;
                Ok(())
            });
            return ended.map_err(LogError::store).and(Err(error));
        }
        let committed = self.server.run(|_| async move {
            transaction.connection()?.pipeline(more).await?;
            transaction.commit().await
        });
        committed.map_err(LogError::store)
    }
}

fn values_of(record: &RunRecord) -> Result<Vec<Value>, LogError> {
    let header = serde_json::to_string(&record.header).map_err(LogError::store)?;
    let summary = record.summary.as_ref().map(serde_json::to_string).transpose();
    let (first, last) = record.span.unzip();
    Ok(values![
        record.id.to_string(),
        record.status.as_str(),
        nul::escape(header),
        record.created_at.nanos(),
        record.events.cast_signed(),
        first.map(Timestamp::nanos),
        last.map(Timestamp::nanos),
        summary.map_err(LogError::store)?.map(nul::escape),
    ])
}

fn record(row: &Row) -> Result<RunRecord, LogError> {
    read_record(row).map_err(LogError::store)
}

fn read_record(row: &Row) -> Result<RunRecord, StoreError> {
    let (id, status, header): (String, String, String) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
    let time = |column| -> Result<Option<Timestamp>, StoreError> {
        Ok(get::<Option<i64>>(row, column)?.map(Timestamp::from_nanos))
    };
    let summary: Option<String> = get(row, 7)?;
    Ok(RunRecord {
        id: Guid::parse(&id).ok_or_else(|| unreadable("a run without a GUID"))?,
        status: Status::parse(&status).ok_or_else(|| unreadable("a run without a status"))?,
        header: serde_json::from_str(&nul::restore(header)).map_err(unreadable)?,
        created_at: Timestamp::from_nanos(get(row, 3)?),
        events: get::<i64>(row, 4)?.cast_unsigned(),
        span: Option::zip(time(5)?, time(6)?),
        summary: match summary {
            Some(json) => serde_json::from_str(&nul::restore(json)).map_err(unreadable)?,
            None => None,
        },
    })
}

/// Rows of a query whose first value is the tenant, in one round trip.
fn read(
    server: &Arc<Postgres>,
    tenant: &TenantId,
    sql: String,
    more: Vec<Value>,
) -> Result<Vec<Row>, LogError> {
    let mut values = values![tenant.to_string()];
    values.extend(more);
    let tenant = tenant.clone();
    let rows = server.run(|server| async move { server.read(&tenant, &sql, values).await });
    rows.map_err(LogError::store)
}

/// Blobs of an open run.
struct OpenBlobs {
    server: Arc<Postgres>,
    tenant: TenantId,
    run: String,
}

impl Blobs for OpenBlobs {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        let sql = "SELECT value FROM backtest.blob WHERE tenant = $1 AND run = $2 AND key = $3";
        let values = values![self.run.clone(), key.to_i64()];
        let rows = read(&self.server, &self.tenant, sql.to_owned(), values)?;
        rows.first().map(|row| get(row, 0)).transpose().map_err(LogError::store)
    }

    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        let (heads, others): (Vec<_>, Vec<_>) =
            blobs.into_iter().partition(|(key, _)| key.kind == BlobKind::Head);
        let expected = u64::try_from(others.len()).unwrap_or(u64::MAX);
        let insert = |blobs: Vec<(BlobKey, Vec<u8>)>, conflict: &str| {
            let (keys, contents): (Vec<i64>, Vec<Vec<u8>>) =
                blobs.into_iter().map(|(key, value)| (key.to_i64(), value)).unzip();
            let sql = format!(
                "INSERT INTO backtest.blob (tenant, run, key, value) \
                 SELECT $1, $2, * FROM unnest($3::bigint[], $4::bytea[]) \
                 ON CONFLICT (tenant, run, key) DO {conflict}"
            );
            (sql, values![self.tenant.to_string(), self.run.clone(), keys, contents])
        };
        // Only heads may be replaced. A batch that already exists belongs to another writer.
        let statements =
            vec![insert(others, "NOTHING"), insert(heads, "UPDATE SET value = excluded.value")];
        // Keeps a seal out until the batch is stored, and stops one whose time is over.
        let open = format!(
            "UPDATE backtest.run SET sealing = NULL, sealing_until = NULL \
             WHERE tenant = '{}' AND id = '{}' AND status = 'running' \
               AND (sealing_until IS NULL OR sealing_until < now()) RETURNING 1",
            self.tenant, self.run
        );
        let tenant = self.tenant.clone();
        let stored = self.server.run(|server| async move {
            let (transaction, rows) = Transaction::begin(server, Some(&tenant), &open).await?;
            let is_open = rows.last().and_then(|row| row.get(0)) == Some("1");
            let counts = match is_open {
                true => transaction.connection()?.pipeline(statements).await?,
                false => Vec::new(),
            };
            if counts.first() != Some(&expected) {
                transaction.rollback().await;
                return Ok(false);
            }
            transaction.commit().await?;
            Ok(true)
        });
        match stored.map_err(LogError::store)? {
            true => Ok(()),
            false => Err(LogError::ConcurrentWriter),
        }
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        let sql = "SELECT key FROM backtest.blob WHERE tenant = $1 AND run = $2 ORDER BY key";
        let rows = read(&self.server, &self.tenant, sql.to_owned(), values![self.run.clone()])?;
        let unknown = || LogError::Damaged("a blob has a key of no known kind");
        let key = |row: &Row| {
            let stored = get(row, 0).map_err(LogError::store)?;
            BlobKey::of_i64(stored).ok_or_else(unknown)
        };
        rows.iter().map(key).collect()
    }
}
