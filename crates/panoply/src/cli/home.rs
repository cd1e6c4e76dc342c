//! Commands for the home folder, clients and shells.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `panoply doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Verify every page and row of every file, and the whole audit chain
    #[arg(long)]
    pub deep: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// Destination folder, which must not exist
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// Backup folder
    pub folder: PathBuf,
    /// Replace existing data; they are moved to a subfolder of the home
    #[arg(long)]
    pub replace: bool,
    /// Only verify the files against the manifest
    #[arg(long, conflicts_with = "replace")]
    pub check: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply setup`.
#[derive(Debug, Args)]
pub struct Setup {
    /// Client to configure
    #[arg(value_enum)]
    pub client: Client,
    /// Serve only this pack; may be repeated [default: all]
    #[arg(long = "pack", value_name = "PACK")]
    pub packs: Vec<String>,
    /// Name of the entry in the client's configuration
    #[arg(long, default_value = "panoply")]
    pub name: String,
    /// Write the entry to the client's file, after a backup, instead of printing it
    #[arg(long)]
    pub write: bool,
    /// Remove the entry from the client's file, after a backup
    #[arg(long, conflicts_with = "write")]
    pub remove: bool,
    /// Public URL of this server, for clients on the Internet
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// A supported client.
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
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
