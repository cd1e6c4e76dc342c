//! The flags of `panoply audit`.

use std::path::PathBuf;

use clap::Subcommand;
use jiff::Timestamp;

use crate::config::Span;

/// `panoply audit`.
#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Verify the hash chain; report the first altered, removed or reordered row
    Verify {
        /// Last line of an earlier run, stored elsewhere: detects a rewrite of older rows
        #[arg(long, value_name = "ROW:HASH")]
        noted: Option<String>,
        /// File of signed checkpoints, stored elsewhere: each must be valid and match the log
        #[arg(long, value_name = "FILE", requires = "public_key")]
        checkpoints: Option<PathBuf>,
        /// Public key, as printed by `panoply audit public-key`
        #[arg(long, value_name = "KEY", requires = "checkpoints")]
        public_key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the latest calls, newest first
    Show {
        /// Only calls of this tool; `login_refused` for refused logins
        #[arg(long)]
        tool: Option<String>,
        /// Only failed calls
        #[arg(long)]
        errors: bool,
        /// Only calls of this trace
        #[arg(long, value_name = "ID")]
        trace: Option<String>,
        /// Maximum number of rows
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        limit: u16,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Move old rows into read-only segment files, also while servers are running
    Seal {
        /// Only rows before this date or time in UTC [default: all rows]
        #[arg(long, value_name = "DATE", value_parser = timestamp)]
        before: Option<Timestamp>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete old segment files; headers are retained for verification of the chain
    Prune {
        /// Keep segments with rows younger than this, such as 400d
        #[arg(long, value_name = "TIME", required_unless_present = "before")]
        keep: Option<Span>,
        /// Delete segments with all rows before this date or time in UTC
        #[arg(long, value_name = "DATE", value_parser = timestamp, conflicts_with = "keep")]
        before: Option<Timestamp>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print every row as a JSON line, sealed segments first
    Export,
    /// Sign the current head of the log and send it to a file or a server
    Checkpoint {
        /// File to append to, or URL to post to [default: `checkpoint_to` of the settings]
        #[arg(long, value_name = "FILE|URL")]
        to: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the public key for verifying checkpoints
    PublicKey,
}

/// Parses `2026-01-31` (start of the day) or `2026-01-31T12:00:00Z`.
fn timestamp(text: &str) -> Result<Timestamp, String> {
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp);
    }
    let day = text.parse::<jiff::civil::Date>();
    day.and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC))
        .map(|midnight| midnight.timestamp())
        .map_err(|_| "expected a day such as 2026-01-31, or 2026-01-31T12:00:00Z".to_owned())
}
