//! A database server: its pool of connections, and the bridge from synchronous stores.
//!
//! Stores are synchronous and run in lanes, on threads that may block. Their statements run on a
//! runtime of this module, and the calling thread waits for the result: that works on every thread,
//! in a runtime or not, which `block_on` does not. A whole transaction is one such wait.
//!
//! A tenant is set for one transaction (`panoply.tenant`), in the message that begins it.

use std::future::Future;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime as Timer};
use panoply_contract::tenant::TenantId;
use panoply_store::StoreError;
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, NoTls, Row, SimpleQueryMessage, SimpleQueryRow, Statement};

use crate::errors;
use crate::schema;
use crate::tls::Rustls;
use crate::transaction::Transaction;

/// A bound value.
pub type Value = Box<dyn ToSql + Sync + Send>;

/// Statements with their values.
pub type Statements = Vec<(String, Vec<Value>)>;

/// Bound values of one statement.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as $crate::server::Value),*]
    };
}

/// How long a caller waits for a connection of the pool.
const CHECKOUT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a connection may take to be opened.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Where the database is and how it is used.
#[derive(Clone, Debug)]
pub struct Settings {
    /// URL of libpq, with one or more hosts.
    pub url: String,
    /// Password, if it is not in the URL.
    pub password: Option<String>,
    /// PEM file of certificate authorities; Mozilla's roots if there is none.
    pub authorities: Option<PathBuf>,
    /// Maximum number of connections.
    pub connections: usize,
    /// Longest time of a statement.
    pub statement_timeout: Duration,
    /// Longest time that a statement waits for a lock.
    pub lock_timeout: Duration,
}

impl Settings {
    /// The usual settings for a URL.
    pub fn of(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            password: None,
            authorities: None,
            connections: 16,
            statement_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(2),
        }
    }

    /// Parses the URL. The message of the error names no password.
    pub(crate) fn config(&self) -> Result<Config, StoreError> {
        let mut config = Config::from_str(&self.url).map_err(|error| {
            StoreError::NotSetUp(format!(
                "the URL of the database is not valid: {}",
                std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string)
            ))
        })?;
        if let Some(password) = &self.password {
            config.password(password);
        }
        // A transaction that hangs must not keep its locks: the replica may be frozen.
        let options = format!(
            "{} -c statement_timeout={} -c lock_timeout={} -c idle_in_transaction_session_timeout=10000",
            config.get_options().unwrap_or_default(),
            self.statement_timeout.as_millis(),
            self.lock_timeout.as_millis(),
        );
        config
            .options(options.trim())
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_user_timeout(Duration::from_secs(5))
            .keepalives_idle(Duration::from_secs(30));
        if config.get_application_name().is_none() {
            config.application_name("panoply");
        }
        Ok(config)
    }
}

/// A database server with a pool of connections.
pub struct Postgres {
    runtime: Option<Runtime>,
    pool: Pool,
    /// Whether the schema was found to fit this program.
    checked: AtomicBool,
    round_trips: Arc<AtomicU64>,
}

impl Postgres {
    /// Prepares the pool. Connections are opened when they are needed.
    pub fn new(settings: &Settings) -> Result<Arc<Self>, StoreError> {
        let config = settings.config()?;
        let pooled = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match config.get_ssl_mode() {
            SslMode::Disable => Manager::from_config(config, NoTls, pooled),
            _ => {
                let tls = Rustls::trusting(settings.authorities.as_deref())?;
                Manager::from_config(config, tls, pooled)
            }
        };
        let pool = Pool::builder(manager)
            .max_size(settings.connections.max(2))
            .wait_timeout(Some(CHECKOUT_TIMEOUT))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .recycle_timeout(Some(CHECKOUT_TIMEOUT))
            .runtime(Timer::Tokio1)
            .build()
            .map_err(|error| StoreError::NotSetUp(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|error| StoreError::NotSetUp(format!("no thread can be started: {error}")))?;
        Ok(Arc::new(Self {
            runtime: Some(runtime),
            pool,
            checked: AtomicBool::new(false),
            round_trips: Arc::default(),
        }))
    }

    /// Runs `work` and waits for it.
    pub fn run<T: Send + 'static, F>(
        self: &Arc<Self>,
        work: impl FnOnce(Arc<Self>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let Some(runtime) = &self.runtime else { return Err(ended()) };
        let (sender, result) = mpsc::sync_channel(1);
        let work = work(Arc::clone(self));
        runtime.spawn(async move {
            // The caller waits until it has the result.
            let _ = sender.send(work.await);
        });
        result.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// A connection of the pool; the first one checks the schema.
    pub async fn connection(&self) -> Result<Connection, StoreError> {
        let connection = self.unchecked().await?;
        if !self.checked.load(Ordering::Relaxed) {
            schema::require(&connection).await?;
            self.checked.store(true, Ordering::Relaxed);
        }
        Ok(connection)
    }

    /// A connection to a database whose schema may not fit.
    pub(crate) async fn unchecked(&self) -> Result<Connection, StoreError> {
        let client = self.pool.get().await.map_err(errors::pool)?;
        Ok(Connection { client, round_trips: Arc::clone(&self.round_trips) })
    }

    /// Begins a transaction that may write, for a tenant.
    pub async fn begin(
        self: &Arc<Self>,
        tenant: Option<&TenantId>,
    ) -> Result<Transaction, StoreError> {
        Ok(Transaction::begin(Arc::clone(self), tenant, "").await?.0)
    }

    /// Runs one query for a tenant, in one round trip.
    pub async fn read(
        &self,
        tenant: &TenantId,
        sql: &str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, StoreError> {
        let connection = self.connection().await?;
        let statement = connection.prepared(sql).await?;
        let begin = format!("BEGIN READ ONLY; {}", set_tenant(tenant));
        let values = borrowed(&values);
        connection.count();
        let client = &connection.client;
        let (begun, rows, ended) = futures::join!(
            client.batch_execute(&begin),
            client.query(&statement, &values),
            client.batch_execute("COMMIT"),
        );
        begun.and(rows).and_then(|rows| ended.map(|()| rows)).map_err(errors::statement)
    }

    /// Number of round trips so far, for tests.
    pub fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Dropping a runtime blocks, which is not allowed on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("pool", &self.pool.status()).finish_non_exhaustive()
    }
}

fn ended() -> StoreError {
    StoreError::Server { source: "the thread of the database ended".into() }
}

/// Sets the tenant of a transaction. An id has no characters with a meaning in SQL.
pub(crate) fn set_tenant(tenant: &TenantId) -> String {
    format!("SELECT set_config('panoply.tenant', '{tenant}', true)")
}

/// A connection of the pool.
pub struct Connection {
    pub(crate) client: Object,
    round_trips: Arc<AtomicU64>,
}

impl Connection {
    pub(crate) fn count(&self) {
        self.round_trips.fetch_add(1, Ordering::Relaxed);
    }

    /// Prepares a statement, once for each connection.
    pub(crate) async fn prepared(&self, sql: &str) -> Result<Statement, StoreError> {
        let known = self.client.statement_cache.size();
        let statement = self.client.prepare_cached(sql).await.map_err(errors::statement)?;
        if self.client.statement_cache.size() > known {
            self.count();
        }
        Ok(statement)
    }

    /// Rows of a query.
    pub async fn query(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepared(sql).await?;
        self.count();
        self.client.query(&statement, &borrowed(&values)).await.map_err(errors::statement)
    }

    /// Runs a statement; returns the number of rows.
    pub async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        let statement = self.prepared(sql).await?;
        self.count();
        self.client.execute(&statement, &borrowed(&values)).await.map_err(errors::statement)
    }

    /// Runs several statements in one round trip; each is awaited to its end.
    pub async fn pipeline(
        &self,
        statements: Vec<(String, Vec<Value>)>,
    ) -> Result<Vec<u64>, StoreError> {
        let mut prepared = Vec::with_capacity(statements.len());
        for (sql, values) in &statements {
            prepared.push((self.prepared(sql).await?, borrowed(values)));
        }
        self.count();
        let running =
            prepared.iter().map(|(statement, values)| self.client.execute(statement, values));
        let ended = futures::future::join_all(running).await;
        ended.into_iter().collect::<Result<_, _>>().map_err(errors::statement)
    }

    /// Rows of several queries, in one round trip.
    pub async fn pipeline_queries(
        &self,
        queries: Vec<(String, Vec<Value>)>,
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut prepared = Vec::with_capacity(queries.len());
        for (sql, values) in &queries {
            prepared.push((self.prepared(sql).await?, borrowed(values)));
        }
        self.count();
        let running =
            prepared.iter().map(|(statement, values)| self.client.query(statement, values));
        let ended = futures::future::join_all(running).await;
        ended.into_iter().collect::<Result<_, _>>().map_err(errors::statement)
    }

    /// Runs statements without values, in one round trip, and returns their rows.
    pub async fn script(&self, sql: &str) -> Result<Vec<SimpleQueryRow>, StoreError> {
        self.count();
        let messages = self.client.simple_query(sql).await.map_err(errors::statement)?;
        Ok(rows(messages))
    }
}

pub(crate) fn rows(messages: Vec<SimpleQueryMessage>) -> Vec<SimpleQueryRow> {
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    };
    messages.into_iter().filter_map(row).collect()
}

fn borrowed(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value.as_ref() as &(dyn ToSql + Sync)).collect()
}
