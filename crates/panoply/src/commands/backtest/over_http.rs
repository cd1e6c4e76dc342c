//! `/backtest/runs/…` of `panoply http`: engines make runs, fill them and complete them.
//!
//! | request | does | needs |
//! |---|---|---|
//! | `PUT /backtest/runs/{id}` | makes an open run, or says more about it | `backtests:import` |
//! | `POST /backtest/runs/{id}/events` | takes NDJSON, acknowledges batch by batch | `backtests:import` |
//! | `POST /backtest/runs/{id}/seal` | completes the run | `backtests:import` |
//! | `GET /backtest/runs/{id}` | tells how far it is | `backtests:read` |
//!
//! One stream writes to a run at a time. The reply to a stream begins at once and has one line for
//! each acknowledged batch and one at the end; a client that only reads the last one is fine.

mod desk;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Path, State};
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
use panoply_backtest::timestamp::Timestamp;
use panoply_contract::context::Caller;
use serde_json::{Value, json};

pub(crate) use self::desk::Desk;
use self::desk::{Done, Refusal};

/// A description of a run is at most so long.
const LARGEST_HEADER: usize = 1 << 20;
/// And is sent within this time.
const HEADER_TIME: Duration = Duration::from_secs(12);
const IMPORT: &str = "backtests:import";
const READ: &str = "backtests:read";

/// The routes, for callers that proved who they are.
pub(crate) struct Routes {
    /// Those whose body has arrived whole.
    pub(crate) whole: Router,
    /// The one that reads its body as a stream.
    pub(crate) streaming: Router,
}

/// All routes.
pub(crate) fn routes(desk: Desk) -> Routes {
    let desk = Arc::new(desk);
    let whole = Router::new()
        .route("/backtest/runs/{id}", put(open).get(look))
        .route("/backtest/runs/{id}/seal", post(seal));
    let streaming = Router::new().route("/backtest/runs/{id}/events", post(events));
    Routes { whole: whole.with_state(Arc::clone(&desk)), streaming: streaming.with_state(desk) }
}

async fn open(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    body: Body,
) -> Response {
    desk::to_the_end(async move {
        let started = desk.clock.monotonic();
        let id = desk.admit(&caller, IMPORT, &id)?;
        let body = tokio::time::timeout(HEADER_TIME, to_bytes(body, LARGEST_HEADER)).await;
        let body = body.ok().and_then(Result::ok).ok_or_else(|| {
            Refusal::invalid("the description of a run is at most 1 MiB, sent within 12 seconds")
        })?;
        let (input, header) = described(&body, id)?;
        let turn = desk.turn(id)?;
        let (own, moment) = (Arc::clone(&desk), desk.now());
        let (record, is_new) = desk::blocking(move || {
            let _turn = turn;
            let is_new = own.store.run(id)?.is_none();
            OpenRun::open(Arc::clone(&own.store), id, header, moment)?;
            Ok((own.store.run(id)?, is_new))
        })
        .await?;
        let output = shown(id, record.as_ref());
        let done =
            Done { what: "PUT", id, input: &input, output: &output, started, error_code: None };
        desk.record(&caller, done).await?;
        let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, Json(output)).into_response())
    })
    .await
}

/// The description as it came, and what we understand of it.
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

async fn look(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Response {
    let work = async {
        let id = desk.allow(&caller, READ, &id)?;
        let own = Arc::clone(&desk);
        let record = desk::blocking(move || own.store.run(id)).await?;
        match record {
            None => Err(Refusal::not_found(id)),
            Some(record) => Ok(Json(shown(id, Some(&record))).into_response()),
        }
    };
    work.await.unwrap_or_else(Refusal::into_response)
}

async fn events(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let work = async {
        let id = desk.admit(&caller, IMPORT, &id)?;
        if let Some(coding) = headers.get(header::CONTENT_ENCODING) {
            let coding = coding.to_str().unwrap_or("?");
            if coding != "identity" {
                return Err(Refusal::coding(coding));
            }
        }
        let turn = desk.turn(id)?;
        let run = reopened(&desk, id).await?;
        Ok(stream::reply(Arc::clone(&desk), caller, run, body, turn))
    };
    work.await.unwrap_or_else(Refusal::into_response)
}

/// The run, when it is there and open.
async fn reopened(desk: &Arc<Desk>, id: Guid) -> Result<OpenRun, Refusal> {
    let (own, moment) = (Arc::clone(desk), desk.now());
    let opened = desk::blocking(move || match own.store.run(id)? {
        None => Ok(None),
        Some(_) => {
            OpenRun::open(Arc::clone(&own.store), id, RunHeader::default(), moment).map(Some)
        }
    });
    opened.await?.ok_or_else(|| Refusal::not_found(id))
}

async fn seal(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Response {
    desk::to_the_end(async move {
        let started = desk.clock.monotonic();
        let id = desk.admit(&caller, IMPORT, &id)?;
        let turn = desk.turn(id)?;
        let own = Arc::clone(&desk);
        let moment = desk.now();
        let report = desk::behind_answers(move || {
            let _turn = turn;
            sealed(&own, id, moment)
        });
        let report = report.await?.ok_or_else(|| Refusal::not_found(id))?;
        let status = Status::Completed.as_str();
        let output = json!({"runId": id.to_string(), "status": status, "report": report});
        let input = json!({});
        let done =
            Done { what: "seal", id, input: &input, output: &output, started, error_code: None };
        desk.record(&caller, done).await?;
        Ok(Json(output).into_response())
    })
    .await
}

fn sealed(desk: &Desk, id: Guid, moment: Timestamp) -> Result<Option<SealReport>, LogError> {
    let Some(record) = desk.store.run(id)? else { return Ok(None) };
    // Asked again, because the first answer was lost: the report is still there.
    if record.status == Status::Completed {
        let run = SealedRun::open(id, desk.store.sealed(id)?, Cache::new(1 << 20))?;
        return run.report().map(Some);
    }
    let open = OpenRun::open(Arc::clone(&desk.store), id, RunHeader::default(), moment)?;
    open.seal(&mut |_, _| {}, &|| desk.stop.is_cancelled()).map(Some)
}

fn shown(id: Guid, record: Option<&RunRecord>) -> Value {
    let Some(record) = record else { return json!({"runId": id.to_string()}) };
    json!({
        "runId": id.to_string(),
        "status": record.status.as_str(),
        "acknowledgedEvents": record.events,
        "header": record.header,
    })
}
