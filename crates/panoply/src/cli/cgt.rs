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
    /// Add up dividends, interest and excess reportable income of a tax year
    Income(CgtIncome),
    /// List, show, fill, reconcile and delete stored portfolios
    #[command(subcommand)]
    Portfolio(CgtPortfolio),
    /// Show the HMRC monthly exchange rate of a currency
    Fx(CgtFx),
}

/// `panoply cgt portfolio`. A portfolio is named by its id or its name.
#[derive(Debug, Subcommand)]
pub enum CgtPortfolio {
    /// List portfolios with their accounts
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Create an empty portfolio
    Create {
        /// Name, unique among the portfolios
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print every transaction; as JSON with account, file, line and the broker's number
    Show {
        /// Id or name
        portfolio: String,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Add transactions of the transaction language or JSON
    Add(CgtPortfolioAdd),
    /// Import broker exports; rows that an earlier import has are recognised
    Import(CgtPortfolioImport),
    /// Compare holdings with a broker's statement
    Reconcile(CgtReconcile),
    /// Undo the last change, or the change of this number
    Undo {
        /// Id or name
        portfolio: String,
        /// Number of the change
        #[arg(long)]
        change: Option<i64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a portfolio with everything in it
    Delete {
        /// Id or name
        portfolio: String,
        /// Confirm: nothing is asked, and it cannot be undone
        #[arg(long)]
        yes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `panoply cgt portfolio add`.
#[derive(Debug, Args)]
pub struct CgtPortfolioAdd {
    /// Id or name
    pub portfolio: String,
    /// Transaction files, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Account and wrapper of a new one.
    #[command(flatten)]
    pub account: CgtAccount,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt portfolio import`.
#[derive(Debug, Args)]
pub struct CgtPortfolioImport {
    /// Id or name
    pub portfolio: String,
    /// Broker exports
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Broker, such as trading212 [default: detected]
    #[arg(long)]
    pub broker: Option<String>,
    /// Use HMRC's monthly rates instead of the broker's
    #[arg(long)]
    pub hmrc_rates: bool,
    /// Account and wrapper of a new one.
    #[command(flatten)]
    pub account: CgtAccount,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Account of a portfolio.
#[derive(Debug, Args)]
pub struct CgtAccount {
    /// Account; a new name makes an account
    #[arg(long)]
    pub account: Option<String>,
    /// Wrapper of a new account: gia, isa, sipp or spouse
    #[arg(long)]
    pub wrapper: Option<String>,
}

/// `panoply cgt portfolio reconcile`.
#[derive(Debug, Args)]
pub struct CgtReconcile {
    /// Id or name
    pub portfolio: String,
    /// Statement as CSV of ticker and number of shares, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub statement: PathBuf,
    /// Date of the statement, YYYY-MM-DD [default: the end of the records]
    #[arg(long)]
    pub date: Option<String>,
    /// Account of the portfolio
    #[arg(long)]
    pub account: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply cgt income`.
#[derive(Debug, Args)]
pub struct CgtIncome {
    /// Transaction files, or `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "portfolio")]
    pub files: Vec<PathBuf>,
    /// Stored portfolio, by id or name, in place of files
    #[arg(long, conflicts_with = "files")]
    pub portfolio: Option<String>,
    /// Tax year: 2024 or 2024/25
    #[arg(long)]
    pub year: String,
    /// Other taxable income in pounds after the personal allowance, for the tax
    #[arg(long, value_name = "POUNDS")]
    pub other_income: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
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
    #[arg(value_name = "FILE", required_unless_present = "portfolio")]
    pub files: Vec<PathBuf>,
    /// Stored portfolio, by id or name, in place of files
    #[arg(long, conflicts_with = "files")]
    pub portfolio: Option<String>,
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
    /// Add SECURITY lines with the ISINs of the export: countries and excess reportable income
    #[arg(long)]
    pub securities: bool,
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
    /// First day of non-residence in the UK, YYYY-MM-DD
    #[arg(long, value_name = "DATE")]
    pub left: Option<String>,
    /// First day of residence afterwards, YYYY-MM-DD
    #[arg(long, value_name = "DATE", requires = "left")]
    pub returned: Option<String>,
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
