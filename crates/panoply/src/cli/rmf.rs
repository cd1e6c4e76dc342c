//! `panoply rmf`: Thai Retirement Mutual Funds.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `panoply rmf`.
#[derive(Debug, Subcommand)]
pub enum Rmf {
    /// Bring the figures up to date from the Thai SEC's Open API; can be interrupted and run again
    Sync(RmfSync),
    /// Draw a fund's NAV as SVG
    Chart(RmfChart),
    /// Pack a snapshot of figures into the file that ships with the program
    PackData(RmfPackData),
}

/// `panoply rmf sync`.
#[derive(Debug, Args)]
pub struct RmfSync {
    /// The environment variable that holds the key of the API
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: String,
    /// Fetch NAVs from this day on [default: from each fund's last one]
    #[arg(long, value_name = "DATE", value_parser = crate::commands::rmf::date)]
    pub since: Option<jiff::civil::Date>,
    /// Where the API is, for tests
    #[arg(long, value_name = "URL", hide = true)]
    pub base_url: Option<String>,
}

/// `panoply rmf chart`.
#[derive(Debug, Args)]
pub struct RmfChart {
    /// The fund's code; case, blanks and punctuation do not matter
    #[arg(value_name = "FUND")]
    pub fund: String,
    /// How many days with a published NAV
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub days: u16,
    /// Draw SVG, which stays sharp at any size [default, unless the file's name ends in .png]
    #[arg(long, conflicts_with = "png")]
    pub svg: bool,
    /// Paint PNG, which everything shows; needs --out
    #[arg(long)]
    pub png: bool,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `panoply rmf pack-data`.
#[derive(Debug, Args)]
pub struct RmfPackData {
    /// The funds: one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub funds: PathBuf,
    /// Their NAVs: a table of symbol, date and NAV
    #[arg(long, value_name = "FILE")]
    pub navs: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}
