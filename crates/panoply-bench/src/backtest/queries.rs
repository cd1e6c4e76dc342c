//! Query latencies through the tools, in a child process whose memory is that of a server that
//! answers queries but does not seal.
//!
//! Every call passes the whole pipeline, misses the reply cache, and is encoded.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use panoply_backtest::store::sqlite::SqliteStore;
use panoply_contract::clock::Clock;
use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::{Kernel, Scope, Settings};
use panoply_contract::pipeline::{self, Request};
use panoply_contract::testing::kernel_in_memory;
use panoply_store::SystemClock;
use serde_json::{Value, json};

use super::import;
use super::workload::{self, text};
use crate::Outcome;

/// Repetitions of each query, at least; a cheap one is repeated for [`MIN_TIME`], because CPU time
/// is counted in hundredths of a second.
const REPETITIONS: usize = 51;
const MAX_REPETITIONS: usize = 500;
const MIN_TIME: Duration = Duration::from_millis(500);
/// Number of random pages, and of random timestamps.
const PAGES: usize = 2000;
const TIMESTAMPS: usize = 500;
/// After this time a query is not repeated further.
const TIME_BUDGET: Duration = Duration::from_secs(10);

/// Measures the queries in the file `queries`. Returns answers and times as JSON.
pub(crate) async fn measure(home: &Path, queries: &Path) -> Outcome<Value> {
    let mut queries: Vec<Value> = serde_json::from_slice(&std::fs::read(queries)?)?;
    let server = Server::open(home)?;
    for question in &mut queries {
        server.resolve(question).await?;
    }
    let mut answered = Vec::new();
    for question in queries {
        let (reply, first) =
            server.query(text(&question, "tool"), workload::short_arguments(&question)).await?;
        let answer = workload::answer(&question, &reply)?;
        let before = import::cpu_seconds()?;
        let times = server.times(&question).await?;
        let processor = (import::cpu_seconds()? - before) * 1e3 / times.len() as f64;
        answered.push(json!({
            "question": question, "answer": answer, "first": first, "median": median(&times),
            "processor": processor,
        }));
    }
    let first = answered.first().map(|own| workload::pointer(own, "/question/runId").clone());
    let run = first.unwrap_or_default();
    let before = import::cpu_seconds()?;
    let pages = server.random_pages(&run).await?;
    let processor = (import::cpu_seconds()? - before) * 1e3 / PAGES as f64;
    let timestamps = server.random_timestamps(&run).await?;
    Ok(json!({
        "answered": answered,
        "pages": {"median": median(&pages), "p99": percentile(&pages, 0.99), "processor": processor},
        "moments": {"median": median(&timestamps), "p99": percentile(&timestamps, 0.99)},
        "megabytes": import::peak_megabytes(std::process::id())?,
    }))
}

fn median(times: &[f64]) -> f64 {
    percentile(times, 0.5)
}

/// A percentile of the times; `share` is between 0 and 1.
pub(crate) fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length"
    )]
    let place = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// The pack on the runs of a home directory, without a transport.
pub(crate) struct Server {
    kernel: Arc<Kernel>,
    clock: Arc<SystemClock>,
}

impl Server {
    pub(crate) fn open(home: &Path) -> Outcome<Self> {
        let clock = Arc::new(SystemClock::new());
        let store = SqliteStore::open(&import::catalog(home))?;
        let pack = panoply_backtest::tools::pack(Arc::new(store));
        let settings = Settings { cache_bytes: 0, ..Settings::default() };
        let kernel = kernel_in_memory(vec![pack], Arc::clone(&clock) as Arc<dyn Clock>, settings)
            .map_err(|violations| format!("{violations:?}"))?;
        Ok(Self { kernel, clock })
    }

    /// The reply, and the milliseconds from arguments to encoded bytes.
    pub(crate) async fn query(&self, tool: &str, arguments: Value) -> Outcome<(Value, f64)> {
        let start = self.clock.monotonic();
        let trace = TraceId::new(uuid::Uuid::new_v4());
        let cx = CallContext::local(Arc::clone(self.kernel.clock()), trace);
        let request = Request { tool, input: arguments, scope: &Scope::All };
        match pipeline::call(&self.kernel, request, cx).await {
            Envelope::Result { is_error: false, structured: Some(reply), .. } => {
                std::hint::black_box(reply.text().as_bytes().to_vec());
                let passed = self.clock.monotonic().saturating_sub(start);
                Ok((reply.value(), passed.as_secs_f64() * 1e3))
            }
            Envelope::Result { text, .. } => Err(text.into()),
            Envelope::Refusal { message, .. } => Err(message.into()),
        }
    }

    /// Replaces the page index `last` by that of the last page.
    async fn resolve(&self, question: &mut Value) -> Outcome {
        if workload::pointer(question, "/pageIndex") != "last" {
            return Ok(());
        }
        set(question, "pageIndex", json!(0));
        let arguments = workload::short_arguments(question);
        let (reply, _) = self.query(text(question, "tool"), arguments).await?;
        let total = workload::pointer(&reply, "/metadata/totalCount").as_u64().ok_or("no total")?;
        let size = workload::pointer(question, "/pageSize").as_u64().ok_or("no size")?;
        set(question, "pageIndex", json!(total.saturating_sub(1) / size));
        Ok(())
    }

    async fn times(&self, question: &Value) -> Outcome<Vec<f64>> {
        let start = self.clock.monotonic();
        let mut times = Vec::new();
        while times.len() < MAX_REPETITIONS {
            let mut arguments = workload::arguments(question);
            bypass_reply_cache(&mut arguments, times.len());
            let queries = self.query(text(question, "tool"), arguments).await?;
            times.push(queries.1);
            let elapsed = self.clock.monotonic().saturating_sub(start);
            if elapsed > TIME_BUDGET || elapsed > MIN_TIME && times.len() >= REPETITIONS {
                break;
            }
        }
        Ok(times)
    }

    /// Random pages of every event type.
    async fn random_pages(&self, run: &Value) -> Outcome<Vec<f64>> {
        let mut totals = Vec::new();
        for event_type in panoply_backtest::event::EventType::ALL {
            let arguments = json!({"runId": run, "eventType": event_type.as_str(), "pageSize": 1});
            let (reply, _) = self.query("get_events_by_type", arguments).await?;
            let total =
                workload::pointer(&reply, "/metadata/totalCount").as_u64().ok_or("no total")?;
            totals.push((event_type.as_str(), total.div_ceil(100)));
        }
        let mut times = Vec::new();
        for (chance, (event_type, pages)) in (0..PAGES).zip(totals.iter().cycle()) {
            let page = splitmix64(chance as u64) % (*pages).max(1);
            let mut arguments = json!({"runId": run, "eventType": event_type, "pageIndex": page});
            bypass_reply_cache(&mut arguments, chance);
            times.push(self.query("get_events_by_type", arguments).await?.1);
        }
        Ok(times)
    }

    async fn random_timestamps(&self, run: &Value) -> Outcome<Vec<f64>> {
        let (described, _) = self.query("list_backtest_runs", json!({})).await?;
        let runs = workload::pointer(&described, "/runs").as_array().ok_or("no runs")?;
        let own = runs
            .iter()
            .find(|listed| workload::pointer(listed, "/runId") == run)
            .ok_or("no such run")?;
        let nanos = |name: &str| -> Outcome<i64> {
            let read = panoply_backtest::timestamp::Timestamp::parse(text(own, name));
            Ok(read.map_err(|error| format!("{name}: {error}"))?.nanos())
        };
        let (first, last) = (nanos("startTime")?, nanos("endTime")?);
        let mut times = Vec::new();
        for chance in 0..TIMESTAMPS {
            let share = splitmix64(chance as u64) % 1_000_000;
            let nanos = first + (last - first) / 1_000_000 * share.cast_signed();
            let timestamp = panoply_backtest::timestamp::Timestamp::from_nanos(nanos).to_string();
            let mut arguments = json!({"runId": run, "timestamp": timestamp});
            bypass_reply_cache(&mut arguments, chance);
            times.push(self.query("get_state_snapshot", arguments).await?.1);
        }
        Ok(times)
    }
}

/// Makes a query distinct from all earlier ones without changing its answer: even a reply cache
/// of size zero holds an entry briefly.
fn bypass_reply_cache(arguments: &mut Value, number: usize) {
    set(arguments, "maxTokens", json!(20_000 - number % 500));
}

fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// The SplitMix64 finalizer: a deterministic scatter of numbers.
pub(crate) const fn splitmix64(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}
