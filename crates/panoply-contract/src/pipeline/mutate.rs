//! Runs a mutation exactly once per idempotency key and guarantees its audit row.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{CachedReply, Call, Outcome, execute};
use crate::audit::{Audit, AuditEntry, Fingerprint, Status};
use crate::error::ToolError;
use crate::evidence::{Evidence, Source, SourceClass};
use crate::meters::CacheUse;
use crate::mutation::{
    Claim, IdempotencyKey, MAX_KEY_BYTES, Mutation, MutationLog, MutationRecord, StoredReply,
};
use crate::reply::Reply;

/// Preconditions of a mutation: a writable audit log and a free idempotency key.
pub(super) fn admit(call: &mut Call) -> Result<Option<Claim>, ToolError> {
    call.kernel.services.audit.ready()?;
    if call.cx.dry_run {
        return Ok(None);
    }
    let key = key_of(call)?;
    let claim = match &key {
        None => None,
        Some(key) => Some(call.kernel.running_keys.claim(key).ok_or_else(|| running(key))?),
    };
    let mutation =
        Mutation::new(key, entry_of(call), call.started, Arc::clone(&call.kernel.services.clock));
    Arc::make_mut(&mut call.cx).mutation = Some(Arc::new(mutation));
    Ok(claim)
}

/// Runs in a lane to completion, even after the caller cancelled: the claim is held until the
/// handler has ended, and a late effect is audited too.
pub(super) async fn once(call: &Call, claim: Option<Claim>) -> Result<Outcome, Arc<ToolError>> {
    let Some(mutation) = call.cx.mutation.clone() else {
        return Ok(Outcome::computed(execute::handle(call).await?, CacheUse::None));
    };
    let log = mutation_log(call)?;
    let done = match replayed(call, log.as_ref(), claim.as_ref()).await? {
        Some(outcome) => Ok(outcome),
        None => run(call, log.as_ref(), &mutation, claim.as_ref()).await,
    };
    drop(claim);
    done
}

async fn run(
    call: &Call,
    log: &dyn MutationLog,
    mutation: &Mutation,
    claim: Option<&Claim>,
) -> Result<Outcome, Arc<ToolError>> {
    let handled = execute::handle(call).await;
    // Also after a failure: the effect may have been committed before it.
    let entry = call.entry();
    call.kernel.advance_epochs(entry.pack, entry.spec.data, &call.cx.caller.tenants);
    match handled {
        Ok(reply) => {
            let record = match committed(log, mutation, &reply) {
                Ok(record) => record,
                // Another process has committed the same key concurrently.
                Err(error) => return replayed(call, log, claim).await?.ok_or_else(|| error.into()),
            };
            let audit = record.entry.audit.clone();
            audited(call, log, record.entry).await?;
            Ok(Outcome { recorded: Some(audit), ..Outcome::computed(reply, CacheUse::None) })
        }
        Err(error) => {
            // The handler did not learn the outcome of its commit, or panicked after it.
            if let Some(record) = call.call_id.map(|id| log.find_call(id)).transpose()?.flatten() {
                audited(call, log, record.entry).await?;
            }
            match replayed(call, log, claim).await? {
                Some(outcome) => Ok(outcome),
                None => Err(error.into()),
            }
        }
    }
}

/// The record committed by the pack with its change; commits one if the change is outside the
/// pack's database.
fn committed(
    log: &dyn MutationLog,
    mutation: &Mutation,
    reply: &CachedReply,
) -> Result<MutationRecord, ToolError> {
    if let Some(record) = mutation.take_committed() {
        return Ok(record);
    }
    let record = mutation.record_of(reply.data.clone(), &reply.notes.text)?;
    log.commit(&record)?;
    Ok(record)
}

/// Appends the entry to the audit log before the reply is sent.
async fn audited(call: &Call, log: &dyn MutationLog, entry: AuditEntry) -> Result<(), ToolError> {
    let call_id = entry.call_id;
    call.kernel.services.audit.append(entry).await?;
    if let Some(call_id) = call_id {
        log.audited(call_id);
    }
    Ok(())
}

/// Replays the stored reply for the key of this call.
pub(super) async fn replay(
    call: &Call,
    claim: Option<&Claim>,
) -> Result<Option<Outcome>, ToolError> {
    replayed(call, mutation_log(call)?.as_ref(), claim).await
}

fn mutation_log(call: &Call) -> Result<Arc<dyn MutationLog>, ToolError> {
    call.kernel.mutation_log(call.entry().pack, &call.cx.caller.tenants)
}

/// The stored reply, if a call with the key has been committed. Appends the audit row of the
/// change if the first call could not, because the log was away after the commit.
async fn replayed(
    call: &Call,
    log: &dyn MutationLog,
    claim: Option<&Claim>,
) -> Result<Option<Outcome>, ToolError> {
    let Some(key) = claim.map(Claim::key) else { return Ok(None) };
    let Some(found) = log.find(key, call.now)? else { return Ok(None) };
    let in_hash = call.fingerprint.hex();
    if found.entry.audit.in_hash != in_hash {
        return Err(ToolError::conflict(
            "IDEMPOTENCY_CONFLICT",
            format!("the idempotency key `{}` was used with another input", key.key),
        )
        .hint("use a new key for a new change, or repeat the first input exactly"));
    }
    let unaudited = found.entry.call_id.map(|id| log.find_call(id)).transpose()?.flatten();
    if let Some(record) = unaudited {
        audited(call, log, record.entry).await?;
    }
    let Some(StoredReply { data, text }) = found.reply else { return Ok(None) };
    let evidence =
        Evidence::from(Source::new(SourceClass::Exact, "the stored result of the first call"));
    let notes = Reply::new((), text, evidence).notes;
    let (fingerprint, bytes) = Fingerprint::of_json(&data)?;
    let (computed_at, hints) = (call.started, Mutex::default());
    let out_hash = fingerprint.hex();
    let reply =
        CachedReply { data, notes, in_hash, out_hash, bytes, computed_at, hints, is_shared: false };
    Ok(Some(Outcome { replayed: true, ..Outcome::computed(reply, CacheUse::None) }))
}

fn key_of(call: &Call) -> Result<Option<IdempotencyKey>, ToolError> {
    let Some(key) = &call.cx.idempotency_key else { return Ok(None) };
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return Err(ToolError::validation(
            "BAD_IDEMPOTENCY_KEY",
            format!("the idempotency key has {} bytes", key.len()),
        )
        .hint(format!("use 1 to {MAX_KEY_BYTES} bytes, such as a UUID")));
    }
    let (partition, tool) = (call.cx.caller.partition.clone(), call.entry().spec.name.to_owned());
    Ok(Some(IdempotencyKey { partition, tool, key: key.clone() }))
}

fn running(key: &IdempotencyKey) -> ToolError {
    ToolError::conflict(
        "IDEMPOTENCY_RUNNING",
        format!("the change with the idempotency key `{}` is still being made", key.key),
    )
    .hint("wait a second and send the same call again")
    .retry_after(Duration::from_secs(1))
}

/// The audit entry of the call, without its result.
fn entry_of(call: &Call) -> AuditEntry {
    let audit = Audit {
        in_hash: call.fingerprint.hex(),
        out_hash: Arc::default(),
        latency_ms: 0,
        seed: call.fingerprint.seed(),
        status: Status::Ok,
    };
    call.audit_entry(audit, None, true)
}
