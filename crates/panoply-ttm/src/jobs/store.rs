//! Storage of jobs. The jobs of a store are those of one tenant.

use panoply_contract::mutation::MutationRecord;

use super::Job;
use crate::ingest::plan::Extract;
use crate::papers::UserStoreError;
use crate::search::UserStore;
use crate::user_data::UserDocument;

/// The lock of a running job, which ends with its process.
#[derive(Debug)]
pub enum JobLock {
    /// The store has none: all processes are on one machine and lock a file.
    File,
    /// Taken; it is released on drop.
    Taken(Box<dyn std::any::Any + Send + Sync>),
    /// Another process has it.
    Busy,
}

/// Stores jobs and their logs, visible to all processes, next to the documents that they add.
pub trait JobStore: UserStore {
    /// Stores a new job.
    fn add_job(&self, job: &Job) -> Result<(), UserStoreError>;

    /// Saves the state of a job, except for the cancellation flag.
    fn save_job(&self, job: &Job) -> Result<(), UserStoreError>;

    /// Finishes a job and adds its documents in one transaction; returns how many are new.
    fn finish_job(
        &self,
        job: &Job,
        extracts: &[Extract],
        record: Option<&MutationRecord>,
    ) -> Result<usize, UserStoreError>;

    /// Removes everything that a job added and updates the job; returns the number of documents.
    fn undo_job(&self, job: &Job, record: Option<&MutationRecord>)
    -> Result<usize, UserStoreError>;

    /// Tries to take the lock of a job, for processes of several machines.
    fn lock_job(&self, _id: &str) -> Result<JobLock, UserStoreError> {
        Ok(JobLock::File)
    }

    /// Finds a job.
    fn job(&self, id: &str) -> Result<Option<Job>, UserStoreError>;

    /// Returns all jobs, newest first.
    fn jobs(&self) -> Result<Vec<Job>, UserStoreError>;

    /// Requests cancellation.
    fn cancel_job(&self, id: &str, record: Option<&MutationRecord>) -> Result<(), UserStoreError>;

    /// Returns whether cancellation was requested.
    fn is_cancelled(&self, id: &str) -> Result<bool, UserStoreError>;

    /// Appends to the log of a job.
    fn log(&self, job: &str, at: &str, line: &str) -> Result<(), UserStoreError>;

    /// Returns the log of a job: timestamp and text.
    fn log_of(&self, job: &str) -> Result<Vec<(String, String)>, UserStoreError>;

    /// Finds the document with this content.
    fn document_of(&self, sha256: &str) -> Result<Option<UserDocument>, UserStoreError>;
}
