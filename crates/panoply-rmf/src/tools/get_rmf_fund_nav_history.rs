//! `get_rmf_fund_nav_history`: what one unit was worth, day by day.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::answer::{Desk, Dressed, KEPT, KEYWORDS, PERFORMANCE_CHART, READ, related};
use super::listing::cell;
use super::wire::{Day, Figure, figure, whole};
use crate::fund::{Flag, Fund};
use crate::nav::{NavPoint, Summary, change, summarise};
use crate::store::Shelf;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_fund_nav_history",
    title: "NAV history of an RMF fund",
    description: Description {
        does: "Gives the net asset value (NAV) of one Thai Retirement Mutual Fund (RMF) day by day, with return, volatility and range over that stretch.",
        when: "Use this when someone wants a chart or the trend of one RMF. `days` counts days with a published NAV, so 30 is about six weeks. Do not use it for returns over years (use get_rmf_fund_detail) nor for stock prices.",
        returns: "Returns each day's NAV with its change, the return over the stretch, volatility as the sample standard deviation of daily simple returns in percent, and least, greatest, mean and current NAV. Fewer days come back when fewer are known.",
        asks: &["Show NAV chart for ABAPAC-RMF", "NAV trends over 90 days", "ขอกราฟ NAV ย้อนหลัง 30 วัน"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: KEPT,
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

/// Which fund, how many days.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 60))]
    fund_code: String,
    /// How many days with a published NAV, counted back from the last.
    #[serde(default = "thirty", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 365))]
    days: u32,
}

const fn thirty() -> u32 {
    30
}

/// The series and what it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The fund's code.
    fund_code: String,
    /// Its English name.
    fund_name: String,
    /// Oldest first.
    nav_history: Vec<NavDay>,
    /// From the first to the last day, in percent; null of fewer than two days.
    period_return: Option<Figure>,
    /// Sample standard deviation of daily simple returns, in percent; null of fewer than three
    /// days.
    volatility: Option<Figure>,
    /// The lowest NAV, in baht.
    min_nav: Option<Figure>,
    /// The highest NAV, in baht.
    max_nav: Option<Figure>,
    /// The mean NAV, in baht.
    avg_nav: Option<Figure>,
    /// The last NAV, in baht.
    current_nav: Option<Figure>,
    /// The day of the last NAV.
    current_date: Option<Day>,
}

/// One day.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NavDay {
    /// The day.
    date: Day,
    /// What one unit was worth, in baht.
    nav: Figure,
    /// How far from the day before in this list, in baht; null on the first.
    change: Option<Figure>,
    /// The same in percent.
    change_percent: Option<Figure>,
}

/// See the module.
pub(crate) struct GetRmfFundNavHistory {
    pub(crate) shelf: Arc<Shelf>,
}

impl Tool for GetRmfFundNavHistory {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let desk = Desk::open(&self.shelf, cx);
        let fund = desk.fund(&params.fund_code)?;
        let points = fund.nav.tail(params.days as usize);
        let summary = summarise(points);
        let latest = fund.nav.latest();
        let evidence = desk
            .resting_on_nav(latest.map(|point| point.date))
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
        };
        let mut reply = Reply::new(output, sentence(&desk, fund, points, &summary), evidence)
            .table(table(&desk, points))
            .meta("days", params.days)
            .related(related(fund))
            .next(NextAction::new(
                "get_rmf_fund_detail",
                json!({"fundCode": fund.symbol}),
                desk.words.pick(
                    "see returns over years and what it holds",
                    "ดูผลตอบแทนหลายปีและสินทรัพย์ที่ลงทุน",
                ),
            ));
        if !points.is_empty() {
            reply = reply.next(NextAction::new(
                "get_rmf_risk_metrics",
                json!({"fundCode": fund.symbol}),
                desk.words.pick("see drawdown and risk ratios", "ดู drawdown และอัตราส่วนความเสี่ยง"),
            ));
        }
        Ok(reply.dressed(&desk, Some(&PERFORMANCE_CHART), [fund]))
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

fn sentence(desk: &Desk, fund: &Fund, points: &[NavPoint], summary: &Summary) -> String {
    let words = desk.words;
    let (symbol, name) = (&fund.symbol, words.name(fund));
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return format!("{symbol} ({name}): {}.", words.flag(Flag::NoNav));
    };
    let records = points.len();
    let span = words.dates((first.date, last.date));
    let gained = words.percent(summary.period_return);
    let (low, high) = (words.nav(summary.min), words.nav(summary.max));
    let current = words.nav(Some(last.nav));
    let volatility = summary.volatility.map_or_else(
        || words.missing().to_owned(),
        |volatility| format!("{}%", super::words::fixed(volatility, 2)),
    );
    match words.0 {
        Lang::En => format!(
            "{symbol} ({name}) NAV over the last {records} published days ({span}): {gained} return ({low} to {high} THB range). Current NAV: {current} THB ({}). Volatility: {volatility} (sample standard deviation of daily simple returns).",
            words.date(last.date)
        ),
        Lang::Th => format!(
            "{symbol} ({name}) NAV {records} วันทำการล่าสุด ({span}): ผลตอบแทน {gained} (ช่วง {low} ถึง {high} บาท) NAV ล่าสุด {current} บาท ({}) ความผันผวน {volatility} (ส่วนเบี่ยงเบนมาตรฐานตัวอย่างของผลตอบแทนรายวัน)",
            words.date(last.date)
        ),
    }
}

/// The last days, newest first: what a reader of text wants to see.
fn table(desk: &Desk, points: &[NavPoint]) -> Table {
    const ROWS: usize = 10;
    let words = desk.words;
    let columns = [words.pick("date", "วันที่"), "NAV", words.pick("change %", "เปลี่ยนแปลง %")];
    let days = nav_days(points);
    days.iter().rev().take(ROWS).fold(Table::new(columns), |table, day| {
        table.row([
            day.date.0.to_string(),
            cell(Some(day.nav.0), 4),
            cell(day.change_percent.map(|percent| percent.0), 2),
        ])
    })
}
