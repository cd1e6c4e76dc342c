//! `panoply backtest`: event logs of backtests.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `panoply backtest`.
#[derive(Debug, Subcommand)]
pub enum Backtest {
    /// Import events and seal their runs
    Import(BacktestImport),
    /// Export the lines of a run as they were imported
    Export {
        /// Id of the run
        run: String,
        /// Write to this file, which must not exist [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write Parquet files by run and event type below this folder instead
        #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
        parquet: Option<PathBuf>,
    },
    /// Report return, drawdown and trades of a run
    Report(BacktestReport),
    /// List runs
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Seal an open run: it becomes immutable and can be queried
    Seal {
        /// Id of the run
        run: String,
    },
    /// Verify the checksums of sealed runs
    Verify {
        /// Ids of the runs [default: all]
        runs: Vec<String>,
    },
    /// Delete a run and all its events
    Delete {
        /// Id of the run
        run: String,
    },
}

/// `panoply backtest import`.
#[derive(Debug, Args)]
pub struct BacktestImport {
    /// Event files: native JSONL, the output of an engine, or Parquet files of an export
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Format of the files; `auto` detects it from their start
    #[arg(long, value_enum, default_value = "auto")]
    pub format: BacktestFormat,
    /// JSON file with a column mapping, for any other CSV or JSONL
    #[arg(long, value_name = "MAP.json", conflicts_with = "format")]
    pub map: Option<PathBuf>,
    /// Security, for files without one [default: the file name]
    #[arg(long, value_name = "NAME")]
    pub symbol: Option<String>,
    /// Currency of files that name none, of all amounts or of a security, such as USDJPY=JPY
    #[arg(long, value_name = "[SYMBOL=]CURRENCY")]
    pub currency: Vec<String>,
    /// JSON file with the run description: runId, startTime, endTime, strategyName, parameters; or
    /// a list of such, one for each run that the files name
    #[arg(long, value_name = "RUN.json")]
    pub run: Option<PathBuf>,
    /// Leave the runs open for further events
    #[arg(long)]
    pub open: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `panoply backtest report`.
#[derive(Debug, Args)]
pub struct BacktestReport {
    /// Id of the run
    pub run: String,
    /// Write an HTML page with curves and trades to this file, which must not exist
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also give all amounts in this currency, with `--rate` or the last prices of currency pairs
    /// in the log
    #[arg(long)]
    pub currency: Option<String>,
    /// Value of one unit of a currency in that currency, such as JPY=0.0067
    #[arg(long, value_name = "CURRENCY=RATE", requires = "currency")]
    pub rate: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Format of an event file.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum BacktestFormat {
    /// Detect the format
    Auto,
    /// Native JSONL, as `panoply backtest export` writes it
    Native,
    /// nautilus_trader: event dicts, one per line or in one array
    Nautilus,
    /// freqtrade: a backtest result, as .zip or .json
    Freqtrade,
    /// LEAN (QuantConnect): order events
    Lean,
    /// backtesting.py: CSV of trades, or of the equity curve
    BacktestingPy,
    /// StockSharp: debug JSONL
    Stocksharp,
    /// backtrader: CSV of the PyFolio analyzer's transactions, or the file of WriterFile(csv=True)
    Backtrader,
    /// vectorbt: CSV of orders.records_readable, or of the portfolio's value
    Vectorbt,
}
