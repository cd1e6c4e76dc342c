//! `tools/call` over stdio and HTTP, compared with the same tool on plain rmcp.
//!
//! Both servers are child processes and are measured in alternating batches, so that the machine's
//! load affects both alike. Panoply runs as in production, with audit log and log.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_store::SystemClock;

use crate::child::{self, call_message, expect_answer};
use crate::http_client::HttpClient;
use crate::{Outcome, report};

const BATCHES: usize = 200;
const CALLS: u32 = 50;
/// Maximum cost as a multiple of plain rmcp.
const GOAL: f64 = 1.3;

pub(crate) fn run() -> Outcome {
    report::heading(
        "tools/call compared with plain rmcp",
        &format!("median of {BATCHES} batches of {CALLS} calls, one at a time, in turns"),
    );
    let (ours, bare) = interleaved(Lines::start("panoply")?, Lines::start("bare")?)?;
    print("stdio", ours, bare);
    let (ours, bare) = interleaved(Http::start("panoply")?, Http::start("bare")?)?;
    print("HTTP", ours, bare);
    Ok(())
}

fn print(transport: &str, ours: f64, bare: f64) {
    report::figure(&format!("{transport}, Panoply"), ours, "µs", None);
    report::figure(&format!("{transport}, bare rmcp"), bare, "µs", None);
    report::figure(&format!("{transport}, ratio"), ours / bare, "×", Some(GOAL));
}

/// A measured server.
trait Peer {
    /// Makes sequential calls.
    fn ask(&mut self, first: u64, calls: u32) -> Outcome;
}

/// Median microseconds per call of both.
fn interleaved(mut ours: impl Peer, mut bare: impl Peer) -> Outcome<(f64, f64)> {
    let clock = SystemClock::new();
    let mut medians = [Vec::new(), Vec::new()];
    for batch in 0..BATCHES + BATCHES / 10 {
        let first = batch as u64 * u64::from(CALLS);
        let [of_ours, of_bare] = &mut medians;
        for (peer, micros) in
            [(&mut ours as &mut dyn Peer, of_ours), (&mut bare as &mut dyn Peer, of_bare)]
        {
            let start = clock.monotonic();
            peer.ask(first, CALLS)?;
            let passed = clock.monotonic().saturating_sub(start);
            // Warm-up.
            if batch >= BATCHES / 10 {
                micros.push(passed.as_secs_f64() * 1e6 / f64::from(CALLS));
            }
        }
    }
    let [ours, bare] = medians;
    Ok((report::median(ours), report::median(bare)))
}

/// A child over stdio.
struct Lines {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    _child: KillOnDrop,
}

impl Lines {
    fn start(server: &str) -> Outcome<Self> {
        let mut child = child::spawn(&["serve", server, "stdio"])?;
        let mut input = child.stdin.take().ok_or("no input")?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut line = String::new();
        input.write_all(child::HANDSHAKE.as_bytes())?;
        output.read_line(&mut line)?;
        Ok(Self { input, output, line, _child: KillOnDrop(child) })
    }
}

impl Peer for Lines {
    fn ask(&mut self, first: u64, calls: u32) -> Outcome {
        for id in first..first + u64::from(calls) {
            self.input.write_all(format!("{}\n", call_message(id)).as_bytes())?;
            self.line.clear();
            self.output.read_line(&mut self.line)?;
            expect_answer(self.line.as_bytes())?;
        }
        Ok(())
    }
}

/// A child over HTTP.
struct Http {
    runtime: tokio::runtime::Runtime,
    client: HttpClient,
    _child: KillOnDrop,
}

impl Http {
    fn start(server: &str) -> Outcome<Self> {
        let mut child = child::spawn(&["serve", server, "http"])?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = runtime.block_on(HttpClient::connect(address.trim().parse()?))?;
        Ok(Self { runtime, client, _child: KillOnDrop(child) })
    }
}

impl Peer for Http {
    fn ask(&mut self, first: u64, calls: u32) -> Outcome {
        let Self { runtime, client, .. } = self;
        runtime.block_on(async {
            for id in first..first + u64::from(calls) {
                expect_answer(client.post(&call_message(id)).await?)?;
            }
            Ok(())
        })
    }
}

/// Kills its child on drop.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        std::thread::sleep(Duration::from_millis(1));
    }
}
