//! `get_rmf_fund_nav_history`: daily NAVs of one fund.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::data_age::DataAge;
use super::get_rmf_fund_nav_series::benchmark;
use super::listing::cell;
use super::service::{
    CACHE_POLICY, KEYWORDS, PERFORMANCE_CHART, READ_PERMISSIONS, ReplyExt, RmfService, related,
};
use super::wire::{Day, Figure, figure, whole};
use crate::fund::{Flag, Fund};
use crate::nav::{NavPoint, Summary, change, summarise};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_fund_nav_history",
    title: "NAV history of an RMF fund",
    description: Description {
        does: "Gives the net asset value (NAV) of one Thai Retirement Mutual Fund (RMF) day by day, with return, volatility and range over that stretch.",
        when: "Use this when someone wants a chart or the trend of one RMF. `days` counts days with a published NAV, so 30 is about six weeks. Do not use it for returns over years (use get_rmf_fund_detail) nor for stock prices.",
        returns: "Returns each day's NAV with its change, the return over the stretch, volatility as the sample standard deviation of daily simple returns in percent, and least, greatest, mean and current NAV. Fewer days come back when fewer are known. Keywords: RMF, retirement, mutual fund, Thailand, tax, NAV, performance.",
        asks: &["Show NAV chart for ABAPAC-RMF", "NAV trends over 90 days", "ขอกราฟ NAV ย้อนหลัง 30 วัน"],
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
            shows: "six weeks of a fund",
            params: r#"{"fundCode": "ABAPAC-RMF", "days": 30}"#,
            expect: Expect::Data(r#"{"fundCode": "ABAPAC-RMF"}"#),
        },
        Example {
            shows: "more days than a year has",
            params: r#"{"fundCode": "ABAPAC-RMF", "days": 366}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(PERFORMANCE_CHART.widget),
}
.checked();

/// Fund and number of days.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 160))]
    fund_code: String,
    /// Number of days with a published NAV, counted back from the latest.
    #[serde(default = "thirty", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 365))]
    days: u32,
}

const fn thirty() -> u32 {
    30
}

/// NAV series and its statistics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The fund's code.
    fund_code: String,
    /// English name.
    fund_name: String,
    /// Oldest first.
    nav_history: Vec<NavDay>,
    /// Return from the first to the last day, in percent; null for fewer than two days.
    period_return: Option<Figure>,
    /// Sample standard deviation of simple daily returns, in percent; null for fewer than three
    /// days.
    volatility: Option<Figure>,
    /// The lowest NAV, in baht.
    min_nav: Option<Figure>,
    /// The highest NAV, in baht.
    max_nav: Option<Figure>,
    /// The mean NAV, in baht.
    avg_nav: Option<Figure>,
    /// Latest NAV, in baht.
    current_nav: Option<Figure>,
    /// Date of the latest NAV.
    current_date: Option<Day>,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

/// NAV of one day.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NavDay {
    /// Date.
    date: Day,
    /// NAV per unit, in baht.
    nav: Figure,
    /// Change from the previous day in this list, in baht; null on the first.
    change: Option<Figure>,
    /// Change from the previous day in this list, in percent; null on the first.
    change_percent: Option<Figure>,
}

pub(crate) struct GetRmfFundNavHistory {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfFundNavHistory {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let fund = service.fund(&params.fund_code)?;
        let points = fund.nav.tail(params.days as usize);
        let summary = summarise(points);
        let latest = fund.nav.latest();
        let evidence = service
            .evidence_from_nav(latest.map(|point| point.date))
            .complete(points.len() as u64, u64::from(params.days));
        let output = Output {
            fund_code: fund.symbol.clone(),
            fund_name: fund.name.clone(),
            nav_history: nav_days(points),
            period_return: figure(summary.period_return),
            volatility: figure(summary.volatility),
            min_nav: figure(summary.min),
            max_nav: figure(summary.max),
            avg_nav: figure(summary.average),
            current_nav: latest.map(|point| Figure(point.nav)),
            current_date: latest.map(|point| Day(point.date)),
            data_age: DataAge::of(&service, &[fund]),
        };
        let mut reply = Reply::new(output, sentence(&service, fund, points, &summary), evidence)
            .table(table(&service, points))
            .meta("days", params.days)
            // For the chart; the structured content is that of the contract.
            .meta("fundNameTh", json!(fund.name_th))
            .meta("benchmark", json!(benchmark(fund)))
            .related(related(fund));
        if !points.is_empty() {
            reply = reply.next(NextAction::new(
                "get_rmf_risk_metrics",
                json!({"fundCode": fund.symbol}),
                service
                    .locale
                    .pick("see drawdown and risk ratios", "ดู drawdown และอัตราส่วนความเสี่ยง"),
            ));
        }
        Ok(reply.with_provenance(&service, Some(&PERFORMANCE_CHART), [fund]))
    }
}

fn nav_days(points: &[NavPoint]) -> Vec<NavDay> {
    let before = std::iter::once(None).chain(points.iter().copied().map(Some));
    points
        .iter()
        .zip(before)
        .map(|(point, before)| {
            let step = before.and_then(|before| change(before, *point));
            NavDay {
                date: Day(point.date),
                nav: Figure(point.nav),
                change: step.map(|step| Figure(step.baht)),
                change_percent: step.map(|step| Figure(step.percent)),
            }
        })
        .collect()
}

fn sentence(service: &RmfService, fund: &Fund, points: &[NavPoint], summary: &Summary) -> String {
    let locale = service.locale;
    let (symbol, name) = (&fund.symbol, locale.name(fund));
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return format!("{symbol} ({name}): {}.", locale.flag(Flag::NoNav));
    };
    let caution = DataAge::of(service, &[fund]).sentence();
    let records = points.len();
    let span = locale.dates((first.date, last.date));
    let gained = locale.percent(summary.period_return);
    let (low, high) = (locale.nav(summary.min), locale.nav(summary.max));
    let current = locale.nav(Some(last.nav));
    let volatility = summary.volatility.map_or_else(
        || locale.missing().to_owned(),
        |volatility| format!("{}%", super::locale::fixed(volatility, 2)),
    );
    match locale.0 {
        Lang::En => format!(
            "{name} ({symbol}) NAV over the last {records} days with a published NAV ({span}): {gained} return ({low} to {high} THB range). Current NAV: {current} THB ({}). Volatility: {volatility} (sample standard deviation of daily simple returns).{caution}",
            locale.date(last.date)
        ),
        Lang::Th => format!(
            "{symbol} ({name}) NAV {records} วันทำการล่าสุด ({span}): ผลตอบแทน {gained} (ช่วง {low} ถึง {high} บาท) NAV ล่าสุด {current} บาท ({}) ความผันผวน {volatility} (ส่วนเบี่ยงเบนมาตรฐานตัวอย่างของผลตอบแทนรายวัน){caution}",
            locale.date(last.date)
        ),
    }
}

/// Latest days first, truncated for the text.
fn table(service: &RmfService, points: &[NavPoint]) -> Table {
    const ROWS: usize = 10;
    let locale = service.locale;
    let columns = [locale.pick("date", "วันที่"), "NAV", locale.pick("change %", "เปลี่ยนแปลง %")];
    let days = nav_days(points);
    days.iter().rev().take(ROWS).fold(Table::new(columns), |table, day| {
        table.row([
            match locale.0 {
                Lang::En => day.date.0.to_string(),
                Lang::Th => locale.date(day.date.0),
            },
            cell(Some(day.nav.0), 4),
            cell(day.change_percent.map(|percent| percent.0), 2),
        ])
    })
}
