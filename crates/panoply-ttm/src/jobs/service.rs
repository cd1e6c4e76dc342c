//! Job service: accepts, reports, cancels and rolls back ingest jobs.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::error::ToolError;
use panoply_contract::mutation::MutationRecord;

use super::lock::Lock;
use super::{Job, JobLock, JobStore, Request, Status, detail};
use crate::ingest::reader::Limits;
use crate::ingest::reader::child::ReaderCommand;
use crate::papers::UserStoreError;
use crate::roots::Roots;

/// Hint for a file outside the allowed roots.
pub const HOW_TO_ALLOW: &str = "use a `file:///folder/name.pdf` URI of a regular file in `ttm/inbox` of the home directory or in a folder listed in `roots` of `[pack.ttm]` in config.toml; or run `panoply ttm ingest`";

/// Operator settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Directories whose files may be read.
    pub roots: Roots,
    /// Resource limits per file.
    pub limits: Limits,
    /// Reader command.
    pub reader: ReaderCommand,
    /// Directory of lock files and scratch directories.
    pub folder: PathBuf,
}

/// Ingest jobs of one home directory.
#[derive(Clone)]
pub struct JobService {
    pub(super) store: Arc<dyn JobStore>,
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for JobService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobService").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// A failed job operation.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] UserStoreError),
    /// The job directory is not usable.
    #[error("the job folder is not usable: {0}")]
    Folder(#[from] std::io::Error),
    /// Unknown job id.
    #[error("there is no job `{0}`")]
    Unknown(String),
    /// The operation is not allowed in the current state.
    #[error("{0}")]
    NotNow(String),
    /// The mutation record could not be created.
    #[error("{0}")]
    Record(String),
}

/// A job accepted by this process. Its lock shows other processes that the job is alive.
#[derive(Debug)]
pub struct AcceptedJob {
    pub(super) job: Job,
    pub(super) _alive: Alive,
}

/// Shows other processes that a job is alive, until it is dropped.
#[derive(Debug)]
pub(super) enum Alive {
    File(#[expect(dead_code, reason = "the lock is the open file")] Lock),
    Store(#[expect(dead_code, reason = "the lock is released on drop")] Box<dyn Any + Send + Sync>),
}

impl From<ToolError> for JobError {
    fn from(error: ToolError) -> Self {
        Self::Record(error.message)
    }
}

impl JobService {
    /// Creates a service over a store.
    pub fn new(store: Arc<dyn JobStore>, settings: Settings, clock: Arc<dyn Clock>) -> Self {
        Self { store, settings, clock }
    }

    /// Returns the operator settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Stores a new job for this process. The id must be new.
    pub fn accept(&self, id: &str, request: Request) -> Result<AcceptedJob, JobError> {
        let Some(alive) = self.take_lock(id)? else {
            return Err(JobError::NotNow(format!("job `{id}` is already running")));
        };
        let job = Job {
            id: id.to_owned(),
            status: Status::Queued,
            detail: None,
            request,
            done_pages: 0,
            all_pages: 0,
            report: None,
            error: None,
            created: self.now(),
            started: None,
            ended: None,
        };
        self.store.add_job(&job)?;
        Ok(AcceptedJob { job, _alive: alive })
    }

    /// Returns the current state of a job.
    pub fn job(&self, id: &str) -> Result<Job, JobError> {
        let job = self.store.job(id)?.ok_or_else(|| JobError::Unknown(short(id)))?;
        self.mark_if_interrupted(job)
    }

    /// Returns all jobs, newest first.
    pub fn jobs(&self) -> Result<Vec<Job>, JobError> {
        self.store.jobs()?.into_iter().map(|job| self.mark_if_interrupted(job)).collect()
    }

    /// Returns the log of a job.
    pub fn log(&self, id: &str) -> Result<String, JobError> {
        let job = self.job(id)?;
        let lines = self.store.log_of(&job.id)?;
        Ok(lines.into_iter().map(|(at, line)| format!("{at} {line}\n")).collect())
    }

    /// Requests cancellation. The running process polls for it.
    pub fn cancel(
        &self,
        id: &str,
        record: impl FnOnce(&Job) -> Result<Option<MutationRecord>, ToolError>,
    ) -> Result<(Job, Option<MutationRecord>), JobError> {
        let job = self.job(id)?;
        if job.status.is_over() {
            return Err(JobError::NotNow(format!(
                "job `{}` has finished: {}",
                job.id,
                job.status.as_str()
            )));
        }
        let record = record(&job)?;
        self.store.cancel_job(&job.id, record.as_ref())?;
        self.note(&job.id, "cancellation requested")?;
        Ok((job, record))
    }

    /// Removes everything that a job added.
    pub fn roll_back(
        &self,
        id: &str,
        record: impl FnOnce(&Job) -> Result<Option<MutationRecord>, ToolError>,
    ) -> Result<(Job, Option<MutationRecord>), JobError> {
        let mut job = self.job(id)?;
        if job.status != Status::Done || job.request.dry_run || job.detail.is_some() {
            let why = match (job.request.dry_run, job.detail.as_deref()) {
                (true, _) => "was a dry run",
                (false, Some(detail::ROLLED_BACK)) => "is already rolled back",
                _ => "added nothing",
            };
            return Err(JobError::NotNow(format!("the job `{}` {why}", job.id)));
        }
        job.detail = Some(detail::ROLLED_BACK.to_owned());
        let record = record(&job)?;
        let removed = self.store.undo_job(&job, record.as_ref())?;
        self.note(&job.id, &format!("rolled back: {removed} documents removed"))?;
        Ok((job, record))
    }

    /// Marks a job as interrupted if its process has died.
    fn mark_if_interrupted(&self, mut job: Job) -> Result<Job, JobError> {
        if job.status.is_over() {
            return Ok(job);
        }
        let Some(_lock) = self.take_lock(&job.id)? else { return Ok(job) };
        // The job may have finished between the read and the lock.
        if let Some(now) = self.store.job(&job.id)?
            && now.status.is_over()
        {
            return Ok(now);
        }
        job.status = Status::Error;
        job.detail = Some(detail::INTERRUPTED.to_owned());
        job.ended = Some(self.now());
        job.error = Some(serde_json::json!({
            "code": "INTERRUPTED",
            "message": "the process that ran the job exited; nothing was added",
            "hint": "run it again",
        }));
        self.store.save_job(&job)?;
        self.note(&job.id, "interrupted: its process exited; nothing was added")?;
        self.remove_scratch(&job.id);
        Ok(job)
    }

    pub(super) fn note(&self, id: &str, line: &str) -> Result<(), JobError> {
        // File names may contain control characters: keep one line per entry.
        let line: String = line.chars().filter(|one| !one.is_control()).take(500).collect();
        Ok(self.store.log(id, &self.now(), &line)?)
    }

    pub(super) fn now(&self) -> String {
        self.clock.now().to_string()
    }

    pub(super) fn scratch(&self, id: &str) -> PathBuf {
        self.settings.folder.join(file_name(id))
    }

    /// Removes the scratch directory and the lock file. A process that recreates the lock finds the
    /// job finished.
    pub(super) fn remove_scratch(&self, id: &str) {
        // Leftovers are harmless: each job has its own directory.
        let _ = std::fs::remove_dir_all(self.scratch(id));
        let _ = std::fs::remove_file(self.lock_of(id));
    }

    /// Takes the lock of a job; `None` while another process has it.
    fn take_lock(&self, id: &str) -> Result<Option<Alive>, JobError> {
        Ok(match self.store.lock_job(id)? {
            JobLock::File => Lock::take(&self.lock_of(id))?.map(Alive::File),
            JobLock::Taken(lock) => Some(Alive::Store(lock)),
            JobLock::Busy => None,
        })
    }

    fn lock_of(&self, id: &str) -> PathBuf {
        self.settings.folder.join(format!("{}.lock", file_name(id)))
    }
}

/// Sanitises a job id for use as a file name: it is user input.
fn file_name(id: &str) -> String {
    id.chars().filter(|one| one.is_ascii_alphanumeric() || *one == '-').take(80).collect()
}

fn short(id: &str) -> String {
    id.chars().take(60).collect()
}
