//! Data of one fund. A missing figure is `None`, never zero.

use std::collections::BTreeMap;
use std::fmt;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::figures::rounded;
use crate::nav::NavSeries;
use crate::period::{ByPeriod, Period};

/// One fund, or one share class of a fund that has several.
#[derive(Clone, Debug, PartialEq)]
pub struct Fund {
    /// SEC project id, shared by all share classes: `M0774_2554`.
    pub fund_id: String,
    /// Trading code: `ABAPAC-RMF`, `KT25/75RMF`, `SCBRMNDQ(A)`.
    pub symbol: String,
    /// English name.
    pub name: String,
    /// Thai name.
    pub name_th: Option<String>,
    /// Asset management company.
    pub company: Company,
    /// AIMC classification: `EQASxJP`.
    pub classification: Option<String>,
    /// SEC code of comparable funds, parallel to the AIMC classification.
    pub compare_code: Option<String>,
    /// SEC management style: `AM` active, `PM` passive, and others.
    pub management_style: Option<String>,
    /// Dividend policy.
    pub dividend_policy: Option<String>,
    /// Investment policy, in Thai.
    pub policy_th: Option<String>,
    /// Risk level.
    pub risk: RiskLevel,
    /// Registration status.
    pub status: Status,
    /// Registration date.
    pub registered: Option<Date>,
    /// Daily NAVs.
    pub nav: NavSeries,
    /// Offer price on the date of the latest NAV, in baht.
    pub buy_price: Option<Decimal>,
    /// Bid price on the date of the latest NAV, in baht.
    pub sell_price: Option<Decimal>,
    /// Net assets on the date of the latest NAV, in baht.
    pub net_assets: Option<Decimal>,
    /// Returns by period, in percent.
    pub returns: ByPeriod<Decimal>,
    /// Date that the returns are stated for.
    pub returns_as_of: Option<Date>,
    /// Benchmark and its returns.
    pub benchmark: Benchmark,
    /// Standard deviation published by the SEC.
    pub deviation: Option<PublishedDeviation>,
    /// One-year standard deviation published by the SEC, in percent.
    pub volatility_1y: Option<Decimal>,
    /// Tracking error published by the SEC, in percent.
    pub tracking_error: Option<Decimal>,
    /// Asset allocation; `None` when not published.
    pub allocation: Option<Vec<Allocation>>,
    /// Fees as listed in the factsheet. Repeated lines are the source's.
    pub fees: Vec<Fee>,
    /// Minimum amounts, in baht.
    pub minimums: Minimums,
    /// Links to documents.
    pub documents: Documents,
    /// Suitability texts, in Thai.
    pub suitability: Suitability,
    /// Codes of all share classes of this fund, including this one; empty when there is one class.
    pub share_classes: Vec<String>,
    /// Time of the fetch, ISO 8601.
    pub fetched_at: Option<String>,
    /// Data-quality flags.
    pub flags: Vec<Flag>,
    /// ISIN of this share class.
    pub isin: Option<String>,
    /// Master fund of a feeder fund.
    pub master_fund: Option<String>,
    /// Country of the master fund.
    pub master_country: Option<String>,
    /// Statistics published by the SEC.
    pub statistics: Statistics,
    /// Largest holdings of the latest report.
    pub holdings: Option<HoldingsReport>,
    /// Largest holdings of the report before.
    pub previous_holdings: Option<HoldingsReport>,
    /// Why the latest sync kept these figures instead of the fetched ones.
    pub quarantine: Option<Quarantine>,
}

impl Fund {
    /// Return minus the benchmark's, in percentage points. `None` unless both are stated for the
    /// same date.
    pub fn outperformance(&self, period: Period) -> Option<Decimal> {
        let benchmark = self.benchmark_return(period)?;
        Some(rounded(self.returns.get(period)? - benchmark))
    }

    /// Benchmark return over a period, if it is stated for the date of the fund's returns.
    pub fn benchmark_return(&self, period: Period) -> Option<Decimal> {
        self.benchmark.returns.get(period).filter(|_| self.benchmark.as_of == self.returns_as_of)
    }

    /// Whether the figures may belong to another share class of the same fund.
    pub fn shares_figures(&self) -> bool {
        self.flags.contains(&Flag::ShareClassFiguresShared)
    }
}

/// Asset management company.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Company {
    /// SEC id.
    pub id: String,
    /// English name.
    pub name: String,
}

/// SEC risk spectrum, 1 (domestic money market) to 8 (alternative assets).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RiskLevel(u8);

impl RiskLevel {
    /// The lowest level.
    pub const LOWEST: u8 = 1;
    /// The highest level.
    pub const HIGHEST: u8 = 8;

    /// Returns `None` outside the scale.
    pub const fn new(level: u8) -> Option<Self> {
        if level >= Self::LOWEST && level <= Self::HIGHEST { Some(Self(level)) } else { None }
    }

    /// Parses an SEC code such as `RS6`; `RS81`, the SEC's "8+", maps to 8.
    pub fn parse_spectrum(code: &str) -> Option<Self> {
        match code.trim().strip_prefix("RS")? {
            "81" => Self::new(8),
            level => level.parse().ok().and_then(Self::new),
        }
    }

    /// The level as a number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for RiskLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Registration status.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// Registered and active.
    Registered,
    /// In its initial offering: there may be no NAV yet.
    Offering,
}

impl Status {
    /// SEC status code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "RG",
            Self::Offering => "SE",
        }
    }

    /// Parses the status code of API version 1 or the word of version 2.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "RG" | "Registered" => Some(Self::Registered),
            "SE" | "IPO" => Some(Self::Offering),
            _ => None,
        }
    }
}

/// Benchmark of a fund.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Benchmark {
    /// Name, usually in Thai.
    pub name: Option<String>,
    /// Returns over the fund's periods, in percent.
    pub returns: ByPeriod<Decimal>,
    /// Date that these returns are stated for.
    pub as_of: Option<Date>,
}

/// Statistics published by the SEC, by kind.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Date of the factsheet.
    pub as_of: Option<Date>,
    /// Published values.
    pub values: BTreeMap<Statistic, Decimal>,
}

/// A statistic of the SEC's factsheets.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Statistic {
    /// Largest loss from a peak, in percent.
    MaximumDrawdown,
    /// Sharpe ratio.
    SharpeRatio,
    /// Alpha, in percent.
    Alpha,
    /// Beta.
    Beta,
    /// Share of foreign currency exposure that is hedged, in percent.
    FxHedging,
    /// Portfolio turnover ratio.
    Turnover,
    /// Yield to maturity, in percent a year.
    YieldToMaturity,
}

impl Statistic {
    /// Every statistic.
    pub const ALL: [Self; 7] = [
        Self::MaximumDrawdown,
        Self::SharpeRatio,
        Self::Alpha,
        Self::Beta,
        Self::FxHedging,
        Self::Turnover,
        Self::YieldToMaturity,
    ];

    /// Field name in the SEC's API, in the dataset and in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MaximumDrawdown => "maximum_drawdown",
            Self::SharpeRatio => "sharpe_ratio",
            Self::Alpha => "alpha",
            Self::Beta => "beta",
            Self::FxHedging => "fx_hedging",
            Self::Turnover => "portfolio_turnover_ratio",
            Self::YieldToMaturity => "yield_to_maturity",
        }
    }

    /// Parses [`Statistic::as_str`].
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|statistic| statistic.as_str() == name)
    }
}

/// Largest holdings on one date.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HoldingsReport {
    /// Date of the report.
    pub as_of: Option<Date>,
    /// Holdings, largest first.
    pub holdings: Vec<Allocation>,
}

/// Why a sync kept the previous figures of a fund.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Quarantine {
    /// Time of the first sync that rejected the fetched figures, ISO 8601.
    pub since: String,
    /// Reasons, joined by semicolons.
    pub reason: String,
}

/// Standard deviation published by the SEC.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedDeviation {
    /// In percent a year.
    pub percent: Decimal,
    /// Reference period, as far as it could be inferred: `5y`.
    pub period: String,
}

/// Share of one asset class. Derivatives and payables make shares negative or larger than 100.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Allocation {
    /// Asset class.
    pub asset_class: String,
    /// Share of net assets, in percent.
    pub percent: Decimal,
}

/// Line of a factsheet's fee table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fee {
    /// Normalised fee type: `front_end`, `total_expense`.
    pub kind: String,
    /// Thai description from the factsheet.
    pub description: String,
    /// In percent; `None` when not published.
    pub value: Option<Decimal>,
    /// Remark from the factsheet.
    pub remark: Option<String>,
}

impl Fee {
    /// The fee type that includes all others.
    pub const TOTAL: &'static str = "total_expense";
}

/// Minimum transaction amounts and balance, in baht.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Minimums {
    /// First purchase.
    pub initial: Option<Decimal>,
    /// Further purchase.
    pub additional: Option<Decimal>,
    /// Redemption.
    pub redemption: Option<Decimal>,
    /// Remaining balance.
    pub balance: Option<Decimal>,
}

/// Links to a fund's documents.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Documents {
    /// The factsheet.
    pub factsheet: Option<String>,
    /// The annual report.
    pub annual_report: Option<String>,
    /// The half-year report.
    pub halfyear_report: Option<String>,
}

/// Suitability texts, in Thai. The source sends them as Base64; these are decoded.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Suitability {
    /// Risk description.
    pub risk_level: Option<String>,
    /// Target investor.
    pub target_investor: Option<String>,
    /// Investment horizon.
    pub investment_horizon: Option<String>,
}

/// Data-quality flag.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Flag {
    /// All share classes carry the figures of the first class.
    ShareClassFiguresShared,
    /// The allocation differs from 100 % by more than one point.
    AllocationDoesNotAddUp,
    /// No NAV has been published.
    NoNav,
    /// The source had lost a column of this row; it was restored.
    RepairedColumnShift,
    /// The source had another company's name; the fund's own was restored.
    RepairedName,
}

impl Flag {
    /// Every flag.
    pub const ALL: [Self; 5] = [
        Self::ShareClassFiguresShared,
        Self::AllocationDoesNotAddUp,
        Self::NoNav,
        Self::RepairedColumnShift,
        Self::RepairedName,
    ];

    /// Name in the dataset and in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ShareClassFiguresShared => "share_class_figures_shared",
            Self::AllocationDoesNotAddUp => "allocation_does_not_add_up",
            Self::NoNav => "no_nav",
            Self::RepairedColumnShift => "repaired_column_shift",
            Self::RepairedName => "repaired_name",
        }
    }

    /// Parses [`Flag::as_str`].
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.as_str() == name)
    }
}

/// Whether the allocation differs from 100 % by more than one point. Rounding alone accounts for
/// some hundredths.
pub fn is_unbalanced(parts: &[Allocation]) -> bool {
    let sum: Decimal = parts.iter().map(|part| part.percent).sum();
    (sum - Decimal::ONE_HUNDRED).abs() > Decimal::ONE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risk_spectrum_rs81_maps_to_level_8() {
        let cases = [
            ("RS1", Some(1)),
            ("RS8", Some(8)),
            ("RS81", Some(8)),
            ("RS9", None),
            ("RS0", None),
            ("6", None),
            ("", None),
        ];
        for (code, expected) in cases {
            let level = RiskLevel::parse_spectrum(code).map(RiskLevel::get);
            assert_eq!(level, expected, "code: {code:?}");
        }
    }

    #[test]
    fn allocation_sum_tolerates_one_point() {
        let parts = |percents: &[&str]| -> Vec<Allocation> {
            let part = |percent: &&str| Allocation {
                asset_class: "x".to_owned(),
                percent: percent.parse().unwrap(),
            };
            percents.iter().map(part).collect()
        };
        assert!(!is_unbalanced(&parts(&["98.9", "1.1"])));
        assert!(!is_unbalanced(&parts(&["106.2", "-5.3"])));
        assert!(is_unbalanced(&parts(&["31.03"])));
    }
}
