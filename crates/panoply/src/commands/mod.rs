//! Implementation of the commands, one file per command.
//!
//! A pack with its own commands (`panoply cgt report …`) has a file here, a variant in [`Command`]
//! and a file in `cli/`.

mod audit;
mod backtest;
mod backup;
mod calibration;
mod call;
mod cgt;
mod completions;
mod contract;
mod data;
mod db;
mod describe;
mod docs;
mod doctor;
mod health;
mod http;
mod keys;
mod man;
mod media_route;
mod migrate;
mod noema;
mod operation;
mod parameters;
pub(crate) mod rmf;
mod setup;
pub(crate) mod stdio;
mod tools;
mod ttm;
mod user_routes;
mod users;

use std::path::PathBuf;
use std::process::ExitCode;

use panoply_mcp::lifecycle::Signals;
use panoply_mcp::observe::{self, LogGuard, LogSettings};

use crate::app;
use crate::cli::Command;
use crate::config::{Config, Home, LogFormat};
use crate::env_vars::Environment;
use crate::failure::Failure;
use crate::stores;

/// Input of every command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    pub(crate) environment: Environment,
    /// Value of `--home`.
    pub(crate) home: Option<PathBuf>,
}

pub(crate) fn run(command: Command, session: &Session) -> Result<ExitCode, Failure> {
    stores::choose(&command, session)?;
    match command {
        Command::Data(data) => data::run(&data, session),
        Command::Db(db) => db::run(&db, session),
        Command::Migrate(migrate) => migrate::run(&migrate, session),
        Command::Stdio(stdio) => stdio::run(&stdio, session),
        Command::Http(http) => http::run(http, session),
        Command::Call(call) => call::run(&call, session),
        Command::Tools(tools) => tools::run(&tools, session),
        Command::Describe(describe) => describe::run(&describe, session),
        Command::Docs(docs) => docs::run(&docs),
        Command::Contract(contract) => contract::run(&contract, session),
        Command::Audit(audit) => audit::run(&audit, session),
        Command::Keys(keys) => keys::run(&keys, session),
        Command::Users(users) => users::run(&users, session),
        Command::Cgt(cgt) => cgt::run(&cgt, session),
        Command::Backup(command) => backup::run(&command, session),
        Command::Restore(command) => backup::restore(&command, session),
        Command::Doctor(doctor) => doctor::run(&doctor, session),
        Command::Health(health) => health::run(&health, session),
        Command::Setup(setup) => setup::run(&setup, session),
        Command::Rmf(rmf) => rmf::run(&rmf, session),
        Command::Noema(noema) => noema::run(&noema, session),
        Command::Backtest(backtest) => backtest::run(&backtest, session),
        Command::Ttm(ttm) => ttm::run(&ttm, session),
        Command::Completions(completions) => completions::run(&completions),
        Command::Man(man) => man::run(&man),
    }
}

impl Session {
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        Config::load(&self.environment, self.home.as_deref())
    }

    /// The home, independent of the validity of its settings.
    fn home(&self) -> Home {
        Home::find(&self.environment, self.home.as_deref())
    }

    /// The home as a store, or a usage error where the platform has no data folder.
    fn required_home(&self) -> Result<panoply_store::Home, Failure> {
        self.home().required()
    }
}

/// Reader of the log of a command.
#[derive(Clone, Copy)]
enum LogReader {
    /// A server logs every call as JSON.
    Operator,
    /// A user at a terminal: only warnings and errors.
    Person,
}

/// Starts the log. Dropping the guard flushes it.
fn start_log(config: &Config, reader: LogReader) -> Result<LogGuard, Failure> {
    let (filter, format) = match reader {
        LogReader::Operator => ("info", LogFormat::Json),
        // The command itself prints the outcome of a call.
        LogReader::Person => ("warn,panoply::call=off", LogFormat::Text),
    };
    let settings = LogSettings {
        format: match config.log_format.unwrap_or(format) {
            LogFormat::Json => observe::LogFormat::Json,
            LogFormat::Text => observe::LogFormat::Text,
        },
        filter: config.log.clone().unwrap_or_else(|| filter.to_owned()),
        clock: app::clock(),
    };
    observe::start(settings).map_err(|error| {
        Failure::usage(error.to_string()).hint("set it to error, warn, info or debug")
    })
}

/// Runs a future to completion.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map(|runtime| {
            let output = runtime.block_on(work);
            // Does not wait for blocked threads.
            runtime.shutdown_background();
            output
        })
        .map_err(no_runtime)
}

/// Runs a server with its signal handlers.
fn serve<F: Future>(server: impl FnOnce(Signals) -> F) -> Result<F::Output, Failure> {
    panoply_mcp::lifecycle::run(server).map_err(no_runtime)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn no_runtime(error: std::io::Error) -> Failure {
    Failure::work(format!("cannot start the runtime: {error}"))
}
