//! Benchmarks: the overhead of Panoply compared with plain rmcp, and the speed of each pack.
//!
//! `cargo build --release -p panoply -p panoply-bench`, then
//! `target/release/panoply-bench pipeline|transport|startup|instructions|rmf|cgt|backtest|noema|postgres|tenants|ttm|ttm-search|ttm-answers|ttm-calibrate|all`.
//!
//! Two binaries: `panoply-bench` uses Panoply's allocator, `bare-rmcp` the system allocator, like
//! a typical rmcp server.
//!
//! Wall-clock times depend on the load of the machine: prefer ratios and instruction counts.
//! `docs/benchmarks.md` has the published figures. No test depends on this crate.

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
mod postgres;
mod report;
mod rmf;
mod servers;
mod startup;
mod tenants;
mod transport;
mod ttm;
mod ttm_answers;
mod ttm_search;

use std::process::ExitCode;

/// Errors are printed once and end the program.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const USAGE: &str = "usage: panoply-bench pipeline|transport|startup|instructions|rmf|cgt|backtest [EVENTS [PEER…|none]]|backtest-sweep|noema [FOLDER]|postgres|tenants|ttm|ttm-search [DOCUMENTS]|ttm-answers|ttm-calibrate|all";

/// Runs the benchmarks named on the command line.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) if report::missed_goals() == 0 => ExitCode::SUCCESS,
        Ok(()) => {
            report::print_error(&format!("{} goals were missed", report::missed_goals()));
            ExitCode::FAILURE
        }
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
        ["backtest-sweep"] => backtest::sweep::run(),
        ["backtest", arguments @ ..] => backtest::run(arguments),
        ["noema"] => noema::run(None),
        ["noema", folder] => noema::run(Some(folder)),
        ["postgres"] => postgres::run(),
        ["tenants"] => tenants::run(),
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
            backtest::sweep::run()?;
            noema::run(None)?;
            // A missed goal is reported after the measurements that follow.
            let tenants = tenants::run();
            ttm::run()?;
            ttm_answers::run()?;
            ttm_search::run(&[])?;
            instructions::run()?;
            tenants
        }
        ["child", work @ ..] => child::run(work),
        _ => Err(USAGE.into()),
    }
}
