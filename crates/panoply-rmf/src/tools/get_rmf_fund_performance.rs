//! `get_rmf_fund_performance`: return ranking over a period, with statistics.

use std::sync::Arc;

use panoply_contract::params::SortOrder;
use panoply_contract::prelude::*;
use serde_json::json;

use super::data_age::DataAge;
use super::listing::cell;
use super::locale::signed_percent;
use super::service::{CACHE_POLICY, FUND_LIST, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService};
use super::wire::{
    Day, Figure, direction, figure, funds_by_flag, optional_whole, order_name, whole,
};
use crate::catalog::returns_dates;
use crate::fund::{Fund, RiskLevel};
use crate::performance::{Standing, Stats, leaderboard};
use crate::period::Period;
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_fund_performance",
    title: "Best RMF funds of a period",
    description: Description {
        does: "Ranks Thai Retirement Mutual Funds (RMF) by their return over a period and compares each with its benchmark.",
        when: "Use this when someone asks which RMF did best or worst over a period, perhaps at one level of risk, or how RMF funds did on average. Do not use it for one fund's own history (use get_rmf_fund_nav_history) nor for stocks or indices.",
        returns: "Returns the first funds with their return, their benchmark's and the difference, and average, median, least and greatest return over all funds that have a figure. Keywords: RMF, retirement, mutual fund, Thailand, tax, NAV, performance.",
        asks: &["Top performing RMF funds this year", "Best 1-year returns", "กองทุน RMF ไหนผลตอบแทนดีที่สุดปีนี้"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CACHE_POLICY,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "the best of a year",
            params: r#"{"period": "1y", "limit": 10, "sortBy": "desc"}"#,
            expect: Expect::Data(r#"{"period": "1y"}"#),
        },
        Example {
            shows: "a period that factsheets do not have",
            params: r#"{"period": "2w"}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(FUND_LIST.widget),
}
.checked();

/// Period, order and number of funds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The period up to the factsheet's date.
    period: RankedPeriod,
    /// `desc` for the best first, `asc` for the worst first.
    #[serde(default)]
    sort_by: SortOrder,
    /// Maximum number of funds to return.
    #[serde(default = "ten", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    /// Only funds of exactly this risk level, from 1 (lowest) to 8 (highest).
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 8))]
    risk_level: Option<u32>,
}

const fn ten() -> u32 {
    10
}

/// Periods that can be ranked.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) enum RankedPeriod {
    /// Since the start of the year.
    #[serde(rename = "ytd")]
    Ytd,
    /// Three months.
    #[serde(rename = "3m")]
    M3,
    /// Six months.
    #[serde(rename = "6m")]
    M6,
    /// One year.
    #[serde(rename = "1y")]
    Y1,
    /// Three years, per year.
    #[serde(rename = "3y")]
    Y3,
    /// Five years, per year.
    #[serde(rename = "5y")]
    Y5,
}

impl RankedPeriod {
    pub(crate) const fn period(self) -> Period {
        match self {
            Self::Ytd => Period::Ytd,
            Self::M3 => Period::M3,
            Self::M6 => Period::M6,
            Self::Y1 => Period::Y1,
            Self::Y3 => Period::Y3,
            Self::Y5 => Period::Y5,
        }
    }
}

/// Ranked funds and statistics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Period.
    period: &'static str,
    /// Ranked funds.
    funds: Vec<Row>,
    /// Statistics over all funds with a return, of the given risk level if any.
    period_stats: PeriodStats,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

/// A fund and its return.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// The fund's code.
    symbol: String,
    /// English name.
    fund_name: String,
    /// Asset management company.
    amc: String,
    /// Risk from 1 (lowest) to 8 (highest).
    risk_level: u8,
    /// Return over the period, in percent.
    performance: Figure,
    /// Return of the benchmark, in percent.
    benchmark_performance: Option<Figure>,
    /// Difference, in percentage points.
    outperformance: Option<Figure>,
    /// Latest net asset value, in baht.
    nav_value: Option<Figure>,
    /// Date of that value.
    nav_date: Option<Day>,
    /// Date that the returns are stated for; left out when it is the latest of `dataAge.returns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    perf_as_of: Option<Day>,
}

/// Statistics of returns, in percent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PeriodStats {
    /// Mean.
    average: Figure,
    /// Median.
    median: Figure,
    /// Minimum.
    min: Figure,
    /// Maximum.
    max: Figure,
    /// Number of funds.
    funds_counted: usize,
}

pub(crate) struct GetRmfFundPerformance {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfFundPerformance {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let period = params.period.period();
        let risk =
            params.risk_level.and_then(|level| u8::try_from(level).ok()).and_then(RiskLevel::new);
        let board = leaderboard(service.catalog.funds(), period, risk, direction(params.sort_by));
        let Some(stats) = board.stats else { return Err(service.locale.no_returns(period, risk)) };
        let of_level =
            service.catalog.funds().iter().filter(|fund| risk.is_none_or(|risk| fund.risk == risk));
        let first: Vec<&Standing<'_>> =
            board.standings.iter().take(params.limit as usize).collect();
        let shown: Vec<&Fund> = first.iter().map(|standing| standing.fund).collect();
        let evidence = service
            .evidence_from_returns(&shown)
            .complete(stats.counted as u64, of_level.count() as u64);
        let text = sentence(&service, period, params.sort_by, &first, &stats);
        let data_age = DataAge::of(&service, &shown);
        let output = Output {
            period: period.as_str(),
            funds: first.iter().map(|standing| Row::of(standing, &data_age)).collect(),
            period_stats: PeriodStats {
                average: Figure(stats.average),
                median: Figure(stats.median),
                min: Figure(stats.min),
                max: Figure(stats.max),
                funds_counted: stats.counted,
            },
            data_age,
        };
        let mut filters = json!({
            "period": period.as_str(), "sortBy": order_name(params.sort_by), "limit": params.limit,
        });
        if let (Some(risk), Some(object)) = (risk, filters.as_object_mut()) {
            object.insert("riskLevel".to_owned(), risk.get().into());
        }
        let funds = || first.iter().map(|standing| standing.fund);
        let mut reply = Reply::new(output, text, evidence)
            .table(table(&service, &first))
            .meta("filters", filters)
            .meta("dataFlags", funds_by_flag(funds()));
        if let [best, _, ..] = first.as_slice() {
            let codes: Vec<&str> = funds().take(3).map(|fund| fund.symbol.as_str()).collect();
            reply = reply
                .next(NextAction::new(
                    "compare_rmf_funds",
                    json!({"fundCodes": codes, "compareBy": "performance"}),
                    service.locale.pick("compare the first three", "เปรียบเทียบสามกองทุนแรก"),
                ))
                .next(NextAction::new(
                    "get_rmf_fund_detail",
                    json!({"fundCode": best.fund.symbol}),
                    service
                        .locale
                        .pick("see everything about the first fund", "ดูรายละเอียดกองทุนแรก"),
                ));
        }
        Ok(reply.with_provenance(&service, Some(&FUND_LIST), []))
    }
}

impl Row {
    fn of(standing: &Standing<'_>, age: &DataAge) -> Self {
        let latest = standing.fund.nav.latest();
        Self {
            symbol: standing.fund.symbol.clone(),
            fund_name: standing.fund.name.clone(),
            amc: standing.fund.company.name.clone(),
            risk_level: standing.fund.risk.get(),
            performance: Figure(standing.performance),
            benchmark_performance: figure(standing.benchmark),
            outperformance: figure(standing.outperformance()),
            nav_value: latest.map(|point| Figure(point.nav)),
            nav_date: latest.map(|point| Day(point.date)),
            perf_as_of: standing
                .fund
                .returns_as_of
                .filter(|date| age.returns_date() != Some(*date))
                .map(Day),
        }
    }
}

fn sentence(
    service: &RmfService,
    period: Period,
    order: SortOrder,
    first: &[&Standing<'_>],
    stats: &Stats,
) -> String {
    let locale = service.locale;
    let listed: Vec<String> = first
        .iter()
        .take(5)
        .map(|standing| {
            let performance = signed_percent(standing.performance);
            let risk = locale.pick("Risk", "ความเสี่ยง");
            format!("{} ({performance}, {risk} {})", standing.fund.symbol, standing.fund.risk)
        })
        .collect();
    let (listed, shown) = (listed.join(", "), first.len());
    let (name, counted) = (locale.period(period), stats.counted);
    let average = signed_percent(stats.average);
    let shown_funds: Vec<&Fund> = first.iter().map(|standing| standing.fund).collect();
    let dated = service.returns_as_of(returns_dates(shown_funds.iter().copied()));
    let caution = DataAge::of(service, &shown_funds).sentence();
    let past = locale.past_performance();
    match locale.0 {
        Lang::En => {
            let which = match order {
                SortOrder::Desc => "Top",
                SortOrder::Asc => "Bottom",
            };
            format!(
                "{which} {shown} RMF funds by {name} performance: {listed}. {name} average return across {counted} funds: {average}; {dated}.{caution} {past}"
            )
        }
        Lang::Th => {
            let which = match order {
                SortOrder::Desc => "สูงสุด",
                SortOrder::Asc => "ต่ำสุด",
            };
            format!(
                "กองทุน RMF {shown} อันดับผลตอบแทน{which} ({name}): {listed} ค่าเฉลี่ยของ {counted} กองทุน: {average}; {dated}{caution} {past}"
            )
        }
    }
}

fn table(service: &RmfService, first: &[&Standing<'_>]) -> Table {
    let locale = service.locale;
    let columns = [
        locale.pick("fund", "กองทุน"),
        locale.pick("return %", "ผลตอบแทน %"),
        locale.pick("benchmark %", "ดัชนีชี้วัด %"),
        locale.pick("difference", "ส่วนต่าง"),
        locale.pick("risk", "เสี่ยง"),
    ];
    first.iter().fold(Table::new(columns), |table, standing| {
        table.row([
            standing.fund.symbol.clone(),
            cell(Some(standing.performance), 2),
            cell(standing.benchmark, 2),
            cell(standing.outperformance(), 2),
            standing.fund.risk.to_string(),
        ])
    })
}
