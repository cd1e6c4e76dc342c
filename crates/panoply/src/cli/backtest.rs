//! `panoply backtest`: event logs of backtests.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `panoply backtest`.
#[derive(Debug, Subcommand)]
pub enum Backtest {
    /// Bring events in and complete their runs
    Import(BacktestImport),
    /// Give a run's lines back as they were imported
    Export {
        /// The run's id
        run: String,
        /// Write to this file, which must not be there yet [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// What a run earned, how deep it fell, and its trades
    Report(BacktestReport),
    /// List the runs
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Complete an open run: from then on it can be queried and never changes
    Seal {
        /// The run's id
        run: String,
    },
    /// Delete a run and all its events
    Delete {
        /// The run's id
        run: String,
    },
}

/// `panoply backtest import`.
#[derive(Debug, Args)]
pub struct BacktestImport {
    /// Files of events: native JSONL, or what an engine writes
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What wrote the files; `auto` looks at how they begin
    #[arg(long, value_enum, default_value = "auto")]
    pub format: BacktestFormat,
    /// A JSON file that says which column is what, for any other CSV or JSONL
    #[arg(long, value_name = "MAP.json", conflicts_with = "format")]
    pub map: Option<PathBuf>,
    /// The security, for files that name none [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    pub symbol: Option<String>,
    /// A JSON file that says which run it is: runId, startTime, endTime, strategyName
    #[arg(long, value_name = "RUN.json")]
    pub run: Option<PathBuf>,
    /// Leave the runs open for more events
    #[arg(long)]
    pub open: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply backtest report`.
#[derive(Debug, Args)]
pub struct BacktestReport {
    /// The run's id
    pub run: String,
    /// Write a page with curves and trades to this file, which must not be there yet
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// What wrote a file of events.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum BacktestFormat {
    /// Whatever the file looks like
    Auto,
    /// Native JSONL, as `panoply backtest export` writes it
    Native,
    /// nautilus_trader: event dicts, one a line or in one array
    Nautilus,
    /// freqtrade: a backtest result, as .zip or .json
    Freqtrade,
    /// LEAN (QuantConnect): order events
    Lean,
    /// backtesting.py: CSV of trades, or of the equity curve
    BacktestingPy,
    /// StockSharp: debug JSONL
    Stocksharp,
}
