//! The audit log: one chain of rows for each process that writes, and checkpoints over all of them.
//!
//! With one chain for all replicas, a replica that is frozen inside its transaction would hold the
//! end of the chain and stop every mutation everywhere. So each writer has its own, which begins
//! with a hash of its id: a row cannot be moved to another chain. A checkpoint lists the ends of
//! all chains and is linked to the one before; it is the one line that an operator notes.
//!
//! Callers and batches are those of the log in SQLite ([`Queue`]). The row of a mutation and the
//! mark on its record in the mutation log are one transaction; a row that a recovery appended first
//! is not appended again.

use std::collections::HashSet;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::audit::{
    AuditEntry, AuditFilter, AuditLog, AuditRow, AuditView, LOCAL_PARTITIONS, Status,
};
use panoply_contract::clock::Clock as _;
use panoply_contract::error::ToolError;
use panoply_contract::mutation::MutationLog as _;
use panoply_store::audit_log::{
    Batch, ChainHash, Head, MAX_BUFFERED_ROWS, PendingRow, Queue, StoredRow, WriteResult,
};
use panoply_store::{StoreError, SystemClock};
use sha2::{Digest as _, Sha256};
use tokio_postgres::Row;

use crate::audit_verify;
use crate::errors::unreadable;
use crate::keys::get;
use crate::mutations::{PostgresMutationLog, Scope};
use crate::server::{Postgres, Value};
use crate::transaction::Transaction;
use crate::values;

/// Interval of the checkpoints and of the recovery.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);
/// Interval at which the server is asked whether it answers.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// A record of a mutation that is still not in the log after this time was left by a process that
/// ended.
const RECOVERY_AGE: Duration = Duration::from_secs(60);

/// The audit log in a database. Dropping it flushes the queue.
pub struct PostgresAuditLog {
    server: Arc<Postgres>,
    queue: Arc<Queue>,
    writer: Mutex<Option<JoinHandle<()>>>,
    maintenance: Mutex<Option<(mpsc::Sender<()>, JoinHandle<()>)>>,
    /// Why the server does not answer.
    down: Arc<Mutex<Option<StoreError>>>,
}

impl PostgresAuditLog {
    /// Starts the writer. `replica` names this process in the list of chains.
    pub fn start(server: Arc<Postgres>, replica: &str) -> Result<Self, StoreError> {
        let queue = Arc::new(Queue::new());
        let writer = Writer {
            server: Arc::clone(&server),
            replica: replica.to_owned(),
            chain: None,
            abandoned: Vec::new(),
            buffered: Vec::new(),
            healthy: false,
            end: EndGuard(Arc::clone(&queue)),
        };
        let no_thread = |error| StoreError::NotSetUp(format!("no thread can be started: {error}"));
        let writer = thread::Builder::new()
            .name("audit-log".to_owned())
            .spawn(move || writer.run())
            .map_err(no_thread)?;
        let (stop, stopped) = mpsc::channel();
        let down = Arc::default();
        let maintenance = Maintenance {
            server: Arc::clone(&server),
            queue: Arc::clone(&queue),
            down: Arc::clone(&down),
        };
        let maintenance = thread::Builder::new()
            .name("audit-keeper".to_owned())
            .spawn(move || maintenance.run(&stopped))
            .map_err(no_thread)?;
        Ok(Self {
            server,
            queue,
            writer: Mutex::new(Some(writer)),
            maintenance: Mutex::new(Some((stop, maintenance))),
            down,
        })
    }

    fn end(&self) {
        self.queue.close();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let maintenance = self.maintenance.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut panicked = writer.is_some_and(|writer| writer.join().is_err());
        if let Some((stop, maintenance)) = maintenance {
            drop(stop);
            panicked |= maintenance.join().is_err();
        }
        if panicked {
            tracing::error!("the writer of the audit log panicked");
        }
    }
}

impl Drop for PostgresAuditLog {
    fn drop(&mut self) {
        self.end();
    }
}

impl AuditLog for PostgresAuditLog {
    fn close(&self) {
        self.end();
    }

    fn ready(&self) -> Result<(), ToolError> {
        self.queue.health().map_err(|error| error.tool_error())?;
        match &*self.down.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.tool_error()),
            None => Ok(()),
        }
    }

    fn append(&self, entry: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>> {
        let queue = Arc::clone(&self.queue);
        if entry.mutation {
            return Box::pin(async move {
                queue.push_and_wait(entry).await.map_err(|error| error.tool_error())
            });
        }
        match queue.try_push(entry) {
            None => Box::pin(std::future::ready(Ok(()))),
            Some(entry) => Box::pin(async move {
                queue.push(entry).await;
                Ok(())
            }),
        }
    }

    fn read(&self, filter: AuditFilter) -> BoxFuture<'static, Result<Vec<AuditRow>, ToolError>> {
        let (queue, server) = (Arc::clone(&self.queue), Arc::clone(&self.server));
        Box::pin(async move {
            // Callers can read the calls they have just made.
            queue.flush().await;
            let read = move || {
                let (sql, values) = query(&filter);
                server.run(
                    |server| async move { server.connection().await?.query(&sql, values).await },
                )
            };
            match tokio::task::spawn_blocking(read).await {
                Ok(rows) => Ok(rows?.iter().map(entry).collect::<Result<_, _>>()?),
                Err(error) => Err(ToolError::system("reading the audit log failed").cause(error)),
            }
        })
    }
}

/// The columns of a row, without its hashes.
pub(crate) const COLUMNS: &str = "at, tool, tool_version, partition, agent_id, trace_id, in_hash, \
     out_hash, latency_ms, seed, status, error_code, mutation, address, credential, count, format";

/// Reads [`COLUMNS`] after a number.
pub(crate) fn stored(row: &Row) -> Result<StoredRow, StoreError> {
    Ok(StoredRow {
        sequence: get(row, 0)?,
        at: get(row, 1)?,
        tool: get(row, 2)?,
        tool_version: get(row, 3)?,
        partition: get(row, 4)?,
        agent_id: get(row, 5)?,
        trace_id: get(row, 6)?,
        in_hash: get(row, 7)?,
        out_hash: get(row, 8)?,
        latency_ms: get(row, 9)?,
        seed: get(row, 10)?,
        status: get(row, 11)?,
        error_code: get(row, 12)?,
        mutation: get(row, 13)?,
        address: get(row, 14)?,
        credential: get(row, 15)?,
        count: get(row, 16)?,
        format: get(row, 17)?,
    })
}

fn entry(row: &Row) -> Result<AuditRow, StoreError> {
    stored(row)?.into_row(Path::new("kernel.audit"))
}

/// Conditions are constant SQL; caller input is only bound.
fn query(filter: &AuditFilter) -> (String, Vec<Value>) {
    let mut conditions = vec!["true".to_owned()];
    let mut values = Vec::new();
    let mut bind = |value: Value| {
        values.push(value);
        format!("${}", values.len())
    };
    match &filter.view {
        AuditView::All => {}
        AuditView::Person(person) if person.is_local() => {
            let starts = LOCAL_PARTITIONS
                .map(|start| format!("starts_with(partition, {})", bind(Box::new(start))));
            conditions.push(format!("({})", starts.join(" OR ")));
        }
        AuditView::Person(person) => {
            let place = bind(Box::new(person.to_string()));
            conditions.push(format!("starts_with(partition, {place})"));
        }
        AuditView::Partition(partition) => {
            conditions.push(format!("partition = {}", bind(Box::new(partition.clone()))));
        }
    }
    if let Some(tool) = &filter.tool {
        conditions.push(format!("tool = {}", bind(Box::new(tool.clone()))));
    }
    if let Some(trace) = &filter.trace_id {
        conditions.push(format!("trace_id = {}", bind(Box::new(trace.clone()))));
    }
    if filter.errors_only {
        conditions.push(format!("status = {}", bind(Box::new(Status::Error.as_str()))));
    }
    if let Some(before) = filter.before {
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        conditions.push(format!("id < {}", bind(Box::new(before))));
    }
    let limit = bind(Box::new(i64::try_from(filter.limit).unwrap_or(i64::MAX)));
    let conditions = conditions.join(" AND ");
    let sql = format!(
        "SELECT id, {COLUMNS} FROM kernel.audit WHERE {conditions} ORDER BY id DESC LIMIT {limit}"
    );
    (sql, values)
}

/// The hash that the first row of a chain follows.
pub(crate) fn genesis(chain: &str) -> ChainHash {
    ChainHash(Sha256::digest(format!("panoply-audit-chain-1\n{chain}")).into())
}

/// Drop guard: reports the end of the writer to callers, also after a panic.
struct EndGuard(Arc<Queue>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.end(StoreError::WriterGone { file: "kernel.audit".into() });
    }
}

/// The end of a chain.
#[derive(Clone, Debug)]
struct Chain {
    id: String,
    head: Head,
}

struct Writer {
    server: Arc<Postgres>,
    replica: String,
    /// The chain of this writer; made with its first row.
    chain: Option<Chain>,
    /// Chains of this writer whose last write failed, to be closed.
    abandoned: Vec<String>,
    /// Rows of failed writes, oldest first.
    buffered: Vec<AuditEntry>,
    healthy: bool,
    end: EndGuard,
}

impl Writer {
    fn run(mut self) {
        // Whether the database can be reached is known before the first mutation.
        self.process(Batch::default());
        loop {
            let batch = self.end.0.next(!self.buffered.is_empty() || !self.healthy);
            let last = batch.last;
            self.process(batch);
            if last {
                break;
            }
        }
        if !self.buffered.is_empty() {
            let rows = self.buffered.len();
            tracing::error!(rows, "rows of the audit log could not be written and are lost");
        }
        self.abandoned.extend(self.chain.take().map(|chain| chain.id));
        if self.close_chains().is_err() {
            tracing::debug!("the chain of the audit log stays open; the next checkpoint closes it");
        }
    }

    fn process(&mut self, batch: Batch) {
        let taken = batch.rows.len();
        let mut waiting = Vec::new();
        let mut entries = std::mem::take(&mut self.buffered);
        for PendingRow { entry, done } in batch.rows {
            waiting.extend(done);
            entries.push(entry);
        }
        let outcome = self.write(&entries).map_err(Arc::new);
        if let Err(error) = &outcome {
            if self.healthy || taken > 0 {
                tracing::error!(cause = error.chain(), "the audit log cannot be written");
            }
            let lost = entries.len().saturating_sub(MAX_BUFFERED_ROWS);
            entries.truncate(MAX_BUFFERED_ROWS);
            self.buffered = entries;
            self.end.0.count_lost(lost as u64);
        }
        self.healthy = outcome.is_ok();
        // Publish the state before notifying: a notified caller must see the failure in `ready`.
        self.report(outcome, taken, waiting);
        for flush in batch.flushes {
            let _ = flush.send(());
        }
    }

    fn report(
        &self,
        outcome: WriteResult,
        taken: usize,
        waiting: Vec<tokio::sync::oneshot::Sender<WriteResult>>,
    ) {
        self.end.0.report_outcome(outcome.clone(), taken);
        for done in waiting {
            let _ = done.send(outcome.clone());
        }
    }

    fn write(&mut self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return match self.healthy {
                true => Ok(()),
                false => self
                    .server
                    .run(
                        |server| async move { server.connection().await?.script("SELECT 1").await },
                    )
                    .map(drop),
            };
        }
        let old = match &self.chain {
            Some(chain) => chain.clone(),
            None => self.new_chain()?,
        };
        let is_new = self.chain.is_none();
        let (replica, entries, start) = (self.replica.clone(), entries.to_vec(), old.clone());
        let written = self
            .server
            .run(|server| async move { append(server, start, is_new, &replica, entries).await });
        match written {
            Ok(end) => {
                // A chain that was not begun stays that way.
                self.chain = end.or_else(|| self.chain.take());
                // A failure is harmless: the next checkpoint closes them.
                if !self.abandoned.is_empty() && self.close_chains().is_ok() {
                    self.abandoned.clear();
                }
                Ok(())
            }
            Err(error) => {
                // Whether the rows are there is not certain, so the chain is not continued.
                self.chain = None;
                self.abandoned.push(old.id);
                Err(error)
            }
        }
    }

    fn new_chain(&self) -> Result<Chain, StoreError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(StoreError::NoRandomness)?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let head = Head { sequence: 0, hash: genesis(&id) };
        Ok(Chain { id, head })
    }

    fn close_chains(&self) -> Result<(), StoreError> {
        let values = values![self.abandoned.clone()];
        self.server.run(|server| async move {
            let transaction = server.begin(None).await?;
            let sql = "UPDATE kernel.audit_chain SET closed = now() \
                       WHERE chain = ANY ($1) AND closed IS NULL";
            transaction.execute(sql, values).await?;
            transaction.commit().await
        })
    }
}

/// Appends rows to a chain; returns its new end, or `None` if all rows are there already.
async fn append(
    server: Arc<Postgres>,
    chain: Chain,
    is_new: bool,
    replica: &str,
    mut entries: Vec<AuditEntry>,
) -> Result<Option<Chain>, StoreError> {
    // A loss of power may lose rows of queries; a later commit makes them durable.
    let durable = entries.iter().any(|entry| entry.mutation);
    let first = if durable { "" } else { "SET LOCAL synchronous_commit = off" };
    let (transaction, _) = Transaction::begin(server, None, first).await?;
    let calls = record_calls(&transaction, &mut entries).await?;
    if entries.is_empty() {
        transaction.commit().await?;
        return Ok(None);
    }
    let Chain { id, head: Head { mut sequence, mut hash } } = chain.clone();
    let mut columns = Columns::default();
    for entry in &entries {
        sequence += 1;
        let row = StoredRow::new(i64::try_from(sequence).unwrap_or(i64::MAX), entry);
        let own = row.hash(hash).ok_or_else(|| unreadable("the format of an audit row"))?;
        columns.push(row, hash, own);
        hash = own;
    }
    let mut statements = Vec::new();
    let end = (i64::try_from(sequence).unwrap_or(i64::MAX), hash.0.to_vec());
    if is_new {
        let sql = "INSERT INTO kernel.audit_chain (chain, replica, sequence, hash) \
                   VALUES ($1, $2, $3, $4)";
        let values = values![id.clone(), replica.to_owned(), end.0, end.1];
        statements.push((sql.to_owned(), values));
    } else {
        let old = i64::try_from(chain.head.sequence).unwrap_or(i64::MAX);
        let sql = "UPDATE kernel.audit_chain SET sequence = $2, hash = $3, seen = now() \
                   WHERE chain = $1 AND sequence = $4 AND closed IS NULL";
        statements.push((sql.to_owned(), values![id.clone(), end.0, end.1, old]));
    }
    statements.push(columns.insert(&id));
    statements.push(("SELECT kernel.mark_audited($1)".to_owned(), values![calls]));
    let done = transaction.connection()?.pipeline(statements).await?;
    if done.first() != Some(&1) {
        transaction.rollback().await;
        // Closed by a checkpoint, because it was idle for long: the next attempt begins another.
        return Err(unreadable("the chain was closed by another process"));
    }
    transaction.commit().await?;
    Ok(Some(Chain { id, head: Head { sequence, hash } }))
}

/// Marks the calls as recorded and removes the entries whose row exists; returns all call ids.
async fn record_calls(
    transaction: &Transaction,
    entries: &mut Vec<AuditEntry>,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut calls: Vec<Vec<u8>> =
        entries.iter().filter_map(|entry| entry.call_id.map(|id| id.as_bytes().to_vec())).collect();
    // In one order, so that two replicas with the same calls wait for each other, not in a circle.
    calls.sort_unstable();
    calls.dedup();
    if calls.is_empty() {
        return Ok(calls);
    }
    let sql = "INSERT INTO kernel.recorded_call (call_id) SELECT unnest($1::bytea[]) \
               ON CONFLICT DO NOTHING RETURNING call_id";
    let rows = transaction.query(sql, values![calls.clone()]).await?;
    let mut fresh: HashSet<Vec<u8>> =
        rows.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
    entries.retain(|entry| match entry.call_id {
        Some(id) => fresh.remove(id.as_bytes().as_slice()),
        None => true,
    });
    Ok(calls)
}

/// Rows as one array for each column: one statement for a batch of any length.
#[derive(Default)]
struct Columns {
    numbers: [Vec<i64>; 5],
    texts: [Vec<String>; 10],
    optional: [Vec<Option<String>>; 3],
    hashes: [Vec<Vec<u8>>; 2],
}

impl Columns {
    fn push(&mut self, row: StoredRow, previous: ChainHash, hash: ChainHash) {
        let numbers = [row.sequence, row.latency_ms, row.mutation, row.count, row.format];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
        let texts = [
            row.at,
            row.tool,
            row.tool_version,
            row.partition,
            row.agent_id,
            row.trace_id,
            row.in_hash,
            row.out_hash,
            row.seed,
            row.status,
        ];
        self.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
        let optional = [row.error_code, row.address, row.credential];
        self.optional.iter_mut().zip(optional).for_each(|(column, text)| column.push(text));
        let hashes = [previous.0.to_vec(), hash.0.to_vec()];
        self.hashes.iter_mut().zip(hashes).for_each(|(column, bytes)| column.push(bytes));
    }

    fn insert(self, chain: &str) -> (String, Vec<Value>) {
        let names = "sequence, latency_ms, mutation, count, format, at, tool, tool_version, \
             partition, agent_id, trace_id, in_hash, out_hash, seed, status, error_code, address, \
             credential, previous, hash";
        let kinds = [("bigint", 5), ("text", 13), ("bytea", 2)];
        let kinds = kinds.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count));
        let arrays: Vec<String> =
            (2..).zip(kinds).map(|(place, kind)| format!("${place}::{kind}[]")).collect();
        let sql = format!(
            "INSERT INTO kernel.audit (chain, {names}) SELECT $1, * FROM unnest({})",
            arrays.join(", ")
        );
        let mut values = values![chain.to_owned()];
        values.extend(self.numbers.into_iter().map(|column| Box::new(column) as Value));
        values.extend(self.texts.into_iter().map(|column| Box::new(column) as Value));
        values.extend(self.optional.into_iter().map(|column| Box::new(column) as Value));
        values.extend(self.hashes.into_iter().map(|column| Box::new(column) as Value));
        (sql, values)
    }
}

/// Asks whether the server answers, writes checkpoints, and appends what ended processes left.
struct Maintenance {
    server: Arc<Postgres>,
    queue: Arc<Queue>,
    down: Arc<Mutex<Option<StoreError>>>,
}

impl Maintenance {
    fn run(self, stopped: &mpsc::Receiver<()>) {
        let clock = SystemClock::new();
        let mut kept = Duration::ZERO;
        while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(PING_INTERVAL) {
            self.ping();
            if clock.monotonic() >= kept + CHECKPOINT_INTERVAL {
                kept = clock.monotonic();
                self.checkpoint();
                self.recover();
            }
        }
        self.checkpoint();
    }

    fn ping(&self) {
        let asked = self.server.run(|server| async move {
            server.connection().await?.script("SELECT 1").await.map(drop)
        });
        let down = asked.err();
        *self.down.lock().unwrap_or_else(PoisonError::into_inner) = down;
    }

    fn checkpoint(&self) {
        if let Err(error) = audit_verify::checkpoint(&self.server) {
            tracing::warn!(cause = error.chain(), "a checkpoint of the audit log failed");
        }
    }

    fn recover(&self) {
        let log = PostgresMutationLog::new(Arc::clone(&self.server), Scope::Kernel);
        // The database is asked again at the next interval.
        let Ok(records) = log.unaudited() else { return };
        let now = SystemClock::new().now();
        for record in records.into_iter().filter(|one| one.entry.at + RECOVERY_AGE < now) {
            if self.queue.try_push(record.entry).is_some() {
                break;
            }
        }
    }
}
