//! Serves the fixture pack over stdio, for the process tests.

#![expect(clippy::panic, reason = "the fixture panics on demand")]

use std::process::ExitCode;

use panoply_contract::testing::{FixedClock, noon};
use panoply_mcp::McpServer;
use panoply_mcp::lifecycle::{Parent, run, stop_on_request};
use tokio_util::sync::CancellationToken;

#[path = "../tests/it/fixture.rs"]
mod fixture;

fn main() -> ExitCode {
    let served = run(async |signals| {
        let stop = CancellationToken::new();
        stop_on_request(signals, stop.clone(), Parent::Watched);
        let kernel = fixture::kernel(FixedClock::at(noon()));
        McpServer::new(kernel, "fixture").serve_stdio(stop).await;
    });
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
