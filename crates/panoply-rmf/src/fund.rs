//! What is known of one fund. A figure that is not known is `None`, never zero.

use std::fmt;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::nav::NavSeries;
use crate::period::ByPeriod;

/// One fund, or one share class of a fund that has several.
#[derive(Clone, Debug, PartialEq)]
pub struct Fund {
    /// The SEC's id of the fund, shared by its share classes: `M0774_2554`.
    pub fund_id: String,
    /// The code investors know: `ABAPAC-RMF`, `KT25/75RMF`, `SCBRMNDQ(A)`.
    pub symbol: String,
    /// Its English name.
    pub name: String,
    /// Its Thai name.
    pub name_th: Option<String>,
    /// The company that manages it.
    pub company: Company,
    /// AIMC's class: `EQASxJP`.
    pub classification: Option<String>,
    /// The SEC's code of funds to compare it with, which runs parallel to AIMC's classes.
    pub compare_code: Option<String>,
    /// The SEC's code of how it is managed: `AM` active, `PM` passive, and so on.
    pub management_style: Option<String>,
    /// Whether it pays dividends.
    pub dividend_policy: Option<String>,
    /// What it invests in, in Thai, as the SEC has it.
    pub policy_th: Option<String>,
    /// How risky it is.
    pub risk: RiskLevel,
    /// Whether it is running or still being offered.
    pub status: Status,
    /// When it was registered.
    pub registered: Option<Date>,
    /// What it was worth, day by day.
    pub nav: NavSeries,
    /// What buyers paid on the last day of `nav`.
    pub buy_price: Option<Decimal>,
    /// What sellers got on the last day of `nav`.
    pub sell_price: Option<Decimal>,
    /// All it was worth on the last day of `nav`, in baht.
    pub net_assets: Option<Decimal>,
    /// Its returns, in percent.
    pub returns: ByPeriod<Decimal>,
    /// The day the returns run up to.
    pub returns_as_of: Option<Date>,
    /// What it measures itself against.
    pub benchmark: Benchmark,
    /// The SEC's standard deviation in percent a year, and over how long.
    pub deviation: Option<PublishedDeviation>,
    /// Standard deviation of a year's returns, in percent, where the SEC publishes it.
    pub volatility_1y: Option<Decimal>,
    /// Tracking error in percent, where the SEC publishes it.
    pub tracking_error: Option<Decimal>,
    /// What it holds; `None` when not published.
    pub allocation: Option<Vec<Allocation>>,
    /// What it costs, as the factsheet lists it. Repeated lines are the source's.
    pub fees: Vec<Fee>,
    /// The least one may put in, take out or leave, in baht.
    pub minimums: Minimums,
    /// Where its documents are.
    pub documents: Documents,
    /// For whom it is, in Thai.
    pub suitability: Suitability,
    /// The codes of all share classes of this fund, itself included; empty when there is one.
    pub share_classes: Vec<String>,
    /// When these figures were taken from the source, ISO 8601.
    pub fetched_at: Option<String>,
    /// What to know before trusting the figures.
    pub flags: Vec<Flag>,
}

impl Fund {
    /// Whether the figures may belong to another share class of the same fund.
    pub fn shares_figures(&self) -> bool {
        self.flags.contains(&Flag::ShareClassFiguresShared)
    }
}

/// The company that manages a fund.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Company {
    /// The SEC's id of it.
    pub id: String,
    /// Its English name.
    pub name: String,
}

/// The SEC's scale of risk, 1 (money market at home) to 8 (alternative assets).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RiskLevel(u8);

impl RiskLevel {
    /// The lowest level.
    pub const LOWEST: u8 = 1;
    /// The highest level.
    pub const HIGHEST: u8 = 8;

    /// A level on the scale.
    pub const fn new(level: u8) -> Option<Self> {
        if level >= Self::LOWEST && level <= Self::HIGHEST { Some(Self(level)) } else { None }
    }

    /// The SEC's `RS6`; `RS81`, its "8+", counts as 8.
    pub fn parse_spectrum(code: &str) -> Option<Self> {
        match code.trim().strip_prefix("RS")? {
            "81" => Self::new(8),
            level => level.parse().ok().and_then(Self::new),
        }
    }

    /// As a number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for RiskLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Where a fund is in its life.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// Registered and running.
    Registered,
    /// Still offered for the first time: there may be no NAV yet.
    Offering,
}

impl Status {
    /// The SEC's code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "RG",
            Self::Offering => "SE",
        }
    }

    /// The status of a code or of the word the newer API uses.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "RG" | "Registered" => Some(Self::Registered),
            "SE" | "IPO" => Some(Self::Offering),
            _ => None,
        }
    }
}

/// What a fund measures itself against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Benchmark {
    /// Its name, usually in Thai.
    pub name: Option<String>,
    /// Its returns over the fund's periods, in percent.
    pub returns: ByPeriod<Decimal>,
}

/// A standard deviation that the SEC published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedDeviation {
    /// In percent a year.
    pub percent: Decimal,
    /// Over which period, as far as that could be inferred: `5y`.
    pub period: String,
}

/// A part of what a fund holds. Parts may be negative or over 100: futures and payables.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Allocation {
    /// What.
    pub asset_class: String,
    /// How much of the fund, in percent.
    pub percent: Decimal,
}

/// A line of a factsheet's table of fees.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fee {
    /// What kind, in our words: `front_end`, `total_expense`.
    pub kind: String,
    /// What the factsheet calls it, in Thai.
    pub description: String,
    /// In percent; `None` when not published.
    pub value: Option<Decimal>,
    /// What the factsheet adds.
    pub remark: Option<String>,
}

impl Fee {
    /// The kind of fee that all others are part of.
    pub const TOTAL: &'static str = "total_expense";
}

/// The least one may put in, take out or leave, in baht.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Minimums {
    /// With the first purchase.
    pub initial: Option<Decimal>,
    /// With each further one.
    pub additional: Option<Decimal>,
    /// When selling.
    pub redemption: Option<Decimal>,
    /// To leave in.
    pub balance: Option<Decimal>,
}

/// Where a fund's documents are.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Documents {
    /// The factsheet.
    pub factsheet: Option<String>,
    /// The annual report.
    pub annual_report: Option<String>,
    /// The half-year report.
    pub halfyear_report: Option<String>,
}

/// For whom a fund is, in Thai. The source sends Base64; these are the texts in it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Suitability {
    /// How risky, in words.
    pub risk_level: Option<String>,
    /// For whom.
    pub target_investor: Option<String>,
    /// For how long.
    pub investment_horizon: Option<String>,
}

/// Something to know before trusting a fund's figures.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Flag {
    /// All share classes carry the figures of the first.
    ShareClassFiguresShared,
    /// The allocation is more than one point away from 100 %.
    AllocationDoesNotAddUp,
    /// No NAV was published yet.
    NoNav,
    /// The source had lost a column of this row; it was put back.
    RepairedColumnShift,
    /// The source had another company's name here; the fund's own was put back.
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

    /// Its name in data and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ShareClassFiguresShared => "share_class_figures_shared",
            Self::AllocationDoesNotAddUp => "allocation_does_not_add_up",
            Self::NoNav => "no_nav",
            Self::RepairedColumnShift => "repaired_column_shift",
            Self::RepairedName => "repaired_name",
        }
    }

    /// The flag of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.as_str() == name)
    }
}

/// Whether parts are more than a point away from the whole. Rounding alone moves the sum by
/// some hundredths.
pub fn does_not_add_up(parts: &[Allocation]) -> bool {
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
        assert!(!does_not_add_up(&parts(&["98.9", "1.1"])));
        assert!(!does_not_add_up(&parts(&["106.2", "-5.3"])));
        assert!(does_not_add_up(&parts(&["31.03"])));
    }
}
