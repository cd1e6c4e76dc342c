//! The stored form of a row, and the hash that links it to the previous row.
//!
//! The hash is the SHA-256 of `panoply-audit-2` and a line feed, then every column from `sequence`
//! to `count` as a netstring (`<bytes>:<content>,`), integers in decimal, an absent text as a
//! single `-`, and last the previous hash as 32 raw bytes in a netstring. No two rows have the same
//! encoding, and any language can compute it.
//!
//! Rows of format 1 (`panoply-audit-1`) end with `mutation` and have neither address nor
//! credential. The column `format` says which it is; a row whose `format` was changed does not
//! match its hash.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use panoply_contract::audit::{Audit, AuditEntry, AuditRow, Status};
use panoply_contract::context::Provenance;
use rusqlite::Row;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// The columns in the order of [`StoredRow`], for `SELECT` and `INSERT`.
pub(super) const COLUMNS: &str = "sequence, at, tool, tool_version, partition, agent_id, trace_id, \
     in_hash, out_hash, latency_ms, seed, status, error_code, mutation, address, credential, \
     count, format, previous, hash";

/// Columns of a file last written by a version before format 2.
pub(super) const COLUMNS_BEFORE_FORMAT_2: &str = "sequence, at, tool, tool_version, partition, \
     agent_id, trace_id, in_hash, out_hash, latency_ms, seed, status, error_code, mutation, NULL, \
     NULL, 1, 1, previous, hash";

/// The format of new rows.
const FORMAT: i64 = 2;

/// The hash of a row; all zeros before the first.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// The previous hash of the first row.
    pub const GENESIS: Self = Self([0; 32]);

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

/// 64 hexadecimal digits.
impl Serialize for ChainHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ChainHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("expected 64 hex digits"))
    }
}

/// A row exactly as stored. Timestamps and hashes stay text, so that a change to an equivalent
/// spelling is still detected.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct StoredRow {
    /// Number of the row in its chain, from 1.
    pub sequence: i64,
    /// When the call was received, RFC 3339.
    pub at: String,
    /// Published name of the tool.
    pub tool: String,
    /// Version of its contract.
    pub tool_version: String,
    /// The caller's partition.
    pub partition: String,
    /// The client program.
    pub agent_id: String,
    /// The trace id.
    pub trace_id: String,
    /// Hash of the input.
    pub in_hash: String,
    /// Hash of the output.
    pub out_hash: String,
    /// Duration.
    pub latency_ms: i64,
    /// The seed, in decimal: it has 64 bits without a sign.
    pub seed: String,
    /// `ok` or `error`.
    pub status: String,
    /// Code of a failed call.
    pub error_code: Option<String>,
    /// 1 for a mutation.
    pub mutation: i64,
    /// Address of the caller.
    pub address: Option<String>,
    /// Credential of the caller.
    pub credential: Option<String>,
    /// Number of events.
    pub count: i64,
    /// Format of the hash.
    pub format: i64,
}

/// A row with its hashes: one line of a sealed segment and of an export.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ChainedRow {
    #[serde(flatten)]
    /// The row.
    pub row: StoredRow,
    /// Hash of the row before.
    pub previous: ChainHash,
    /// Hash of this row.
    pub hash: ChainHash,
}

impl ChainedRow {
    /// Reads the columns of [`COLUMNS`].
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            row: StoredRow::of(row)?,
            previous: ChainHash(row.get(18)?),
            hash: ChainHash(row.get(19)?),
        })
    }
}

impl StoredRow {
    /// The row of an entry, in the newest format.
    pub fn new(sequence: i64, entry: &AuditEntry) -> Self {
        Self {
            sequence,
            at: entry.at.to_string(),
            tool: entry.tool.to_string(),
            tool_version: entry.tool_version.to_string(),
            partition: entry.partition.clone(),
            agent_id: entry.agent_id.clone(),
            trace_id: entry.trace_id.clone(),
            in_hash: entry.audit.in_hash.to_string(),
            out_hash: entry.audit.out_hash.to_string(),
            latency_ms: i64::try_from(entry.audit.latency_ms).unwrap_or(i64::MAX),
            seed: entry.audit.seed.to_string(),
            status: entry.audit.status.as_str().to_owned(),
            error_code: entry.error_code.clone(),
            mutation: i64::from(entry.mutation),
            address: entry.provenance.address.map(|address| address.to_string()),
            credential: entry.provenance.credential.as_deref().map(str::to_owned),
            count: i64::try_from(entry.count).unwrap_or(i64::MAX),
            format: FORMAT,
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
            address: row.get(14)?,
            credential: row.get(15)?,
            count: row.get(16)?,
            format: row.get(17)?,
        })
    }

    /// Computes the hash in the row's own format; `None` for an unknown format.
    pub fn hash(&self, previous: ChainHash) -> Option<ChainHash> {
        let is_plain = self.address.is_none() && self.credential.is_none() && self.count == 1;
        let mut encoded = match self.format {
            1 if is_plain => NetstringWriter(b"panoply-audit-1\n".to_vec()),
            FORMAT => NetstringWriter(b"panoply-audit-2\n".to_vec()),
            _ => return None,
        };
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
        encoded.optional(self.error_code.as_deref());
        encoded.integer(self.mutation);
        if self.format >= FORMAT {
            encoded.optional(self.address.as_deref());
            encoded.optional(self.credential.as_deref());
            encoded.integer(self.count);
        }
        encoded.bytes(&previous.0);
        Some(ChainHash(Sha256::digest(&encoded.0).into()))
    }

    /// The entry of a row; `file` is named in errors.
    pub fn into_row(self, file: &Path) -> Result<AuditRow, StoreError> {
        let row = u64::try_from(self.sequence).unwrap_or_default();
        let bad = |what| StoreError::BadRow { file: file.to_owned(), row, what };
        let audit = Audit {
            in_hash: self.in_hash.into(),
            out_hash: self.out_hash.into(),
            latency_ms: u64::try_from(self.latency_ms)
                .map_err(|_| bad("the latency is negative"))?,
            seed: self.seed.parse().map_err(|_| bad("the seed is not a number"))?,
            status: [Status::Ok, Status::Error]
                .into_iter()
                .find(|status| status.as_str() == self.status)
                .ok_or_else(|| bad("the status is unknown"))?,
        };
        let address = self.address.map(|text| text.parse()).transpose();
        let provenance = Provenance {
            address: address.map_err(|_| bad("the address is not an IP address"))?,
            credential: self.credential.map(Arc::from),
        };
        let entry = AuditEntry {
            call_id: None,
            at: self.at.parse().map_err(|_| bad("the timestamp is not ISO 8601"))?,
            tool: self.tool.into(),
            tool_version: self.tool_version.into(),
            partition: self.partition,
            agent_id: self.agent_id,
            trace_id: self.trace_id,
            provenance,
            count: u64::try_from(self.count).map_err(|_| bad("the count is negative"))?,
            audit,
            error_code: self.error_code,
            mutation: self.mutation != 0,
        };
        Ok(AuditRow { sequence: row, entry })
    }
}

/// Encodes fields as concatenated netstrings.
struct NetstringWriter(Vec<u8>);

impl NetstringWriter {
    fn bytes(&mut self, content: &[u8]) {
        self.0.extend_from_slice(content.len().to_string().as_bytes());
        self.0.push(b':');
        self.0.extend_from_slice(content);
        self.0.push(b',');
    }

    fn optional(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.bytes(text.as_bytes()),
            None => self.0.push(b'-'),
        }
    }

    fn integer(&mut self, number: i64) {
        self.bytes(number.to_string().as_bytes());
    }
}
