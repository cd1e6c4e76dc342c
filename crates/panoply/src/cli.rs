//! Command line: top-level commands, help styles and environment help.

mod audit;
mod backtest;
mod cgt;
mod data;
mod db;
mod home;
mod keys;
mod noema;
mod rmf;
mod serve;
mod tools;
mod ttm;
mod users;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

pub use self::audit::Audit;
pub use self::backtest::{Backtest, BacktestFormat, BacktestImport, BacktestReport};
pub use self::cgt::{
    Cgt, CgtAccount, CgtExplain, CgtFx, CgtImport, CgtIncome, CgtOptions, CgtParse, CgtPortfolio,
    CgtPortfolioAdd, CgtPortfolioImport, CgtReconcile, CgtReport, CgtRounding, CgtSplit,
};
pub use self::data::{Data, DataBuild, DataUpdate};
pub use self::db::{Administrator, Db, Migrate};
pub use self::home::{Backup, Client, Completions, Doctor, Health, Man, Restore, Setup};
pub use self::keys::{KeyProfile, Keys};
pub use self::noema::{Noema, NoemaExport, NoemaImport, NoemaReplay};
pub use self::rmf::{Rmf, RmfChart, RmfDiff, RmfPackData, RmfRollback, RmfSync};
pub use self::serve::{Http, Serving, Stdio, ToolsOffer};
pub use self::tools::{Call, Contract, Describe, Docs, Language, Tools};
pub use self::ttm::{
    Ttm, TtmAsk, TtmEval, TtmImportPapers, TtmIngest, TtmJobs, TtmKind, TtmLang, TtmOcr, TtmRead,
    TtmSearch,
};
pub use self::users::Users;
use crate::env_vars;

/// Expert tools for AI agents, in packs, over the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(name = "panoply", version, styles = STYLES, after_help = environment_help())]
#[command(max_term_width = 100, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    /// Home folder: settings, audit log, keys and pack data
    #[arg(long, global = true, value_name = "FOLDER", help_heading = "Global options")]
    pub home: Option<PathBuf>,

    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Top-level commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve one client over stdio (standard input and output)
    Stdio(Stdio),
    /// Serve clients over HTTP at /mcp and /mcp/PACK
    Http(Http),
    /// Call a tool
    Call(Call),
    /// List tools
    Tools(Tools),
    /// Show the contract of a tool
    Describe(Describe),
    /// Generate docs/tools.md from the tool declarations
    Docs(Docs),
    /// Check all tools against the contract
    #[command(subcommand)]
    Contract(Contract),
    /// Show, verify, seal, prune and export the audit log
    #[command(subcommand)]
    Audit(Audit),
    /// Create, list and revoke API keys for HTTP
    #[command(subcommand)]
    Keys(Keys),
    /// Add, list, export and erase users, whose data are separate
    #[command(subcommand)]
    Users(Users),
    /// UK Capital Gains Tax: parse, report, explain, import, income, portfolios and exchange rates
    #[command(subcommand)]
    Cgt(Cgt),
    /// Install newer figures of a pack from signed data packs
    #[command(subcommand)]
    Data(Data),
    /// Set up, migrate and check a PostgreSQL database for the stores
    #[command(subcommand)]
    Db(Db),
    /// Move a user's data between a home folder and a PostgreSQL database, and compare both sides
    Migrate(Migrate),
    /// Check installation, home folder, stores and optional programs
    Doctor(Doctor),
    /// Ask a running server whether it is ready; exit status 1 if not
    Health(Health),
    /// Back up the home folder, also while servers are running
    Backup(Backup),
    /// Verify a backup against its manifest and restore it
    Restore(Restore),
    /// Print or write the configuration of a client
    Setup(Setup),
    /// Thai Retirement Mutual Funds: sync the dataset and draw charts
    #[command(subcommand)]
    Rmf(Rmf),
    /// Flashcards: replay review histories, import and export collections
    #[command(subcommand)]
    Noema(Noema),
    /// Backtest event logs: import, report, export, list, seal and delete runs
    #[command(subcommand)]
    Backtest(Backtest),
    /// Thai traditional medicine: ask, search, import papers and documents, evaluate
    #[command(subcommand)]
    Ttm(Ttm),
    /// Print shell completions
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Formats the environment variables for the help.
fn environment_help() -> String {
    let widest = env_vars::OURS.iter().map(|variable| variable.name.len()).max().unwrap_or(0);
    let lines = env_vars::OURS
        .iter()
        .map(|variable| format!("  {:widest$}  {}", variable.name, variable.description));
    format!(
        "Environment (flags override variables, variables override config.toml):\n{}",
        lines.collect::<Vec<_>>().join("\n")
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_flag_has_help() {
        fn silent(command: &clap::Command, path: &str) -> Vec<String> {
            let path = format!("{path} {}", command.get_name());
            let arguments =
                command.get_arguments().filter(|argument| argument.get_help().is_none());
            let mut found: Vec<String> =
                arguments.map(|argument| format!("{path} {}", argument.get_id())).collect();
            if command.get_about().is_none() {
                found.push(path.clone());
            }
            found.extend(command.get_subcommands().flat_map(|below| silent(below, &path)));
            found
        }
        assert_eq!(silent(&Cli::command(), ""), Vec::<String>::new());
    }
}
