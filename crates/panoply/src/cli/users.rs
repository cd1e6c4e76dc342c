//! `panoply users`: persons and workspaces with data of their own.

use std::path::PathBuf;

use clap::Subcommand;

/// `panoply users`.
#[derive(Debug, Subcommand)]
pub enum Users {
    /// Add a user, whose data are separate from those of others
    Add {
        /// Name of the user
        name: String,
        /// Issuer of the user's tokens
        #[arg(long, requires = "subject")]
        issuer: Option<String>,
        /// Subject of the user's tokens
        #[arg(long, requires = "issuer")]
        subject: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List users and workspaces
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a user a member of a workspace, or an operator
    Grant {
        /// Name of the user
        name: String,
        /// Workspace, created with its first member
        #[arg(long, required_unless_present = "operator")]
        workspace: Option<String>,
        /// Metrics and audit rows of all tenants
        #[arg(long)]
        operator: bool,
        /// Withdraw it instead
        #[arg(long)]
        withdraw: bool,
    },
    /// End a user's access; the data stay
    Remove {
        /// Name of the user
        name: String,
    },
    /// Write everything that is a user's to a folder, in open formats
    Export {
        /// Name of the user, or of a workspace
        name: String,
        /// New folder
        folder: PathBuf,
    },
    /// Delete a user, or a workspace without members, with all data; audit rows keep a pseudonym
    Erase {
        /// Name of the user or workspace
        name: String,
        /// Do it: it cannot be undone
        #[arg(long, required = true)]
        yes: bool,
    },
}
