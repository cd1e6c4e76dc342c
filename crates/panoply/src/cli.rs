//! The command line: every command, flag and word of help.

mod audit;
mod backtest;
mod cgt;
mod home;
mod keys;
mod noema;
mod rmf;
mod serve;
mod tools;
mod ttm;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

pub use self::audit::Audit;
pub use self::backtest::{Backtest, BacktestFormat, BacktestImport, BacktestReport};
pub use self::cgt::{
    Cgt, CgtExplain, CgtFx, CgtImport, CgtOptions, CgtParse, CgtReport, CgtRounding, CgtSplit,
};
pub use self::home::{Backup, Client, Completions, Doctor, Restore, Setup};
pub use self::keys::{KeyProfile, Keys};
pub use self::noema::{Noema, NoemaExport, NoemaImport, NoemaReplay};
pub use self::rmf::{Rmf, RmfChart, RmfPackData, RmfSync};
pub use self::serve::{Http, Serving, Stdio, ToolsOffer};
pub use self::tools::{Call, Contract, Describe, Docs, Language, Tools};
pub use self::ttm::{
    Ttm, TtmAsk, TtmEval, TtmImportPapers, TtmIngest, TtmJobs, TtmKind, TtmLang, TtmOcr, TtmRead,
    TtmSearch,
};
use crate::env_vars;

/// Expert tools for AI agents, in packs, over the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(name = "panoply", version, styles = STYLES, after_help = environment_help())]
#[command(max_term_width = 100, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    /// Folder for settings, audit log, keys and what packs keep
    #[arg(long, global = true, value_name = "FOLDER", help_heading = "Everywhere")]
    pub home: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve a client that starts this program: requests on standard input, replies on output
    Stdio(Stdio),
    /// Serve clients over HTTP, at /mcp and /mcp/PACK
    Http(Http),
    /// Call a tool, as an agent would
    Call(Call),
    /// List the tools
    Tools(Tools),
    /// Show one tool's whole contract
    Describe(Describe),
    /// Print docs/tools.md, made from what the tools declare
    Docs(Docs),
    /// Check the tools against the contract
    #[command(subcommand)]
    Contract(Contract),
    /// Look at the log of all calls
    #[command(subcommand)]
    Audit(Audit),
    /// Make, list and revoke API keys for HTTP
    #[command(subcommand)]
    Keys(Keys),
    /// UK Capital Gains Tax: read transactions, report, explain, import, look up rates
    #[command(subcommand)]
    Cgt(Cgt),
    /// Say what is installed, where data are kept, and what is missing
    Doctor(Doctor),
    /// Copy the home into a new folder, also while servers use it
    Backup(Backup),
    /// Put a backup into the home, once every file of it agrees with its manifest
    Restore(Restore),
    /// Connect a client: print or write its configuration
    Setup(Setup),
    /// Thai Retirement Mutual Funds: newer figures, and pictures of them
    #[command(subcommand)]
    Rmf(Rmf),
    /// Cards and reviews: replay histories, take collections in and out
    #[command(subcommand)]
    Noema(Noema),
    /// Event logs of backtests: import, report, export, list, complete and delete runs
    #[command(subcommand)]
    Backtest(Backtest),
    /// Thai traditional medicine: import papers, see that everything answers
    #[command(subcommand)]
    Ttm(Ttm),
    /// Print completions for a shell
    Completions(Completions),
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The variables, under the help.
fn environment_help() -> String {
    let widest = env_vars::OURS.iter().map(|variable| variable.name.len()).max().unwrap_or(0);
    let lines = env_vars::OURS
        .iter()
        .map(|variable| format!("  {:widest$}  {}", variable.name, variable.description));
    format!(
        "Environment (a flag wins over a variable, a variable over config.toml):\n{}",
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
