//! Maintenance thread of the audit log in a server: checkpoints, sealing, pruning, and verification
//! of the end of the chain. It never delays a call; failures are reported by `/readyz`.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_store::audit_log::{self, ROWS_PER_SEGMENT};
use panoply_store::{Home, SystemClock};

use crate::checkpoints::{self, Checkpointer, Sink};
use crate::config::{AuditSettings, Config, Every, Span};

/// Interval of the check for a due checkpoint.
const TICK: Duration = Duration::from_secs(1);
/// Interval of the verification of the end of the chain.
const CHAIN_CHECK: Duration = Duration::from_secs(60);
/// Interval of sealing and pruning.
const RETENTION: Duration = Duration::from_secs(86_400);
/// Initial delay after a failed checkpoint; exponential backoff up to the maximum.
const RETRY: Duration = Duration::from_secs(2);
const LONGEST_RETRY: Duration = Duration::from_secs(300);
/// Number of rows at the end of the chain to verify; takes about a millisecond.
const TAIL: u32 = 64;

/// Problems of the audit log other than write errors, for `/readyz`.
#[derive(Debug, Default)]
pub(crate) struct AuditHealth(Mutex<Problems>);

/// Current problems.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problems {
    /// The end of the chain is broken, or a segment is missing.
    pub(crate) chain: Option<String>,
    /// Checkpoints cannot be created or sent.
    pub(crate) checkpoints: Option<String>,
    /// Rows cannot be sealed, or segments cannot be pruned.
    pub(crate) retention: Option<String>,
}

impl AuditHealth {
    /// Returns the current problems.
    pub(crate) fn problems(&self) -> Problems {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, change: impl FnOnce(&mut Problems)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Verifies the end of the chain. A broken chain stays reported until the next start.
    pub(crate) fn check_chain(&self, home: &Home) {
        // A log that cannot be opened is reported elsewhere.
        let Ok(found) = audit_log::verify_tail(&home.audit_log(), TAIL) else { return };
        if let Some(fault) = found.fault {
            let fault = fault.to_string();
            self.set(|problems| {
                if problems.chain.is_none() {
                    tracing::error!(fault, "the audit chain is broken; run `panoply audit verify`");
                    problems.chain = Some(fault);
                }
            });
        }
    }
}

/// Handle of the maintenance thread.
pub(crate) struct AuditMaintenance {
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl AuditMaintenance {
    /// Starts the thread.
    pub(crate) fn start(config: &Config, home: &Home, health: Arc<AuditHealth>) -> Option<Self> {
        let (stop, stopped) = mpsc::channel();
        let mut work = Work::new(&config.audit, home.clone(), health);
        if config.read_only {
            work.settings.retain = None;
            work.settings.seal_after = None;
        }
        let run = move || {
            work.retain();
            loop {
                work.tick();
                match stopped.recv_timeout(work.pause()) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            work.end();
        };
        match thread::Builder::new().name("audit-keeper".to_owned()).spawn(run) {
            Ok(thread) => Some(Self { stop, thread }),
            Err(error) => {
                tracing::error!(%error, "checkpoints and retention of the audit log are off");
                None
            }
        }
    }

    /// Sends a final checkpoint and ends. Call it after the log is closed.
    pub(crate) fn end(self) {
        // Dropping the channel also ends the thread.
        let _ = self.stop.send(());
        if self.thread.join().is_err() {
            tracing::error!("the keeper of the audit log panicked");
        }
    }
}

struct Work {
    settings: AuditSettings,
    home: Home,
    health: Arc<AuditHealth>,
    clock: SystemClock,
    checkpointer: Option<Checkpointer>,
    /// Due times by the monotonic clock.
    next_checkpoint: Duration,
    next_check: Duration,
    next_retention: Duration,
    retry: Duration,
}

impl Work {
    fn new(settings: &AuditSettings, home: Home, health: Arc<AuditHealth>) -> Self {
        let clock = SystemClock::new();
        let now = clock.monotonic();
        Self {
            settings: settings.clone(),
            home,
            health,
            clock,
            checkpointer: None,
            next_checkpoint: now,
            next_check: now + CHAIN_CHECK,
            next_retention: now + RETENTION,
            retry: RETRY,
        }
    }

    /// Without checkpoints there is nothing to do every second.
    fn pause(&self) -> Duration {
        if self.settings.checkpoint_to.is_some() { TICK } else { CHAIN_CHECK }
    }

    fn tick(&mut self) {
        let now = self.clock.monotonic();
        if now >= self.next_check {
            self.next_check = now + CHAIN_CHECK;
            self.health.check_chain(&self.home);
        }
        if now >= self.next_retention {
            self.next_retention = now + RETENTION;
            self.retain();
        }
        if now >= self.next_checkpoint {
            let every = self.settings.checkpoint_every.unwrap_or_default();
            let least = match every {
                Every::Rows(rows) => rows,
                Every::Time(_) => 1,
            };
            let outcome = self.checkpoint(least);
            self.schedule(now, every, outcome);
        }
    }

    fn schedule(&mut self, now: Duration, every: Every, outcome: Result<bool, String>) {
        let wait = match (&outcome, every) {
            (Ok(true), Every::Time(time)) => time,
            (Ok(_), _) => Duration::ZERO,
            (Err(_), _) => self.retry,
        };
        self.retry = if outcome.is_err() { (self.retry * 2).min(LONGEST_RETRY) } else { RETRY };
        self.next_checkpoint = now + wait;
        if let Err(error) = &outcome {
            tracing::warn!(error, "a checkpoint of the audit log could not be made");
        }
        self.health.set(|problems| problems.checkpoints = outcome.err());
    }

    /// Sends a checkpoint if there are `least` new rows; returns whether it did.
    fn checkpoint(&mut self, least: u64) -> Result<bool, String> {
        let Some(to) = &self.settings.checkpoint_to else { return Ok(false) };
        let checkpointer = match &mut self.checkpointer {
            Some(checkpointer) => checkpointer,
            none => {
                let key = checkpoints::signing_key(&self.home, &self.settings)
                    .map_err(|error| error.to_string())?;
                let sink = Sink::parse(to, self.home.folder());
                none.insert(Checkpointer::new(self.home.clone(), key, sink))
            }
        };
        let Some(head) = checkpointer.head()? else { return Ok(false) };
        // A log that is shorter than the last checkpoint was replaced; that must be recorded too.
        if head.sequence.abs_diff(checkpointer.last()) < least {
            return Ok(false);
        }
        checkpointer.send(head, 1).map(|()| true)
    }

    /// Seals old rows and prunes older segments.
    fn retain(&self) {
        let now = self.clock.now();
        let log = self.home.audit_log();
        let sealed = self.settings.sealing_age().map(|age| {
            let sealed = audit_log::seal(&log, Some(now - age), ROWS_PER_SEGMENT, now)?;
            let pruned = match self.settings.retain {
                Some(Span(age)) => audit_log::prune(&log, now - age, now)?,
                None => Vec::new(),
            };
            if !sealed.is_empty() || !pruned.is_empty() {
                let (sealed, pruned) = (sealed.len(), pruned.len());
                tracing::info!(sealed, pruned, "segments of the audit log");
            }
            Ok(())
        });
        let error = sealed.and_then(|done: Result<(), audit_log::SealError>| done.err());
        if let Some(error) = &error {
            tracing::error!(%error, "the audit log could not be sealed or pruned");
        }
        self.health.set(|problems| problems.retention = error.map(|error| error.to_string()));
    }

    /// The final checkpoint covers the last row of this server.
    fn end(&mut self) {
        if let Err(error) = self.checkpoint(1) {
            tracing::warn!(error, "the last checkpoint of the audit log could not be made");
        }
    }
}
