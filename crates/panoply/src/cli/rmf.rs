//! `panoply rmf`: Thai Retirement Mutual Funds.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `panoply rmf`.
#[derive(Debug, Subcommand)]
pub enum Rmf {
    /// Sync the dataset from the Thai SEC Open API; resumable after an interruption
    Sync(RmfSync),
    /// List the previous generations of the synced dataset
    History,
    /// Show figures gained, lost and changed between generations
    Diff(RmfDiff),
    /// Restore a previous generation of the synced dataset
    Rollback(RmfRollback),
    /// Draw the NAV of a fund as SVG or PNG
    Chart(RmfChart),
    /// Pack a snapshot into the bundled dataset file
    PackData(RmfPackData),
}

/// `panoply rmf sync`.
#[derive(Debug, Args)]
pub struct RmfSync {
    /// Environment variable with the API key
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: String,
    /// Fetch NAVs from this date [default: after each fund's last NAV]
    #[arg(long, value_name = "DATE", value_parser = crate::commands::rmf::date)]
    pub since: Option<jiff::civil::Date>,
    /// Take the fetched figures of this fund though they fail a check; repeatable
    #[arg(long, value_name = "CODE")]
    pub accept: Vec<String>,
    /// Base URL of the API, for tests
    #[arg(long, value_name = "URL", hide = true)]
    pub base_url: Option<String>,
    /// Divide every wait by this number, for tests against a local stub
    #[arg(long, value_name = "N", hide = true, default_value_t = 1)]
    pub speed: u32,
}

/// `panoply rmf diff`.
#[derive(Debug, Args)]
pub struct RmfDiff {
    /// First generation [default: the latest previous one]
    #[arg(value_name = "FROM")]
    pub from: Option<u32>,
    /// Second generation [default: the active dataset]
    #[arg(value_name = "TO")]
    pub to: Option<u32>,
}

/// `panoply rmf rollback`.
#[derive(Debug, Args)]
pub struct RmfRollback {
    /// Generation to restore [default: the latest previous one]
    #[arg(value_name = "GENERATION")]
    pub generation: Option<u32>,
}

/// `panoply rmf chart`.
#[derive(Debug, Args)]
pub struct RmfChart {
    /// Fund code; case, blanks and punctuation are ignored
    #[arg(value_name = "FUND")]
    pub fund: String,
    /// Number of days with a published NAV
    #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub days: u16,
    /// Write SVG [default, unless the file extension is .png]
    #[arg(long, conflicts_with = "png")]
    pub svg: bool,
    /// Write PNG; requires --out
    #[arg(long)]
    pub png: bool,
    /// Output file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Language of the labels; Thai needs SVG
    #[arg(long, value_enum, default_value_t = super::Language::En)]
    pub lang: super::Language,
}

/// `panoply rmf pack-data`.
#[derive(Debug, Args)]
pub struct RmfPackData {
    /// Funds: one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub funds: PathBuf,
    /// NAVs: a table of symbol, date and NAV
    #[arg(long, value_name = "FILE")]
    pub navs: PathBuf,
    /// Output file
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}
