//! Mutation record of the call that started a job. It is committed with the job's changes, unless
//! the call has already been answered: then the reply of the call is the record.

use std::sync::{Arc, Mutex, PoisonError};

use panoply_contract::error::ToolError;
use panoply_contract::mutation::{Mutation, MutationRecord};

use super::Job;

/// A record that is created by the job when it ends or by the call when it stops waiting, whichever
/// comes first.
#[derive(Clone, Default)]
pub struct PendingRecord(Arc<Mutex<Option<Pending>>>);

/// Creates the record of a call from the finished job.
pub(super) type MakeRecord =
    Box<dyn Fn(&Mutation, &Job) -> Result<MutationRecord, ToolError> + Send>;

pub(super) struct Pending {
    mutation: Arc<Mutation>,
    make: MakeRecord,
}

impl PendingRecord {
    /// Creates a pending record for a mutation.
    pub(crate) fn of(mutation: Arc<Mutation>, make: MakeRecord) -> Self {
        Self(Arc::new(Mutex::new(Some(Pending { mutation, make }))))
    }

    /// Leaves the record to the call; false if the job is committing it.
    pub(crate) fn withdraw(&self) -> bool {
        self.take().is_some()
    }

    pub(super) fn take(&self) -> Option<Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Pending {
    pub(super) fn record(&self, job: &Job) -> Result<MutationRecord, ToolError> {
        (self.make)(&self.mutation, job)
    }

    pub(super) fn committed(self, record: MutationRecord) {
        self.mutation.committed(record);
    }
}
