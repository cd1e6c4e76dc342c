//! Flashcards: the rows are in PostgreSQL; a replica works on a copy of a collection in SQLite.
//!
//! A transaction first compares the version of the copy with that of the collection, and reads what
//! has changed since. An action locks the collection, runs on the copy, writes the rows that it
//! changed with its record in one message, and commits: three round trips, however many rows the
//! domain looks at. A read is one. Because the same code runs on the same tables, search, undo and
//! counts mean what they mean on SQLite. If anything fails after the copy was changed, the copy is
//! thrown away.
//!
//! The price is the first use of a collection on a replica, which reads all of it.

mod sqlite;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_contract::mutation::MutationLog;
use panoply_contract::tenant::TenantId;
use panoply_noema::error::{NoemaError, Result, StoreFailure};
use panoply_noema::fsrs::Zone;
use panoply_noema::ids::{ActionId, DeckId};
use panoply_noema::store::{NewAction, Store, StoreReader, StoreWriter};
use panoply_store::StoreError;
use tokio_postgres::SimpleQueryRow;

use self::sqlite::{Changes, Copy};
use crate::errors::unreadable;
use crate::mutations::{PostgresMutationLog, Scope};
use crate::server::{Postgres, set_tenant};
use crate::transaction::Transaction;
use crate::values;

/// The folder of this process for copies, in a folder for the copies of all processes. Those that a
/// killed process left are removed.
pub fn copies_of_this_process(folder: &Path) -> PathBuf {
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let has_ended =
            Path::new("/proc/self").exists() && !Path::new("/proc").join(&name).exists();
        if is_process(&name) && has_ended {
            // Another process may remove it too.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    folder.join(std::process::id().to_string())
}

/// Versions that could not be read.
static UNKNOWN: AtomicU64 = AtomicU64::new(0);

/// The collection of a tenant.
#[derive(Clone)]
pub struct PostgresCards(Arc<Collection>);

struct Collection {
    server: Arc<Postgres>,
    tenant: TenantId,
    /// Folder of the copies.
    folder: PathBuf,
    /// Time zone of a learner who has set none.
    zone: Zone,
    /// Secret of a new collection; random if there is none.
    secret: Option<Vec<u8>>,
    copy: Mutex<Option<Copy>>,
}

/// Imports take longer than a call.
const ACTION_TIMEOUTS: &str = "SET LOCAL statement_timeout = '60s'; \
                    SET LOCAL idle_in_transaction_session_timeout = '60s'";

impl PostgresCards {
    /// The collection of a tenant; it is created with the first use.
    pub const fn builder(server: Arc<Postgres>, tenant: TenantId, folder: PathBuf) -> Builder {
        Builder { server, tenant, folder, zone: Zone::UTC, secret: None }
    }
}

/// Makes a [`PostgresCards`].
pub struct Builder {
    server: Arc<Postgres>,
    tenant: TenantId,
    folder: PathBuf,
    zone: Zone,
    secret: Option<Vec<u8>>,
}

impl Builder {
    /// Sets the time zone of a learner who has set none.
    #[must_use]
    pub const fn with_default_zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Sets the secret that signs the tokens of a new collection, for samples.
    #[must_use]
    pub fn with_secret(mut self, secret: &[u8]) -> Self {
        self.secret = Some(secret.to_vec());
        self
    }

    /// The store.
    pub fn build(self) -> PostgresCards {
        let Self { server, tenant, folder, zone, secret } = self;
        let copy = Mutex::new(None);
        PostgresCards(Arc::new(Collection { server, tenant, folder, zone, secret, copy }))
    }
}

impl Collection {
    fn lock(&self) -> MutexGuard<'_, Option<Copy>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn version_sql(&self) -> String {
        format!("SELECT version FROM noema.collection WHERE tenant = '{}'", self.tenant)
    }

    /// The version of the collection; `None` before its first use.
    fn stored_version(&self) -> Result<Option<i64>, StoreError> {
        let sql = format!("{}; {}", set_tenant(&self.tenant), self.version_sql());
        let rows = self
            .server
            .run(|server| async move { server.connection().await?.script(&sql).await })?;
        // The first row is of the setting.
        Ok(version_of(rows.get(1)))
    }

    /// Brings the copy up to date for a read: one round trip if nothing has changed.
    fn refresh<'a>(&self, copy: &'a mut Option<Copy>) -> Result<&'a Copy, StoreError> {
        let found = self.stored_version()?;
        let is_current = found.is_some() && found == copy.as_ref().map(|copy| copy.version);
        if !is_current {
            let (transaction, version) = match found {
                Some(_) => self.snapshot()?,
                None => self.begin()?,
            };
            let caught_up = self.catch_up(copy, transaction, version);
            let transaction = caught_up.inspect_err(|_| *copy = None)?;
            self.server.run(|_| async move {
                transaction.rollback().await;
                Ok(())
            })?;
        }
        copy.as_ref().ok_or_else(|| unreadable("a collection without a copy"))
    }

    /// Begins a read of the rows of one moment, without a lock.
    fn snapshot(&self) -> Result<(Transaction, i64), StoreError> {
        let (first, tenant) =
            (format!("{ACTION_TIMEOUTS}; {}", self.version_sql()), self.tenant.clone());
        self.server.run(|server| async move {
            let (transaction, rows) = Transaction::snapshot(server, &tenant, &first).await?;
            let version = version_of(rows.last());
            Ok((transaction, version.ok_or_else(|| unreadable("a collection"))?))
        })
    }

    /// Begins an action: locks the collection, which is created if there is none.
    fn begin(&self) -> Result<(Transaction, i64), StoreError> {
        let first = format!("{ACTION_TIMEOUTS}; {} FOR UPDATE", self.version_sql());
        let tenant = self.tenant.clone();
        let begun = self.server.run(|server| async move {
            let (transaction, rows) = Transaction::begin(server, Some(&tenant), &first).await?;
            Ok((transaction, version_of(rows.last())))
        })?;
        match begun {
            (transaction, Some(version)) => Ok((transaction, version)),
            (transaction, None) => {
                self.create(transaction)?;
                self.begin()
            }
        }
    }

    /// Creates the collection with its secret and the built-in note types.
    fn create(&self, transaction: Transaction) -> Result<(), StoreError> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(StoreError::NoRandomness)?;
        let secret = self.secret.clone().unwrap_or_else(|| random.to_vec());
        let values = values![self.tenant.to_string(), secret.clone()];
        let (transaction, created) = self.server.run(|_| async move {
            let sql = "INSERT INTO noema.collection (tenant, version, secret) \
                       VALUES ($1, 1, $2) ON CONFLICT DO NOTHING";
            let created = transaction.execute(sql, values).await?;
            Ok((transaction, created))
        })?;
        let mut statements = Vec::new();
        if created > 0 {
            let copy = self.read_all(&secret, 1, Changes::of(Vec::new())?)?;
            statements = copy.changes(self.tenant.as_str(), 1)?;
        }
        self.server.run(|_| async move {
            transaction.connection()?.pipeline(statements).await?;
            transaction.commit().await
        })
    }

    fn read_all(&self, secret: &[u8], version: i64, changes: Changes) -> Result<Copy, StoreError> {
        Copy::make(&self.folder, self.tenant.as_str(), secret, self.zone, version, changes)
    }

    /// Brings the copy to the version that the transaction has locked.
    fn catch_up(
        &self,
        copy: &mut Option<Copy>,
        transaction: Transaction,
        version: i64,
    ) -> Result<Transaction, StoreError> {
        let after = match copy {
            Some(copy) if copy.version == version => return Ok(transaction),
            Some(copy) => copy.version,
            None => -1,
        };
        let (queries, of) =
            (Changes::queries(self.tenant.as_str(), after), self.tenant.to_string());
        let (transaction, changes, secret) = self.server.run(|_| async move {
            let connection = transaction.connection()?;
            let answers = connection.pipeline_queries(queries).await?;
            let secret = if after < 0 {
                let sql = "SELECT secret FROM noema.collection WHERE tenant = $1";
                let rows = connection.query(sql, values![of]).await?;
                rows.first().map(|row| crate::keys::get(row, 0)).transpose()?
            } else {
                None
            };
            Ok((transaction, Changes::of(answers)?, secret))
        })?;
        match copy {
            Some(copy) => copy.follow(version, &changes)?,
            None => {
                let secret: Vec<u8> = secret.ok_or_else(|| unreadable("a secret"))?;
                *copy = Some(self.read_all(&secret, version, changes)?);
            }
        }
        Ok(transaction)
    }

    /// Writes what the action changed on the copy, and commits.
    fn commit(&self, copy: &mut Copy, transaction: Transaction) -> Result<(), StoreError> {
        let (tenant, version) = (self.tenant.as_str(), copy.version + 1);
        let mut statements = copy.changes(tenant, version)?;
        let sql = "UPDATE noema.collection SET version = $2 WHERE tenant = $1";
        statements.push((sql.to_owned(), values![tenant.to_owned(), version]));
        self.server.run(|_| async move {
            transaction.connection()?.pipeline(statements).await?;
            transaction.commit().await
        })?;
        copy.version = version;
        Ok(())
    }
}

fn version_of(row: Option<&SimpleQueryRow>) -> Option<i64> {
    row?.get(0)?.parse().ok()
}

impl Store for PostgresCards {
    fn with_reader(&self, read: &mut dyn FnMut(&dyn StoreReader) -> Result<()>) -> Result<()> {
        let mut copy = self.0.lock();
        let copy = self.0.refresh(&mut copy).map_err(failed)?;
        copy.store.with_reader(read)
    }

    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        write: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<()>,
    ) -> Result<ActionId> {
        let collection = &self.0;
        let mut held = collection.lock();
        let (transaction, version) = collection.begin().map_err(failed)?;
        let transaction = collection
            .catch_up(&mut held, transaction, version)
            .inspect_err(|_| *held = None)
            .map_err(failed)?;
        let Some(copy) = held.as_mut() else {
            return Err(failed(unreadable("a collection without a copy")));
        };
        copy.begin();
        let written = copy.store.with_writer(action, commit, write);
        if written.is_err() || !commit {
            let ended = collection.server.run(|_| async move {
                transaction.rollback().await;
                Ok(())
            });
            return ended.map_err(failed).and(written);
        }
        // The copy has the change already: if it cannot be committed, the copy is of no use.
        let committed = collection.commit(copy, transaction);
        if committed.is_err() {
            *held = None;
        }
        committed.map_err(failed).and(written)
    }

    fn version(&self) -> u64 {
        match self.0.stored_version() {
            Ok(version) => u64::try_from(version.unwrap_or_default()).unwrap_or_default(),
            // An unknown version is never that of a reply that was kept.
            Err(_) => (1 << 63) + UNKNOWN.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn shared(&self, decks: &[DeckId]) -> Result<Arc<dyn Store>> {
        let shared =
            SharedCards { cards: self.clone(), decks: decks.to_vec(), view: Mutex::new(None) };
        shared.view()?;
        Ok(Arc::new(shared))
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        let scope = Scope::Pack("noema", self.0.tenant.clone());
        Arc::new(PostgresMutationLog::new(Arc::clone(&self.0.server), scope))
    }
}

/// Some decks of a collection, read-only: a view of the owner's copy.
struct SharedCards {
    cards: PostgresCards,
    decks: Vec<DeckId>,
    /// The view with the file of the copy that it is of.
    view: Mutex<Option<(PathBuf, Arc<dyn Store>)>>,
}

impl SharedCards {
    /// The view of a copy that is up to date.
    fn view(&self) -> Result<Arc<dyn Store>> {
        let mut copy = self.cards.0.lock();
        let copy = self.cards.0.refresh(&mut copy).map_err(failed)?;
        let mut held = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        match &*held {
            Some((file, view)) if file == copy.file() => Ok(Arc::clone(view)),
            Some(_) | None => {
                let view = copy.store.shared(&self.decks)?;
                *held = Some((copy.file().to_owned(), Arc::clone(&view)));
                Ok(view)
            }
        }
    }
}

impl Store for SharedCards {
    fn with_reader(&self, read: &mut dyn FnMut(&dyn StoreReader) -> Result<()>) -> Result<()> {
        self.view()?.with_reader(read)
    }

    fn with_writer(
        &self,
        action: &NewAction<'_>,
        commit: bool,
        write: &mut dyn FnMut(&mut dyn StoreWriter, ActionId) -> Result<()>,
    ) -> Result<ActionId> {
        // The view refuses to be written.
        self.view()?.with_writer(action, commit, write)
    }

    fn version(&self) -> u64 {
        self.cards.version()
    }

    fn shared(&self, decks: &[DeckId]) -> Result<Arc<dyn Store>> {
        self.view()?.shared(decks)
    }

    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog> {
        Arc::new(self.cards.clone()).mutation_log()
    }
}

fn failed(error: StoreError) -> NoemaError {
    let message = error.to_string();
    NoemaError::Store(StoreFailure { message, cause: Some(Arc::new(error)) })
}
