//! Papers, documents and jobs in PostgreSQL, with a working copy in SQLite
//! ([`working_copy`](crate::working_copy)).
//!
//! The search tables are not stored: each replica makes them in its copy, with the text model of
//! its own release, so that two releases run side by side. The lock of a running job is an advisory
//! lock of the server, which ends with the connection of the process that runs it.

mod sqlite;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use panoply_contract::mutation::{MutationLog, MutationRecord};
use panoply_contract::tenant::TenantId;
use panoply_store::StoreError;
use panoply_ttm::ingest::plan::Extract;
use panoply_ttm::jobs::{Job, JobLock, JobStore};
use panoply_ttm::papers::{Imported, PaperStore, Record, UserStoreError};
use panoply_ttm::search::{PaperImport, RecordSource, TextModel, UserIndex, UserStore};
use panoply_ttm::store::SqliteUserStore;
use panoply_ttm::user_data::{Chunk, DocumentStore, Fact, UserDocument};

pub(crate) use self::sqlite::Documents;
use crate::keys::get;
use crate::server::Postgres;
use crate::values;
use crate::working_copy::Collection;

/// Versions that could not be read.
static UNKNOWN: AtomicU64 = AtomicU64::new(0);

/// Papers, documents and jobs of a tenant.
#[derive(Clone)]
pub struct PostgresDocuments {
    collection: Arc<Collection<Documents>>,
    server: Arc<Postgres>,
    tenant: TenantId,
}

impl PostgresDocuments {
    /// The documents of a tenant, with copies in this folder.
    pub fn new(server: Arc<Postgres>, tenant: TenantId, folder: PathBuf) -> Self {
        let collection = Collection::new(Documents, Arc::clone(&server), tenant.clone(), folder);
        Self { collection: Arc::new(collection), server, tenant }
    }

    /// The log with the records of calls.
    pub fn mutation_log(&self) -> Arc<dyn MutationLog> {
        self.collection.mutation_log()
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&SqliteUserStore) -> Result<T, UserStoreError>,
    ) -> Result<T, UserStoreError> {
        self.collection.read(|copy| read(&copy.store)).map_err(failed)?
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&SqliteUserStore) -> Result<T, UserStoreError>,
    ) -> Result<T, UserStoreError> {
        let running = self.collection.act().map_err(failed)?;
        let changed = change(running.store().map_err(failed)?.as_ref());
        let ended = match changed.is_ok() {
            true => running.commit(),
            false => running.roll_back(),
        };
        ended.map_err(failed).and(changed)
    }

    /// The store of the copy, for work that takes long and must not keep others waiting.
    fn copied(&self) -> Result<Arc<SqliteUserStore>, UserStoreError> {
        self.collection.read(|copy| Arc::clone(&copy.store)).map_err(failed)
    }
}

impl std::fmt::Debug for PostgresDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresDocuments").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

fn failed(error: StoreError) -> UserStoreError {
    UserStoreError(Box::new(error))
}

impl PaperStore for PostgresDocuments {
    fn paper(&self, pmid: &str) -> Result<Option<Record>, UserStoreError> {
        self.read(|store| store.paper(pmid))
    }

    fn papers(&self) -> Result<Vec<Record>, UserStoreError> {
        self.read(PaperStore::papers)
    }

    fn version(&self) -> u64 {
        // With the number of the copy: a search index reads the file of the copy that it is of.
        let version = self.collection.read(|copy| (copy.store.version(), copy.number));
        match version {
            Ok((0, _)) => 0,
            Ok((version, copy)) => version + (copy << 32),
            // An unknown version is never that of a reply that was kept.
            Err(_) => (1 << 63) + UNKNOWN.fetch_add(1, Ordering::Relaxed),
        }
    }
}

impl DocumentStore for PostgresDocuments {
    fn documents(&self) -> Result<Vec<UserDocument>, UserStoreError> {
        self.read(DocumentStore::documents)
    }

    fn chunks(&self, of: Option<&str>) -> Result<Vec<Chunk>, UserStoreError> {
        self.read(|store| store.chunks(of))
    }

    fn facts(&self, of: Option<&str>) -> Result<Vec<Fact>, UserStoreError> {
        self.read(|store| store.facts(of))
    }
}

impl UserStore for PostgresDocuments {
    fn user_index(
        &self,
        text_model: &TextModel,
    ) -> Result<Option<Arc<dyn UserIndex>>, UserStoreError> {
        self.copied()?.user_index(text_model)
    }
}

impl PaperImport for PostgresDocuments {
    fn import_papers(&self, source: &mut RecordSource<'_>) -> Result<Imported, UserStoreError> {
        self.change(|store| store.import_papers(source))
    }

    fn update_index(
        &self,
        text_model: &TextModel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), UserStoreError> {
        self.copied()?.update_index(text_model, progress)
    }
}

impl JobStore for PostgresDocuments {
    fn add_job(&self, job: &Job) -> Result<(), UserStoreError> {
        self.change(|store| store.add_job(job))
    }

    fn save_job(&self, job: &Job) -> Result<(), UserStoreError> {
        self.change(|store| store.save_job(job))
    }

    fn finish_job(
        &self,
        job: &Job,
        extracts: &[Extract],
        record: Option<&MutationRecord>,
    ) -> Result<usize, UserStoreError> {
        self.change(|store| store.finish_job(job, extracts, record))
    }

    fn undo_job(
        &self,
        job: &Job,
        record: Option<&MutationRecord>,
    ) -> Result<usize, UserStoreError> {
        self.change(|store| store.undo_job(job, record))
    }

    fn lock_job(&self, id: &str) -> Result<JobLock, UserStoreError> {
        let name = format!("ttm job {} {id}", self.tenant);
        let taken = self.server.run(|server| async move {
            let connection = server.connection().await?;
            let sql = "SELECT pg_try_advisory_lock(hashtextextended($1, 0))";
            let rows = connection.query(sql, values![name]).await?;
            let is_taken = rows.first().map(|row| get(row, 0)).transpose()?.unwrap_or(false);
            // Out of the pool: the lock is that of the connection.
            Ok(is_taken.then(|| deadpool_postgres::Object::take(connection.client)))
        });
        Ok(match taken.map_err(failed)? {
            Some(client) => JobLock::Taken(Box::new(client)),
            None => JobLock::Busy,
        })
    }

    fn job(&self, id: &str) -> Result<Option<Job>, UserStoreError> {
        self.read(|store| store.job(id))
    }

    fn jobs(&self) -> Result<Vec<Job>, UserStoreError> {
        self.read(JobStore::jobs)
    }

    fn cancel_job(&self, id: &str, record: Option<&MutationRecord>) -> Result<(), UserStoreError> {
        self.change(|store| store.cancel_job(id, record))
    }

    fn is_cancelled(&self, id: &str) -> Result<bool, UserStoreError> {
        self.read(|store| store.is_cancelled(id))
    }

    fn log(&self, job: &str, at: &str, line: &str) -> Result<(), UserStoreError> {
        self.change(|store| store.log(job, at, line))
    }

    fn log_of(&self, job: &str) -> Result<Vec<(String, String)>, UserStoreError> {
        self.read(|store| store.log_of(job))
    }

    fn document_of(&self, sha256: &str) -> Result<Option<UserDocument>, UserStoreError> {
        self.read(|store| store.document_of(sha256))
    }
}
