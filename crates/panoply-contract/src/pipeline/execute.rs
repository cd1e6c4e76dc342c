//! Runs a handler where it can do no harm: under a deadline, with panics caught, and its
//! answer verified before anyone sees it.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::{FutureExt, TryFutureExt};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Call, Kept, validate};
use crate::audit::Fingerprint;
use crate::error::{ErrorKind, ToolError};
use crate::json::Json;
use crate::registry::ToolEntry;
use crate::reply::Reply;
use crate::spec::ResponseTime;
use crate::tool::Handling;

/// About 20,000 tokens: more than this and large clients cut the reply or refuse it.
pub(crate) const LARGEST_REPLY: usize = 80_000;
/// In a release build, one reply in so many is checked against its schema. Tests check all. A
/// check costs more than most handlers, so it stays well clear of the hundredth call.
const REPLIES_PER_CHECK: u64 = if cfg!(debug_assertions) { 1 } else { 1000 };

static REPLIES: AtomicU64 = AtomicU64::new(0);

pub(super) async fn handle(call: &Call<'_>, input: &Value) -> Result<Kept, ToolError> {
    let entry = call.entry;
    let handling = guard_sync(|| Arc::clone(&entry.handler).call(input, Arc::clone(&call.cx)))?
        .map_err(|error| validate::unparsed(entry, &error))?;
    let reply = match entry.spec.response_time {
        ResponseTime::Fast => within_deadline(call, guarded(handling)).await?,
        // These may compute for a while. On the blocking pool they cannot starve the others.
        ResponseTime::Medium => {
            let work = blocking(handling, call.cx.cancel.clone());
            let clock = call.kernel.world.clock.as_ref();
            within_deadline(call, call.kernel.turns.run(work, clock)).await??
        }
        ResponseTime::Slow => {
            let work = tokio::task::spawn_blocking(blocking(handling, call.cx.cancel.clone()));
            let lost = |error| ToolError::system("the blocking pool lost a handler").cause(error);
            within_deadline(call, work.map_err(lost)).await??
        }
    }?;
    verify(entry, &reply)?;
    let (fingerprint, bytes) = Fingerprint::of_json(&reply.data)?;
    if bytes > LARGEST_REPLY && !entry.spec.category.mutates() {
        return Err(ToolError::business(
            "REPLY_TOO_LARGE",
            format!("the answer has {bytes} bytes, at most {LARGEST_REPLY} fit into a reply"),
        )
        .hint("ask for less: a smaller page, a shorter period or fewer fields"));
    }
    let Reply { data, notes } = reply;
    Ok(Kept { data, notes, fingerprint, bytes, computed_at: call.kernel.world.clock.monotonic() })
}

async fn within_deadline<T>(
    call: &Call<'_>,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    let deadline = call.entry.spec.deadline();
    let overrun = async { call.kernel.world.clock.sleep(deadline).await };
    tokio::select! {
        biased;
        done = work => done,
        () = call.cx.cancel.cancelled() => Err(cancelled()),
        () = overrun => {
            // The handler may still be computing: this asks it to stop.
            call.cx.cancel.cancel();
            let name = call.entry.spec.name;
            Err(ToolError::new(ErrorKind::Timeout, "TIMEOUT", format!("`{name}` did not answer within {} s", deadline.as_secs()))
                .hint("try again with a narrower question"))
        }
    }
}

/// A handler as work for a thread. One that waits is dropped when nobody wants its answer any more;
/// one that computes has to ask `check_cancelled` now and then.
fn blocking(
    handling: Handling,
    cancel: CancellationToken,
) -> impl FnOnce() -> Result<Result<Reply<Json>, ToolError>, ToolError> + Send + 'static {
    let runtime = tokio::runtime::Handle::current();
    let work = async move {
        tokio::select! {
            biased;
            done = guarded(handling) => done,
            () = cancel.cancelled() => Err(cancelled()),
        }
    };
    move || runtime.block_on(work)
}

fn cancelled() -> ToolError {
    ToolError::new(ErrorKind::Cancelled, "CANCELLED", "the call was cancelled")
}

/// A future whose panic is an error.
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

/// What the contract demands of every result, as far as the types do not say it already.
fn verify(entry: &ToolEntry, reply: &Reply<Json>) -> Result<(), ToolError> {
    let name = entry.spec.name;
    if reply.data.text() == "null" {
        return Err(ToolError::system(format!("`{name}` answered null")));
    }
    if reply.notes.text.is_empty() {
        return Err(ToolError::system(format!("`{name}` answered without a text")));
    }
    if REPLIES.fetch_add(1, Ordering::Relaxed).is_multiple_of(REPLIES_PER_CHECK)
        && let Err(error) = entry.data.validator()?.validate(&reply.data.value())
    {
        let place = error.instance_path().to_string();
        return Err(ToolError::system(format!(
            "`{name}` broke its output schema at `{place}`: {error}"
        )));
    }
    Ok(())
}
