//! `panoply cgt`: UK Capital Gains Tax.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

/// `panoply cgt`.
#[derive(Debug, Subcommand)]
pub enum Cgt {
    /// Read transactions and list them, or every mistake in them
    Parse(CgtParse),
    /// Gains and losses by tax year, as a table, JSON or PDF
    Report(CgtReport),
    /// Why a sale has the gain it has
    Explain(CgtExplain),
    /// Turn brokers' exports into transactions
    Import(CgtImport),
    /// HMRC's rate for a currency in a month
    Fx(CgtFx),
}

/// `panoply cgt parse`.
#[derive(Debug, Args)]
pub struct CgtParse {
    /// Files of transactions, or `-` for standard input
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
    /// Files of transactions, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The tax year by the year it starts in: 2024 is 2024/25 [default: all with sales]
    #[arg(long)]
    pub year: Option<i64>,
    /// How figures are rounded
    #[arg(long, value_enum, default_value = "per-leg")]
    pub rounding: CgtRounding,
    /// How the computation goes.
    #[command(flatten)]
    pub options: CgtOptions,
    /// Print JSON
    #[arg(long, conflicts_with = "documents")]
    pub json: bool,
    /// Write a PDF to this file, which must not be there yet
    #[arg(long, value_name = "PATH", group = "documents")]
    pub pdf: Option<PathBuf>,
    /// Write a page of HTML to this file, which must not be there yet
    #[arg(long, value_name = "PATH", group = "documents")]
    pub html: Option<PathBuf>,
    /// With --pdf or --html: whose report it is
    #[arg(long, requires = "documents")]
    pub name: Option<String>,
}

/// `panoply cgt explain`.
#[derive(Debug, Args)]
pub struct CgtExplain {
    /// Files of transactions, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The day of the sale, YYYY-MM-DD
    #[arg(long)]
    pub date: String,
    /// The holding
    #[arg(long)]
    pub ticker: String,
    /// How the computation goes.
    #[command(flatten)]
    pub options: CgtOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt import`.
#[derive(Debug, Args)]
pub struct CgtImport {
    /// Brokers' exports
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Whose they are, such as trading212 [default: recognised]
    #[arg(long)]
    pub broker: Option<String>,
    /// Schwab's equity awards
    #[arg(long, value_name = "FILE")]
    pub awards: Option<PathBuf>,
    /// Write the transactions to this file, which must not be there yet
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt fx`.
#[derive(Debug, Args)]
pub struct CgtFx {
    /// The currency, such as USD
    pub currency: String,
    /// The month, such as 2024-03
    pub month: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How a computation goes.
#[derive(Debug, Args)]
pub struct CgtOptions {
    /// Match sales of more than was held with later purchases instead of refusing them
    #[arg(long)]
    pub allow_short: bool,
    /// What to do with a split on a day with trades
    #[arg(long, value_enum, default_value = "refuse")]
    pub same_day_split: CgtSplit,
}

/// What to do with a split on a day with trades.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CgtSplit {
    /// Ask: nobody can tell which came first
    Refuse,
    /// The trades are in new shares
    BeforeTrades,
    /// The trades are in old shares
    AfterTrades,
}

/// How figures are rounded.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CgtRounding {
    /// To the penny, match by match
    PerLeg,
    /// Not at all
    Exact,
    /// Proceeds down and costs up to whole pounds
    WholePounds,
}
