//! Load test: a hundred clients over HTTP on loopback while another run is sealed.
//!
//! The server is the real program. Each client sends its next query after the last reply, until
//! the seal ends or the maximum number of queries is reached.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;
use serde_json::{Value, json};

use super::generate::Facts;
use super::import;
use super::queries::{percentile, splitmix64};
use crate::http_client::HttpClient;
use crate::{Outcome, report, startup};

const CLIENTS: u64 = 100;
/// Maximum duration of a load test.
const MAX_DURATION: Duration = Duration::from_secs(120);
const MAX_QUERIES: u64 = 200_000;
/// Pause of a client between two queries, and the goal of the 95th percentile in milliseconds.
const CLIENT_PAUSES: [(&str, Duration, f64); 2] = [
    ("one query per second and client", Duration::from_secs(1), 50.0),
    ("next query at once", Duration::ZERO, 25.0),
];

/// Queries the run of `facts` in `home` while others are imported; the goal is scaled by `slack`.
pub(crate) fn run(home: &Path, facts: &Facts, others: &[(&Path, &Facts)], slack: f64) -> Outcome {
    report::heading(
        "A hundred clients over HTTP while another run is sealed",
        "the real program on loopback; its clients, this program, use the same two cores",
    );
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let server = Server::start(home)?;
    runtime.block_on(server.ready())?;
    for ((pace, pause, goal), (log, _)) in CLIENT_PAUSES.into_iter().zip(others) {
        let mut import = import::import(home, log)?;
        let done = Arc::new(AtomicBool::new(false));
        let before = CpuSeconds::read(&server, &import)?;
        let queries = query(server.address, facts, pause, Arc::clone(&done));
        let mut spent = before;
        let watching = async {
            loop {
                spent = CpuSeconds::read(&server, &import).unwrap_or(spent);
                let ended = import.try_wait()?;
                if ended.is_some() || done.load(Ordering::Relaxed) {
                    done.store(true, Ordering::Relaxed);
                    return Outcome::Ok(ended);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let (queries, ended) = runtime.block_on(async { tokio::join!(queries, watching) });
        let queries = queries?;
        match ended? {
            Some(status) if !status.success() => return Err("the import failed".into()),
            Some(_) => {}
            None => {
                report::remark("the maximum number of queries was reached before the seal ended");
                import.wait()?;
            }
        }
        queries.print(pace, goal * slack);
        spent.print(before, queries.millis.len() as f64);
    }
    Ok(())
}

/// CPU seconds of all processes that share the two cores.
#[derive(Clone, Copy)]
struct CpuSeconds {
    server: f64,
    clients: f64,
    import: f64,
}

impl CpuSeconds {
    fn read(server: &Server, import: &Child) -> Outcome<Self> {
        Ok(Self {
            server: import::cpu_seconds_of(server.child.id())?,
            clients: import::cpu_seconds()?,
            import: import::cpu_seconds_of(import.id())?,
        })
    }

    fn print(self, before: Self, workload: f64) {
        let each = |after: f64, before: f64| (after - before) * 1e3 / workload;
        let server = each(self.server, before.server);
        report::figure("  CPU time per query: server", server, "ms", None);
        let clients = each(self.clients, before.clients);
        report::figure("  … clients", clients, "ms", None);
        report::figure("  … import", each(self.import, before.import), "ms", None);
    }
}

/// Latencies and errors of the clients.
struct LoadResult {
    millis: Vec<f64>,
    errors: Vec<String>,
    seconds: f64,
}

impl LoadResult {
    fn print(&self, pace: &str, goal: f64) {
        report::remark(&format!("{pace}:"));
        report::figure("  queries per second", self.millis.len() as f64 / self.seconds, "", None);
        report::figure("  median", percentile(&self.millis, 0.5), "ms", None);
        report::figure("  95th percentile", percentile(&self.millis, 0.95), "ms", Some(goal));
        report::figure("  errors", self.errors.len() as f64, "", Some(0.0));
        if let Some(first) = self.errors.first() {
            report::remark(&format!("  the first error: {first}"));
        }
    }
}

async fn query(
    address: SocketAddr,
    facts: &Facts,
    pause: Duration,
    done: Arc<AtomicBool>,
) -> Outcome<LoadResult> {
    let clock = Arc::new(SystemClock::new());
    let start = clock.monotonic();
    let sent = Arc::new(AtomicU64::new(0));
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let (clock, sent, done, facts) =
            (Arc::clone(&clock), Arc::clone(&sent), Arc::clone(&done), facts.clone());
        clients.push(tokio::spawn(async move {
            let mut connection = HttpClient::connect(address).await?;
            let (mut millis, mut errors) = (Vec::new(), Vec::new());
            // Staggers the clients.
            tokio::time::sleep(pause / 100 * u32::try_from(client).unwrap_or_default()).await;
            while !done.load(Ordering::Relaxed) {
                let number = sent.fetch_add(1, Ordering::Relaxed);
                if number >= MAX_QUERIES || clock.monotonic().saturating_sub(start) > MAX_DURATION {
                    done.store(true, Ordering::Relaxed);
                    break;
                }
                let body = message(number, &facts);
                let queries = clock.monotonic();
                match connection.post(&body).await {
                    Ok(reply) if is_answer(reply) => {}
                    Ok(reply) => {
                        errors.push(String::from_utf8_lossy(reply).chars().take(300).collect());
                    }
                    Err(error) => {
                        errors.push(error.to_string());
                        connection = HttpClient::connect(address).await?;
                    }
                }
                millis.push(clock.monotonic().saturating_sub(queries).as_secs_f64() * 1e3);
                tokio::time::sleep(pause).await;
            }
            Outcome::Ok((millis, errors))
        }));
    }
    let (mut millis, mut errors) = (Vec::new(), Vec::<String>::new());
    for client in clients {
        let (own, wrong) = client.await??;
        millis.extend(own);
        errors.extend(wrong);
    }
    let seconds = clock.monotonic().saturating_sub(start).as_secs_f64();
    Ok(LoadResult { millis, errors, seconds })
}

/// Only a successful reply has structured content, after a text of a few kilobytes. The rest is not
/// parsed, because the clients use the cores that are measured.
fn is_answer(reply: &[u8]) -> bool {
    memchr::memmem::find(reply, br#""structuredContent""#).is_some()
}

/// A query of one of six kinds at a pseudo-random position of the run.
fn message(number: u64, facts: &Facts) -> String {
    let run = facts.run.to_string();
    let chance = splitmix64(number);
    let timestamp = |share: u64| {
        let (first, last) = (facts.first.nanos(), facts.last.nanos());
        let nanos = first + (last - first) / 1_000_000 * (share % 1_000_000).cast_signed();
        panoply_backtest::timestamp::Timestamp::from_nanos(nanos).to_string()
    };
    let types = ["TradeExecution", "IndicatorCalculation", "PositionUpdate", "OrderRejection"];
    let event_type = types.iter().cycle().nth((chance >> 8) as usize & 3);
    let pages = facts.events / 100_000;
    let (tool, arguments): (&str, Value) = match chance % 100 {
        0..30 => (
            "get_events_by_type",
            json!({"runId": run, "eventType": event_type, "pageIndex": (chance >> 16) % pages.max(1), "pageSize": 50}),
        ),
        30..50 => (
            "get_events_by_entity",
            json!({"runId": run, "entityType": "SecuritySymbol", "entityValue": format!("SYM0{}", chance >> 16 & 7), "pageIndex": (chance >> 24) % pages.max(1), "pageSize": 50}),
        ),
        50..70 => {
            let from = (chance >> 16) % 500_000;
            (
                "aggregate_metrics",
                json!({"runId": run, "eventType": "IndicatorCalculation", "propertyPath": "$.Value", "aggregations": ["count", "sum", "avg", "min", "max", "stddev"], "startTime": timestamp(from), "endTime": timestamp(from + 400_000)}),
            )
        }
        70..85 => {
            ("get_state_snapshot", json!({"runId": run, "timestamp": timestamp(chance >> 16)}))
        }
        85..94 => (
            "query_event_sequence",
            json!({"runId": run, "rootEventId": format!("e{}", (chance >> 16) % facts.events)}),
        ),
        94 => (
            "query_event_sequence",
            json!({"runId": run, "sequencePattern": ["TradeExecution", "PositionUpdate"], "findIncomplete": true, "pageSize": 10, "pageIndex": (chance >> 16) % 8}),
        ),
        _ => (
            "get_validation_errors",
            json!({"runId": run, "pageSize": 20, "pageIndex": (chance >> 16) % 20}),
        ),
    };
    json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        .to_string()
}

/// The program as a server; killed on drop.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(home: &Path) -> Outcome<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        // As for clients that read structured content.
        std::fs::write(home.join("config.toml"), "[mcp]\ntext = \"brief\"\n")?;
        let child = Command::new(startup::program()?)
            .args(["http", "backtest", "--listen", &address.to_string()])
            .env("PANOPLY_HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, address })
    }

    /// Waits until the server accepts connections.
    async fn ready(&self) -> Outcome {
        for _ in 0..500 {
            if HttpClient::connect(self.address).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Err("the server does not listen".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
