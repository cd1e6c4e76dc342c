//! Fund detail as published by the contract, with additional fields.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_contract::prelude::*;

use super::wire::{Day, Figure, figure};
use crate::fund::{Fee, Fund};
use crate::period::Period;

/// All figures of a fund. Missing figures are null.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct FundDetail {
    /// SEC project id, shared by the fund's share classes.
    fund_id: String,
    /// The fund's code.
    symbol: String,
    /// English name.
    fund_name: String,
    /// Thai name.
    fund_name_th: Option<String>,
    /// Asset management company.
    amc: String,
    /// AIMC classification.
    fund_classification: Option<String>,
    /// SEC management style: AM active, AN, PM passive, PN, SM, OT.
    management_style: Option<String>,
    /// Dividend policy.
    dividend_policy: Option<String>,
    /// Risk from 1 (lowest) to 8 (highest).
    risk_level: u8,
    /// Always RMF.
    fund_type: &'static str,
    /// SEC status: RG registered, SE in its initial offering.
    fund_status: &'static str,
    /// Registration date.
    registered: Option<Day>,

    /// Date of the latest net asset value.
    nav_date: Option<Day>,
    /// Latest net asset value per unit, in baht.
    nav_value: Option<Figure>,
    /// Change from the previous value, in baht.
    nav_change: Option<Figure>,
    /// Change from the previous value, in percent.
    nav_change_percent: Option<Figure>,
    /// Offer price on that date, in baht.
    buy_price: Option<Figure>,
    /// Bid price on that date, in baht.
    sell_price: Option<Figure>,
    /// Net assets on that date, in baht.
    net_asset: Option<Figure>,

    /// Date that the returns are stated for.
    perf_as_of: Option<Day>,
    /// Return since the start of the year, in percent.
    perf_ytd: Option<Figure>,
    /// Return over three months, in percent.
    perf_3m: Option<Figure>,
    /// Return over six months, in percent.
    perf_6m: Option<Figure>,
    /// Return over a year, in percent.
    perf_1y: Option<Figure>,
    /// Return over three years, in percent a year.
    perf_3y: Option<Figure>,
    /// Return over five years, in percent a year.
    perf_5y: Option<Figure>,
    /// Return over ten years, in percent a year.
    perf_10y: Option<Figure>,
    /// Return since inception, in percent a year.
    perf_since_inception: Option<Figure>,

    /// Date that the benchmark's returns are stated for. Compare only when it equals `perf_as_of`.
    benchmark_as_of: Option<Day>,
    /// Benchmark.
    benchmark_name: Option<String>,
    /// The benchmark since the start of the year, in percent.
    benchmark_ytd: Option<Figure>,
    /// The benchmark over three months, in percent.
    benchmark_3m: Option<Figure>,
    /// The benchmark over six months, in percent.
    benchmark_6m: Option<Figure>,
    /// The benchmark over a year, in percent.
    benchmark_1y: Option<Figure>,
    /// The benchmark over three years, in percent a year.
    benchmark_3y: Option<Figure>,
    /// The benchmark over five years, in percent a year.
    benchmark_5y: Option<Figure>,
    /// The benchmark over ten years, in percent a year.
    benchmark_10y: Option<Figure>,

    /// Asset allocation as published; shares may be negative and need not add up to 100.
    asset_allocation: Option<Vec<Part>>,
    /// Fees as listed in the factsheet.
    fees: Option<Vec<FeeLine>>,

    /// Minimum first purchase, in baht.
    min_initial: Option<Figure>,
    /// Minimum further purchase, in baht.
    min_additional: Option<Figure>,
    /// Minimum redemption, in baht.
    min_redemption: Option<Figure>,
    /// Minimum balance, in baht.
    min_balance: Option<Figure>,

    /// Link to the factsheet.
    factsheet_url: Option<String>,
    /// Link to the annual report.
    annual_report_url: Option<String>,
    /// Link to the half-year report.
    halfyear_report_url: Option<String>,

    /// Risk description in Thai, as Base64 of UTF-8.
    suitability_risk_level: Option<String>,
    /// Risk description in Thai.
    suitability_risk_level_text: Option<String>,
    /// Target investor in Thai, as Base64 of UTF-8.
    suitability_target_investor: Option<String>,
    /// Target investor in Thai.
    suitability_target_investor_text: Option<String>,
    /// Investment horizon in Thai, as Base64 of UTF-8.
    suitability_investment_horizon: Option<String>,
    /// Investment horizon in Thai.
    suitability_investment_horizon_text: Option<String>,

    /// ISIN of this share class.
    isin: Option<String>,
    /// Master fund of a feeder fund.
    master_fund: Option<String>,
    /// Country of the master fund.
    master_country: Option<String>,
    /// Statistics published by the SEC, by name.
    sec_statistics: BTreeMap<&'static str, Figure>,
    /// Date of these statistics.
    sec_statistics_as_of: Option<Day>,
    /// Largest holdings; null when not published.
    top_holdings: Option<Vec<Part>>,
    /// Date of the holdings.
    top_holdings_as_of: Option<Day>,
    /// Why a newer sync kept these figures; null when it did not.
    quarantine: Option<String>,
    /// The codes of all share classes of this fund; empty when it has one.
    share_classes: Vec<String>,
    /// Data-quality flags.
    data_flags: Vec<&'static str>,
}

/// Share of one asset class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Part {
    /// Asset class.
    asset_class: String,
    /// Share of net assets, in percent.
    percentage: Figure,
}

/// Line of the fee table.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct FeeLine {
    /// Fee type.
    fee_type: String,
    /// Description from the factsheet.
    fee_desc: String,
    /// In percent; null when not published.
    fee_value: Option<Figure>,
    /// Remark from the factsheet.
    fee_remark: Option<String>,
}

impl FundDetail {
    pub(crate) fn of(fund: &Fund) -> Self {
        let latest = fund.nav.latest();
        let change = fund.nav.latest_change();
        let perf = |period| figure(fund.returns.get(period));
        let benchmark = |period| figure(fund.benchmark.returns.get(period));
        let suitability = &fund.suitability;
        Self {
            fund_id: fund.fund_id.clone(),
            symbol: fund.symbol.clone(),
            fund_name: fund.name.clone(),
            fund_name_th: fund.name_th.clone(),
            amc: fund.company.name.clone(),
            fund_classification: fund.classification.clone(),
            management_style: fund.management_style.clone(),
            dividend_policy: fund.dividend_policy.clone(),
            risk_level: fund.risk.get(),
            fund_type: "RMF",
            fund_status: fund.status.as_str(),
            registered: fund.registered.map(Day),
            nav_date: latest.map(|point| Day(point.date)),
            nav_value: latest.map(|point| Figure(point.nav)),
            nav_change: change.map(|change| Figure(change.baht)),
            nav_change_percent: change.map(|change| Figure(change.percent)),
            buy_price: figure(fund.buy_price),
            sell_price: figure(fund.sell_price),
            net_asset: figure(fund.net_assets),
            perf_as_of: fund.returns_as_of.map(Day),
            perf_ytd: perf(Period::Ytd),
            perf_3m: perf(Period::M3),
            perf_6m: perf(Period::M6),
            perf_1y: perf(Period::Y1),
            perf_3y: perf(Period::Y3),
            perf_5y: perf(Period::Y5),
            perf_10y: perf(Period::Y10),
            perf_since_inception: perf(Period::SinceInception),
            benchmark_as_of: fund.benchmark.as_of.map(Day),
            benchmark_name: fund.benchmark.name.clone(),
            benchmark_ytd: benchmark(Period::Ytd),
            benchmark_3m: benchmark(Period::M3),
            benchmark_6m: benchmark(Period::M6),
            benchmark_1y: benchmark(Period::Y1),
            benchmark_3y: benchmark(Period::Y3),
            benchmark_5y: benchmark(Period::Y5),
            benchmark_10y: benchmark(Period::Y10),
            asset_allocation: fund.allocation.as_deref().map(parts),
            fees: publishes_fees(fund).then(|| fee_lines(&fund.fees)),
            min_initial: figure(fund.minimums.initial),
            min_additional: figure(fund.minimums.additional),
            min_redemption: figure(fund.minimums.redemption),
            min_balance: figure(fund.minimums.balance),
            factsheet_url: fund.documents.factsheet.clone(),
            annual_report_url: fund.documents.annual_report.clone(),
            halfyear_report_url: fund.documents.halfyear_report.clone(),
            suitability_risk_level: base64(&suitability.risk_level),
            suitability_risk_level_text: suitability.risk_level.clone(),
            suitability_target_investor: base64(&suitability.target_investor),
            suitability_target_investor_text: suitability.target_investor.clone(),
            suitability_investment_horizon: base64(&suitability.investment_horizon),
            suitability_investment_horizon_text: suitability.investment_horizon.clone(),
            isin: fund.isin.clone(),
            master_fund: fund.master_fund.clone(),
            master_country: fund.master_country.clone(),
            sec_statistics: fund
                .statistics
                .values
                .iter()
                .map(|(kind, value)| (kind.as_str(), Figure(*value)))
                .collect(),
            sec_statistics_as_of: fund.statistics.as_of.map(Day),
            top_holdings: fund.holdings.as_ref().map(|report| parts(&report.holdings)),
            top_holdings_as_of: fund.holdings.as_ref().and_then(|report| report.as_of).map(Day),
            quarantine: fund.quarantine.as_ref().map(|quarantine| quarantine.reason.clone()),
            share_classes: fund.share_classes.clone(),
            data_flags: fund.flags.iter().map(|flag| flag.as_str()).collect(),
        }
    }
}

fn parts(parts: &[crate::fund::Allocation]) -> Vec<Part> {
    let part = |part: &crate::fund::Allocation| Part {
        asset_class: part.asset_class.clone(),
        percentage: Figure(part.percent),
    };
    parts.iter().map(part).collect()
}

/// Whether any fee has a value. The names of fees without one say nothing.
pub(crate) fn publishes_fees(fund: &Fund) -> bool {
    fund.fees.iter().any(|fee| fee.value.is_some())
}

/// The fees, each once: the source repeats its table for every share class.
fn fee_lines(fees: &[Fee]) -> Vec<FeeLine> {
    let mut seen: Vec<&Fee> = Vec::new();
    for fee in fees {
        if !seen.contains(&fee) {
            seen.push(fee);
        }
    }
    seen.into_iter().map(FeeLine::of).collect()
}

impl FeeLine {
    fn of(fee: &Fee) -> Self {
        Self {
            fee_type: fee.kind.clone(),
            fee_desc: fee.description.clone(),
            fee_value: figure(fee.value),
            fee_remark: fee.remark.clone(),
        }
    }
}

fn base64(text: &Option<String>) -> Option<String> {
    text.as_ref().map(|text| STANDARD.encode(text))
}
