//! The packed form of all funds: one text file that is small, quick to read, and can be diffed.
//!
//! A line is a kind of record and its cells, separated by tabs:
//!
//! ```text
//! panoply-rmf  1
//! about        source  …
//! text         …                    a text that occurs more than once; the first is number 0
//! columns      fund_id  symbol  …   the cells of a `fund` line
//! fund         M0774_2554  ABAPAC-RMF  …
//! asset        Unit Trust  98.9     belongs to the fund above, as do the next two
//! fee          front_end  =3        kind, description, value, remark
//! nav          2025-09-26  14.8926  3  15.0861  …   first day, then days since the last and value
//! sha256       of all bytes above this line
//! ```
//!
//! An empty cell is a figure that is not known; empty cells at the end of a line are left out.
//! `=12` stands for text 12; `\t`, `\n`, `\r`, `\\` and `\=` are what they look like.

mod cells;
mod read;
mod write;

pub use self::read::BadDataset;
use crate::fund::Fund;

/// The first line of every file.
const MAGIC: &str = "panoply-rmf\t1";

/// The cells of a `fund` line.
const COLUMNS: [&str; 52] = [
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
];

/// All funds, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// Where the figures come from.
    pub about: About,
    /// Every fund, by symbol.
    pub funds: Vec<Fund>,
    /// SHA-256 of the packed form, in hexadecimal.
    pub checksum: String,
}

/// Where figures come from.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct About {
    /// Who published them.
    pub source: String,
    /// What one may do with them.
    pub licence: String,
    /// When the last of them was fetched, ISO 8601.
    pub fetched_at: String,
}
