//! Some runs of a store, read-only: what another tenant may see of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Blobs, Store};
use crate::error::LogError;
use crate::event::Guid;
use crate::run::RunRecord;

/// The shared runs of a store. Every other run is unknown, and so is each of them to a change.
pub struct SharedRuns {
    store: Arc<dyn Store>,
    runs: BTreeSet<Guid>,
}

impl SharedRuns {
    /// Only these runs of a store.
    pub fn new(store: Arc<dyn Store>, runs: BTreeSet<Guid>) -> Self {
        Self { store, runs }
    }
}

impl Store for SharedRuns {
    fn runs(&self) -> Result<Vec<RunRecord>, LogError> {
        let mut runs = self.store.runs()?;
        runs.retain(|run| self.runs.contains(&run.id));
        Ok(runs)
    }

    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError> {
        if self.runs.contains(&id) { self.store.run(id) } else { Ok(None) }
    }

    fn save(&self, record: &RunRecord) -> Result<(), LogError> {
        Err(LogError::UnknownRun(record.id))
    }

    fn delete(&self, id: Guid) -> Result<(), LogError> {
        Err(LogError::UnknownRun(id))
    }

    fn open_run(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        Err(LogError::UnknownRun(id))
    }

    fn make_durable(&self, id: Guid) -> Result<(), LogError> {
        Err(LogError::UnknownRun(id))
    }

    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        Err(LogError::UnknownRun(id))
    }

    fn abandon_seal(&self, id: Guid) -> Result<(), LogError> {
        Err(LogError::UnknownRun(id))
    }

    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError> {
        Err(LogError::UnknownRun(record.id))
    }

    /// The blobs of a sealed run are never changed by a reader.
    fn sealed(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        if self.runs.contains(&id) { self.store.sealed(id) } else { Err(LogError::UnknownRun(id)) }
    }

    fn version(&self) -> u64 {
        self.store.version()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunHeader, Status};
    use crate::store::memory::MemoryStore;
    use crate::timestamp::Timestamp;

    #[test]
    fn only_shared_runs_are_known_and_none_can_be_changed() {
        let record = |number: u8| RunRecord {
            id: Guid::parse(&format!("{number:08}-0000-4000-8000-000000000000")).unwrap(),
            status: Status::Running,
            header: RunHeader::default(),
            created_at: Timestamp::default(),
            events: 0,
            span: None,
            summary: None,
        };
        let store = Arc::new(MemoryStore::default());
        let (own, other) = (record(1), record(2));
        store.save(&own).unwrap();
        store.save(&other).unwrap();
        let shared = SharedRuns::new(store, BTreeSet::from([own.id]));
        assert_eq!(shared.runs().unwrap(), std::slice::from_ref(&own));
        assert_eq!(shared.run(own.id).unwrap(), Some(own.clone()));
        assert_eq!(shared.run(other.id).unwrap(), None);
        let is_unknown = |done: Result<(), LogError>| matches!(done, Err(LogError::UnknownRun(_)));
        assert!(is_unknown(shared.sealed(other.id).map(drop)));
        for record in [own, other] {
            assert!(is_unknown(shared.delete(record.id)));
            assert!(is_unknown(shared.save(&record)));
            assert!(is_unknown(shared.open_run(record.id).map(drop)));
            assert!(is_unknown(shared.begin_seal(record.id).map(drop)));
            assert!(is_unknown(shared.finish_seal(&record)));
        }
    }
}
