//! Takes jobs, tells how far they are, stops them and takes back what they added.

use std::path::PathBuf;
use std::sync::Arc;

use panoply_contract::clock::Clock;
use panoply_contract::error::ToolError;
use panoply_contract::mutation::MutationRecord;

use super::lock::Lock;
use super::{Job, Request, Status, detail};
use crate::ingest::reader::Limits;
use crate::ingest::reader::child::ReaderCommand;
use crate::papers::UserStoreError;
use crate::roots::Roots;
use crate::store::SqliteUserStore;

/// What to do about a file that may not be read.
pub const HOW_TO_ALLOW: &str = "give a regular file as `file:///folder/name.pdf`, in `ttm/inbox` of the home or in a folder that `roots` in `[pack.ttm]` of config.toml names; or use `panoply ttm ingest`";

/// What the owner set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folders whose files may be read.
    pub roots: Roots,
    /// What reading one file may use.
    pub limits: Limits,
    /// How a reader is started.
    pub reader: ReaderCommand,
    /// Where locks are, and room to work in.
    pub folder: PathBuf,
}

/// Jobs of one home.
#[derive(Clone)]
pub struct JobService {
    pub(super) store: Arc<SqliteUserStore>,
    pub(super) settings: Settings,
    pub(super) clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for JobService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobDesk").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Why something could not be done with a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] UserStoreError),
    /// The folder of the locks cannot be used.
    #[error("the folder of the jobs cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    /// There is no such job.
    #[error("there is no job `{0}`")]
    Unknown(String),
    /// It is not at a point where that can be done.
    #[error("{0}")]
    NotNow(String),
    /// The record of the call could not be made.
    #[error("{0}")]
    Record(String),
}

/// A job that this process will run. Others see that it lives.
#[derive(Debug)]
pub struct AcceptedJob {
    pub(super) job: Job,
    pub(super) _alive: Lock,
}

impl From<ToolError> for JobError {
    fn from(error: ToolError) -> Self {
        Self::Record(error.message)
    }
}

impl JobService {
    /// Jobs in this store.
    pub const fn new(
        store: Arc<SqliteUserStore>,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, settings, clock }
    }

    /// What the owner set.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Keeps a job that this process will run. The id must be new.
    pub fn accept(&self, id: &str, request: Request) -> Result<AcceptedJob, JobError> {
        let Some(alive) = Lock::take(&self.lock_of(id))? else {
            return Err(JobError::NotNow(format!("the job `{id}` runs already")));
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

    /// A job as it is now.
    pub fn job(&self, id: &str) -> Result<Job, JobError> {
        let job = self.store.job(id)?.ok_or_else(|| JobError::Unknown(short(id)))?;
        self.mark_if_interrupted(job)
    }

    /// All jobs, the newest first.
    pub fn jobs(&self) -> Result<Vec<Job>, JobError> {
        self.store.jobs()?.into_iter().map(|job| self.mark_if_interrupted(job)).collect()
    }

    /// The log of a job, one line a line.
    pub fn log(&self, id: &str) -> Result<String, JobError> {
        let job = self.job(id)?;
        let lines = self.store.log_of(&job.id)?;
        Ok(lines.into_iter().map(|(at, line)| format!("{at} {line}\n")).collect())
    }

    /// Tells a job to stop. Whoever runs it sees that soon.
    pub fn cancel(
        &self,
        id: &str,
        record: impl FnOnce(&Job) -> Result<Option<MutationRecord>, ToolError>,
    ) -> Result<(Job, Option<MutationRecord>), JobError> {
        let job = self.job(id)?;
        if job.status.is_over() {
            return Err(JobError::NotNow(format!(
                "the job `{}` is over: {}",
                job.id,
                job.status.as_str()
            )));
        }
        let record = record(&job)?;
        self.store.cancel_job(&job.id, record.as_ref())?;
        self.note(&job.id, "told to stop")?;
        Ok((job, record))
    }

    /// Takes away all that a job added.
    pub fn roll_back(
        &self,
        id: &str,
        record: impl FnOnce(&Job) -> Result<Option<MutationRecord>, ToolError>,
    ) -> Result<(Job, Option<MutationRecord>), JobError> {
        let mut job = self.job(id)?;
        if job.status != Status::Done || job.request.dry_run || job.detail.is_some() {
            let why = match (job.request.dry_run, job.detail.as_deref()) {
                (true, _) => "was a dry run",
                (false, Some(detail::ROLLED_BACK)) => "is rolled back already",
                _ => "added nothing",
            };
            return Err(JobError::NotNow(format!("the job `{}` {why}", job.id)));
        }
        job.detail = Some(detail::ROLLED_BACK.to_owned());
        let record = record(&job)?;
        let removed = self.store.undo_job(&job, record.as_ref())?;
        self.note(&job.id, &format!("rolled back: {removed} documents taken away"))?;
        Ok((job, record))
    }

    /// A job whose process is gone says so from now on.
    fn mark_if_interrupted(&self, mut job: Job) -> Result<Job, JobError> {
        if job.status.is_over() {
            return Ok(job);
        }
        let Some(_lock) = Lock::take(&self.lock_of(&job.id))? else { return Ok(job) };
        // It may have ended between our looking at it and our asking for the lock.
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
            "message": "the program that ran the job ended before it did; nothing of it was added",
            "hint": "run it again",
        }));
        self.store.save_job(&job)?;
        self.note(&job.id, "interrupted: its process is gone, and nothing of it was added")?;
        self.remove_scratch(&job.id);
        Ok(job)
    }

    pub(super) fn note(&self, id: &str, line: &str) -> Result<(), JobError> {
        // A line is a line, whatever a file is called.
        let line: String = line.chars().filter(|one| !one.is_control()).take(500).collect();
        Ok(self.store.log(id, &self.now(), &line)?)
    }

    pub(super) fn now(&self) -> String {
        self.clock.now().to_string()
    }

    pub(super) fn scratch(&self, id: &str) -> PathBuf {
        self.settings.folder.join(file_name(id))
    }

    /// Removes the room that a job worked in, and its lock. Whoever makes the lock anew finds a job
    /// that is over.
    pub(super) fn remove_scratch(&self, id: &str) {
        // What cannot be removed is in nobody's way: each job has a folder of its own.
        let _ = std::fs::remove_dir_all(self.scratch(id));
        let _ = std::fs::remove_file(self.lock_of(id));
    }

    fn lock_of(&self, id: &str) -> PathBuf {
        self.settings.folder.join(format!("{}.lock", file_name(id)))
    }
}

/// An id as a file name: whoever reads it may have written it himself.
fn file_name(id: &str) -> String {
    id.chars().filter(|one| one.is_ascii_alphanumeric() || *one == '-').take(80).collect()
}

fn short(id: &str) -> String {
    id.chars().take(60).collect()
}
