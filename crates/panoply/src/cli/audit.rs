//! The flags of `panoply audit`.

use std::path::PathBuf;

use clap::Subcommand;
use jiff::Timestamp;

use crate::config::Span;

/// `panoply audit`.
#[derive(Debug, Subcommand)]
pub enum Audit {
    /// Find the first row that was altered, removed or reordered
    Verify {
        /// The last line of an earlier run, kept elsewhere: nothing before it can be rewritten
        #[arg(long, value_name = "ROW:HASH")]
        noted: Option<String>,
        /// A file of signed checkpoints, kept elsewhere: each must be signed and agree with the log
        #[arg(long, value_name = "FILE", requires = "public_key")]
        checkpoints: Option<PathBuf>,
        /// The key that `panoply audit public-key` printed
        #[arg(long, value_name = "KEY", requires = "checkpoints")]
        public_key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the last calls, newest first
    Show {
        /// Only calls of this tool; `login_refused` for refused logins
        #[arg(long)]
        tool: Option<String>,
        /// Only calls that failed
        #[arg(long)]
        errors: bool,
        /// Only calls of this trace
        #[arg(long, value_name = "ID")]
        trace: Option<String>,
        /// How many at most
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        limit: u16,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Move the oldest rows into read-only segment files, also while servers run
    Seal {
        /// Only rows before this day or time in UTC [default: all rows]
        #[arg(long, value_name = "DATE", value_parser = moment)]
        before: Option<Timestamp>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete old segment files; their headers stay, so that the chain can still be verified
    Prune {
        /// Keep segments with rows younger than this, such as 400d
        #[arg(long, value_name = "TIME", required_unless_present = "before")]
        keep: Option<Span>,
        /// Delete segments whose rows are all before this day or time in UTC
        #[arg(long, value_name = "DATE", value_parser = moment, conflicts_with = "keep")]
        before: Option<Timestamp>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print every row as a line of JSON, sealed segments first
    Export,
    /// Sign where the log ends now, and send it to a file or a server
    Checkpoint {
        /// A file to append to, or a URL to post to [default: `checkpoint_to` of the settings]
        #[arg(long, value_name = "FILE|URL")]
        to: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the key that verifies checkpoints
    PublicKey,
}

/// Reads `2026-01-31`, the beginning of that day, or `2026-01-31T12:00:00Z`.
fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let day = text.parse::<jiff::civil::Date>();
    day.and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC))
        .map(|midnight| midnight.timestamp())
        .map_err(|_| "expected a day such as 2026-01-31, or 2026-01-31T12:00:00Z".to_owned())
}
