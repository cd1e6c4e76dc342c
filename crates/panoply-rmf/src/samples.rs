//! Test fixtures: small funds.

use jiff::civil::{Date, date};

use crate::dataset::{Dataset, Provenance};
use crate::fund::{
    Allocation, Benchmark, Company, Documents, Fee, Fund, HoldingsReport, Minimums,
    PublishedDeviation, Quarantine, RiskLevel, Statistic, Statistics, Status, Suitability,
};
use crate::nav::{NavPoint, NavSeries};
use crate::period::{ByPeriod, Period};

/// One NAV per day, starting on 3 November 2025.
pub(crate) fn series(values: &[&str]) -> NavSeries {
    let points = values.iter().zip(0..).map(|(value, day)| NavPoint {
        date: date(2025, 11, 3) + jiff::Span::new().days(day),
        nav: value.parse().unwrap(),
    });
    NavSeries::new(points.collect()).unwrap()
}

/// A fund with code and risk only.
pub(crate) fn fund(symbol: &str, risk: u8) -> Fund {
    Fund {
        fund_id: format!("M_{symbol}"),
        symbol: symbol.to_owned(),
        name: format!("{symbol} Fund"),
        name_th: None,
        company: Company { id: "C1".to_owned(), name: "SAMPLE ASSET MANAGEMENT".to_owned() },
        classification: None,
        compare_code: None,
        management_style: None,
        dividend_policy: None,
        policy_th: None,
        risk: RiskLevel::new(risk).unwrap(),
        status: Status::Registered,
        registered: None,
        nav: NavSeries::default(),
        buy_price: None,
        sell_price: None,
        net_assets: None,
        returns: ByPeriod::default(),
        returns_as_of: None,
        benchmark: Benchmark::default(),
        deviation: None,
        volatility_1y: None,
        tracking_error: None,
        allocation: None,
        fees: Vec::new(),
        minimums: Minimums::default(),
        documents: Documents::default(),
        suitability: Suitability::default(),
        share_classes: Vec::new(),
        fetched_at: None,
        flags: Vec::new(),
        isin: None,
        master_fund: None,
        master_country: None,
        statistics: Statistics::default(),
        holdings: None,
        previous_holdings: None,
        quarantine: None,
    }
}

/// Adds returns to a fund.
pub(crate) fn with_returns(mut fund: Fund, returns: &[(Period, &str)]) -> Fund {
    for (period, value) in returns {
        fund.returns.set(*period, Some(value.parse().unwrap()));
    }
    fund
}

/// A fund with every field set and one with none.
pub(crate) fn dataset() -> Dataset {
    let full = Fund {
        name_th: Some("กองทุนเปิด\tทดสอบ\r\n=".to_owned()),
        classification: Some("EQGL".to_owned()),
        registered: Some(Date::constant(2011, 12, 13)),
        nav: series(&["12.5", "12.4999", "13"]),
        buy_price: Some("12.5".parse().unwrap()),
        returns_as_of: Some(Date::constant(2025, 9, 30)),
        deviation: Some(PublishedDeviation {
            percent: "14.72".parse().unwrap(),
            period: "5y".to_owned(),
        }),
        allocation: Some(vec![
            Allocation { asset_class: "Unit Trust".to_owned(), percent: "98.9".parse().unwrap() },
            Allocation { asset_class: "Unit Trust".to_owned(), percent: "-1.1".parse().unwrap() },
        ]),
        fees: vec![Fee {
            kind: "other".to_owned(),
            description: "=5".to_owned(),
            value: None,
            remark: Some("back\\slash".to_owned()),
        }],
        share_classes: vec!["A B".to_owned(), "A(B)".to_owned()],
        benchmark: Benchmark { as_of: Some(Date::constant(2025, 8, 29)), ..Benchmark::default() },
        isin: Some("TH0000000001".to_owned()),
        master_fund: Some("Master Fund = A".to_owned()),
        master_country: Some("LUX".to_owned()),
        statistics: Statistics {
            as_of: Some(Date::constant(2025, 9, 30)),
            values: [(Statistic::Beta, "0.9".parse().unwrap())].into(),
        },
        holdings: Some(HoldingsReport {
            as_of: Some(Date::constant(2025, 9, 30)),
            holdings: vec![Allocation {
                asset_class: "Apple Inc".to_owned(),
                percent: "6.1".parse().unwrap(),
            }],
        }),
        previous_holdings: Some(HoldingsReport {
            as_of: None,
            holdings: vec![Allocation {
                asset_class: "Apple Inc".to_owned(),
                percent: "5".parse().unwrap(),
            }],
        }),
        quarantine: Some(Quarantine {
            since: "2025-11-16T00:00:00Z".to_owned(),
            reason: "NAV jumps".to_owned(),
        }),
        flags: crate::fund::Flag::ALL.to_vec(),
        ..with_returns(fund("FULL-RMF", 6), &[(Period::Ytd, "8.8"), (Period::Y10, "-4.08")])
    };
    Dataset::new(Provenance::default(), vec![fund("EMPTY-RMF", 1), full])
}
