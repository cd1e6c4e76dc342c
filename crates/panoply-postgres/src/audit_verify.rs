//! Checkpoints over the ends of all chains, and the verification of chains and checkpoints.
//!
//! A checkpoint is the SHA-256 of `panoply-audit-checkpoint-1` and a line feed, then its number,
//! time, heads and the hash before as netstrings. Heads are lines `CHAIN SEQUENCE HASH`, by chain.
//! Each is an anchor of its chain: no row up to it can be rewritten unnoticed, and a chain that was
//! removed is missed. A role that can change the tables can rewrite all of it; the number and hash of
//! the last checkpoint, noted on another machine, show that.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use panoply_contract::clock::Clock as _;
use panoply_store::audit_log::{Chain, ChainHash, ChainedRow, Fault, FaultKind, Head};
use panoply_store::{StoreError, SystemClock};
use sha2::{Digest as _, Sha256};
use tokio_postgres::Row;

use crate::audit_log::{COLUMNS, genesis, stored};
use crate::keys::get;
use crate::server::{Connection, Postgres};
use crate::transaction::Transaction;
use crate::values;

/// Result of a verification.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Verification {
    /// Number of valid rows in all chains.
    pub rows: u64,
    /// Number of chains.
    pub chains: usize,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// The last checkpoint, to be noted elsewhere.
    pub last: Option<Head>,
    /// The first fault, and where.
    pub fault: Option<(Place, Fault)>,
}

/// Where a fault is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// In a chain, by its id.
    Chain(String),
    /// In the list of checkpoints; the row is the number of the checkpoint.
    Checkpoints,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Chain(id) => write!(f, "chain {id}"),
            Self::Checkpoints => f.write_str("the checkpoints"),
        }
    }
}

/// Only one process writes checkpoints at a time.
const CHECKPOINT_LOCK: i64 = 0x7061_6e6f_706c_7902;
/// A chain without rows for this long is closed; its process begins another if it is alive.
const IDLE_CHAIN_TIMEOUT: &str = "10 minutes";
/// Rows of a chain that are read at a time.
const PAGE_ROWS: i64 = 5000;

/// Writes a checkpoint if a chain has grown since the last one.
pub fn checkpoint(server: &Arc<Postgres>) -> Result<Option<Head>, StoreError> {
    let at = SystemClock::new().now().to_string();
    server.run(|server| async move {
        let lock = format!("SELECT pg_try_advisory_xact_lock({CHECKPOINT_LOCK})");
        let (transaction, taken) = Transaction::begin(server, None, &lock).await?;
        if taken.first().and_then(|row| row.get(0)) != Some("t") {
            transaction.rollback().await;
            return Ok(None);
        }
        let sql = format!(
            "UPDATE kernel.audit_chain SET closed = now() \
             WHERE closed IS NULL AND seen < now() - interval '{IDLE_CHAIN_TIMEOUT}'"
        );
        transaction.execute(&sql, values![]).await?;
        let connection = transaction.connection()?;
        let rows = connection.query(HEADS, values![]).await?;
        let mut heads = String::new();
        for (chain, head) in heads_of(&rows)? {
            let _ = writeln!(heads, "{chain} {} {}", head.sequence, head.hash);
        }
        let last = last_checkpoint(connection).await?;
        if heads.is_empty() || last.as_ref().is_some_and(|last| last.heads == heads) {
            transaction.commit().await?;
            return Ok(None);
        }
        let (number, previous) =
            last.map_or((1, ChainHash::GENESIS), |last| (last.number + 1, last.hash));
        let checkpoint = Checkpoint { number, at, heads, previous, hash: ChainHash::GENESIS };
        let hash = checkpoint.computed();
        let sql = "INSERT INTO kernel.audit_checkpoint (number, at, heads, previous, hash) \
                   VALUES ($1, $2, $3, $4, $5)";
        let Checkpoint { at, heads, .. } = checkpoint;
        let values = values![number, at, heads, previous.0.to_vec(), hash.0.to_vec()];
        transaction.execute(sql, values).await?;
        transaction.commit().await?;
        Ok(Some(Head { sequence: u64::try_from(number).unwrap_or_default(), hash }))
    })
}

const HEADS: &str = "SELECT chain, sequence, hash FROM kernel.audit_chain ORDER BY chain";

fn heads_of(rows: &[Row]) -> Result<Vec<(String, Head)>, StoreError> {
    rows.iter()
        .map(|row| {
            let sequence: i64 = get(row, 1)?;
            let head = Head {
                sequence: u64::try_from(sequence).unwrap_or_default(),
                hash: hash(row, 2)?.unwrap_or_default(),
            };
            Ok((get(row, 0)?, head))
        })
        .collect()
}

/// A hash; `None` for bytes of another length, which this program never writes.
fn hash(row: &Row, column: usize) -> Result<Option<ChainHash>, StoreError> {
    let bytes: Vec<u8> = get(row, column)?;
    Ok(bytes.try_into().ok().map(ChainHash))
}

struct Checkpoint {
    number: i64,
    at: String,
    heads: String,
    previous: ChainHash,
    hash: ChainHash,
}

impl Checkpoint {
    fn of(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            number: get(row, 0)?,
            at: get(row, 1)?,
            heads: get(row, 2)?,
            previous: hash(row, 3)?.unwrap_or_default(),
            hash: hash(row, 4)?.unwrap_or_default(),
        })
    }

    fn computed(&self) -> ChainHash {
        let mut bytes = b"panoply-audit-checkpoint-1\n".to_vec();
        let number = self.number.to_string();
        let parts: [&[u8]; 4] =
            [number.as_bytes(), self.at.as_bytes(), self.heads.as_bytes(), &self.previous.0];
        for part in parts {
            bytes.extend_from_slice(format!("{}:", part.len()).as_bytes());
            bytes.extend_from_slice(part);
            bytes.push(b',');
        }
        ChainHash(Sha256::digest(&bytes).into())
    }

    /// The ends of the chains; `None` if they cannot be read.
    fn anchors(&self) -> Option<Vec<(String, Head)>> {
        let head = |line: &str| {
            let mut parts = line.split(' ');
            let (chain, sequence, hash) = (parts.next()?, parts.next()?, parts.next()?);
            let head = Head { sequence: sequence.parse().ok()?, hash: ChainHash::parse(hash)? };
            Some((chain.to_owned(), head))
        };
        self.heads.lines().map(head).collect()
    }
}

const CHECKPOINTS: &str = "SELECT number, at, heads, previous, hash FROM kernel.audit_checkpoint";

async fn last_checkpoint(connection: &Connection) -> Result<Option<Checkpoint>, StoreError> {
    let sql = format!("{CHECKPOINTS} ORDER BY number DESC LIMIT 1");
    connection.query(&sql, values![]).await?.first().map(Checkpoint::of).transpose()
}

/// Verifies all chains and checkpoints. `noted` is the last checkpoint of an earlier verification.
pub fn verify(server: &Arc<Postgres>, noted: Option<Head>) -> Result<Verification, StoreError> {
    server.run(move |server| async move {
        let connection = server.connection().await?;
        // Rows are appended meanwhile; one snapshot has rows and heads of one moment.
        connection
            .script(
                "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = 0",
            )
            .await?;
        let verified = verify_snapshot(&connection, noted).await;
        connection.script("COMMIT").await?;
        verified
    })
}

async fn verify_snapshot(
    connection: &Connection,
    noted: Option<Head>,
) -> Result<Verification, StoreError> {
    let mut found = Verification::default();
    let mut anchors: BTreeMap<String, Vec<Head>> = BTreeMap::new();
    let fault = verify_checkpoints(connection, noted, &mut found, &mut anchors).await?;
    found.fault = fault.map(|fault| (Place::Checkpoints, fault));
    let heads = heads_of(&connection.query(HEADS, values![]).await?)?;
    let heads: BTreeMap<String, Head> = heads.into_iter().collect();
    let sql = "SELECT DISTINCT chain FROM kernel.audit";
    let mut chains: Vec<String> = connection
        .query(sql, values![])
        .await?
        .iter()
        .map(|row| get(row, 0))
        .collect::<Result<_, _>>()?;
    chains.extend(heads.keys().chain(anchors.keys()).cloned());
    chains.sort_unstable();
    chains.dedup();
    found.chains = chains.len();
    for id in chains {
        let anchors = anchors.get(&id).map(Vec::as_slice).unwrap_or_default();
        let (rows, fault) = verify_chain(connection, &id, heads.get(&id).copied(), anchors).await?;
        found.rows += rows;
        if let (Some(fault), None) = (fault, &found.fault) {
            found.fault = Some((Place::Chain(id), fault));
        }
    }
    Ok(found)
}

async fn verify_checkpoints(
    connection: &Connection,
    noted: Option<Head>,
    found: &mut Verification,
    anchors: &mut BTreeMap<String, Vec<Head>>,
) -> Result<Option<Fault>, StoreError> {
    let mut last = Head { sequence: 0, hash: ChainHash::GENESIS };
    let sql = format!("{CHECKPOINTS} ORDER BY number");
    for row in connection.query(&sql, values![]).await? {
        let checkpoint = Checkpoint::of(&row)?;
        let number = u64::try_from(checkpoint.number).unwrap_or_default();
        let fault = |sequence, kind| Ok(Some(Fault { sequence, kind }));
        if number < last.sequence + 1 {
            return fault(number, FaultKind::Unrecorded);
        }
        if number > last.sequence + 1 {
            return fault(last.sequence + 1, FaultKind::Missing);
        }
        if checkpoint.computed() != checkpoint.hash {
            return fault(number, FaultKind::Altered);
        }
        if checkpoint.previous != last.hash {
            return fault(last.sequence.max(1), FaultKind::Replaced);
        }
        let Some(heads) = checkpoint.anchors() else { return fault(number, FaultKind::Altered) };
        last = Head { sequence: number, hash: checkpoint.hash };
        if noted.is_some_and(|noted| noted.sequence == number && noted.hash != last.hash) {
            return fault(number, FaultKind::NotAsNoted);
        }
        for (chain, head) in heads {
            let known = anchors.entry(chain).or_default();
            if known.last() != Some(&head) {
                known.push(head);
            }
        }
        found.checkpoints = number;
        found.last = Some(last);
    }
    let missing = noted.is_some_and(|noted| noted.sequence > last.sequence);
    Ok(missing.then_some(Fault { sequence: last.sequence + 1, kind: FaultKind::Missing }))
}

/// Verifies one chain; returns the number of valid rows.
async fn verify_chain(
    connection: &Connection,
    id: &str,
    recorded: Option<Head>,
    anchors: &[Head],
) -> Result<(u64, Option<Fault>), StoreError> {
    let start = Head { sequence: 0, hash: genesis(id) };
    let mut chain = Chain::after(Some(start));
    anchors.iter().for_each(|anchor| chain.note(*anchor));
    let sql = format!(
        "SELECT sequence, {COLUMNS}, previous, hash FROM kernel.audit \
         WHERE chain = $1 AND sequence > $2 ORDER BY sequence LIMIT {PAGE_ROWS}"
    );
    let (mut after, mut fault) = (i64::MIN, None);
    loop {
        let rows = connection.query(&sql, values![id.to_owned(), after]).await?;
        for row in &rows {
            let stored = stored(row)?;
            after = stored.sequence;
            let sequence = u64::try_from(stored.sequence).unwrap_or_default();
            fault = match (hash(row, 18)?, hash(row, 19)?) {
                (Some(previous), Some(hash)) => {
                    chain.take(&ChainedRow { row: stored, previous, hash })
                }
                _ => Some(Fault { sequence, kind: FaultKind::Altered }),
            };
            if fault.is_some() {
                break;
            }
        }
        if fault.is_some() || rows.len() < usize::try_from(PAGE_ROWS).unwrap_or_default() {
            break;
        }
    }
    let has_rows = chain.last.is_some_and(|last| last.sequence > 0);
    let fault = match fault {
        Some(fault) => Some(fault),
        // A chain of which nothing is left but a checkpoint.
        None if recorded.is_none() && !has_rows => {
            anchors.last().map(|_| Fault { sequence: 1, kind: FaultKind::Missing })
        }
        None => chain.end(recorded),
    };
    let bad = fault.map_or(u64::MAX, |fault| fault.sequence);
    let rows = chain.last.map_or(0, |last| last.sequence.min(bad.saturating_sub(1)));
    Ok((rows, fault))
}
