//! Supervises the files of a pack of one tenant: reopens them after a failure, and refuses calls
//! while a file is damaged, deleted or replaced. Other packs and tenants are not affected.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::pack::Pack;
use panoply_store::StoreError;
use panoply_store::check::{self, CheckDepth};
use panoply_store::sqlite::FileIdentity;
use panoply_store::tenants::TenantStore;

use crate::app;
use crate::failure::Failure;

/// Interval between attempts to open.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum interval between checks after failed calls.
const EXAMINE_INTERVAL: Duration = Duration::from_secs(5);

/// Opens a pack.
pub(crate) type Open = Box<dyn Fn() -> Result<Pack, Failure> + Send + Sync>;

/// The files of a pack.
pub(crate) struct Watched {
    /// Its databases.
    pub(crate) files: Vec<PathBuf>,
    /// Names the data pack in use; the pack is opened again when it changes.
    pub(crate) figures: PathBuf,
}

/// Supervises a pack with files in the home.
pub(crate) struct FileSupervisor {
    name: &'static str,
    files: Vec<PathBuf>,
    figures: PathBuf,
    open: Open,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

struct State {
    /// The open pack; `None` while it is faulty.
    pack: Option<Arc<Pack>>,
    /// Identities of the open files; a file that is created later is added when first seen.
    opened: Vec<(PathBuf, FileIdentity)>,
    /// The data pack file when the pack was opened.
    figures: Option<Stamp>,
    fault: Option<Fault>,
    /// Last attempt to open, by the monotonic clock.
    tried: Duration,
    /// Last check after a failed call.
    examined: Option<Duration>,
}

enum Fault {
    /// Could not be opened; retried periodically.
    NotOpened(Option<Arc<StoreError>>, String),
    /// An open file is damaged; reopened once the file has been replaced.
    Damaged(Arc<StoreError>, Vec<Option<Stamp>>),
}

/// Identifies a version of a file.
type Stamp = (FileIdentity, u64, std::time::SystemTime);

impl FileSupervisor {
    /// Opens the pack. Fails for invalid settings only.
    pub(crate) fn start(
        name: &'static str,
        Watched { files, figures }: Watched,
        open: Open,
    ) -> Result<Self, Failure> {
        let clock = app::clock();
        let used = stamp(&figures);
        let opened = open();
        let (pack, fault) = match opened {
            Ok(pack) => (Some(Arc::new(pack)), None),
            Err(failure) if failure.is_usage() => return Err(failure),
            Err(failure) => {
                let cause = failure.store().map_or_else(String::new, |error| error.chain());
                tracing::error!(
                    pack = name,
                    cause,
                    "a pack cannot be opened and answers with an error: {}; see `panoply doctor`",
                    failure.message()
                );
                let why = failure.message().to_owned();
                (None, Some(Fault::NotOpened(failure.store().cloned(), why)))
            }
        };
        let state = State {
            pack,
            opened: Vec::new(),
            figures: used,
            fault,
            tried: clock.monotonic(),
            examined: None,
        };
        let supervisor = Self { name, files, figures, open, clock, state: Mutex::new(state) };
        supervisor.lock().record_identities(&supervisor.files);
        Ok(supervisor)
    }

    /// The pack, if it could be opened at the start.
    pub(crate) fn opened(&self) -> Option<Arc<Pack>> {
        self.lock().pack.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since(&self, start: Duration) -> Duration {
        self.clock.monotonic().saturating_sub(start)
    }

    fn stamps(&self) -> Vec<Option<Stamp>> {
        self.files.iter().map(|file| stamp(file)).collect()
    }

    /// Whether a retry is due.
    fn may_retry(&self, state: &State) -> bool {
        self.since(state.tried) >= RETRY_INTERVAL
            && match &state.fault {
                Some(Fault::Damaged(_, stamps)) => *stamps != self.stamps(),
                Some(Fault::NotOpened(..)) | None => true,
            }
    }

    fn fault_error(&self, fault: &Fault) -> ToolError {
        match fault {
            Fault::NotOpened(Some(error), _) | Fault::Damaged(error, _) => {
                error.pack_error(self.name)
            }
            Fault::NotOpened(None, why) => ToolError::new(
                ErrorKind::Storage,
                "PACK_DAMAGED",
                format!(
                    "the data of the pack `{}` cannot be opened; other packs serve on",
                    self.name
                ),
            )
            .hint("ask the operator to run `panoply doctor --deep`")
            .detail("pack", self.name)
            .cause(why.clone()),
        }
    }
}

impl State {
    /// Records the identities of the existing files.
    fn record_identities(&mut self, files: &[PathBuf]) {
        for file in files {
            if !self.opened.iter().any(|(known, _)| known == file)
                && let Ok(identity) = FileIdentity::of(file)
            {
                self.opened.push((file.clone(), identity));
            }
        }
    }
}

impl TenantStore for FileSupervisor {
    fn in_use(&self) -> bool {
        self.lock().pack.as_ref().is_some_and(|pack| Arc::strong_count(pack) > 1)
    }
}

impl FileSupervisor {
    /// The open pack; tries to open it again when that is due.
    pub(crate) fn pack(&self) -> Result<Arc<Pack>, ToolError> {
        let mut state = self.lock();
        self.reopen_for_figures(&mut state);
        if let Some(pack) = state.pack.clone() {
            for (file, identity) in &state.opened {
                identity.verify(file).map_err(|error| error.pack_error(self.name))?;
            }
            if state.opened.len() < self.files.len() {
                state.record_identities(&self.files);
            }
            return Ok(pack);
        }
        if self.may_retry(&state) {
            state.tried = self.clock.monotonic();
            match (self.open)() {
                Ok(pack) => {
                    let pack = Arc::new(pack);
                    tracing::info!(pack = self.name, "the pack could be opened and serves again");
                    *state = State {
                        pack: Some(Arc::clone(&pack)),
                        opened: Vec::new(),
                        figures: stamp(&self.figures),
                        fault: None,
                        tried: state.tried,
                        examined: None,
                    };
                    state.record_identities(&self.files);
                    return Ok(pack);
                }
                Err(failure) => {
                    let why = failure.message().to_owned();
                    state.fault = Some(Fault::NotOpened(failure.store().cloned(), why));
                }
            }
        }
        match &state.fault {
            Some(fault) => Err(self.fault_error(fault)),
            None => Err(ToolError::system("a pack is neither open nor faulty")),
        }
    }

    /// Opens the pack again after a data pack was installed or rolled back. One that cannot be used
    /// changes nothing: the figures before serve on.
    fn reopen_for_figures(&self, state: &mut State) {
        let now = stamp(&self.figures);
        if state.figures == now || state.pack.is_none() {
            return;
        }
        state.figures = now;
        match (self.open)() {
            Ok(pack) => {
                tracing::info!(pack = self.name, "the pack serves the figures of a data pack");
                state.pack = Some(Arc::new(pack));
            }
            Err(failure) => tracing::error!(
                pack = self.name,
                "the figures of a data pack cannot be used and those before serve on: {}",
                failure.message()
            ),
        }
    }

    /// Checks the files after an internal error; returns the damage found.
    pub(crate) fn examine(&self) -> Result<(), ToolError> {
        let due =
            |state: &State| state.examined.is_none_or(|last| self.since(last) >= EXAMINE_INTERVAL);
        {
            let mut state = self.lock();
            if !due(&state) {
                return Ok(());
            }
            state.examined = Some(self.clock.monotonic());
        }
        let found = self
            .files
            .iter()
            .filter(|file| file.exists())
            .find_map(|file| check::damage(file, CheckDepth::Quick));
        let Some(error) = found else { return Ok(()) };
        let error = Arc::new(error);
        tracing::error!(
            pack = self.name,
            cause = error.chain(),
            "a pack is damaged and answers with an error"
        );
        let error_reply = error.pack_error(self.name);
        let stamps = self.stamps();
        let mut state = self.lock();
        state.pack = None;
        state.fault = Some(Fault::Damaged(error, stamps));
        Err(error_reply)
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(file).ok()?;
    Some((FileIdentity::of(file).ok()?, found.len(), found.modified().ok()?))
}
