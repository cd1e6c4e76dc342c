//! Open stores of tenants: opened on first use, at most a fixed number at a time.
//!
//! - Single flight: concurrent first uses of a tenant open its store once.
//! - Over the limit, the store that was unused for the longest time is closed. A store in use is
//!   never closed; the limit is exceeded instead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use panoply_contract::tenant::TenantId;

/// A store that can be closed while nobody uses it.
pub trait TenantStore: Send + Sync {
    /// Whether something made by the store, such as a pack over it, is still in use.
    fn in_use(&self) -> bool {
        false
    }
}

/// Open stores by tenant.
pub struct TenantStores<S> {
    capacity: usize,
    state: Mutex<State<S>>,
}

struct State<S> {
    slots: HashMap<TenantId, Slot<S>>,
    /// Number of uses so far.
    uses: u64,
}

struct Slot<S> {
    /// The lock is held while the store is being opened.
    store: Arc<Mutex<Option<Arc<S>>>>,
    last_use: u64,
}

impl<S: TenantStore> TenantStores<S> {
    /// Keeps at most `capacity` stores open that are not in use.
    pub fn new(capacity: usize) -> Self {
        let state = State { slots: HashMap::new(), uses: 0 };
        Self { capacity: capacity.max(1), state: Mutex::new(state) }
    }

    /// The open store of a tenant; opens it on first use. A failure is not remembered.
    pub fn get<E>(
        &self,
        tenant: &TenantId,
        open: impl FnOnce() -> Result<Arc<S>, E>,
    ) -> Result<Arc<S>, E> {
        let cell = self.cell(tenant);
        let mut store = lock(&cell);
        if let Some(store) = &*store {
            return Ok(Arc::clone(store));
        }
        let opened = open()?;
        *store = Some(Arc::clone(&opened));
        drop(store);
        drop(cell);
        self.close_unused();
        Ok(opened)
    }

    /// Closes the store of a tenant. Fails while it is in use, and then leaves it open.
    pub fn close(&self, tenant: &TenantId) -> Result<(), StillInUse> {
        let mut state = lock(&self.state);
        let Some(slot) = state.slots.get(tenant) else { return Ok(()) };
        if !slot.is_unused() {
            return Err(StillInUse);
        }
        let closed = state.slots.remove(tenant);
        drop(state);
        drop(closed);
        Ok(())
    }

    /// Tenants with an open store.
    pub fn tenants(&self) -> Vec<TenantId> {
        lock(&self.state).slots.keys().cloned().collect()
    }

    /// Number of open stores.
    pub fn open_count(&self) -> usize {
        lock(&self.state).slots.len()
    }

    fn cell(&self, tenant: &TenantId) -> Arc<Mutex<Option<Arc<S>>>> {
        let mut state = lock(&self.state);
        state.uses += 1;
        let uses = state.uses;
        if let Some(slot) = state.slots.get_mut(tenant) {
            slot.last_use = uses;
            return Arc::clone(&slot.store);
        }
        let store = Arc::default();
        let slot = Slot { store: Arc::clone(&store), last_use: uses };
        state.slots.insert(tenant.clone(), slot);
        store
    }

    /// Closes stores over the limit, outside the lock: closing may write to the disk.
    fn close_unused(&self) {
        let mut closed = Vec::new();
        let mut state = lock(&self.state);
        while state.slots.len() > self.capacity {
            let unused = state.slots.iter().filter(|(_, slot)| slot.is_unused());
            let oldest = unused.min_by_key(|(_, slot)| slot.last_use);
            let Some(tenant) = oldest.map(|(tenant, _)| tenant.clone()) else { break };
            closed.extend(state.slots.remove(&tenant));
        }
        drop(state);
        drop(closed);
    }
}

/// The store is in use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StillInUse;

impl<S: TenantStore> Slot<S> {
    /// Whether nobody but this slot holds the store, and nobody is opening it.
    fn is_unused(&self) -> bool {
        if Arc::strong_count(&self.store) > 1 {
            return false;
        }
        match &*lock(&self.store) {
            Some(store) => Arc::strong_count(store) == 1 && !store.in_use(),
            // An attempt to open it failed.
            None => true,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use panoply_contract::tenant::TenantKind;

    use super::*;

    struct Opened;

    impl TenantStore for Opened {}

    fn tenant(number: u8) -> TenantId {
        TenantId::new(TenantKind::Person, [number; 16])
    }

    fn get(stores: &TenantStores<Opened>, number: u8) -> (Arc<Opened>, bool) {
        let mut was_opened = false;
        let store = stores.get(&tenant(number), || {
            was_opened = true;
            Ok::<_, ()>(Arc::new(Opened))
        });
        (store.unwrap(), was_opened)
    }

    #[test]
    fn the_least_recently_used_store_is_closed_first() {
        let stores = TenantStores::new(2);
        for (number, opened) in [(1, true), (2, true), (1, false), (3, true), (1, false), (2, true)]
        {
            assert_eq!(get(&stores, number).1, opened, "tenant {number}");
        }
        assert_eq!(stores.open_count(), 2);
    }

    #[test]
    fn a_store_in_use_is_never_closed() {
        let stores = TenantStores::new(1);
        let (held, _) = get(&stores, 1);
        get(&stores, 2);
        get(&stores, 3);
        assert_eq!(stores.close(&tenant(1)), Err(StillInUse));
        let (again, opened) = get(&stores, 1);
        assert!(!opened && Arc::ptr_eq(&held, &again));
        drop((held, again));
        assert_eq!(stores.close(&tenant(1)), Ok(()));
        assert!(get(&stores, 1).1);
    }

    #[test]
    fn concurrent_first_uses_open_a_store_once() {
        let (stores, opened) = (TenantStores::new(4), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let open = || {
                        opened.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        Ok::<_, ()>(Arc::new(Opened))
                    };
                    stores.get(&tenant(1), open).unwrap();
                });
            }
        });
        assert_eq!(opened.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_failed_open_is_tried_again_and_holds_no_place() {
        let stores = TenantStores::<Opened>::new(1);
        assert_eq!(stores.get(&tenant(1), || Err("full")).err(), Some("full"));
        assert!(get(&stores, 2).1);
        assert_eq!(stores.open_count(), 1);
        assert!(get(&stores, 1).1);
    }
}
