//! The connection to the server, and the circuit breaker: without a connection no call waits for one.
//!
//! [`Cache::call`] takes the breaker out of the circuit as soon as a reply fails or is late; only
//! [`Cache::restore`], on a timer, closes it again, once a heartbeat was answered.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, ConnectionAddr, FromRedisValue, IntoConnectionInfo as _,
    RedisConnectionInfo, RedisError, ScriptInvocation,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::tls::Tls;

/// Longest wait of a call for the server. A late reply costs one call this time, then none.
const REPLY_TIMEOUT: Duration = Duration::from_millis(50);
/// Longest wait for a connection, and for a reply on the timer.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// Where the server is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Settings {
    /// `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS.
    pub url: String,
    /// The password, if the URL has none.
    pub password: Option<String>,
    /// PEM file of certificate authorities; Mozilla's roots if there is none.
    pub authorities: Option<PathBuf>,
    /// The number of replicas that are deployed. More are counted by their heartbeats.
    pub replicas: u32,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The URL, which is not shown: it may hold a password.
    #[error("the cache is not a URL such as `redis://host:6379/0` or `rediss://host:6380/0`: {0}")]
    Url(String),
    /// The certificate authorities.
    #[error("the certificates in `{file}` cannot be read: {reason}")]
    Authorities {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// TLS.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// The server.
pub(crate) struct Cache {
    host: String,
    port: u16,
    login: RedisConnectionInfo,
    tls: Option<Tls>,
    /// `None`: the circuit is open. The number tells a connection from its successor.
    circuit: RwLock<Circuit>,
}

#[derive(Default)]
struct Circuit {
    connection: Option<MultiplexedConnection>,
    number: u64,
}

/// A connection, with its number.
#[derive(Clone)]
pub(crate) struct Connection {
    inner: MultiplexedConnection,
    number: u64,
}

/// Why a script had no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("no reply within {} ms", .0.as_millis())]
    Late(Duration),
    #[error(transparent)]
    Redis(#[from] RedisError),
    #[error("cannot connect: {0}")]
    Connect(#[from] std::io::Error),
}

impl Cache {
    pub(crate) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let url = &settings.url;
        let encrypted = url.starts_with("rediss://");
        // Without its own TLS the parser refuses `rediss`.
        let plain = url.replacen("rediss://", "redis://", 1);
        let info = plain
            .as_str()
            .into_connection_info()
            .map_err(|error| SettingsError::Url(error.to_string()))?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(SettingsError::Url("it names no host".to_owned()));
        };
        let mut login =
            info.redis_settings().clone().set_lib_name("panoply", env!("CARGO_PKG_VERSION"));
        if let Some(password) = &settings.password {
            login = login.set_password(password);
        }
        let tls = match encrypted {
            true => Some(Tls::trusting(settings.authorities.as_deref())?),
            false => None,
        };
        Ok(Self { host: host.clone(), port: *port, login, tls, circuit: RwLock::default() })
    }

    /// The connection; `None` while the circuit is open.
    pub(crate) fn connection(&self) -> Option<Connection> {
        let circuit = self.circuit.read().unwrap_or_else(PoisonError::into_inner);
        let inner = circuit.connection.clone()?;
        Some(Connection { inner, number: circuit.number })
    }

    /// Runs a script for a call. A failure opens the circuit.
    pub(crate) async fn call<T: FromRedisValue>(
        &self,
        connection: Connection,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, CallError> {
        self.run(connection, script, REPLY_TIMEOUT).await
    }

    /// Runs a script on the timer: connects if there is no connection, and closes the circuit if it
    /// succeeds.
    pub(crate) async fn restore<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, CallError> {
        if let Some(connection) = self.connection() {
            return self.run(connection, script, CONNECT_TIMEOUT).await;
        }
        let late = |_| CallError::Late(CONNECT_TIMEOUT);
        let mut fresh = timeout(CONNECT_TIMEOUT, self.connect()).await.map_err(late)??;
        let reply = timeout(CONNECT_TIMEOUT, script.invoke_async(&mut fresh)).await;
        let reply = reply.map_err(late)??;
        let mut circuit = self.circuit.write().unwrap_or_else(PoisonError::into_inner);
        circuit.number += 1;
        circuit.connection = Some(fresh);
        Ok(reply)
    }

    async fn run<T: FromRedisValue>(
        &self,
        mut connection: Connection,
        script: &ScriptInvocation<'_>,
        limit: Duration,
    ) -> Result<T, CallError> {
        let reply = match timeout(limit, script.invoke_async(&mut connection.inner)).await {
            Ok(reply) => reply.map_err(CallError::from),
            Err(_) => Err(CallError::Late(limit)),
        };
        if let Err(error) = &reply {
            self.open_circuit(connection.number, error);
        }
        reply
    }

    fn open_circuit(&self, number: u64, error: &CallError) {
        let mut circuit = self.circuit.write().unwrap_or_else(PoisonError::into_inner);
        if circuit.number == number && circuit.connection.take().is_some() {
            tracing::warn!(%error, "the cache is unavailable: limits are shares of each replica");
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, CallError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        match &self.tls {
            Some(tls) => log_in(&self.login, tls.encrypt(&self.host, stream).await?).await,
            None => log_in(&self.login, stream).await,
        }
    }
}

/// Logs in, and starts the task that reads and writes the stream.
async fn log_in<S>(
    login: &RedisConnectionInfo,
    stream: S,
) -> Result<MultiplexedConnection, CallError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let config = AsyncConnectionConfig::default();
    let (connection, driver) =
        MultiplexedConnection::new_with_config(login, stream, config).await?;
    tokio::spawn(driver);
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_of_another_kind_is_refused_without_repeating_it() {
        for url in ["", "valkey.example.com", "http://:secret@h", "unix:///tmp/x", "redis://"] {
            let settings = Settings { url: url.to_owned(), ..Settings::default() };
            let Err(error) = Cache::new(&settings) else { panic!("{url:?} was accepted") };
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let settings = Settings { url: "rediss://u:p@h:1/2".to_owned(), ..Settings::default() };
        let cache = Cache::new(&settings).unwrap();
        assert_eq!((cache.host.as_str(), cache.port, cache.login.db()), ("h", 1, 2));
        assert!(cache.tls.is_some());
    }
}
