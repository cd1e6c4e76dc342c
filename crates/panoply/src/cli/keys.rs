//! `panoply keys`: API keys for HTTP.

use clap::{Subcommand, ValueEnum};

/// `panoply keys`.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Make a key and show it, this once
    Create {
        /// What it is for, in a few words
        name: String,
        /// What it may do
        #[arg(long, value_enum, default_value = "agent")]
        profile: KeyProfile,
        /// Days until it stops working [default: never]
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
        expires: Option<u16>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the keys, without their secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a key stop working, at once
    Revoke {
        /// The key's id, as `list` shows it
        id: String,
    },
}

/// What a key may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum KeyProfile {
    /// Everything
    Owner,
    /// Everything but deleting, administering and guarded writes
    Agent,
    /// Only reading
    Reader,
}
