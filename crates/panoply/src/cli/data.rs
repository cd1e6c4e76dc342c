//! The flags of `panoply data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `panoply data`.
#[derive(Debug, Subcommand)]
pub enum Data {
    /// List the figures in use and the installed data packs
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Install a data pack and use it from the next call on
    Update(DataUpdate),
    /// Check signatures and checksums of the installed data packs; exit status 1 if one is wrong
    Verify {
        /// Public key to trust, besides those of config.toml; repeatable
        #[arg(long = "key", value_name = "KEY")]
        keys: Vec<String>,
    },
    /// Go back to the data pack before, or to the figures of the program
    Rollback {
        /// Pack
        #[arg(value_name = "PACK")]
        pack: String,
    },
    /// Build and sign a data pack from the files of a folder
    Build(DataBuild),
}

/// `panoply data update`.
#[derive(Debug, Args)]
pub struct DataUpdate {
    /// File or URL
    #[arg(value_name = "FILE|URL")]
    pub source: String,
    /// Public key to trust, besides those of config.toml; repeatable
    #[arg(long = "key", value_name = "KEY")]
    pub keys: Vec<String>,
    /// Install it though it is older than the one in use
    #[arg(long)]
    pub allow_older: bool,
}

/// `panoply data build`.
#[derive(Debug, Args)]
pub struct DataBuild {
    /// Pack: cgt or rmf
    #[arg(value_name = "PACK")]
    pub pack: String,
    /// Folder with the files
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Version; later ones sort after earlier ones, such as 2026-12-01
    #[arg(long, value_name = "VERSION")]
    pub version: String,
    /// What is new, in a sentence
    #[arg(long, value_name = "TEXT")]
    pub about: String,
    /// File of the signing key; it is made if it does not exist
    #[arg(long, value_name = "FILE")]
    pub signing_key: PathBuf,
    /// File to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}
