//! Measures what Panoply adds to a call, beside a bare rmcp server in the same run.
//!
//! `cargo build --release -p panoply -p panoply-bench`, then
//! `target/release/panoply-bench pipeline|transport|startup|instructions|rmf|cgt|backtest|noema|ttm|ttm-search|ttm-answers|ttm-calibrate|all`.
//!
//! Two binaries: `panoply-bench` has Panoply's allocator, `bare-rmcp` the system's, as a server
//! has that somebody writes with rmcp today.
//!
//! The clock of a shared machine lies, so look at ratios and at instruction counts first.
//! `docs/benchmarks.md` has the figures of record. No test depends on any of this.

mod backtest;
mod bare;
mod cgt;
mod child;
mod echo;
mod http_client;
mod instructions;
mod noema;
mod pipeline;
mod portfolio;
mod report;
mod rmf;
mod servers;
mod startup;
mod transport;
mod ttm;
mod ttm_answers;
mod ttm_search;

use std::process::ExitCode;

/// What can go wrong here is for a person to read, once.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const USAGE: &str = "usage: panoply-bench pipeline|transport|startup|instructions|rmf|cgt|backtest [EVENTS [PEER…|none]]|noema [FOLDER]|ttm|ttm-search [DOCUMENTS]|ttm-answers|ttm-calibrate|all";

/// Runs what the command line asks for.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::print_error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Outcome {
    match arguments {
        ["pipeline"] => pipeline::run(),
        ["transport"] => transport::run(),
        ["startup"] => startup::run(),
        ["instructions"] => instructions::run(),
        ["rmf"] => rmf::run(),
        ["cgt"] => cgt::run(),
        ["backtest", arguments @ ..] => backtest::run(arguments),
        ["noema"] => noema::run(None),
        ["noema", folder] => noema::run(Some(folder)),
        ["ttm"] => ttm::run(),
        ["ttm-answers"] => ttm_answers::run(),
        ["ttm-calibrate"] => ttm_answers::calibrate(),
        ["ttm-search", arguments @ ..] => ttm_search::run(arguments),
        ["all"] | [] => {
            pipeline::run()?;
            transport::run()?;
            startup::run()?;
            rmf::run()?;
            cgt::run()?;
            backtest::run(&[])?;
            noema::run(None)?;
            ttm::run()?;
            ttm_answers::run()?;
            ttm_search::run(&[])?;
            instructions::run()
        }
        ["child", work @ ..] => child::run(work),
        _ => Err(USAGE.into()),
    }
}
