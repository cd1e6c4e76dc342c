//! Packs a snapshot of the SEC's figures into a dataset: one JSON object per fund and a CSV table
//! of NAVs. `panoply rmf pack-data` calls this; [data/rmf/README.md] names the source.
//!
//! Figures keep every digit. Unreliable values of the snapshot are not copied: the NAV change is
//! computed from the series, and an unbalanced allocation is flagged.
//!
//! [data/rmf/README.md]: ../../../data/rmf/README.md

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Map, Number, Value};

use crate::dataset::{Dataset, Provenance};
use crate::fund::{
    Allocation, Benchmark, Company, Documents, Fee, Flag, Fund, Minimums, PublishedDeviation,
    RiskLevel, Statistics, Status, Suitability, is_unbalanced,
};
use crate::nav::{NavPoint, NavSeries};
use crate::period::{ByPeriod, Period};

/// Reference date of the returns in the bundled snapshot, whose factsheets are those of September
/// 2025.
pub const SNAPSHOT_RETURNS_AS_OF: Date = Date::constant(2025, 9, 30);

/// Why a snapshot cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A fund is invalid.
    #[error("fund on line {line}: {problem}")]
    Fund {
        /// Line number, counted from 1.
        line: usize,
        /// Description of the problem.
        problem: String,
    },
    /// A line of the NAV table is invalid.
    #[error("NAV on line {line}: {problem}")]
    Nav {
        /// Line number, counted from 1.
        line: usize,
        /// Description of the problem.
        problem: String,
    },
    /// The NAV table names a fund that is missing.
    #[error("there are NAVs of `{symbol}` but no such fund")]
    NoSuchFund {
        /// Fund code.
        symbol: String,
    },
}

/// Packs a snapshot: `funds` has one JSON object per line, `navs` the columns symbol, date and NAV.
pub fn pack(funds: &str, navs: &str) -> Result<Dataset, PackError> {
    let mut series = series_of(navs)?;
    let mut packed = Vec::new();
    for (number, line) in funds.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fund = fund(line, &mut series)
            .map_err(|problem| PackError::Fund { line: number + 1, problem })?;
        packed.push(fund);
    }
    if let Some((symbol, _)) = series.pop_first() {
        return Err(PackError::NoSuchFund { symbol });
    }
    let fetched_at = packed.iter().filter_map(|fund| fund.fetched_at.as_deref()).max();
    let provenance = Provenance {
        source: "Thai SEC Open API (FundFactsheet, FundDailyInfo), public snapshot".to_owned(),
        licence: "figures published by the Thai SEC for public use; name the SEC as their source"
            .to_owned(),
        fetched_at: fetched_at.unwrap_or_default().to_owned(),
        history_from: String::new(),
    };
    Ok(Dataset::new(provenance, packed))
}

fn series_of(navs: &str) -> Result<BTreeMap<String, Vec<NavPoint>>, PackError> {
    let mut series: BTreeMap<String, Vec<NavPoint>> = BTreeMap::new();
    for (number, line) in navs.lines().enumerate().skip(1) {
        let wrong = || PackError::Nav {
            line: number + 1,
            problem: format!("`{line}` is not symbol, date and NAV"),
        };
        let (symbol, rest) = line.split_once(',').ok_or_else(wrong)?;
        let (date, nav) = rest.split_once(',').ok_or_else(wrong)?;
        let point = NavPoint {
            date: date.parse().map_err(|_| wrong())?,
            nav: nav.trim().parse().map_err(|_| wrong())?,
        };
        series.entry(symbol.to_owned()).or_default().push(point);
    }
    Ok(series)
}

/// A fund of the snapshot. Numbers addressed by name (`perf_ytd`) stay in `rest`.
#[derive(Deserialize)]
struct Snapshot {
    fund_id: String,
    symbol: String,
    fund_name: String,
    amc: String,
    fund_classification: Option<String>,
    management_style: Option<String>,
    dividend_policy: Option<String>,
    risk_level: u8,
    nav_date: Option<Date>,
    nav_value: Option<Number>,
    benchmark_name: Option<String>,
    asset_allocation: Option<Vec<SnapshotPart>>,
    fees: Option<Vec<SnapshotFee>>,
    factsheet_url: Option<String>,
    annual_report_url: Option<String>,
    halfyear_report_url: Option<String>,
    suitability_risk_level: Option<String>,
    suitability_target_investor: Option<String>,
    suitability_investment_horizon: Option<String>,
    x_fund_name_th: Option<String>,
    x_amc_id: String,
    x_fund_status: String,
    x_regis_date: Option<Date>,
    x_aimc_category: Option<String>,
    x_sec_policy_th: Option<String>,
    x_sec_std_dev_period: Option<String>,
    x_share_classes: Option<Vec<String>>,
    x_data_fetched_at: Option<String>,
    x_flags: Vec<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct SnapshotPart {
    asset_class: String,
    percentage: Number,
}

#[derive(Deserialize)]
struct SnapshotFee {
    fee_type: String,
    fee_desc: String,
    fee_value: Option<Number>,
    fee_remark: Option<String>,
}

impl Snapshot {
    fn figure(&self, name: &str) -> Result<Option<Decimal>, String> {
        match self.rest.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => exact(number).map(Some),
            Some(other) => Err(format!("`{name}` is {other}, expected a number")),
        }
    }

    fn by_period(&self, prefix: &str) -> Result<ByPeriod<Decimal>, String> {
        let mut values = ByPeriod::default();
        for period in Period::ALL {
            values.set(period, self.figure(&format!("{prefix}_{period}"))?);
        }
        Ok(values)
    }

    /// The NAV series, whose last point must be the NAV of the fund's own record.
    fn nav(&self, points: Vec<NavPoint>) -> Result<NavSeries, String> {
        let nav = NavSeries::new(points).map_err(|error| error.to_string())?;
        let stated = self.nav_value.as_ref().map(exact).transpose()?;
        let latest = nav.latest().map(|point| (point.date, point.nav)).unzip();
        if latest != (self.nav_date, stated) {
            return Err(format!("the latest NAV of `{}` differs from the NAV table", self.symbol));
        }
        Ok(nav)
    }

    fn flags(&self, allocation: Option<&[Allocation]>) -> Result<Vec<Flag>, String> {
        let known = |name: &String| {
            Flag::parse(name).ok_or_else(|| format!("`{name}` is not a known flag"))
        };
        let mut flags = self.x_flags.iter().map(known).collect::<Result<Vec<_>, _>>()?;
        if allocation.is_some_and(is_unbalanced) {
            flags.push(Flag::AllocationDoesNotAddUp);
        }
        flags.sort_unstable();
        Ok(flags)
    }
}

fn fund(line: &str, series: &mut BTreeMap<String, Vec<NavPoint>>) -> Result<Fund, String> {
    let mut source: Snapshot = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let nav = source.nav(series.remove(&source.symbol).unwrap_or_default())?;
    let allocation = allocation(source.asset_allocation.take())?;
    let flags = source.flags(allocation.as_deref())?;
    let figure = |name: &str| source.figure(name);
    let deviation = match (figure("x_sec_std_dev")?, source.x_sec_std_dev_period.clone()) {
        (Some(percent), Some(period)) => Some(PublishedDeviation { percent, period }),
        _ => None,
    };
    Ok(Fund {
        risk: RiskLevel::new(source.risk_level)
            .ok_or_else(|| format!("risk level {} is not on the scale", source.risk_level))?,
        status: Status::parse(&source.x_fund_status)
            .ok_or_else(|| format!("`{}` is not a known status", source.x_fund_status))?,
        buy_price: figure("buy_price")?,
        sell_price: figure("sell_price")?,
        net_assets: figure("x_net_asset")?,
        returns: source.by_period("perf")?,
        returns_as_of: Some(SNAPSHOT_RETURNS_AS_OF),
        benchmark: Benchmark {
            returns: source.by_period("benchmark")?,
            name: source.benchmark_name.clone(),
            as_of: Some(SNAPSHOT_RETURNS_AS_OF),
        },
        volatility_1y: figure("volatility_1y")?,
        tracking_error: figure("tracking_error")?,
        minimums: Minimums {
            initial: figure("min_initial")?,
            additional: figure("min_additional")?,
            redemption: figure("min_redemption")?,
            balance: figure("min_balance")?,
        },
        fund_id: source.fund_id,
        symbol: source.symbol,
        name: source.fund_name,
        name_th: source.x_fund_name_th,
        company: Company { id: source.x_amc_id, name: source.amc },
        classification: source.fund_classification,
        compare_code: source.x_aimc_category,
        management_style: source.management_style,
        dividend_policy: source.dividend_policy,
        policy_th: source.x_sec_policy_th,
        registered: source.x_regis_date,
        nav,
        deviation,
        allocation,
        fees: fees(source.fees)?,
        documents: Documents {
            factsheet: source.factsheet_url,
            annual_report: source.annual_report_url,
            halfyear_report: source.halfyear_report_url,
        },
        suitability: Suitability {
            risk_level: decoded(source.suitability_risk_level)?,
            target_investor: decoded(source.suitability_target_investor)?,
            investment_horizon: decoded(source.suitability_investment_horizon)?,
        },
        share_classes: source.x_share_classes.unwrap_or_default(),
        fetched_at: source.x_data_fetched_at,
        flags,
        isin: None,
        master_fund: None,
        master_country: None,
        statistics: Statistics::default(),
        holdings: None,
        previous_holdings: None,
        quarantine: None,
    })
}

fn allocation(parts: Option<Vec<SnapshotPart>>) -> Result<Option<Vec<Allocation>>, String> {
    let part = |part: SnapshotPart| {
        Ok(Allocation { asset_class: part.asset_class, percent: exact(&part.percentage)? })
    };
    let parts = parts.filter(|parts| !parts.is_empty());
    parts.map(|parts| parts.into_iter().map(part).collect()).transpose()
}

fn fees(fees: Option<Vec<SnapshotFee>>) -> Result<Vec<Fee>, String> {
    let fee = |fee: SnapshotFee| {
        Ok(Fee {
            kind: fee.fee_type,
            description: fee.fee_desc,
            value: fee.fee_value.as_ref().map(exact).transpose()?,
            remark: fee.fee_remark,
        })
    };
    fees.unwrap_or_default().into_iter().map(fee).collect()
}

/// Converts a JSON number without loss.
fn exact(number: &Number) -> Result<Decimal, String> {
    number.to_string().parse().map_err(|_| format!("`{number}` has too many digits"))
}

/// Decodes a Base64 field; rejects non-canonical Base64, because the tools encode it again.
fn decoded(field: Option<String>) -> Result<Option<String>, String> {
    let Some(field) = field else { return Ok(None) };
    let text = STANDARD
        .decode(&field)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .filter(|text| STANDARD.encode(text) == field);
    text.map(Some).ok_or_else(|| format!("`{field}` is not the Base64 of a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUND: &str = r#"{"fund_id": "M1", "symbol": "KT25/75RMF", "fund_name": "A", "amc": "B",
        "fund_classification": null, "management_style": null, "dividend_policy": "No",
        "risk_level": 6, "nav_date": "2025-11-07", "nav_value": 15.626, "nav_change": 15.626,
        "perf_ytd": 4.789999999999999, "perf_1y": null, "benchmark_name": null,
        "asset_allocation": [{"asset_class": "Gold", "percentage": 31.03}], "fees": [],
        "factsheet_url": null, "annual_report_url": null, "halfyear_report_url": null,
        "suitability_risk_level": "4LmA4Liq4Li14LmI4Lii4LiH", "min_initial": 0.01,
        "suitability_target_investor": null, "suitability_investment_horizon": null,
        "x_fund_name_th": null, "x_amc_id": "C1", "x_fund_status": "RG", "x_regis_date": null,
        "x_aimc_category": null, "x_sec_policy_th": null, "x_sec_std_dev_period": null,
        "x_share_classes": null, "x_data_fetched_at": "2025-11-11T06:10:41.753Z", "x_flags": []}"#;
    const NAVS: &str =
        "symbol,date,nav\nKT25/75RMF,2025-11-06,15.8339\nKT25/75RMF,2025-11-07,15.6260\n";

    fn line() -> String {
        FUND.replace('\n', " ")
    }

    #[test]
    fn packing_preserves_every_digit() {
        let dataset = pack(&line(), NAVS).unwrap();
        let fund = &dataset.funds[0];
        assert_eq!(fund.returns.get(Period::Ytd).unwrap().to_string(), "4.789999999999999");
        assert_eq!(fund.returns.get(Period::Y1), None);
        assert_eq!(fund.minimums.initial.unwrap().to_string(), "0.01");
        assert_eq!(fund.suitability.risk_level.as_deref(), Some("เสี่ยง"));
        assert_eq!(fund.flags, [Flag::AllocationDoesNotAddUp]);
        assert_eq!(fund.nav.latest_change().unwrap().baht.to_string(), "-0.2079");
        assert_eq!(dataset.provenance.fetched_at, "2025-11-11T06:10:41.753Z");
    }

    #[test]
    fn inconsistent_snapshot_is_rejected() {
        let cases = [
            ("other NAV", line(), NAVS.replace("15.6260", "15.7")),
            ("risk 9", line().replace("\"risk_level\": 6", "\"risk_level\": 9"), NAVS.to_owned()),
            ("base64", line().replace("4LmA4Liq", "!!"), NAVS.to_owned()),
            ("flag", line().replace("\"x_flags\": []", "\"x_flags\": [\"odd\"]"), NAVS.to_owned()),
            ("stray NAV", line(), format!("{NAVS}NOBODY,2025-11-07,1\n")),
            ("no table", line(), NAVS.replace(',', ";")),
            ("no JSON", "{".to_owned(), NAVS.to_owned()),
        ];
        for (name, funds, navs) in cases {
            assert!(pack(&funds, &navs).is_err(), "{name}");
        }
    }
}
