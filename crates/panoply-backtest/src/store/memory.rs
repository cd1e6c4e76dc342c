//! A store in memory, for tests and the sample run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{BlobKey, Blobs, Store};
use crate::error::LogError;
use crate::event::Guid;
use crate::run::RunRecord;

#[derive(Debug, Default)]
struct MemoryBlobs(Mutex<BTreeMap<BlobKey, Vec<u8>>>);

impl Blobs for MemoryBlobs {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        Ok(lock(&self.0).get(&key).cloned())
    }

    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        lock(&self.0).extend(blobs);
        Ok(())
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        Ok(lock(&self.0).keys().copied().collect())
    }
}

/// Runs in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    runs: Mutex<BTreeMap<Guid, StoredRun>>,
    version: AtomicU64,
}

#[derive(Debug, Default)]
struct StoredRun {
    record: Option<RunRecord>,
    open: Arc<MemoryBlobs>,
    sealing: Arc<MemoryBlobs>,
    sealed: Option<Arc<MemoryBlobs>>,
}

impl Store for MemoryStore {
    fn runs(&self) -> Result<Vec<RunRecord>, LogError> {
        let mut records: Vec<RunRecord> =
            lock(&self.runs).values().filter_map(|stored| stored.record.clone()).collect();
        records.sort_by(|a, b| b.created_at.cmp(&a.created_at).then(a.id.cmp(&b.id)));
        Ok(records)
    }

    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError> {
        Ok(lock(&self.runs).get(&id).and_then(|stored| stored.record.clone()))
    }

    fn save(&self, record: &RunRecord) -> Result<(), LogError> {
        lock(&self.runs).entry(record.id).or_default().record = Some(record.clone());
        Ok(())
    }

    fn delete(&self, id: Guid) -> Result<(), LogError> {
        lock(&self.runs).remove(&id);
        self.version.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn open_run(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let open = Arc::clone(&lock(&self.runs).entry(id).or_default().open);
        Ok(open)
    }

    fn make_durable(&self, _: Guid) -> Result<(), LogError> {
        Ok(())
    }

    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let mut runs = lock(&self.runs);
        let stored = runs.entry(id).or_default();
        stored.sealing = Arc::default();
        let sealing = Arc::clone(&stored.sealing);
        Ok(sealing)
    }

    fn abandon_seal(&self, id: Guid) -> Result<(), LogError> {
        lock(&self.runs).entry(id).or_default().sealing = Arc::default();
        Ok(())
    }

    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError> {
        let mut runs = lock(&self.runs);
        let stored = runs.entry(record.id).or_default();
        stored.sealed = Some(std::mem::take(&mut stored.sealing));
        stored.open = Arc::default();
        stored.record = Some(record.clone());
        self.version.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn sealed(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        let sealed = lock(&self.runs).get(&id).and_then(|stored| stored.sealed.clone());
        sealed.map(|blobs| blobs as Arc<dyn Blobs>).ok_or(LogError::UnknownRun(id))
    }

    fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
