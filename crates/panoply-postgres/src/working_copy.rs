//! Data of a pack in PostgreSQL, on which each replica works through a copy in SQLite.
//!
//! A transaction first compares the version of the copy with that of the collection, and reads what
//! has changed since. An action locks the collection, runs on the copy, writes the rows that it
//! changed with its record in one message, and commits: three round trips, however many rows the
//! domain looks at. A read is one. Because the same code runs on the same tables, the pack means
//! what it means on SQLite. If anything fails after the copy was changed, the copy is thrown away.
//!
//! The price is the first use of a collection on a replica, which reads all of it.

pub(crate) mod sqlite;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_contract::mutation::MutationLog;
use panoply_contract::tenant::TenantId;
use panoply_store::StoreError;
use tokio_postgres::SimpleQueryRow;

use self::sqlite::{Cell, Changes, Content, CopiedPack, Copy, rows};
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

/// Versions for which removed rows are recorded: a copy that is further behind is rebuilt. May
/// grow in a later release but not shrink, because servers of two releases run side by side.
const RECORDED_VERSIONS: i64 = 10_000;
/// Versions between two prunings of the records of removed rows.
const PRUNE_INTERVAL: i64 = 256;

/// Imports take longer than a call.
const ACTION_TIMEOUTS: &str = "SET LOCAL statement_timeout = '60s'; \
                    SET LOCAL idle_in_transaction_session_timeout = '60s'";

/// The data of a pack of one tenant.
pub(crate) struct Collection<P: CopiedPack> {
    pack: P,
    server: Arc<Postgres>,
    tenant: TenantId,
    /// Folder of the copies.
    folder: PathBuf,
    copy: Mutex<Option<Copy<P>>>,
}

/// An action on a copy: the collection is locked until it is ended.
pub(crate) struct Action<'a, P: CopiedPack> {
    collection: &'a Collection<P>,
    held: MutexGuard<'a, Option<Copy<P>>>,
    transaction: Transaction,
}

impl<P: CopiedPack> Collection<P> {
    /// The collection of a tenant; it is created with the first use.
    pub(crate) fn new(pack: P, server: Arc<Postgres>, tenant: TenantId, folder: PathBuf) -> Self {
        Self { pack, server, tenant, folder, copy: Mutex::new(None) }
    }

    /// Runs `read` on a copy that is up to date.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Copy<P>) -> T) -> Result<T, StoreError> {
        let mut held = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(read(self.refresh(&mut held)?))
    }

    /// Locks the collection and brings the copy up to date.
    pub(crate) fn act(&self) -> Result<Action<'_, P>, StoreError> {
        let mut held = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        let (transaction, version) = self.begin()?;
        let caught_up = self.catch_up(&mut held, transaction, version);
        let transaction = caught_up.inspect_err(|_| *held = None)?;
        Ok(Action { collection: self, held, transaction })
    }

    /// The data version, for caches.
    pub(crate) fn data_version(&self) -> u64 {
        match self.stored_version() {
            Ok(version) => u64::try_from(version.unwrap_or_default()).unwrap_or_default(),
            // An unknown version is never that of a reply that was kept.
            Err(_) => (1 << 63) + UNKNOWN.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// The log with the records of the actions.
    pub(crate) fn mutation_log(&self) -> Arc<dyn MutationLog> {
        let scope = Scope::Pack(P::PACK, self.tenant.clone());
        Arc::new(PostgresMutationLog::new(Arc::clone(&self.server), scope))
    }

    fn version_sql(&self) -> String {
        format!("SELECT version FROM {}.collection WHERE tenant = '{}'", P::PACK, self.tenant)
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
    fn refresh<'a>(&self, copy: &'a mut Option<Copy<P>>) -> Result<&'a Copy<P>, StoreError> {
        let found = match self.stored_version()? {
            // A collection without a row is empty, and stays so until its first action.
            None if !P::IS_SEEDED => Some(0),
            found => found,
        };
        let is_current = found.is_some() && found == copy.as_ref().map(|copy| copy.version);
        if !is_current {
            let (transaction, version) = match found {
                Some(_) => self.snapshot()?,
                None => self.begin()?,
            };
            let caught_up = self.catch_up(copy, transaction, version);
            let transaction = caught_up.inspect_err(|_| *copy = None)?;
            self.roll_back(transaction)?;
        }
        copy.as_ref().ok_or_else(|| unreadable("a collection without a copy"))
    }

    fn roll_back(&self, transaction: Transaction) -> Result<(), StoreError> {
        self.server.run(|_| async move {
            transaction.rollback().await;
            Ok(())
        })
    }

    /// Begins a read of the rows of one moment, without a lock.
    fn snapshot(&self) -> Result<(Transaction, i64), StoreError> {
        let (first, tenant) =
            (format!("{ACTION_TIMEOUTS}; {}", self.version_sql()), self.tenant.clone());
        self.server.run(|server| async move {
            let (transaction, rows) = Transaction::snapshot(server, &tenant, &first).await?;
            let version = version_of(rows.last()).or((!P::IS_SEEDED).then_some(0));
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

    /// Creates the collection with its first rows.
    fn create(&self, transaction: Transaction) -> Result<(), StoreError> {
        let head = self.pack.new_head()?;
        let mut values = values![self.tenant.to_string()];
        values.extend(rows::single_values(P::HEAD, &head));
        let names: String = P::HEAD.iter().map(|(name, _)| format!(", {name}")).collect();
        let places: String = (2..).zip(P::HEAD).map(|(place, _)| format!(", ${place}")).collect();
        let sql = format!(
            "INSERT INTO {}.collection (tenant, version{names}) VALUES ($1, 1{places}) \
             ON CONFLICT DO NOTHING",
            P::PACK
        );
        let (transaction, created) = self.server.run(|_| async move {
            let created = transaction.execute(&sql, values).await?;
            Ok((transaction, created))
        })?;
        let mut statements = Vec::new();
        if created > 0 && P::IS_SEEDED {
            let copy = self.make_copy(&head, 1, &Changes::default())?;
            statements = copy.changes(self.tenant.as_str(), 1)?;
        }
        self.server.run(|_| async move {
            transaction.connection()?.pipeline(statements).await?;
            transaction.commit().await
        })
    }

    fn make_copy(
        &self,
        head: &[Cell],
        version: i64,
        changes: &Changes,
    ) -> Result<Copy<P>, StoreError> {
        Copy::make(&self.pack, &self.folder, self.tenant.as_str(), head, version, changes)
    }

    /// Brings the copy to the version that the transaction has locked.
    fn catch_up(
        &self,
        copy: &mut Option<Copy<P>>,
        transaction: Transaction,
        version: i64,
    ) -> Result<Transaction, StoreError> {
        let can_follow = |copy: &Copy<P>| {
            (0..=RECORDED_VERSIONS).contains(&version.saturating_sub(copy.version))
        };
        let after = match copy {
            Some(copy) if copy.version == version => return Ok(transaction),
            Some(copy) if can_follow(copy) => copy.version,
            // Too far behind, or ahead of a database that was restored.
            Some(_) | None => {
                *copy = None;
                -1
            }
        };
        let (transaction, Content { head, changes }) = self.read_after(transaction, after)?;
        match copy {
            Some(copy) => copy.follow(version, &changes)?,
            None => *copy = Some(self.make_copy(&head, version, &changes)?),
        }
        Ok(transaction)
    }

    /// Reads what was written after a version, and the head with all of it (-1).
    fn read_after(
        &self,
        transaction: Transaction,
        after: i64,
    ) -> Result<(Transaction, Content), StoreError> {
        let (queries, of) =
            (Changes::queries::<P>(self.tenant.as_str(), after), self.tenant.to_string());
        self.server.run(|_| async move {
            let connection = transaction.connection()?;
            let answers = connection.pipeline_queries(queries).await?;
            let mut head = Vec::new();
            if after < 0 && !P::HEAD.is_empty() {
                let names: Vec<&str> = P::HEAD.iter().map(|(name, _)| *name).collect();
                let (names, pack) = (names.join(", "), P::PACK);
                let sql = format!("SELECT {names} FROM {pack}.collection WHERE tenant = $1");
                let rows = connection.query(&sql, values![of]).await?;
                head = rows::cells(P::HEAD, &rows)?.pop().unwrap_or_default();
            }
            Ok((transaction, Content { head, changes: Changes::of::<P>(answers)? }))
        })
    }

    /// Everything in the database; empty before the first use.
    pub(crate) fn content(&self) -> Result<Content, StoreError> {
        if self.stored_version()?.is_none() {
            return Ok(Content::default());
        }
        let (transaction, _) = self.snapshot()?;
        let (transaction, content) = self.read_after(transaction, -1)?;
        self.roll_back(transaction)?;
        Ok(content)
    }

    /// Writes rows to a collection that has none but those of a new one; otherwise changes nothing.
    pub(crate) fn fill(&self, content: &Content) -> Result<(), StoreError> {
        let (transaction, version) = self.begin()?;
        let (transaction, found) = self.read_after(transaction, -1)?;
        if !found.is_new::<P>() {
            return self.roll_back(transaction);
        }
        let statements = content.statements::<P>(self.tenant.as_str(), version + 1)?;
        self.server.run(|_| async move {
            transaction.connection()?.pipeline(statements).await?;
            transaction.commit().await
        })
    }

    /// Writes what the action changed on the copy, and commits.
    fn commit(&self, copy: &mut Copy<P>, transaction: Transaction) -> Result<(), StoreError> {
        let (tenant, version, pack) = (self.tenant.as_str(), copy.version + 1, P::PACK);
        let mut statements = copy.changes(tenant, version)?;
        let sql = format!("UPDATE {pack}.collection SET version = $2 WHERE tenant = $1");
        statements.push((sql, values![tenant.to_owned(), version]));
        if version % PRUNE_INTERVAL == 0 {
            let sql = format!("DELETE FROM {pack}.removed WHERE tenant = $1 AND row_version <= $2");
            let oldest = version - RECORDED_VERSIONS;
            statements.push((sql, values![tenant.to_owned(), oldest]));
        }
        self.server.run(|_| async move {
            transaction.connection()?.pipeline(statements).await?;
            transaction.commit().await
        })?;
        copy.version = version;
        Ok(())
    }
}

impl<P: CopiedPack> Action<'_, P> {
    /// The store to act on.
    pub(crate) fn store(&self) -> Result<Arc<P::Store>, StoreError> {
        let copy = self.held.as_ref();
        copy.map(|copy| Arc::clone(&copy.store))
            .ok_or_else(|| unreadable("a collection without a copy"))
    }

    /// Ends an action that changed nothing on the copy.
    pub(crate) fn roll_back(self) -> Result<(), StoreError> {
        self.collection.roll_back(self.transaction)
    }

    /// Writes what was changed on the copy. If it cannot be committed, the copy, which has the
    /// change already, is thrown away.
    pub(crate) fn commit(mut self) -> Result<(), StoreError> {
        let committed = match self.held.as_mut() {
            Some(copy) => self.collection.commit(copy, self.transaction),
            None => Err(unreadable("a collection without a copy")),
        };
        if committed.is_err() {
            *self.held = None;
        }
        committed
    }
}

fn version_of(row: Option<&SimpleQueryRow>) -> Option<i64> {
    row?.get(0)?.parse().ok()
}
