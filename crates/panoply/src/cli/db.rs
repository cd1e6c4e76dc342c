//! The flags of `panoply db`.

use clap::Subcommand;

/// `panoply db`.
#[derive(Debug, Subcommand)]
pub enum Db {
    /// Create roles, database and tables for the URL in PANOPLY_STORE
    Init {
        /// URL of an administrator of the database server
        #[arg(long, value_name = "URL")]
        admin: String,
    },
    /// Apply the missing migrations, before servers of a new version start
    Migrate {
        /// URL of a superuser or a member of the role DATABASE_owner
        #[arg(long, value_name = "URL")]
        admin: String,
    },
    /// Check schema, collation, rights and durability; exit status 1 if something is wrong
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
