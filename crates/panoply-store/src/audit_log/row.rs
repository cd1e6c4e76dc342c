//! A row as it is stored, and the hash that ties it to the one before.
//!
//! The hash is the SHA-256 of `panoply-audit-1` and a line feed, then every column in the order
//! of [`StoredRow`] as a netstring (`<bytes>:<content>,`), integers in decimal, an absent error
//! code as a single `-`, and last the previous hash as 32 raw bytes in a netstring. No two rows
//! have the same encoding, and any language can compute it.

use std::fmt;
use std::path::Path;

use panoply_contract::audit::{Audit, AuditEntry, AuditRow, Status};
use rusqlite::Row;
use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// The columns in the order of [`StoredRow`], for `SELECT` and `INSERT`.
pub(super) const COLUMNS: &str = "sequence, at, tool, tool_version, partition, agent_id, trace_id, \
     in_hash, out_hash, latency_ms, seed, status, error_code, mutation, previous, hash";

const FORMAT: &[u8] = b"panoply-audit-1\n";

/// The hash of a row; all zeros before the first.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// What the first row has for a predecessor.
    pub const BEFORE_ALL: Self = Self([0; 32]);

    /// Reads 64 hexadecimal digits, as `panoply audit verify` prints them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A row exactly as the file has it: texts are kept as texts, so that a change which means the
/// same is still seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredRow {
    pub(super) sequence: i64,
    pub(super) at: String,
    pub(super) tool: String,
    pub(super) tool_version: String,
    pub(super) partition: String,
    pub(super) agent_id: String,
    pub(super) trace_id: String,
    pub(super) in_hash: String,
    pub(super) out_hash: String,
    pub(super) latency_ms: i64,
    pub(super) seed: String,
    pub(super) status: String,
    pub(super) error_code: Option<String>,
    pub(super) mutation: i64,
}

impl StoredRow {
    pub(super) fn new(sequence: i64, entry: &AuditEntry) -> Self {
        Self {
            sequence,
            at: entry.at.to_string(),
            tool: entry.tool.clone(),
            tool_version: entry.tool_version.clone(),
            partition: entry.partition.clone(),
            agent_id: entry.agent_id.clone(),
            trace_id: entry.trace_id.clone(),
            in_hash: entry.audit.in_hash.clone(),
            out_hash: entry.audit.out_hash.clone(),
            latency_ms: i64::try_from(entry.audit.latency_ms).unwrap_or(i64::MAX),
            seed: entry.audit.seed.to_string(),
            status: entry.audit.status.as_str().to_owned(),
            error_code: entry.error_code.clone(),
            mutation: i64::from(entry.mutation),
        }
    }

    /// Reads the columns of [`COLUMNS`] without the two hashes.
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            sequence: row.get(0)?,
            at: row.get(1)?,
            tool: row.get(2)?,
            tool_version: row.get(3)?,
            partition: row.get(4)?,
            agent_id: row.get(5)?,
            trace_id: row.get(6)?,
            in_hash: row.get(7)?,
            out_hash: row.get(8)?,
            latency_ms: row.get(9)?,
            seed: row.get(10)?,
            status: row.get(11)?,
            error_code: row.get(12)?,
            mutation: row.get(13)?,
        })
    }

    pub(super) fn hash(&self, previous: ChainHash) -> ChainHash {
        let mut encoded = Encoded(FORMAT.to_vec());
        encoded.integer(self.sequence);
        for text in [&self.at, &self.tool, &self.tool_version, &self.partition, &self.agent_id] {
            encoded.bytes(text.as_bytes());
        }
        for text in [&self.trace_id, &self.in_hash, &self.out_hash] {
            encoded.bytes(text.as_bytes());
        }
        encoded.integer(self.latency_ms);
        encoded.bytes(self.seed.as_bytes());
        encoded.bytes(self.status.as_bytes());
        match &self.error_code {
            Some(code) => encoded.bytes(code.as_bytes()),
            None => encoded.0.push(b'-'),
        }
        encoded.integer(self.mutation);
        encoded.bytes(&previous.0);
        ChainHash(Sha256::digest(&encoded.0).into())
    }

    pub(super) fn into_row(self, file: &Path) -> Result<AuditRow, StoreError> {
        let row = u64::try_from(self.sequence).unwrap_or_default();
        let bad = |what| StoreError::BadRow { file: file.to_owned(), row, what };
        let audit = Audit {
            in_hash: self.in_hash,
            out_hash: self.out_hash,
            latency_ms: u64::try_from(self.latency_ms).map_err(|_| bad("a negative time"))?,
            seed: self.seed.parse().map_err(|_| bad("the seed is not a number"))?,
            status: [Status::Ok, Status::Error]
                .into_iter()
                .find(|status| status.as_str() == self.status)
                .ok_or_else(|| bad("an unknown status"))?,
        };
        let entry = AuditEntry {
            call_id: None,
            at: self.at.parse().map_err(|_| bad("the time is not a time"))?,
            tool: self.tool,
            tool_version: self.tool_version,
            partition: self.partition,
            agent_id: self.agent_id,
            trace_id: self.trace_id,
            audit,
            error_code: self.error_code,
            mutation: self.mutation != 0,
        };
        Ok(AuditRow { sequence: row, entry })
    }
}

/// Netstrings, one after the other.
struct Encoded(Vec<u8>);

impl Encoded {
    fn bytes(&mut self, content: &[u8]) {
        self.0.extend_from_slice(content.len().to_string().as_bytes());
        self.0.push(b':');
        self.0.extend_from_slice(content);
        self.0.push(b',');
    }

    fn integer(&mut self, number: i64) {
        self.bytes(number.to_string().as_bytes());
    }
}
