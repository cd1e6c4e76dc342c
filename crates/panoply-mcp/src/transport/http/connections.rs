//! Connection registry: limits per listener and per address, and eviction.
//!
//! Connections are cheap for a client, so a plain limit would let one client lock out all
//! others. When the server is full, a new connection evicts the one that is idle longest, or, if
//! none is idle, the one that has been sending its request longest.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Connections that became idle more recently are not evicted: the client may be about to send.
/// Older ones are evicted first, so this matters only under a flood.
const MIN_IDLE: Duration = Duration::from_millis(50);
/// Minimum age of an incomplete body before eviction.
const MIN_READING: Duration = Duration::from_millis(250);
/// Polling interval for an evictable connection while all are busy.
const EVICTION_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Connections of one listener.
pub(super) struct Connections {
    most: usize,
    most_per_address: usize,
    min_idle: Duration,
    min_reading: Duration,
    started: Instant,
    live: Mutex<Live>,
    closed: Notify,
}

#[derive(Default)]
struct Live {
    next: u64,
    by_id: HashMap<u64, Arc<Connection>>,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection.
pub(crate) struct Connection {
    pub(crate) address: IpAddr,
    /// Cancelled on eviction.
    pub(super) evicted: CancellationToken,
    /// Requests without a complete reply.
    open: AtomicU32,
    /// Requests with an incomplete body.
    reading: AtomicU32,
    /// Last change of `open` or `reading`, in milliseconds since `started`.
    changed: AtomicU64,
    started: Instant,
}

/// Registration of a connection, released on drop.
pub(super) struct Registered {
    id: u64,
    pub(super) connection: Arc<Connection>,
    connections: Arc<Connections>,
}

/// The address has too many connections.
pub(super) struct TooMany;

impl Connections {
    pub(super) fn new(most: usize, most_per_address: usize) -> Self {
        let (live, closed) = (Mutex::default(), Notify::new());
        let (min_idle, min_reading, started) = (MIN_IDLE, MIN_READING, Instant::now());
        Self { most, most_per_address, min_idle, min_reading, started, live, closed }
    }

    /// Registers a connection, with eviction if the listener is full.
    pub(super) async fn register(self: &Arc<Self>, address: IpAddr) -> Result<Registered, TooMany> {
        loop {
            {
                let mut live = self.live();
                // A local reverse proxy connects for all clients from one address.
                let of_address = live.by_address.get(&address).copied().unwrap_or_default();
                if of_address >= self.most_per_address && !address.is_loopback() {
                    return Err(TooMany);
                }
                if live.by_id.len() < self.most || self.evict(&mut live) {
                    return Ok(self.insert(&mut live, address));
                }
            }
            // All connections are busy: wait until one ends or becomes idle.
            let _elapsed =
                tokio::time::timeout(EVICTION_POLL_INTERVAL, self.closed.notified()).await;
        }
    }

    /// Evicts one connection, if any is idle or still sending its request.
    pub(super) fn evict_one(&self) -> bool {
        self.evict(&mut self.live())
    }

    fn insert(self: &Arc<Self>, live: &mut Live, address: IpAddr) -> Registered {
        let connection = Arc::new(Connection {
            address,
            evicted: CancellationToken::new(),
            open: AtomicU32::new(0),
            reading: AtomicU32::new(0),
            changed: AtomicU64::new(millis(self.started.elapsed())),
            started: self.started,
        });
        live.next += 1;
        live.by_id.insert(live.next, Arc::clone(&connection));
        *live.by_address.entry(address).or_default() += 1;
        Registered { id: live.next, connection, connections: Arc::clone(self) }
    }

    fn evict(&self, live: &mut Live) -> bool {
        let now = self.started.elapsed();
        let idle_since = millis(now.saturating_sub(self.min_idle));
        let reading_since = millis(now.saturating_sub(self.min_reading));
        let idlest = live
            .by_id
            .iter()
            .filter_map(|(id, connection)| Some((connection.rank(idle_since, reading_since)?, *id)))
            .min();
        let Some((_, id)) = idlest else { return false };
        if let Some(connection) = live.forget(id) {
            connection.evicted.cancel();
        }
        true
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    fn forget(&mut self, id: u64) -> Option<Arc<Connection>> {
        let connection = self.by_id.remove(&id)?;
        if let Some(count) = self.by_address.get_mut(&connection.address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&connection.address);
            }
        }
        Some(connection)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.connections.live().forget(self.id);
        self.connections.closed.notify_one();
    }
}

impl Connection {
    /// Eviction rank: idle connections first, longest first. `None` while busy.
    fn rank(&self, idle_since: u64, reading_since: u64) -> Option<(bool, u64)> {
        let (open, reading) =
            (self.open.load(Ordering::Relaxed), self.reading.load(Ordering::Relaxed));
        let changed = self.changed.load(Ordering::Relaxed);
        let before = if open == 0 { idle_since } else { reading_since };
        (open == reading && changed <= before).then_some((open > 0, changed))
    }

    /// Waits until the connection has been idle for `limit`.
    pub(super) async fn idle_for(&self, limit: Duration) {
        loop {
            let since = Duration::from_millis(self.changed.load(Ordering::Relaxed));
            let idle = self.started.elapsed().saturating_sub(since);
            if self.open.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(limit).await;
            } else if idle >= limit {
                return;
            } else {
                tokio::time::sleep(limit - idle).await;
            }
        }
    }

    /// Counts an open request until the guard is dropped.
    pub(super) fn opened(self: &Arc<Self>) -> OpenRequest {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.touch();
        OpenRequest(Arc::clone(self))
    }

    /// Counts an incomplete body until the guard is dropped.
    pub(super) fn reading(&self) -> ReadingRequest<'_> {
        self.reading.fetch_add(1, Ordering::Relaxed);
        ReadingRequest(self)
    }

    fn touch(&self) {
        self.changed.store(millis(self.started.elapsed()), Ordering::Relaxed);
    }
}

/// Guard of an open request.
pub(super) struct OpenRequest(Arc<Connection>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.touch();
    }
}

/// Guard of an incomplete body.
pub(super) struct ReadingRequest<'a>(&'a Connection);

impl Drop for ReadingRequest<'_> {
    fn drop(&mut self) {
        self.0.reading.fetch_sub(1, Ordering::Relaxed);
        self.0.touch();
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

    const AGE: Duration = Duration::from_millis(10);

    fn connections(most: usize, per_address: usize) -> Arc<Connections> {
        Arc::new(Connections {
            min_idle: AGE,
            min_reading: AGE,
            ..Connections::new(most, per_address)
        })
    }

    #[tokio::test]
    async fn full_server_evicts_the_longest_idle_connection() {
        let connections = connections(3, 3);
        let busy = connections.register(HOME).await.ok().unwrap();
        let _request = busy.connection.opened();
        tokio::time::sleep(AGE * 3).await;
        let idle = connections.register(HOME).await.ok().unwrap();
        tokio::time::sleep(AGE * 3).await;
        let younger = connections.register(HOME).await.ok().unwrap();
        tokio::time::sleep(AGE * 3).await;
        let _newest = connections.register(HOME).await.ok().unwrap();
        let evicted = [&busy, &idle, &younger].map(|one| one.connection.evicted.is_cancelled());
        assert_eq!(evicted, [false, true, false]);
    }

    #[tokio::test]
    async fn slow_body_is_evicted_only_when_no_connection_is_idle() {
        let connections = connections(2, 2);
        let slow = connections.register(HOME).await.ok().unwrap();
        let (_request, _reading) = (slow.connection.opened(), slow.connection.reading());
        let idle = connections.register(HOME).await.ok().unwrap();
        tokio::time::sleep(AGE * 3).await;
        let working = connections.register(HOME).await.ok().unwrap();
        let _work = working.connection.opened();
        assert!(idle.connection.evicted.is_cancelled() && !slow.connection.evicted.is_cancelled());
        drop(idle);
        tokio::time::sleep(AGE * 3).await;
        let _last = connections.register(HOME).await.ok().unwrap();
        assert!(slow.connection.evicted.is_cancelled());
        assert!(!working.connection.evicted.is_cancelled());
    }

    #[tokio::test]
    async fn per_address_limit_applies_except_to_loopback() {
        let connections = connections(10, 2);
        let first = connections.register(AWAY).await.ok().unwrap();
        let _second = connections.register(AWAY).await.ok().unwrap();
        assert!(connections.register(AWAY).await.is_err());
        drop(first);
        assert!(connections.register(AWAY).await.is_ok());
        let mut local = Vec::new();
        for _ in 0..5 {
            local.push(connections.register(HOME).await.ok().unwrap());
        }
        assert_eq!(local.len(), 5);
    }

    #[tokio::test]
    async fn idle_time_starts_again_with_each_request() {
        let connections = connections(10, 10);
        let place = connections.register(HOME).await.ok().unwrap();
        let limit = AGE * 6;
        let start = Instant::now();
        let request = place.connection.opened();
        let watching = Arc::clone(&place.connection);
        let watch = tokio::spawn(async move { watching.idle_for(limit).await });
        tokio::time::sleep(AGE * 10).await;
        drop(request);
        watch.await.unwrap();
        assert!(start.elapsed() >= AGE * 16, "{:?}", start.elapsed());
    }
}
