//! `/backtest/runs/…` of `panoply http`: backtest engines create, fill and complete runs.
//!
//! | request | does | needs |
//! |---|---|---|
//! | `PUT /backtest/runs/{id}` | makes an open run, or says more about it | `backtests:import` |
//! | `POST /backtest/runs/{id}/events?sequence=N` | takes NDJSON whose first line is the producer's Nth, acknowledges batch by batch | `backtests:import` |
//! | `POST /backtest/runs/{id}/seal` | completes the run | `backtests:import` |
//! | `GET /backtest/runs/{id}` | tells how far it is | `backtests:read` |
//! | `DELETE /backtest/runs/{id}` | deletes it, also above the quota | `backtests:delete` |
//!
//! One stream writes to a run at a time. The reply to a stream begins at once and has one line for
//! each acknowledged batch and one at the end; a client that only reads the last one is fine. Lines
//! are numbered by their producer, from 1: what is on disk already is skipped, a gap is refused.

mod run_writer;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{post, put};
use axum::{Json, Router};
use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::ingest::{OpenRun, SealReport};
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::run::{RunHeader, RunRecord, Status};
use panoply_backtest::store::Store;
use panoply_backtest::stream::EventStream;
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::context::Caller;
use panoply_contract::operation::OperationSpec;
use panoply_contract::pack::Growth;
use panoply_contract::tenant::TenantId;
use serde::Deserialize;
use serde_json::{Value, json};

use self::run_writer::{Refusal, WriteLease};
pub(crate) use self::run_writer::{RunStores, RunWriter};
use self::stream::Producer;

/// Maximum size of a run description.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// Timeout of a run description.
const HEADER_TIMEOUT: Duration = Duration::from_secs(12);
const READ: &str = "backtests:read";

/// Operation of a route.
const fn change(name: &'static str) -> OperationSpec {
    OperationSpec {
        name,
        pack: "backtest",
        permissions: &["backtests:import"],
        data: &["backtests"],
    }
}

static PUT: OperationSpec = change("backtest/runs PUT");
static EVENTS: OperationSpec = change("backtest/runs events");
static SEAL: OperationSpec = change("backtest/runs seal");
static DELETE: OperationSpec =
    OperationSpec { permissions: &["backtests:delete"], ..change("backtest/runs DELETE") };

/// Authenticated routes.
pub(crate) struct Routes {
    /// Routes with a buffered body.
    pub(crate) whole: Router,
    /// The route that streams its body.
    pub(crate) streaming: Router,
}

pub(crate) fn routes(writer: RunWriter) -> Routes {
    let writer = Arc::new(writer);
    let whole = Router::new()
        .route("/backtest/runs/{id}", put(open).get(status).delete(delete))
        .route("/backtest/runs/{id}/seal", post(seal));
    let streaming = Router::new().route("/backtest/runs/{id}/events", post(events));
    Routes { whole: whole.with_state(Arc::clone(&writer)), streaming: streaming.with_state(writer) }
}

async fn open(
    State(writer): State<Arc<RunWriter>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: Body,
) -> Response {
    run_writer::run_detached(async move {
        let id = parsed(&id)?;
        let body = tokio::time::timeout(HEADER_TIMEOUT, to_bytes(body, MAX_HEADER_BYTES)).await;
        let body = body.ok().and_then(Result::ok).ok_or_else(|| {
            Refusal::invalid("the description of a run is at most 1 MiB, sent within 12 seconds")
        })?;
        let (input, header) = described(&body, id)?;
        let workspace = caller.tenants.workspace.clone();
        let (operation, store) =
            writer.begin(&PUT, caller, (id, input), Some(Growth::Item)).await?;
        let lease = writer.lease(&workspace, id);
        let opened = open_run(store, lease, id, header, writer.now()).await;
        let output = match &opened {
            Ok((shown, _)) => shown.clone(),
            Err(refusal) => refusal.json(json!({})),
        };
        run_writer::finish(operation, &output, opened.as_ref().err().map(Refusal::code)).await?;
        let (output, is_new) = opened?;
        let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, Json(output)).into_response())
    })
    .await
}

async fn open_run(
    store: Arc<dyn Store>,
    lease: Result<WriteLease, Refusal>,
    id: Guid,
    header: RunHeader,
    now: Timestamp,
) -> Result<(Value, bool), Refusal> {
    let lease = lease?;
    run_writer::blocking(move || {
        let _lease = lease;
        let is_new = store.run(id)?.is_none();
        OpenRun::open(Arc::clone(&store), id, header, now)?;
        Ok((shown(store.as_ref(), id, store.run(id)?.as_ref())?, is_new))
    })
    .await
}

fn parsed(id: &str) -> Result<Guid, Refusal> {
    Guid::parse(id).ok_or_else(|| {
        let shown: String = id.chars().take(60).collect();
        Refusal::invalid(format!("`{shown}` is not a GUID"))
    })
}

/// Parses the description of a run; returns it as JSON and as a header.
fn described(body: &[u8], id: Guid) -> Result<(Value, RunHeader), Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok((json!({}), RunHeader::default()));
    }
    let json: Value = serde_json::from_slice(body)
        .map_err(|error| Refusal::invalid(format!("the description of the run: {error}")))?;
    if let Some(named) = json.get("runId").and_then(Value::as_str)
        && Guid::parse(named) != Some(id)
    {
        let shown: String = named.chars().take(60).collect();
        return Err(Refusal::invalid(format!("`runId` is `{shown}`, but the address says `{id}`")));
    }
    let header = serde_json::from_value(json.clone())
        .map_err(|error| Refusal::invalid(format!("the description of the run: {error}")))?;
    Ok((json, header))
}

async fn status(
    State(writer): State<Arc<RunWriter>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Response {
    let work = async {
        let id = writer.authorize(&caller, READ, &id)?;
        let store = writer.store(caller).await?;
        let found = run_writer::blocking(move || match store.run(id)? {
            None => Ok(None),
            Some(record) => shown(store.as_ref(), id, Some(&record)).map(Some),
        });
        match found.await? {
            None => Err(Refusal::not_found(id)),
            Some(shown) => Ok(Json(shown).into_response()),
        }
    };
    work.await.unwrap_or_else(Refusal::into_response)
}

async fn events(
    State(writer): State<Arc<RunWriter>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    Query(from): Query<StartSequence>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let work = async {
        let id = parsed(&id)?;
        if let Some(coding) = headers.get(header::CONTENT_ENCODING) {
            let coding = coding.to_str().unwrap_or("?");
            if coding != "identity" {
                return Err(Refusal::coding(coding));
            }
        }
        let input = json!({"sequence": from.sequence});
        let workspace = caller.tenants.workspace.clone();
        let producer = caller.clone();
        let (operation, store) =
            writer.begin(&EVENTS, caller, (id, input), Some(Growth::Batch)).await?;
        let begun = async {
            let lease = writer.lease(&workspace, id)?;
            let run = open_existing(store, id, writer.now()).await?;
            let first = from.first(run.sequence())?;
            Ok((run, first, lease))
        };
        match begun.await {
            Ok((run, first, lease)) => {
                let producer = Producer { writer: Arc::clone(&writer), caller: producer, lease };
                Ok(stream::reply(producer, operation, EventStream::new(run, first), body))
            }
            Err(refusal) => {
                let refusal: Refusal = refusal;
                run_writer::finish(operation, &refusal.json(json!({})), Some(refusal.code()))
                    .await?;
                Err(refusal)
            }
        }
    };
    work.await.unwrap_or_else(Refusal::into_response)
}

/// Position of a stream in the producer's lines.
#[derive(Debug, Deserialize)]
struct StartSequence {
    /// Number of the first line, from 1.
    sequence: Option<u64>,
}

impl StartSequence {
    /// Returns the number of the first line; refuses a gap. It is optional only for the first
    /// stream of a run: a later one could restart or continue.
    fn first(&self, on_disk: u64) -> Result<u64, Refusal> {
        let next = on_disk + 1;
        match self.sequence {
            None if on_disk == 0 => Ok(1),
            None => Err(Refusal::out_of_sequence(format!(
                "the run already has {on_disk} lines, and the request has no `sequence`"
            ))),
            Some(0) => Err(Refusal::invalid("`sequence` counts lines from 1")),
            Some(first) if first > next => Err(Refusal::out_of_sequence(format!(
                "the stream begins at line {first}, but the run has only {on_disk} lines"
            ))),
            Some(first) => Ok(first),
        }
    }
}

/// Opens an existing run for writing.
async fn open_existing(
    store: Arc<dyn Store>,
    id: Guid,
    now: Timestamp,
) -> Result<OpenRun, Refusal> {
    let opened = run_writer::blocking(move || match store.run(id)? {
        None => Ok(None),
        Some(_) => OpenRun::open(Arc::clone(&store), id, RunHeader::default(), now).map(Some),
    });
    opened.await?.ok_or_else(|| Refusal::not_found(id))
}

async fn delete(
    State(writer): State<Arc<RunWriter>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Response {
    run_writer::run_detached(async move {
        let id = parsed(&id)?;
        let workspace = caller.tenants.workspace.clone();
        let (operation, store) = writer.begin(&DELETE, caller, (id, json!({})), None).await?;
        let deleted = match writer.lease(&workspace, id) {
            Ok(lease) => delete_now(store, lease, id).await,
            Err(refusal) => Err(refusal),
        };
        let output = match &deleted {
            Ok(()) => json!({"runId": id.to_string(), "deleted": true}),
            Err(refusal) => refusal.json(json!({})),
        };
        run_writer::finish(operation, &output, deleted.as_ref().err().map(Refusal::code)).await?;
        deleted.map(|()| Json(output).into_response())
    })
    .await
}

async fn delete_now(store: Arc<dyn Store>, lease: WriteLease, id: Guid) -> Result<(), Refusal> {
    let deleted = run_writer::blocking(move || {
        let _lease = lease;
        let exists = store.run(id)?.is_some();
        if exists {
            store.delete(id)?;
        }
        Ok(exists)
    });
    if deleted.await? { Ok(()) } else { Err(Refusal::not_found(id)) }
}

async fn seal(
    State(writer): State<Arc<RunWriter>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Response {
    run_writer::run_detached(async move {
        let id = parsed(&id)?;
        let workspace = caller.tenants.workspace.clone();
        let (operation, store) = writer.begin(&SEAL, caller, (id, json!({})), None).await?;
        let sealed = seal_now(&writer, store, &workspace, id).await;
        let output = match &sealed {
            Ok(output) => output.clone(),
            Err(refusal) => refusal.json(json!({})),
        };
        run_writer::finish(operation, &output, sealed.as_ref().err().map(Refusal::code)).await?;
        Ok(Json(sealed?).into_response())
    })
    .await
}

async fn seal_now(
    writer: &Arc<RunWriter>,
    store: Arc<dyn Store>,
    workspace: &TenantId,
    id: Guid,
) -> Result<Value, Refusal> {
    let lease = writer.lease(workspace, id)?;
    let (own, now) = (Arc::clone(writer), writer.now());
    let report = run_writer::blocking_low_priority(move || {
        let _lease = lease;
        sealed(&own, &store, id, now)
    });
    let report = report.await?.ok_or_else(|| Refusal::not_found(id))?;
    let status = Status::Completed.as_str();
    Ok(json!({"runId": id.to_string(), "status": status, "report": report}))
}

fn sealed(
    writer: &RunWriter,
    store: &Arc<dyn Store>,
    id: Guid,
    now: Timestamp,
) -> Result<Option<SealReport>, LogError> {
    let Some(record) = store.run(id)? else { return Ok(None) };
    // Idempotent: a retry returns the stored report.
    if record.status == Status::Completed {
        let run = SealedRun::open(id, store.sealed(id)?, Cache::new(1 << 20))?;
        return run.report().map(Some);
    }
    let open = OpenRun::open(Arc::clone(store), id, RunHeader::default(), now)?;
    open.seal(&mut |_, _| {}, &|| writer.stop.is_cancelled()).map(Some)
}

fn shown(store: &dyn Store, id: Guid, record: Option<&RunRecord>) -> Result<Value, LogError> {
    let Some(record) = record else { return Ok(json!({"runId": id.to_string()})) };
    let mut shown = json!({
        "runId": id.to_string(),
        "status": record.status.as_str(),
        "acknowledgedEvents": record.events,
        "header": record.header,
    });
    // After a crash the catalog may lag by one batch; the open run is current.
    if record.status == Status::Running
        && let Some(shown) = shown.as_object_mut()
    {
        let on_disk = OpenRun::persisted(store, id)?;
        shown.insert("acknowledgedEvents".to_owned(), on_disk.events.into());
        shown.insert("lastSequence".to_owned(), on_disk.sequence.into());
    }
    Ok(shown)
}
