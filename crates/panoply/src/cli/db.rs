//! The flags of `panoply db` and `panoply migrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `panoply db`.
#[derive(Debug, Subcommand)]
pub enum Db {
    /// Create roles, database and tables for the URL in PANOPLY_STORE
    Init(Administrator),
    /// Apply the missing migrations, before servers of a new version start
    Migrate(Administrator),
    /// Check schema, collation, rights and durability; exit status 1 if something is wrong
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `panoply migrate`. One side is a home, the other a database.
#[derive(Debug, Args)]
pub struct Migrate {
    /// Where the data are: sqlite:FOLDER or postgres://ROLE@HOST/DATABASE
    #[arg(long, value_name = "STORE")]
    pub from: String,
    /// Where they go; a target that has other data is not changed
    #[arg(long, value_name = "STORE")]
    pub to: String,
    /// The user in the database, created if missing, and in the home; of a home without users, the
    /// data of the home itself
    #[arg(long, value_name = "NAME")]
    pub user: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Who creates and migrates tables.
#[derive(Debug, Args)]
pub struct Administrator {
    /// URL of an administrator: a superuser, or for migrations a member of DATABASE_owner
    #[arg(long = "admin", value_name = "URL")]
    pub url: String,
    /// File with the administrator's password, if the URL has none
    #[arg(long = "admin-password-file", value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}
