//! `panoply cgt`: UK Capital Gains Tax.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

/// `panoply cgt`.
#[derive(Debug, Subcommand)]
pub enum Cgt {
    /// Parse transactions; list them or all errors
    Parse(CgtParse),
    /// Report gains and losses by tax year, as text, JSON, CSV, PDF or HTML
    Report(CgtReport),
    /// Explain the matching and gain of a disposal
    Explain(CgtExplain),
    /// Convert broker exports into transactions
    Import(CgtImport),
    /// Show the HMRC monthly exchange rate of a currency
    Fx(CgtFx),
}

/// `panoply cgt parse`.
#[derive(Debug, Args)]
pub struct CgtParse {
    /// Transaction files, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt report`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("documents").multiple(true)))]
pub struct CgtReport {
    /// Transaction files, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Tax year: 2024 or 2024/25 [default: all with disposals]
    #[arg(long)]
    pub year: Option<String>,
    /// Rounding of figures
    #[arg(long, value_enum, default_value = "per-leg")]
    pub rounding: CgtRounding,
    /// Options of the computation.
    #[command(flatten)]
    pub options: CgtOptions,
    /// Print JSON
    #[arg(long, conflicts_with = "documents")]
    pub json: bool,
    /// Write a PDF to this file, which must not exist
    #[arg(long, value_name = "PATH", group = "documents")]
    pub pdf: Option<PathBuf>,
    /// Write an HTML page to this file, which must not exist
    #[arg(long, value_name = "PATH", group = "documents")]
    pub html: Option<PathBuf>,
    /// Write a CSV with one row per match to this file, which must not exist
    #[arg(long, value_name = "PATH", group = "documents")]
    pub csv: Option<PathBuf>,
    /// With --pdf or --html: name of the taxpayer
    #[arg(long, requires = "documents")]
    pub name: Option<String>,
}

/// `panoply cgt explain`.
#[derive(Debug, Args)]
pub struct CgtExplain {
    /// Transaction files, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Date of the disposal, YYYY-MM-DD
    #[arg(long)]
    pub date: String,
    /// Ticker of the holding
    #[arg(long)]
    pub ticker: String,
    /// Options of the computation.
    #[command(flatten)]
    pub options: CgtOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt import`.
#[derive(Debug, Args)]
pub struct CgtImport {
    /// Broker exports
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Broker, such as trading212 [default: detected]
    #[arg(long)]
    pub broker: Option<String>,
    /// Schwab equity awards file
    #[arg(long, value_name = "FILE")]
    pub awards: Option<PathBuf>,
    /// Name of the account: rows of different accounts are never duplicates
    #[arg(long)]
    pub account: Option<String>,
    /// Use HMRC's monthly rates instead of the broker's
    #[arg(long)]
    pub hmrc_rates: bool,
    /// Write the transactions to this file, which must not exist
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt fx`.
#[derive(Debug, Args)]
pub struct CgtFx {
    /// Currency, such as USD
    pub currency: String,
    /// Month, such as 2024-03
    pub month: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of the computation.
#[derive(Debug, Args)]
pub struct CgtOptions {
    /// Allow short sales: match disposals beyond the holding with later acquisitions
    #[arg(long)]
    pub allow_short: bool,
    /// Treatment of a split on a day with trades
    #[arg(long, value_enum, default_value = "refuse")]
    pub same_day_split: CgtSplit,
}

/// Treatment of a split on a day with trades.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CgtSplit {
    /// Refuse: the order is ambiguous
    Refuse,
    /// Trades are in new shares
    BeforeTrades,
    /// Trades are in old shares
    AfterTrades,
}

/// Rounding of figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CgtRounding {
    /// To the penny, per match
    PerLeg,
    /// No rounding
    Exact,
    /// To whole pounds: proceeds down, costs up
    WholePounds,
}
