//! Runs a handler with a deadline, catches panics and verifies the result.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;

use super::limits::Authority;
use super::{CachedReply, Call, validate};
use crate::audit::Fingerprint;
use crate::consent::Question;
use crate::context::CallContext;
use crate::error::{ErrorKind, ToolError};
use crate::json::Json;
use crate::kernel::forbidden;
use crate::registry::ToolEntry;
use crate::reply::Reply;

/// About 20,000 tokens: major clients truncate or refuse larger replies.
pub(crate) const MAX_REPLY_BYTES: usize = 80_000;
/// Release builds validate one reply in this many against its schema; debug builds validate all. A
/// validation costs more than most handlers, so the rate keeps it out of the p99 latency.
const REPLIES_PER_CHECK: u64 = if cfg!(debug_assertions) { 1 } else { 1000 };

static REPLIES: AtomicU64 = AtomicU64::new(0);

/// Runs the handler on the current task.
pub(super) async fn handle(call: &Call) -> Result<CachedReply, ToolError> {
    let entry = call.entry();
    let (reply, is_shared) = match call.authority {
        Authority::SharedItems => {
            let refused = forbidden(&call.cx.caller, entry.spec.permissions);
            (shared(call, refused).await?, true)
        }
        Authority::Granted | Authority::NeedsConsent => own_or_shared(call).await?,
    };
    verify(entry, &reply)?;
    let (fingerprint, bytes) = Fingerprint::of_json(&reply.data)?;
    let max_bytes = reply.notes.max_bytes.map_or(MAX_REPLY_BYTES, |own| own.max(MAX_REPLY_BYTES));
    if bytes > max_bytes && !entry.spec.category.mutates() {
        return Err(ToolError::business(
            "REPLY_TOO_LARGE",
            format!("the answer has {bytes} bytes, at most {max_bytes} fit into a reply"),
        )
        .hint("ask for less: a smaller page, a shorter period or fewer fields"));
    }
    let Reply { data, notes } = reply;
    let computed_at = call.kernel.services.clock.monotonic();
    let (in_hash, out_hash) = (call.fingerprint.hex(), fingerprint.hex());
    let hints = Mutex::default();
    Ok(CachedReply { data, notes, in_hash, out_hash, bytes, computed_at, hints, is_shared })
}

/// The reply from the caller's own data, or else from what others share; whether it is the latter.
async fn own_or_shared(call: &Call) -> Result<(Reply<Json>, bool), ToolError> {
    let entry = call.entry();
    let handler = Arc::clone(&entry.handler);
    let handling = guard_sync(|| handler.call(call.arguments(), Arc::clone(&call.cx)))?
        .map_err(|error| validate::unparsed(entry, call.cx.lang, &error))?;
    match until_cancelled(call, handling).await {
        Err(error) if error.kind == ErrorKind::NotFound && !entry.spec.category.mutates() => {
            Ok((shared(call, error).await?, true))
        }
        handled => Ok((handled?, false)),
    }
}

/// Cancellation drops a handler at an await point; a handler that computes must call
/// `check_cancelled`.
async fn until_cancelled<T>(
    call: &Call,
    handling: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        done = guarded(handling) => done?,
        () = call.cx.cancel.cancelled() => Err(cancelled()),
    }
}

/// The reply from what others share with the caller; otherwise the error `unknown`.
async fn shared(call: &Call, unknown: ToolError) -> Result<Reply<Json>, ToolError> {
    let handler = Arc::clone(&call.entry().handler);
    match handler.call_shared(call.arguments(), Arc::clone(&call.cx)) {
        Some(handling) => until_cancelled(call, handling).await?.ok_or(unknown),
        None => Err(unknown),
    }
}

/// Builds the consent question.
pub(super) fn question(call: &Call) -> Result<Question, ToolError> {
    let entry = call.entry();
    guard_sync(|| entry.handler.question(call.arguments(), &call.cx))?
        .map_err(|error| validate::unparsed(entry, call.cx.lang, &error))?
}

/// Stops waiting at the deadline or on cancellation. Work in a lane continues.
pub(crate) async fn within<T, E: From<ToolError>>(
    cx: &CallContext,
    name: &str,
    deadline: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let deadline = cx.deadline.unwrap_or(deadline);
    let overrun = async { cx.clock.sleep(deadline).await };
    tokio::select! {
        biased;
        done = work => done,
        () = cx.cancel.cancelled() => Err(cancelled().into()),
        () = overrun => {
            // The handler may still be running: signal it to stop.
            cx.cancel.cancel();
            let message = format!("`{name}` did not answer within {} s", deadline.as_secs());
            Err(ToolError::new(ErrorKind::Timeout, "TIMEOUT", message)
                .hint("try again with a narrower question")
                .into())
        }
    }
}

pub(super) fn cancelled() -> ToolError {
    ToolError::new(ErrorKind::Cancelled, "CANCELLED", "the call was cancelled")
}

/// Converts a panic of the future into an error.
pub(crate) async fn guarded<T>(work: impl Future<Output = T>) -> Result<T, ToolError> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| panicked(panic.as_ref()))
}

fn guard_sync<T>(work: impl FnOnce() -> T) -> Result<T, ToolError> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panicked(panic.as_ref()))
}

fn panicked(panic: &(dyn Any + Send)) -> ToolError {
    let text = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    ToolError::system(format!("a handler panicked: {text}"))
}

/// Checks the contract's rules that types do not enforce.
fn verify(entry: &ToolEntry, reply: &Reply<Json>) -> Result<(), ToolError> {
    let name = entry.spec.name;
    if reply.data.text() == "null" {
        return Err(ToolError::system(format!("`{name}` answered null")));
    }
    if reply.notes.text.is_empty() {
        return Err(ToolError::system(format!("`{name}` returned an empty text")));
    }
    if REPLIES.fetch_add(1, Ordering::Relaxed).is_multiple_of(REPLIES_PER_CHECK)
        && let Err(error) = entry.data.validator()?.validate(&reply.data.value())
    {
        let place = error.instance_path().to_string();
        return Err(ToolError::system(format!(
            "`{name}` violated its output schema at `{place}`: {error}"
        )));
    }
    Ok(())
}
