//! Shared state of the tools: the store, the blob cache, and the open runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_contract::prelude::*;

use super::query_runs::Candidate;
use crate::error::LogError;
use crate::event::Guid;
use crate::query::cache::Cache;
use crate::query::reader::SealedRun;
use crate::run::{RunRecord, Status};
use crate::sample;
use crate::store::Store;
use crate::timestamp::Timestamp;

/// Capacity of the blob cache, by its own estimate. Replies and allocator overhead add to it: with
/// 64 MiB here, a server under continuous load on a run of ten million events took 259 MB.
const CACHE_BYTES: usize = 40 << 20;
/// The same for shared runs: several views may be open for each tenant.
const SHARED_CACHE_BYTES: usize = 8 << 20;
/// Rows of `query_runs` that stay in memory, of a few kilobytes each.
const MAX_CANDIDATES: usize = 2_000;
/// Runs whose heads stay in memory.
const MAX_OPEN_RUNS: usize = 64;

/// The service behind all tools of the pack.
pub(crate) struct BacktestService {
    store: Arc<dyn Store>,
    cache: Arc<Cache>,
    open_runs: Mutex<RunCache>,
    candidates: Mutex<Option<CachedCandidates>>,
}

/// The rows of `query_runs` in one currency, at a version of the catalog.
struct CachedCandidates {
    version: u64,
    currency: Option<String>,
    rows: Vec<Arc<Candidate>>,
}

impl BacktestService {
    pub(crate) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Self::with_cache(store, CACHE_BYTES)
    }

    /// A service over runs that another tenant shares.
    pub(crate) fn shared(store: Arc<dyn Store>) -> Arc<Self> {
        Self::with_cache(store, SHARED_CACHE_BYTES)
    }

    fn with_cache(store: Arc<dyn Store>, bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            store,
            cache: Cache::new(bytes),
            open_runs: Mutex::default(),
            candidates: Mutex::default(),
        })
    }

    /// All runs, newest first, and the sample run at the end.
    pub(crate) fn runs(&self) -> Result<Vec<RunRecord>, ToolError> {
        let mut runs = self.store.runs().map_err(tool_error)?;
        let sample = sample::store().runs().map_err(tool_error)?;
        let is_new = |record: &RunRecord| runs.iter().all(|known| known.id != record.id);
        let added: Vec<RunRecord> = sample.into_iter().filter(is_new).collect();
        runs.extend(added);
        Ok(runs)
    }

    /// The sealed runs as rows of `query_runs`: those of the call before, while no process has sealed
    /// or deleted a run, else made by `load`.
    pub(crate) fn candidates(
        &self,
        currency: Option<&str>,
        load: impl FnOnce() -> Result<Vec<Arc<Candidate>>, ToolError>,
    ) -> Result<Vec<Arc<Candidate>>, ToolError> {
        // Read before the catalog: a change in between is detected by the next call.
        let version = self.version();
        let lock = || self.candidates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = &*lock()
            && own.version == version
            && own.currency.as_deref() == currency
        {
            return Ok(own.rows.clone());
        }
        let rows = load()?;
        let currency = currency.map(str::to_owned);
        *lock() = (rows.len() <= MAX_CANDIDATES).then(|| CachedCandidates {
            version,
            currency,
            rows: rows.clone(),
        });
        Ok(rows)
    }

    /// A run and its store: the user's, or that of the sample run.
    fn find(&self, id: Guid) -> Result<Option<(RunRecord, &dyn Store)>, LogError> {
        if let Some(record) = self.store.run(id)? {
            return Ok(Some((record, self.store.as_ref())));
        }
        if id != sample::ID {
            return Ok(None);
        }
        let store: &dyn Store = sample::store();
        Ok(store.run(id)?.map(|record| (record, store)))
    }

    pub(crate) fn version(&self) -> u64 {
        self.store.version()
    }

    /// Opens a sealed run; an open run is reported as not found.
    pub(crate) fn run(&self, id: &str) -> Result<Arc<SealedRun>, ToolError> {
        let guid = Guid::parse(id).ok_or_else(|| not_found(id))?;
        // Read before the catalog: a change in between is detected by the next call.
        let version = self.version();
        if let Some(run) = self.open_runs().get(guid, version) {
            return Ok(run);
        }
        let found = self.find(guid).map_err(tool_error)?;
        let (record, store) = found.ok_or_else(|| not_found(id))?;
        if record.status == Status::Running {
            return Err(ToolError::not_found(
                "RUN_NOT_FOUND",
                format!("run `{guid}` is still open: it can be queried once it is complete"),
            )
            .hint("complete it with `panoply backtest seal`, or ask for another run")
            .detail("runId", guid.to_string())
            .detail("status", record.status.as_str())
            .detail("acknowledgedEvents", record.events));
        }
        if let Some(run) = self.open_runs().revalidate(&record, version) {
            return Ok(run);
        }
        // Cached blobs under this id belong to a run that was deleted since.
        self.cache.forget(guid);
        let blobs = store.sealed(guid).map_err(tool_error)?;
        let run = SealedRun::open(guid, blobs, Arc::clone(&self.cache)).map_err(tool_error)?;
        Ok(self.open_runs().insert(CachedRun { run: Arc::new(run), record, version }))
    }

    fn open_runs(&self) -> MutexGuard<'_, RunCache> {
        self.open_runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct RunCache(HashMap<Guid, CachedRun>);

/// An open run with its catalog entry and the catalog version at that time. While the version is
/// unchanged, no process has sealed or deleted a run, and the entry is valid.
struct CachedRun {
    run: Arc<SealedRun>,
    record: RunRecord,
    version: u64,
}

impl RunCache {
    /// The run, if the catalog is unchanged.
    fn get(&self, id: Guid, version: u64) -> Option<Arc<SealedRun>> {
        self.0
            .get(&id)
            .filter(|cached| cached.version == version)
            .map(|cached| Arc::clone(&cached.run))
    }

    /// The run, if its catalog entry is unchanged.
    fn revalidate(&mut self, record: &RunRecord, version: u64) -> Option<Arc<SealedRun>> {
        let cached = self.0.get_mut(&record.id).filter(|cached| cached.record == *record)?;
        cached.version = version;
        Some(Arc::clone(&cached.run))
    }

    fn insert(&mut self, cached: CachedRun) -> Arc<SealedRun> {
        if self.0.len() >= MAX_OPEN_RUNS {
            self.0.clear();
        }
        let run = Arc::clone(&cached.run);
        self.0.insert(run.id(), cached);
        run
    }
}

fn not_found(id: &str) -> ToolError {
    let shown: String = id.chars().take(60).collect();
    ToolError::not_found("RUN_NOT_FOUND", format!("there is no run `{shown}`"))
        .hint("find run ids with `list_backtest_runs`")
        .detail("runId", shown)
}

/// Converts an error to the contract's codes.
pub(crate) fn tool_error(error: LogError) -> ToolError {
    match error {
        LogError::Cancelled => ToolError::new(
            panoply_contract::error::ErrorKind::Cancelled,
            "CANCELLED",
            "the call was cancelled",
        ),
        LogError::UnknownRun(id) => not_found(&id.to_string()),
        LogError::WrongStatus { .. } | LogError::TooManyEvents | LogError::ConcurrentWriter => {
            ToolError::conflict("INVALID_PARAMETER", error.to_string())
        }
        LogError::Store(cause) if cause.is::<panoply_store::StoreError>() => {
            match cause.downcast::<panoply_store::StoreError>() {
                Ok(error) => error.pack_error("backtest"),
                Err(cause) => ToolError::system(cause.to_string()),
            }
        }
        LogError::OtherFormat { found, expected } => ToolError::new(
            panoply_contract::error::ErrorKind::Storage,
            "DATABASE_ERROR",
            format!("the run was sealed in format {found}, and this version reads format {expected}"),
        )
        .hint("ask the operator to save its lines with `panoply backtest export`, delete the run and import the lines again"),
        LogError::Damaged(_) | LogError::Checksum(_) | LogError::MissingBlob(_) => ToolError::new(
            panoply_contract::error::ErrorKind::Storage,
            "PACK_DAMAGED",
            "the stored run is damaged",
        )
        .hint("ask the operator to run `panoply backtest verify`, or import the run again")
        .cause(error),
        LogError::Store(_) | LogError::Source(_) => ToolError::new(
            panoply_contract::error::ErrorKind::System,
            "DATABASE_ERROR",
            "the stored run could not be read",
        )
        .hint("try again; if it fails again, import the run again")
        .cause(error),
    }
}

/// The bounds of a time range; without one the earliest or latest time.
pub(crate) fn time_range(
    start: Option<&str>,
    end: Option<&str>,
) -> Result<(Timestamp, Timestamp), ToolError> {
    let bound = |name, text: Option<&str>| text.map(|text| parse_time(name, text)).transpose();
    let from = bound("startTime", start)?.unwrap_or(Timestamp::MIN);
    let to = bound("endTime", end)?.unwrap_or(Timestamp::MAX);
    if from > to {
        return Err(ToolError::validation(
            "INVALID_TIME_RANGE",
            "StartTime must be before or equal to EndTime",
        )
        .hint("ask `describe_run` for the period of the run"));
    }
    Ok((from, to))
}

/// Parses a timestamp parameter.
pub(crate) fn parse_time(name: &str, text: &str) -> Result<Timestamp, ToolError> {
    Timestamp::parse_bound(text).map_err(|error| {
        ToolError::validation("INVALID_PARAMETER", format!("`{name}`: {error}"))
            .hint("write it as 2025-06-15T14:30:00Z")
            .detail("parameter", name)
    })
}

/// The seqs of a time range given as parameters; both bounds are optional and inclusive.
pub(crate) fn seq_range(
    run: &SealedRun,
    start: Option<&str>,
    end: Option<&str>,
    cx: &CallContext,
) -> Result<std::ops::Range<u32>, ToolError> {
    let from = start.map(|text| parse_time("startTime", text)).transpose()?;
    let to = end.map(|text| parse_time("endTime", text)).transpose()?;
    let invalid = |message: &str| {
        ToolError::validation("INVALID_TIME_RANGE", message)
            .hint("ask `describe_run` for the period of the run")
            .detail("startTime", start)
            .detail("endTime", end)
    };
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(invalid("StartTime must be before or equal to EndTime"));
    }
    if from.is_some_and(|from| is_future(run, from, cx)) {
        return Err(invalid("StartTime is in the future"));
    }
    run.between(from, to).map_err(tool_error)
}

/// Whether a timestamp is later than now and than the end of the run.
pub(crate) fn is_future(run: &SealedRun, timestamp: Timestamp, cx: &CallContext) -> bool {
    let now = i64::try_from(cx.timestamp.as_nanosecond()).unwrap_or(i64::MAX);
    timestamp.nanos() > now && timestamp > run.last_time()
}
