//! Mutations that happen once: a repeated idempotency key brings back the first result.
//!
//! A lost reply does not tell the caller whether the change was made. With a key the caller
//! simply asks again: the same key with the same input replays the stored result, with another
//! input it is a conflict.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;

use super::{Call, Kept, Outcome};
use crate::audit::Fingerprint;
use crate::error::ToolError;
use crate::evidence::{Evidence, Source, SourceClass};
use crate::meters::CacheUse;
use crate::reply::Reply;

/// How long a key is remembered.
pub const KEY_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// Longer keys are refused.
const LONGEST_KEY: usize = 200;

/// Whose key, for which tool.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct IdempotencyKey {
    /// The caller.
    pub partition: String,
    /// The tool.
    pub tool: String,
    /// What the caller made up.
    pub key: String,
}

/// The result of the first call with a key.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredReply {
    /// Its data.
    pub data: Value,
    /// Its text.
    pub text: String,
}

/// What is known about a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Begun {
    /// Nothing: go ahead, then `finish` or `abandon` it.
    Fresh,
    /// It has been done.
    Done(StoredReply),
    /// It belongs to another input.
    OtherInput,
    /// It is being done right now.
    Running,
}

/// Where keys are kept. Implemented by the store.
pub trait IdempotencyStore: Send + Sync + 'static {
    /// Claims a key until `lease_end`; a claim whose lease has ended may be taken over.
    fn begin(
        &self,
        key: IdempotencyKey,
        input_hash: String,
        now: Timestamp,
        lease_end: Timestamp,
    ) -> BoxFuture<'static, Result<Begun, ToolError>>;

    /// Remembers the result.
    fn finish(
        &self,
        key: IdempotencyKey,
        reply: StoredReply,
    ) -> BoxFuture<'static, Result<(), ToolError>>;

    /// Gives the key back: nothing was changed.
    fn abandon(&self, key: IdempotencyKey) -> BoxFuture<'static, Result<(), ToolError>>;
}

/// Runs a mutation, once per key. Nothing runs that could not be recorded.
pub(super) async fn once(
    call: &Call<'_>,
    work: impl Future<Output = Result<Kept, ToolError>>,
) -> Result<Outcome, Arc<ToolError>> {
    call.kernel.world.audit.ready()?;
    let key = key_of(call)?.filter(|_| !call.cx.dry_run);
    let Some(key) = key else { return changed(call, work.await) };
    let store = &call.kernel.world.idempotency;
    let lease_end = call.now + call.entry.spec.deadline() * 2;
    match store.begin(key.clone(), call.fingerprint.hex(), call.now, lease_end).await? {
        Begun::Done(reply) => Ok(replay(call, reply)?),
        Begun::OtherInput => Err(ToolError::conflict(
            "IDEMPOTENCY_CONFLICT",
            format!("the idempotency key `{}` was used with another input", key.key),
        )
        .hint("use a new key for a new change, or repeat the first input exactly")
        .into()),
        Begun::Running => Err(ToolError::conflict(
            "IDEMPOTENCY_RUNNING",
            format!("the change with the idempotency key `{}` is still being made", key.key),
        )
        .hint("wait a moment and send the same call again")
        .retry_after(Duration::from_secs(1))
        .into()),
        Begun::Fresh => {
            let done = work.await;
            match &done {
                Ok(kept) => {
                    let reply =
                        StoredReply { data: kept.data.value(), text: kept.notes.text.clone() };
                    store.finish(key, reply).await?;
                }
                Err(_) => store.abandon(key).await?,
            }
            changed(call, done)
        }
    }
}

/// After a failure too, because a handler that overran may have written.
fn changed(call: &Call<'_>, done: Result<Kept, ToolError>) -> Result<Outcome, Arc<ToolError>> {
    if !call.cx.dry_run {
        call.kernel.advance_epochs(call.entry);
    }
    Ok(Outcome { kept: Arc::new(done?), cache: CacheUse::None, replayed: false })
}

fn key_of(call: &Call<'_>) -> Result<Option<IdempotencyKey>, ToolError> {
    let Some(key) = &call.cx.idempotency_key else { return Ok(None) };
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(ToolError::validation(
            "BAD_IDEMPOTENCY_KEY",
            format!("the idempotency key has {} bytes", key.len()),
        )
        .hint(format!("use 1 to {LONGEST_KEY} bytes, such as a UUID")));
    }
    let (partition, tool) = (call.cx.caller.partition.clone(), call.entry.spec.name.to_owned());
    Ok(Some(IdempotencyKey { partition, tool, key: key.clone() }))
}

fn replay(call: &Call<'_>, stored: StoredReply) -> Result<Outcome, ToolError> {
    let evidence =
        Evidence::from(Source::new(SourceClass::Exact, "the stored result of the first call"));
    let Reply { data, notes } = Reply::new(stored.data, stored.text, evidence).erase()?;
    let (fingerprint, bytes) = Fingerprint::of_json(&data)?;
    let kept = Kept { data, notes, fingerprint, bytes, computed_at: call.started };
    Ok(Outcome { kept: Arc::new(kept), cache: CacheUse::None, replayed: true })
}

/// Keys in memory, for tests and for programs without a home.
#[derive(Clone, Debug, Default)]
pub struct MemoryIdempotencyStore(Arc<Mutex<HashMap<IdempotencyKey, Claim>>>);

#[derive(Clone, Debug)]
struct Claim {
    input_hash: String,
    claimed: Timestamp,
    lease_end: Timestamp,
    reply: Option<StoredReply>,
}

impl IdempotencyStore for MemoryIdempotencyStore {
    fn begin(
        &self,
        key: IdempotencyKey,
        input_hash: String,
        now: Timestamp,
        lease_end: Timestamp,
    ) -> BoxFuture<'static, Result<Begun, ToolError>> {
        let mut claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        claims.retain(|_, claim| claim.claimed + KEY_LIFETIME > now);
        let begun = match claims.get(&key) {
            Some(claim) if claim.input_hash != input_hash => Begun::OtherInput,
            Some(Claim { reply: Some(reply), .. }) => Begun::Done(reply.clone()),
            Some(claim) if claim.lease_end > now => Begun::Running,
            _ => {
                claims.insert(key, Claim { input_hash, claimed: now, lease_end, reply: None });
                Begun::Fresh
            }
        };
        Box::pin(std::future::ready(Ok(begun)))
    }

    fn finish(
        &self,
        key: IdempotencyKey,
        reply: StoredReply,
    ) -> BoxFuture<'static, Result<(), ToolError>> {
        if let Some(claim) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&key) {
            claim.reply = Some(reply);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn abandon(&self, key: IdempotencyKey) -> BoxFuture<'static, Result<(), ToolError>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        Box::pin(std::future::ready(Ok(())))
    }
}
