//! `get_rmf_fund_nav_series`: NAVs of one fund over years, thinned out for a chart.
//!
//! The contract's `get_rmf_fund_nav_history` ends at 365 days; this tool stands beside it.

use std::sync::Arc;

use jiff::civil::Date;
use panoply_contract::prelude::*;
use serde_json::json;

use super::data_age::DataAge;
use super::locale::fixed;
use super::service::{
    CACHE_POLICY, KEYWORDS, PERFORMANCE_CHART, READ_PERMISSIONS, ReplyExt, RmfService, related,
};
use super::wire::{Day, Figure, date, figure, optional_whole, whole};
use crate::fund::Fund;
use crate::nav::{NavPoint, Summary, annual_return, sampled, summarise};
use crate::period::Period;
use crate::risk::{Drawdown, max_drawdown_of};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_fund_nav_series",
    title: "NAV of an RMF fund over years",
    description: Description {
        does: "Gives the net asset value (NAV) of one Thai Retirement Mutual Fund (RMF) over up to thirty years, thinned out to a number of points, with return per year, largest fall and the benchmark's published returns.",
        when: "Use this when someone wants a chart or the fall and recovery of one RMF over more than a year. Do not use it for daily values of the last months (use get_rmf_fund_nav_history) nor for stock prices.",
        returns: "Returns published NAVs: the last of equal stretches besides the first, lowest and highest; figures over all daily NAVs of the span; and fund and benchmark returns by period. The SEC publishes no daily benchmark. Years come with a sync; bundled figures have weeks.",
        asks: &["Show the NAV of ABAPAC-RMF over ten years", "How far did B-ASIARMF fall since 2020?", "ขอกราฟ NAV ย้อนหลัง 10 ปี"],
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
            shows: "all that is known of ten years",
            params: r#"{"fundCode": "ABAPAC-RMF", "years": 10}"#,
            expect: Expect::Data(r#"{"fundCode": "ABAPAC-RMF", "records": 28}"#),
        },
        Example {
            shows: "a date that does not exist",
            params: r#"{"fundCode": "ABAPAC-RMF", "since": "2020-02-30"}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: Some(PERFORMANCE_CHART.widget),
}
.checked();

/// Fund and span.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Code or name of the fund.
    #[schemars(length(min = 1, max = 160))]
    fund_code: String,
    /// First date, `YYYY-MM-DD` or `DD/MM/YYYY`, in the common or the Buddhist era.
    #[schemars(length(min = 8, max = 10))]
    since: Option<String>,
    /// Years back from today, when `since` is not given; by default 10.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 30))]
    years: Option<u32>,
    /// Most points to return.
    #[serde(default = "default_points", deserialize_with = "whole")]
    #[schemars(range(min = 10, max = 500))]
    points: u32,
}

const fn default_points() -> u32 {
    120
}

/// NAVs of a span and figures over all of its days.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The fund's code.
    fund_code: String,
    /// English name.
    fund_name: String,
    /// Thai name.
    fund_name_th: Option<String>,
    /// First date that was asked for.
    since: Day,
    /// Number of daily NAVs in the span; the figures below are over all of them.
    records: usize,
    /// Oldest first.
    nav_history: Vec<Point>,
    /// Return from the first to the last day, in percent; null for fewer than two days.
    period_return: Option<Figure>,
    /// The same per year, compound; null for less than a year.
    annual_return: Option<Figure>,
    /// Sample standard deviation of simple daily returns, in percent.
    volatility: Option<Figure>,
    /// Lowest NAV, in baht.
    min_nav: Option<Figure>,
    /// Highest NAV, in baht.
    max_nav: Option<Figure>,
    /// Mean NAV, in baht.
    avg_nav: Option<Figure>,
    /// Latest NAV, in baht.
    current_nav: Option<Figure>,
    /// Date of the latest NAV.
    current_date: Option<Day>,
    /// Largest fall from a peak.
    max_drawdown: Option<Fall>,
    /// The benchmark, where there is one.
    benchmark: Option<Benchmark>,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

/// NAV of one day.
#[derive(Debug, Serialize, JsonSchema)]
struct Point {
    /// Date.
    date: Day,
    /// NAV per unit, in baht.
    nav: Figure,
}

/// A fall from a peak.
#[derive(Debug, Serialize, JsonSchema)]
struct Fall {
    /// In percent of the peak, zero or negative.
    percent: Figure,
    /// Date of the peak.
    peak: Day,
    /// Date of the lowest value after it.
    trough: Day,
}

/// The benchmark's published returns. There is no daily series of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Benchmark {
    /// Name, as the SEC has it.
    name: String,
    /// Date that its returns are stated for.
    as_of: Option<Day>,
    /// Returns of fund and benchmark by period.
    returns: Vec<PeriodReturn>,
}

/// Returns over one period, in percent; per year from 3y on.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PeriodReturn {
    /// ytd, 3m, 6m, 1y, 3y, 5y, 10y or since_inception.
    period: &'static str,
    /// Of the fund.
    fund: Option<Figure>,
    /// Of the benchmark.
    benchmark: Figure,
}

pub(crate) struct GetRmfFundNavSeries {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfFundNavSeries {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let fund = service.fund(&params.fund_code)?;
        let years = jiff::Span::new().years(params.years.unwrap_or(10));
        let since = match &params.since {
            Some(text) => date(service.locale, "since", text)?,
            None => service.today().saturating_sub(years),
        };
        let all = fund.nav.since(since);
        let shown = sampled(all, params.points as usize);
        let summary = summarise(all);
        let fall = max_drawdown_of(all);
        let latest = fund.nav.latest();
        let evidence = service
            .evidence_from_nav(latest.map(|point| point.date))
            .complete(u64::from(reaches(all, since)) + 1, 2);
        let text = sentence(&service, fund, since, all, &summary, fall);
        let output = Output {
            fund_code: fund.symbol.clone(),
            fund_name: fund.name.clone(),
            fund_name_th: fund.name_th.clone(),
            since: Day(since),
            records: all.len(),
            nav_history: shown
                .iter()
                .map(|point| Point { date: Day(point.date), nav: Figure(point.nav) })
                .collect(),
            period_return: figure(summary.period_return),
            annual_return: figure(annual_return(all)),
            volatility: figure(summary.volatility),
            min_nav: figure(summary.min),
            max_nav: figure(summary.max),
            avg_nav: figure(summary.average),
            current_nav: latest.map(|point| Figure(point.nav)),
            current_date: latest.map(|point| Day(point.date)),
            max_drawdown: fall.map(|fall| Fall {
                percent: Figure(fall.percent),
                peak: Day(fall.peak),
                trough: Day(fall.trough),
            }),
            benchmark: benchmark(fund),
            data_age: DataAge::of(&service, &[fund]),
        };
        let reply = Reply::new(output, text, evidence)
            .meta("years", params.years.unwrap_or(10))
            .related(related(fund))
            .next(NextAction::new(
                "get_rmf_risk_metrics",
                json!({"fundCode": fund.symbol}),
                service
                    .locale
                    .pick("see drawdown and risk ratios", "ดู drawdown และอัตราส่วนความเสี่ยง"),
            ));
        Ok(reply.with_provenance(&service, Some(&PERFORMANCE_CHART), [fund]))
    }
}

/// Whether the known NAVs begin within a month of the date asked for.
fn reaches(points: &[NavPoint], since: Date) -> bool {
    points.first().is_some_and(|first| (first.date - since).get_days() <= 31)
}

/// The benchmark of a fund with its published returns.
pub(crate) fn benchmark(fund: &Fund) -> Option<Benchmark> {
    let row = |period: Period| {
        let benchmark = Figure(fund.benchmark.returns.get(period)?);
        let fund = figure(fund.returns.get(period));
        Some(PeriodReturn { period: period.as_str(), fund, benchmark })
    };
    Some(Benchmark {
        name: fund.benchmark.name.clone()?,
        as_of: fund.benchmark.as_of.map(Day),
        returns: Period::ALL.into_iter().filter_map(row).collect(),
    })
}

fn sentence(
    service: &RmfService,
    fund: &Fund,
    since: Date,
    points: &[NavPoint],
    summary: &Summary,
    fall: Option<Drawdown>,
) -> String {
    let locale = service.locale;
    let (symbol, name) = (&fund.symbol, locale.name(fund));
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        let since = locale.date(since);
        return match locale.0 {
            Lang::En => format!("{name} ({symbol}): no NAV since {since} is known."),
            Lang::Th => format!("{symbol} ({name}): ไม่มี NAV ตั้งแต่ {since}"),
        };
    };
    let span = locale.dates((first.date, last.date));
    let gained = locale.percent(summary.period_return);
    let yearly = annual_return(points).map_or_else(String::new, |yearly| {
        let yearly = locale.percent(Some(yearly));
        match locale.0 {
            Lang::En => format!(", {yearly} a year"),
            Lang::Th => format!(" หรือ {yearly} ต่อปี"),
        }
    });
    let fallen = fall.filter(|fall| !fall.percent.is_zero()).map_or_else(String::new, |fall| {
        let (percent, peak, trough) =
            (fixed(fall.percent.abs(), 2), locale.date(fall.peak), locale.date(fall.trough));
        match locale.0 {
            Lang::En => format!(" Largest fall: {percent}% from {peak} to {trough}."),
            Lang::Th => format!(" ลดลงมากที่สุด {percent}% จาก {peak} ถึง {trough}"),
        }
    });
    let short = if reaches(points, since) {
        ""
    } else {
        locale.pick(
            " Older NAVs are not known here; a sync with more years fetches them.",
            " ไม่มี NAV ที่เก่ากว่านี้ ต้องซิงค์ข้อมูลย้อนหลังเพิ่ม",
        )
    };
    let caution = DataAge::of(service, &[fund]).sentence();
    let (current, records) = (locale.nav(Some(last.nav)), points.len());
    match locale.0 {
        Lang::En => format!(
            "{name} ({symbol}), {span}, {records} daily NAVs: {gained} return{yearly}. Current NAV: {current} THB.{fallen}{short}{caution} {}",
            locale.past_performance()
        ),
        Lang::Th => format!(
            "{symbol} ({name}) {span} NAV รายวัน {records} รายการ: ผลตอบแทน {gained}{yearly} NAV ล่าสุด {current} บาท{fallen}{short}{caution} {}",
            locale.past_performance()
        ),
    }
}
