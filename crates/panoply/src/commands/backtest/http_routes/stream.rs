//! One stream of events into a run: lines in, acknowledgements out, in bounded memory.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::Response;
use futures::StreamExt as _;
use panoply_backtest::error::LogError;
use panoply_backtest::stream::{Acknowledged, EventStream};
use panoply_contract::context::Caller;
use panoply_contract::operation::Operation;
use panoply_contract::pack::Growth;
use panoply_mcp::transport::http::CredentialEnded;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::run_writer::{Refusal, RunWriter, WriteLease, blocking, finish};

/// Flush interval of a partial batch.
const TICK: Duration = Duration::from_secs(1);
/// An idle stream is ended after this time, because it holds the write lease.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);
/// Queued acknowledgements for a client that does not read; later ones supersede earlier ones.
const MAX_QUEUED_ACKS: usize = 16;

/// After this number of reply lines only every sixteenth batch is acknowledged: a client that reads
/// nothing until it has sent everything must not fill the pipe.
const MAX_ACK_LINES: u64 = 1000;

/// End of a stream.
enum End {
    /// Complete body.
    Whole,
    /// Disconnect or idle timeout.
    Cut,
    /// Server shutdown.
    Stopping,
    /// The key was revoked, or the token has expired.
    Unauthorized,
    /// Write failure.
    Failed(Refusal),
}

/// Who sends a stream, with the lease of the run.
pub(super) struct Producer {
    pub(super) writer: Arc<RunWriter>,
    pub(super) caller: Caller,
    pub(super) lease: WriteLease,
}

/// Ingests the stream and replies meanwhile.
pub(super) fn reply(
    producer: Producer,
    operation: Operation,
    intake: EventStream,
    body: Body,
) -> Response {
    let (lines, replies) = mpsc::channel::<Bytes>(MAX_QUEUED_ACKS);
    tokio::spawn(ingest(producer, operation, intake, body, lines));
    let replies = futures::stream::unfold(replies, |mut replies| async {
        let line = replies.recv().await?;
        Some((Ok::<_, Infallible>(line), replies))
    });
    let mut response = Response::new(Body::from_stream(replies));
    let kind = header::HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

async fn ingest(
    producer: Producer,
    operation: Operation,
    intake: EventStream,
    body: Body,
    lines: mpsc::Sender<Bytes>,
) {
    let mut acked = intake.acknowledged();
    let (end, intake) = pump(&producer, intake, body, &lines, &mut acked).await;
    let was_cut = !matches!(end, End::Whole);
    let now = producer.writer.kernel.clock().monotonic();
    let mut rejected = (0, Value::Array(Vec::new()));
    let mut refusal = match end {
        End::Whole | End::Cut => None,
        End::Stopping => Some(Refusal::stopping()),
        End::Unauthorized => Some(Refusal::unauthorized()),
        End::Failed(refusal) => Some(refusal),
    };
    // Complete lines are stored even after a disconnect.
    if let Some(mut intake) = intake {
        let finished = blocking(move || {
            let acknowledged = intake.finish(was_cut, now)?;
            let (count, sample) = intake.rejected();
            Ok((acknowledged, (count, json!(sample))))
        });
        match finished.await {
            Ok((acknowledged, lines)) => (acked, rejected) = (acknowledged, lines),
            Err(failed) => refusal = Some(failed),
        }
    }
    drop(producer.lease);
    let acknowledged = summary(acked);
    let code = refusal.as_ref().map(Refusal::code);
    if let Err(unrecorded) = finish(operation, &acknowledged, code).await {
        refusal = refusal.or(Some(unrecorded));
    }
    let last = match refusal {
        Some(refusal) => refusal.json(acknowledged),
        None => json!({
            "acknowledgedEvents": acked.events, "lastSequence": acked.sequence,
            "rejected": rejected.0, "rejectedLines": rejected.1, "complete": !was_cut,
        }),
    };
    // The client may have disconnected.
    let _ = lines.send(line(&last)).await;
}

/// Feeds the body into the intake until it ends.
async fn pump(
    producer: &Producer,
    mut intake: EventStream,
    body: Body,
    lines: &mpsc::Sender<Bytes>,
    acked: &mut Acknowledged,
) -> (End, Option<EventStream>) {
    let writer = &producer.writer;
    let mut pieces = body.into_data_stream();
    let mut heard = writer.kernel.clock().monotonic();
    let mut batches = 0_u64;
    loop {
        let next = tokio::select! {
            () = writer.stop.cancelled() => return (End::Stopping, Some(intake)),
            next = tokio::time::timeout(TICK, pieces.next()) => next,
        };
        let now = writer.kernel.clock().monotonic();
        let piece = match next {
            Ok(None) => return (End::Whole, Some(intake)),
            Ok(Some(Err(error))) => {
                let end =
                    if CredentialEnded::caused(&error) { End::Unauthorized } else { End::Cut };
                return (end, Some(intake));
            }
            Ok(Some(Ok(piece))) => {
                heard = now;
                Some(piece)
            }
            Err(_) if now.saturating_sub(heard) >= IDLE_TIMEOUT => return (End::Cut, Some(intake)),
            Err(_) => None,
        };
        let worked = blocking(move || {
            let taken: Result<Option<Acknowledged>, LogError> = match piece {
                Some(piece) => intake.push(&piece, now),
                None => intake.tick(now),
            };
            Ok((intake, taken))
        });
        let taken = match worked.await {
            Ok((returned, taken)) => {
                intake = returned;
                taken
            }
            // The thread panicked; the client resends unacknowledged lines.
            Err(refusal) => return (End::Failed(refusal), None),
        };
        match taken {
            Ok(None) => {}
            Ok(Some(acknowledged)) => {
                *acked = acknowledged;
                batches += 1;
                if batches <= MAX_ACK_LINES || batches.is_multiple_of(16) {
                    // A full queue drops acknowledgements; the last line has the total.
                    let _ = lines.try_send(line(&summary(*acked)));
                }
                let room = writer.check_quota(&producer.caller, Growth::Batch).await;
                if let Err(refusal) = room {
                    return (End::Failed(refusal), Some(intake));
                }
            }
            Err(error) => return (End::Failed(error.into()), None),
        }
    }
}

fn summary(acked: Acknowledged) -> Value {
    json!({"acknowledgedEvents": acked.events, "lastSequence": acked.sequence})
}

fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}
