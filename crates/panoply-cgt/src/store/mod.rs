//! Persistence of portfolios, one store for each tenant.
//!
//! A [`PortfolioStore`] reads portfolios and runs changes on a [`PortfolioWriter`]. Change,
//! idempotency record and audit entry are one transaction. Every change of transactions can be
//! undone. The tools depend on these traits only; SQL is in [`sqlite`].

pub mod sqlite;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use panoply_contract::mutation::{MutationLog, MutationRecord};
use panoply_store::StoreError;

pub use self::sqlite::SqlitePortfolios;
use crate::import::KnownRows;
use crate::portfolio::{Account, Entry, Wrapper};

/// An empty store in memory.
pub fn in_memory() -> Arc<dyn PortfolioStore> {
    Arc::new(SqlitePortfolios::in_memory())
}

/// Portfolios of one tenant.
pub trait PortfolioStore: Debug + Send + Sync + 'static {
    /// All portfolios, by name.
    fn list(&self) -> Result<Vec<Summary>, PortfolioError>;

    /// A portfolio with all its transactions.
    fn load(&self, id: &str) -> Result<Portfolio, PortfolioError>;

    /// The last changes of a portfolio, newest first.
    fn changes(&self, id: &str, limit: usize) -> Result<Vec<Change>, PortfolioError>;

    /// Number that grows with every change of any process; 0 for an empty or unreadable store.
    fn version(&self) -> u64;

    /// Runs `write` once, in one transaction. Commits it if `commit` is set and `write` returns
    /// `true`; otherwise nothing is changed.
    fn with_writer(
        &self,
        commit: bool,
        write: &mut dyn FnMut(&dyn PortfolioWriter) -> bool,
    ) -> Result<(), PortfolioError>;

    /// The log of the records that [`PortfolioWriter::attach`] adds.
    fn mutation_log(self: Arc<Self>) -> Arc<dyn MutationLog>;
}

impl dyn PortfolioStore {
    /// Runs `work` in one transaction, and commits it if `commit` is set and `work` succeeds.
    pub fn change<T, E: From<PortfolioError>>(
        &self,
        commit: bool,
        work: impl FnOnce(&dyn PortfolioWriter) -> Result<T, E>,
    ) -> Result<T, E> {
        let (mut work, mut done) = (Some(work), None);
        self.with_writer(commit, &mut |writer| {
            done = work.take().map(|work| work(writer));
            matches!(done, Some(Ok(_)))
        })?;
        done.unwrap_or_else(|| {
            let source = "the store did not run the transaction".into();
            let not_run = StoreError::Sql { file: PathBuf::from("cgt.db"), source };
            Err(PortfolioError::Store(not_run).into())
        })
    }
}

/// Changes portfolios in an open transaction.
pub trait PortfolioWriter {
    /// Adds the idempotency record and audit entry of the change.
    fn attach(&self, record: &MutationRecord) -> Result<(), PortfolioError>;

    /// Creates a portfolio.
    fn create(&self, id: &str, name: &str, now: i64) -> Result<(), PortfolioError>;

    /// Deletes a portfolio with everything in it; the number of its transactions.
    fn delete(&self, id: &str) -> Result<usize, PortfolioError>;

    /// The name of a portfolio; fails when it does not exist.
    fn require(&self, id: &str) -> Result<String, PortfolioError>;

    /// Accounts of a portfolio, by name.
    fn accounts(&self, id: &str) -> Result<Vec<Account>, PortfolioError>;

    /// Number of transactions.
    fn count(&self, id: &str) -> Result<usize, PortfolioError>;

    /// Rows that an import must know.
    fn known_rows(&self, id: &str) -> Result<KnownRows, PortfolioError>;

    /// Makes sure that an account exists; whether it was created. A new one is a general account
    /// unless a wrapper is given.
    fn ensure_account(
        &self,
        id: &str,
        name: &str,
        wrapper: Option<Wrapper>,
    ) -> Result<bool, PortfolioError>;

    /// Changes the wrapper of an account.
    fn set_wrapper(&self, id: &str, name: &str, wrapper: Wrapper) -> Result<(), PortfolioError>;

    /// Begins a change, which can be undone by its number.
    fn begin(&self, id: &str, now: i64, summary: &str) -> Result<i64, PortfolioError>;

    /// Adds a transaction; its number.
    fn add(&self, id: &str, change: i64, entry: Entry) -> Result<i64, PortfolioError>;

    /// Changes a transaction.
    fn edit(
        &self,
        id: &str,
        change: i64,
        number: i64,
        edit: &dyn Fn(&mut Entry),
    ) -> Result<(), PortfolioError>;

    /// Removes a transaction.
    fn remove(&self, id: &str, change: i64, number: i64) -> Result<(), PortfolioError>;

    /// Undoes a change, or the last one that is not undone.
    fn undo(&self, id: &str, change: Option<i64>, now: i64) -> Result<Undone, PortfolioError>;
}

/// A portfolio in a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Summary {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// When it was created, in microseconds since 1970.
    pub created: i64,
    /// Accounts, by name.
    pub accounts: Vec<Account>,
    /// Number of transactions.
    pub entries: usize,
}

/// A portfolio with its transactions, by number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Portfolio {
    /// Name and accounts.
    pub summary: Summary,
    /// Transactions.
    pub entries: Vec<Entry>,
}

impl Portfolio {
    /// Wrapper of an account; a general one for an unknown name.
    pub fn wrapper(&self, account: &str) -> Wrapper {
        let found = self.summary.accounts.iter().find(|known| known.name == account);
        found.map(|account| account.wrapper).unwrap_or_default()
    }
}

/// A change of a portfolio.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// Number in the portfolio.
    pub id: i64,
    /// When, in microseconds since 1970.
    pub at: i64,
    /// What was changed.
    pub summary: String,
    /// Number of the change that it undid.
    pub undoes: Option<i64>,
    /// Whether it was undone.
    pub undone: bool,
}

/// Result of an undo.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Undone {
    /// The change that was undone.
    pub undoes: i64,
    /// The change that undid it; undoing that one is a redo.
    pub change: i64,
    /// Number of transactions that were changed back.
    pub entries: usize,
}

/// Why a portfolio cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum PortfolioError {
    /// No portfolio of this tenant has the id.
    #[error("the portfolio `{0}` does not exist")]
    NotFound(String),
    /// Another portfolio has the name.
    #[error("a portfolio named `{0}` exists already")]
    NameTaken(String),
    /// No such transaction.
    #[error("the portfolio has no transaction {0}")]
    NoEntry(i64),
    /// No such account.
    #[error("the portfolio has no account `{0}`")]
    NoAccount(String),
    /// The account exists with another wrapper.
    #[error("the account `{name}` is of the wrapper `{}`, not `{}`", known.as_str(), given.as_str())]
    OtherWrapper {
        /// Account.
        name: String,
        /// Its wrapper.
        known: Wrapper,
        /// Wrapper in the call.
        given: Wrapper,
    },
    /// No such change.
    #[error("the portfolio has no change {0}")]
    NoChange(i64),
    /// No change is left to undo.
    #[error("no change is left to undo")]
    NothingToUndo,
    /// The change is undone.
    #[error("change {0} is undone already")]
    AlreadyUndone(i64),
    /// A later change touched the same transaction.
    #[error("transaction {entry} was changed after change {change}")]
    ChangedSince {
        /// The change to undo.
        change: i64,
        /// The transaction.
        entry: i64,
    },
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
