//! A log whose file could not be opened at start: opening is tried again, calls are held meanwhile.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::audit::{AuditEntry, AuditFilter, AuditLog, AuditRow};
use panoply_contract::clock::Clock;
use panoply_contract::error::ToolError;

use super::{KEPT_ROWS, SqliteAuditLog};
use crate::error::StoreError;

/// How long a failure to open stands before the next try.
const RETRY: Duration = Duration::from_secs(1);

/// An audit log that is opened as soon as that is possible. Until then mutations are refused, and
/// the newest [`KEPT_ROWS`] rows of queries wait in memory.
#[derive(Clone)]
pub struct LateAuditLog {
    file: Arc<PathBuf>,
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

struct State {
    log: Option<Arc<SqliteAuditLog>>,
    failed: Arc<StoreError>,
    /// When opening was last tried, by the monotonic clock.
    tried: Duration,
    held: VecDeque<AuditEntry>,
}

impl LateAuditLog {
    /// A log that `failed` to open just now.
    pub fn new(file: &Path, failed: StoreError, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            log: None,
            failed: Arc::new(failed),
            tried: clock.monotonic(),
            held: VecDeque::new(),
        };
        Self { file: Arc::new(file.to_owned()), clock, state: Arc::new(Mutex::new(state)) }
    }

    /// Writes what is waiting, if it can be written, and ends the writer.
    pub fn close(&self) {
        match self.open() {
            Ok(log) => log.close(),
            Err(error) => {
                let rows = self.lock().held.len();
                tracing::error!(cause = error.chain(), rows, "rows of the audit log are lost");
            }
        }
    }

    /// The log, once it can be opened. What was held goes first.
    fn open(&self) -> Result<Arc<SqliteAuditLog>, Arc<StoreError>> {
        let mut state = self.lock();
        if let Some(log) = &state.log {
            return Ok(Arc::clone(log));
        }
        if self.clock.monotonic().saturating_sub(state.tried) < RETRY {
            return Err(Arc::clone(&state.failed));
        }
        state.tried = self.clock.monotonic();
        match SqliteAuditLog::open(&self.file) {
            Ok(log) => {
                let log = Arc::new(log);
                for entry in state.held.drain(..) {
                    log.push_held(entry);
                }
                state.log = Some(Arc::clone(&log));
                Ok(log)
            }
            Err(error) => {
                state.failed = Arc::new(error);
                Err(Arc::clone(&state.failed))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditLog for LateAuditLog {
    fn ready(&self) -> Result<(), ToolError> {
        self.open().map_err(|error| error.tool_error())?.ready()
    }

    fn append(&self, entry: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>> {
        let outcome = match self.open() {
            Ok(log) => return log.append(entry),
            Err(error) if entry.mutation => Err(error.tool_error()),
            Err(_) => {
                let mut state = self.lock();
                if state.held.len() >= KEPT_ROWS {
                    state.held.pop_front();
                }
                state.held.push_back(entry);
                Ok(())
            }
        };
        Box::pin(std::future::ready(outcome))
    }

    fn read(&self, filter: AuditFilter) -> BoxFuture<'static, Result<Vec<AuditRow>, ToolError>> {
        match self.open() {
            Ok(log) => log.read(filter),
            Err(error) => Box::pin(std::future::ready(Err(error.tool_error()))),
        }
    }
}
