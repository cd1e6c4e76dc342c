//! Commands for the home folder, running servers, clients and shells.

use std::net::SocketAddr;
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

/// `panoply health`.
#[derive(Debug, Args)]
pub struct Health {
    /// Address of the server [default: the admin address of the settings, else the listen address]
    #[arg(value_name = "ADDRESS:PORT")]
    pub address: Option<SocketAddr>,
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
    /// Client to configure; without it, the clients found here are listed
    #[arg(value_enum)]
    pub client: Option<Client>,
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
    /// One entry per pack, named NAME-PACK, so that a client shows what each is about
    #[arg(long)]
    pub each_pack: bool,
    /// File to edit instead of the usual one, such as that of a profile or a project
    #[arg(long, value_name = "PATH")]
    pub file: Option<PathBuf>,
    /// Public URL of this server, for clients on the Internet
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// A supported client.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Client {
    /// Claude Desktop
    Claude,
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// GitHub Copilot CLI
    Copilot,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Visual Studio Code Insiders
    VscodeInsiders,
    /// Windsurf
    Windsurf,
    /// Zed
    Zed,
    /// Cline, in Visual Studio Code
    Cline,
    /// LM Studio
    LmStudio,
    /// JetBrains Junie
    Junie,
    /// OpenCode
    Opencode,
    /// Goose: prints the steps
    Goose,
    /// Continue: prints the steps
    Continue,
    /// ChatGPT: prints the steps
    Chatgpt,
}

/// `panoply completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `panoply man`.
#[derive(Debug, Args)]
pub struct Man {
    /// Existing folder for the pages, one per command, such as /usr/local/share/man/man1
    pub folder: PathBuf,
}
