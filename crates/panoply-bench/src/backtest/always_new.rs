//! A store that says with every call that its runs have changed, so that no reply is kept: a cache
//! of no size still holds one for a moment, and a question that is repeated would be answered
//! from there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::run::RunRecord;
use panoply_backtest::store::sqlite::SqliteStore;
use panoply_backtest::store::{Blobs, Store};

pub(crate) struct AlwaysNew {
    store: SqliteStore,
    version: AtomicU64,
}

impl AlwaysNew {
    pub(crate) const fn of(store: SqliteStore) -> Self {
        Self { store, version: AtomicU64::new(0) }
    }
}

impl Store for AlwaysNew {
    fn version(&self) -> u64 {
        self.version.fetch_add(1, Ordering::Relaxed)
    }

    fn runs(&self) -> Result<Vec<RunRecord>, LogError> {
        self.store.runs()
    }

    fn run(&self, id: Guid) -> Result<Option<RunRecord>, LogError> {
        self.store.run(id)
    }

    fn save(&self, record: &RunRecord) -> Result<(), LogError> {
        self.store.save(record)
    }

    fn delete(&self, id: Guid) -> Result<(), LogError> {
        self.store.delete(id)
    }

    fn open_run(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        self.store.open_run(id)
    }

    fn make_durable(&self, id: Guid) -> Result<(), LogError> {
        self.store.make_durable(id)
    }

    fn begin_seal(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        self.store.begin_seal(id)
    }

    fn abandon_seal(&self, id: Guid) -> Result<(), LogError> {
        self.store.abandon_seal(id)
    }

    fn finish_seal(&self, record: &RunRecord) -> Result<(), LogError> {
        self.store.finish_seal(record)
    }

    fn sealed(&self, id: Guid) -> Result<Arc<dyn Blobs>, LogError> {
        self.store.sealed(id)
    }
}
