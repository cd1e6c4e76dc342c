//! `panoply keys`: API keys for HTTP.

use clap::{Subcommand, ValueEnum};

/// `panoply keys`.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Create a key and print it; it cannot be shown again
    Create {
        /// Description of the key
        name: String,
        /// Permissions of the key
        #[arg(long, value_enum, default_value = "agent")]
        profile: KeyProfile,
        /// User whose data the key acts on, see `panoply users` [default: the local tenant]
        #[arg(long)]
        user: Option<String>,
        /// Workspace of the user whose runs and documents the key acts on
        #[arg(long, requires = "user")]
        workspace: Option<String>,
        /// Days until the key expires [default: never]
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..=3650))]
        expires: Option<u16>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List keys, without their secrets
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key
    Revoke {
        /// Id of the key, as printed by `list`
        id: String,
    },
}

/// Permissions of a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum KeyProfile {
    /// All permissions
    Owner,
    /// All except deletion, administration and guarded writes
    Agent,
    /// Read only
    Reader,
    /// Metrics and audit rows of all tenants, and no data of a tenant
    Operator,
}
