//! A query that exceeds its deadline reports QUERY_TIMEOUT, and its thread stops working.
//!
//! The clock is simulated and the store releases blobs one by one, so the query is in progress
//! when its ten seconds have passed.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use panoply_backtest::error::LogError;
use panoply_backtest::event::Guid;
use panoply_backtest::run::{RunHeader, RunRecord};
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::{BlobKey, Blobs, Store};
use panoply_contract::kernel::Settings;
use panoply_contract::testing::{FixedClock, kernel_in_memory, noon};
use serde_json::json;

use crate::helpers::{OWN_RUN, RUN_A, call_tool, line, sealed};

const EVENTS: u32 = 80_000;

/// A semaphore of blobs that may be read, which counts those that were.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    allowed: usize,
    read: usize,
    waiting: bool,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        while state.read >= state.allowed {
            state.waiting = true;
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap();
        }
        state.waiting = false;
        state.read += 1;
    }

    fn allow(&self, allowed: usize) {
        self.state.lock().unwrap().allowed = allowed;
        self.changed.notify_all();
    }

    fn wait_for_a_blocked_reader(&self) {
        let mut state = self.state.lock().unwrap();
        while !state.waiting {
            state = self.changed.wait(state).unwrap();
        }
    }

    fn read(&self) -> usize {
        self.state.lock().unwrap().read
    }
}

/// A store whose sealed blobs wait for the gate.
struct Gated {
    store: MemoryStore,
    gate: Arc<Gate>,
}

struct GatedBlobs {
    blobs: Arc<dyn Blobs>,
    gate: Arc<Gate>,
}

impl Blobs for GatedBlobs {
    fn get(&self, key: BlobKey) -> Result<Option<Vec<u8>>, LogError> {
        self.gate.pass();
        self.blobs.get(key)
    }

    fn put(&self, blobs: Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
        self.blobs.put(blobs)
    }

    fn keys(&self) -> Result<Vec<BlobKey>, LogError> {
        self.blobs.keys()
    }
}

impl Store for Gated {
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
        let blobs = self.store.sealed(id)?;
        Ok(Arc::new(GatedBlobs { blobs, gate: Arc::clone(&self.gate) }))
    }
    fn version(&self) -> u64 {
        self.store.version()
    }
}

/// A run of fills, each of which the pattern search visits.
fn gated() -> (Arc<Gated>, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let store = Arc::new(Gated { store: MemoryStore::default(), gate: Arc::clone(&gate) });
    let fill = |number: u32| {
        line(OWN_RUN, number, "2025-01-01T00:00:00.000Z", "TradeExecution", r#"{"Price":1}"#, None)
    };
    let lines: Vec<String> = (0..EVENTS).map(fill).collect();
    sealed(Arc::clone(&store) as Arc<dyn Store>, RunHeader::default(), lines.join("\n").as_bytes());
    (store, gate)
}

#[test]
fn timed_out_query_reports_query_timeout_and_stops() {
    let pattern = json!({
        "runId": OWN_RUN, "sequencePattern": ["TradeExecution", "PositionUpdate"],
        "findIncomplete": true, "pageSize": 1,
    });
    let kernel = |store: Arc<Gated>, clock: &Arc<FixedClock>| {
        let pack = panoply_backtest::tools::pack(store);
        kernel_in_memory(vec![pack], Arc::clone(clock) as _, Settings::default()).unwrap()
    };

    // The number of blobs of the complete query.
    let (store, gate) = gated();
    gate.allow(usize::MAX);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let clock = FixedClock::at(noon());
    let whole = runtime.block_on(call_tool(
        &kernel(store, &clock),
        "query_event_sequence",
        pattern.clone(),
    ));
    assert_eq!(whole.unwrap()["metadata"]["totalSequences"], EVENTS);
    let needed = gate.read();
    assert!(needed > 20, "{needed}");
    drop(runtime);

    // The same query, but its deadline passes after six blobs.
    let (store, gate) = gated();
    gate.allow(6);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let clock = FixedClock::at(noon());
    let kernel = kernel(store, &clock);
    let asked = {
        let (kernel, pattern) = (Arc::clone(&kernel), pattern.clone());
        runtime.spawn(async move { call_tool(&kernel, "query_event_sequence", pattern).await })
    };
    gate.wait_for_a_blocked_reader();
    clock.advance(Duration::from_millis(9_999));
    assert!(!asked.is_finished());
    clock.advance(Duration::from_millis(1));
    let error = runtime.block_on(asked).unwrap().unwrap_err();
    assert_eq!(error["code"], "QUERY_TIMEOUT", "{error}");
    assert!(error["message"].as_str().unwrap().contains("10 s"), "{error}");

    // The next blob is released; the query then sees that it is cancelled.
    gate.allow(usize::MAX);
    let sample = json!({"runId": RUN_A, "eventType": "OrderRejection", "pageSize": 1});
    let next = runtime.block_on(call_tool(&kernel, "get_events_by_type", sample)).unwrap();
    assert_eq!(next["metadata"]["totalCount"], 22, "the server goes on");
    // Waits for all threads of calls to end.
    drop(runtime);
    let read = gate.read();
    assert!(read < needed / 2, "it went on to read {read} of {needed} blobs");
}

#[test]
fn every_tool_has_a_deadline_of_ten_seconds() {
    let pack = panoply_backtest::tools::pack(Arc::new(MemoryStore::default()));
    let clock = FixedClock::at(noon());
    let kernel = kernel_in_memory(vec![pack], clock, Settings::default()).unwrap();
    let own = kernel.registry().get_all();
    let tools: Vec<_> =
        own.iter().filter(|entry| entry.spec.permissions.contains(&"backtests:read")).collect();
    assert!(tools.len() >= 12, "{}", tools.len());
    for entry in tools {
        assert!(entry.spec.deadline() <= Duration::from_secs(10), "{}", entry.spec.name);
    }
}
