//! Commands for the home folder, clients and shells.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `panoply doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Read every page and row of every file, and the whole audit chain
    #[arg(long)]
    pub deep: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// A folder that does not exist yet
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// A folder that `panoply backup` made
    pub folder: PathBuf,
    /// Replace data that are in the home; they are moved aside into a folder of it
    #[arg(long)]
    pub replace: bool,
    /// Only compare every file with the manifest
    #[arg(long, conflicts_with = "replace")]
    pub check: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// The client to connect
    #[arg(value_enum)]
    pub client: Client,
    /// Serve only this pack; may be repeated [default: all]
    #[arg(long = "pack", value_name = "PACK")]
    pub packs: Vec<String>,
    /// The entry's name in the client's configuration
    #[arg(long, default_value = "panoply")]
    pub name: String,
    /// Write it into the client's file, after a backup, instead of printing it
    #[arg(long)]
    pub write: bool,
    /// Take the entry out of the client's file again, after a backup
    #[arg(long, conflicts_with = "write")]
    pub remove: bool,
    /// The address under which a client on the Internet reaches this server
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// A client that can be connected.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Client {
    /// Claude Desktop, and the command for Claude Code
    Claude,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// ChatGPT
    Chatgpt,
}

/// `panoply completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
