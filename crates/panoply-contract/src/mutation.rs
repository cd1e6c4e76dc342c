//! Mutations and the records committed with them (transactional outbox).
//!
//! A lost reply does not tell the caller whether the change was made. Therefore a pack's store
//! writes a [`MutationRecord`] in the transaction of the change: the idempotency key with its
//! reply, and the audit entry. After a crash either both change and record exist or neither. A
//! retry with the same key replays the reply, and
//! [`Kernel::recover_audit`](crate::kernel::Kernel::recover_audit) appends the entries that the
//! audit log lacks.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::clock::Clock;
use crate::error::ToolError;
use crate::ids::CallId;
use crate::json::Json;
use crate::reply::Reply;

/// How long an idempotency key is stored.
pub const KEY_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// Maximum length of an idempotency key.
pub const MAX_KEY_BYTES: usize = 200;

/// An idempotency key, scoped to caller and tool.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct IdempotencyKey {
    /// The caller's partition.
    pub partition: String,
    /// The tool's published name.
    pub tool: String,
    /// The key chosen by the caller.
    pub key: String,
}

/// The reply to the first call with a key.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredReply {
    /// The serialised data.
    pub data: Json,
    /// Its text.
    pub text: String,
}

/// The record that a store commits together with a change.
#[derive(Clone, Debug, PartialEq)]
pub struct MutationRecord {
    /// The idempotency key, if the caller sent one.
    pub key: Option<IdempotencyKey>,
    /// The audit entry; it has a `call_id`.
    pub entry: AuditEntry,
    /// Stored only with an idempotency key.
    pub reply: Option<StoredReply>,
}

/// Committed mutation records of a pack's store. Methods may block: they run in a lane.
pub trait MutationLog: Send + Sync + 'static {
    /// The mutation that was committed with this key, within [`KEY_LIFETIME`] before `now`.
    fn find(
        &self,
        key: &IdempotencyKey,
        now: jiff::Timestamp,
    ) -> Result<Option<MutationRecord>, ToolError>;

    /// The mutation committed by this call, unless it is marked as audited.
    fn find_call(&self, call_id: CallId) -> Result<Option<MutationRecord>, ToolError>;

    /// Commits a record without a change, for mutations outside this store's database.
    fn commit(&self, record: &MutationRecord) -> Result<(), ToolError>;

    /// Records not marked as audited, oldest first.
    fn unaudited(&self) -> Result<Vec<MutationRecord>, ToolError>;

    /// Marks the audit entry of this call as durable. May be persisted with the next commit: the
    /// audit log deduplicates entries by call id.
    fn audited(&self, call_id: CallId);
}

/// One mutating call: provides the record to commit and is notified of the commit.
pub struct Mutation {
    key: Option<IdempotencyKey>,
    /// The audit entry without output and duration.
    entry: AuditEntry,
    started: Duration,
    clock: Arc<dyn Clock>,
    committed: Mutex<Option<MutationRecord>>,
}

impl Mutation {
    pub(crate) fn new(
        key: Option<IdempotencyKey>,
        entry: AuditEntry,
        started: Duration,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { key, entry, started, clock, committed: Mutex::default() }
    }

    /// The record to commit in the transaction of the change described by `reply`.
    pub fn record<T: Serialize>(&self, reply: &Reply<T>) -> Result<MutationRecord, ToolError> {
        self.record_of(Json::of(&reply.data)?, &reply.notes.text)
    }

    pub(crate) fn record_of(&self, data: Json, text: &str) -> Result<MutationRecord, ToolError> {
        let (output, _) = Fingerprint::of_json(&data)?;
        let elapsed = self.clock.monotonic().saturating_sub(self.started);
        let audit = Audit {
            out_hash: output.hex(),
            latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            status: Status::Ok,
            ..self.entry.audit.clone()
        };
        let entry = AuditEntry { audit, mutation: true, ..self.entry.clone() };
        let reply = self.key.is_some().then(|| StoredReply { data, text: text.to_owned() });
        Ok(MutationRecord { key: self.key.clone(), entry, reply })
    }

    /// The id of the call, made by the server.
    pub fn call_id(&self) -> String {
        self.entry.call_id.map(|id| id.to_string()).unwrap_or_default()
    }

    /// Stable marker for effects outside a database: equal for all calls with the same idempotency
    /// key.
    pub fn marker(&self) -> String {
        let named = match &self.key {
            Some(IdempotencyKey { partition, tool, key }) => format!("{partition}\n{tool}\n{key}"),
            None => self.call_id(),
        };
        Fingerprint::of_bytes(named.as_bytes()).hex().chars().take(24).collect()
    }

    /// Call after the transaction with the record is committed.
    pub fn committed(&self, record: MutationRecord) {
        *lock(&self.committed) = Some(record);
    }

    pub(crate) fn take_committed(&self) -> Option<MutationRecord> {
        lock(&self.committed).take()
    }
}

impl std::fmt::Debug for Mutation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mutation").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Idempotency keys of running mutations in this process. Across processes the unique index of the
/// store applies: the second transaction fails and replays the first reply.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningKeys(Arc<Mutex<HashSet<IdempotencyKey>>>);

impl RunningKeys {
    /// Claims a key until the claim is dropped; `None` while another call holds it.
    pub(crate) fn claim(&self, key: &IdempotencyKey) -> Option<Claim> {
        let is_free = lock(&self.0).insert(key.clone());
        is_free.then(|| Claim { keys: self.clone(), key: key.clone() })
    }
}

/// A claimed key. The handler's thread owns it, so that a timed-out call holds its key until the
/// handler has ended.
#[derive(Debug)]
pub(crate) struct Claim {
    keys: RunningKeys,
    key: IdempotencyKey,
}

impl Claim {
    pub(crate) const fn key(&self) -> &IdempotencyKey {
        &self.key
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock(&self.keys.0).remove(&self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In-memory log for tests and programs without a home.
#[derive(Debug, Default)]
pub struct MemoryMutationLog(Mutex<HashMap<CallId, (MutationRecord, bool)>>);

impl MutationLog for MemoryMutationLog {
    fn find(
        &self,
        key: &IdempotencyKey,
        now: jiff::Timestamp,
    ) -> Result<Option<MutationRecord>, ToolError> {
        let mut records = lock(&self.0);
        records.retain(|_, (record, _)| record.entry.at + KEY_LIFETIME > now);
        let found = records.values().find(|(record, _)| record.key.as_ref() == Some(key));
        Ok(found.map(|(record, _)| record.clone()))
    }

    fn find_call(&self, call_id: CallId) -> Result<Option<MutationRecord>, ToolError> {
        Ok(lock(&self.0).get(&call_id).map(|(record, _)| record.clone()))
    }

    fn commit(&self, record: &MutationRecord) -> Result<(), ToolError> {
        let Some(call_id) = record.entry.call_id else {
            return Err(ToolError::system("a mutation without a call id"));
        };
        lock(&self.0).insert(call_id, (record.clone(), false));
        Ok(())
    }

    fn unaudited(&self) -> Result<Vec<MutationRecord>, ToolError> {
        let records = lock(&self.0);
        Ok(records.values().filter(|(_, done)| !done).map(|(record, _)| record.clone()).collect())
    }

    fn audited(&self, call_id: CallId) {
        let mut records = lock(&self.0);
        if let Some((record, done)) = records.get_mut(&call_id) {
            *done = true;
            if record.key.is_none() {
                records.remove(&call_id);
            }
        }
    }
}
