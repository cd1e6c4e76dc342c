//! Packed dataset: all funds in one small text file that is fast to read and easy to diff.
//!
//! Each line is a record kind and its tab-separated cells:
//!
//! ```text
//! panoply-rmf  2
//! about        source  …
//! text         …                    a repeated text; the first one has number 0
//! columns      fund_id  symbol  …   the cells of a `fund` line
//! fund         M0774_2554  ABAPAC-RMF  …
//! asset        Unit Trust  98.9     belongs to the fund above, as do `fee` and `nav`
//! fee          front_end  =3        kind, description, value, remark
//! nav          2025-09-26  14.8926  3  15.0861  …   first date, then pairs of day offset and NAV
//! stat         sharpe_ratio  0.51   a statistic of the SEC
//! holding      Apple Inc  6.1       a holding of the latest report; `held` is one of the report before
//! quarantine   2026-11-16T13:00:00Z  reason
//! sha256       of all bytes above this line
//! ```
//!
//! An empty cell is a missing figure; trailing empty cells are omitted. `=12` refers to text 12.
//! `\t`, `\n`, `\r`, `\\` and `\=` are escape sequences. Version 1 lacks the columns after `flags` and
//! the records `stat`, `holding`, `held` and `quarantine`; it is still read.

mod cells;
mod read;
mod write;

pub use self::read::DatasetError;
use crate::fund::Fund;

/// First line of every file: format name and version.
const MAGIC: &str = "panoply-rmf\t2";
/// First line of a file of the previous version.
const MAGIC_1: &str = "panoply-rmf\t1";

/// Columns of a `fund` line.
const COLUMNS: [&str; 59] = [
    "fund_id",
    "symbol",
    "name",
    "name_th",
    "company_id",
    "company",
    "classification",
    "compare_code",
    "management_style",
    "dividend_policy",
    "policy_th",
    "risk",
    "status",
    "registered",
    "buy_price",
    "sell_price",
    "net_assets",
    "perf_ytd",
    "perf_3m",
    "perf_6m",
    "perf_1y",
    "perf_3y",
    "perf_5y",
    "perf_10y",
    "perf_since_inception",
    "returns_as_of",
    "benchmark_name",
    "benchmark_ytd",
    "benchmark_3m",
    "benchmark_6m",
    "benchmark_1y",
    "benchmark_3y",
    "benchmark_5y",
    "benchmark_10y",
    "benchmark_since_inception",
    "deviation",
    "deviation_period",
    "volatility_1y",
    "tracking_error",
    "min_initial",
    "min_additional",
    "min_redemption",
    "min_balance",
    "factsheet_url",
    "annual_report_url",
    "halfyear_report_url",
    "suitability_risk_level",
    "suitability_target_investor",
    "suitability_investment_horizon",
    "share_classes",
    "fetched_at",
    "flags",
    "benchmark_as_of",
    "isin",
    "master_fund",
    "master_country",
    "statistics_as_of",
    "holdings_as_of",
    "previous_holdings_as_of",
];

/// All funds and their provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Source of the figures.
    pub provenance: Provenance,
    /// All funds, sorted by code.
    pub funds: Vec<Fund>,
    /// SHA-256 of the packed form, in hexadecimal.
    pub checksum: String,
}

/// Source of a dataset.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Provenance {
    /// Publisher.
    pub source: String,
    /// Terms of use.
    pub licence: String,
    /// Time of the latest fetch, ISO 8601.
    pub fetched_at: String,
    /// First date from which a sync asked for NAVs of every fund; empty when only recent ones were.
    pub history_from: String,
}
