//! Concurrency caps: requests in total and per caller, and bytes of incomplete bodies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Shared limits of all routes.
pub(super) struct Caps {
    requests: Arc<Semaphore>,
    per_caller: usize,
    callers: Arc<Mutex<HashMap<String, usize>>>,
    /// In KiB.
    bodies: Arc<Semaphore>,
}

/// Counts a request until dropped.
pub(super) struct WorkPermit {
    partition: String,
    callers: Arc<Mutex<HashMap<String, usize>>>,
    _request: OwnedSemaphorePermit,
}

/// A cap is reached: of the caller or of the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CapReached {
    Server,
    Caller,
}

impl Caps {
    pub(super) fn new(requests: usize, per_caller: usize, body_bytes: usize) -> Self {
        Self {
            requests: Arc::new(Semaphore::new(requests)),
            per_caller,
            callers: Arc::default(),
            bodies: Arc::new(Semaphore::new(body_bytes / 1024)),
        }
    }

    /// Acquires a permit for a request of this caller.
    pub(super) fn work(&self, partition: &str) -> Result<WorkPermit, CapReached> {
        let request =
            Arc::clone(&self.requests).try_acquire_owned().map_err(|_| CapReached::Server)?;
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        match callers.get_mut(partition) {
            Some(count) if *count >= self.per_caller => return Err(CapReached::Caller),
            Some(count) => *count += 1,
            None => drop(callers.insert(partition.to_owned(), 1)),
        }
        drop(callers);
        let (partition, callers) = (partition.to_owned(), Arc::clone(&self.callers));
        Ok(WorkPermit { partition, callers, _request: request })
    }

    /// Acquires buffer memory for a part of an incomplete body.
    pub(super) fn buffer(&self, bytes: usize) -> Result<OwnedSemaphorePermit, CapReached> {
        let kib = u32::try_from(bytes.div_ceil(1024)).map_err(|_| CapReached::Server)?;
        Arc::clone(&self.bodies).try_acquire_many_owned(kib).map_err(|_| CapReached::Server)
    }
}

impl Drop for WorkPermit {
    fn drop(&mut self) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = callers.get_mut(&self.partition) {
            *count -= 1;
            if *count == 0 {
                callers.remove(&self.partition);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_caller_cap_is_enforced_and_released() {
        let caps = Caps::new(3, 2, 4096);
        let mine = [caps.work("a").ok().unwrap(), caps.work("a").ok().unwrap()];
        assert_eq!(caps.work("a").err(), Some(CapReached::Caller));
        let other = caps.work("b").ok().unwrap();
        assert_eq!(caps.work("b").err(), Some(CapReached::Server));
        drop(mine);
        assert!(caps.work("a").is_ok());
        drop(other);
        assert!(caps.callers.lock().unwrap().is_empty());
    }

    #[test]
    fn unfinished_bodies_share_one_budget() {
        let caps = Caps::new(1, 1, 4096);
        let held = caps.buffer(3000).ok().unwrap();
        assert!(caps.buffer(2000).is_err());
        drop(held);
        assert!(caps.buffer(2000).is_ok());
    }
}
