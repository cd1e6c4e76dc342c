//! The program: command line, configuration, packs.
//!
//! Both binaries are thin: [`main`] runs `panoply`, [`serve_one_pack`] runs `cgt-mcp`. Only this
//! crate reads arguments, the environment and files of configuration, and chooses the stores.

pub mod app;
mod arguments;
mod audit_maintenance;
mod checkpoints;
pub mod cli;
mod commands;
pub mod config;
mod data_packs;
pub mod env_vars;
pub mod failure;
mod fleet;
mod health;
mod issuer;
mod out;
mod packs;
mod picture;
mod progress_bar;
mod quota;
mod rmf_schedule;
mod stores;
mod supervisor;
mod tenant_supervisor;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::Cli;
use crate::commands::Session;
use crate::env_vars::Environment;

/// Allocator of both binaries. Calls allocate many small strings: see docs/benchmarks.md.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the command of these arguments and returns the exit status.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if is_server(&arguments) {
        hear_signals();
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output, and `head` may have closed it.
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let session = Session { environment: Environment::read(), home: cli.home };
    commands::run(cli.command, &session).unwrap_or_else(|failure| failure.report())
}

/// Whether the command is a server. Parsed without clap, which takes milliseconds.
fn is_server(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--home" {
            words.next();
        } else if !word.to_string_lossy().starts_with('-') {
            return word == "http" || word == "stdio";
        }
    }
    false
}

/// Installs the signal handlers of a server before anything else: a supervisor may send a signal
/// while the command line is still being parsed.
fn hear_signals() {
    if let Err(error) = panoply_mcp::lifecycle::prepare() {
        // The command retries and reports the error.
        tracing::debug!(%error, "cannot listen for signals yet");
    }
}

/// Serves one pack over stdio, regardless of the configured packs.
///
/// The only arguments are `--help`, which prints `about`, and `--version`.
pub fn serve_one_pack(name: &'static str, pack: &str, about: &'static str) -> ExitCode {
    let command = clap::Command::new(name).version(env!("CARGO_PKG_VERSION")).about(about);
    command.get_matches();
    hear_signals();
    let session = Session { environment: Environment::read(), home: None };
    commands::stdio::serve_one(name, pack, &session).unwrap_or_else(|failure| failure.report())
}
