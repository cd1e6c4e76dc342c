//! An audit log whose file could not be opened at startup: opening is retried at an interval and
//! rows are buffered until it succeeds.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use panoply_contract::audit::{AuditEntry, AuditFilter, AuditLog, AuditRow};
use panoply_contract::clock::Clock;
use panoply_contract::error::ToolError;

use super::{MAX_BUFFERED_ROWS, SqliteAuditLog};
use crate::error::StoreError;

/// Minimum time between two attempts to open the file.
const OPEN_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Until the file can be opened, mutations are refused and the newest [`MAX_BUFFERED_ROWS`] query
/// rows are buffered in memory.
#[derive(Clone)]
pub struct DeferredAuditLog {
    file: Arc<PathBuf>,
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

struct State {
    log: Option<Arc<SqliteAuditLog>>,
    open_error: Arc<StoreError>,
    /// On the monotonic clock.
    last_attempt: Duration,
    buffered: VecDeque<AuditEntry>,
}

impl DeferredAuditLog {
    /// Starts from the error of the attempt that just failed.
    pub fn new(file: &Path, open_error: StoreError, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            log: None,
            open_error: Arc::new(open_error),
            last_attempt: clock.monotonic(),
            buffered: VecDeque::new(),
        };
        Self { file: Arc::new(file.to_owned()), clock, state: Arc::new(Mutex::new(state)) }
    }

    /// Flushes the buffer if the file can be opened, and stops the writer.
    pub fn close(&self) {
        match self.open() {
            Ok(log) => log.close(),
            Err(error) => {
                let rows = self.lock().buffered.len();
                tracing::error!(cause = error.chain(), rows, "rows of the audit log are lost");
            }
        }
    }

    /// Returns the log, opening it after the retry interval. Buffered rows are queued first.
    fn open(&self) -> Result<Arc<SqliteAuditLog>, Arc<StoreError>> {
        let mut state = self.lock();
        if let Some(log) = &state.log {
            return Ok(Arc::clone(log));
        }
        if self.clock.monotonic().saturating_sub(state.last_attempt) < OPEN_RETRY_INTERVAL {
            return Err(Arc::clone(&state.open_error));
        }
        state.last_attempt = self.clock.monotonic();
        match SqliteAuditLog::open(&self.file) {
            Ok(log) => {
                let log = Arc::new(log);
                for entry in state.buffered.drain(..) {
                    log.push_buffered(entry);
                }
                state.log = Some(Arc::clone(&log));
                Ok(log)
            }
            Err(error) => {
                state.open_error = Arc::new(error);
                Err(Arc::clone(&state.open_error))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditLog for DeferredAuditLog {
    fn close(&self) {
        Self::close(self);
    }

    fn ready(&self) -> Result<(), ToolError> {
        self.open().map_err(|error| error.tool_error())?.ready()
    }

    fn append(&self, entry: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>> {
        let outcome = match self.open() {
            Ok(log) => return log.append(entry),
            Err(error) if entry.mutation => Err(error.tool_error()),
            Err(_) => {
                let mut state = self.lock();
                if state.buffered.len() >= MAX_BUFFERED_ROWS {
                    state.buffered.pop_front();
                }
                state.buffered.push_back(entry);
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
