//! `get_performance`: returns, ratios and drawdowns of a run.

use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

use super::page;
use super::params::RunId;
use super::performance_series::{EquityPoint, TradeFigures, equity};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, time_range, tool_error};
use crate::performance::drawdown::{Drawdown, drawdowns};
use crate::performance::returns::{self, Period, ReturnFigures, Returns};
use crate::performance::{CurveSource, Point, Trade};
use crate::position::{decimal, to_f64};
use crate::query::reader::SealedRun;
use crate::timestamp::Timestamp;

/// Bytes of a reply besides the points of the equity curve.
const REPLY_BYTES: usize = 80_000;
/// Upper bound of the JSON of a point of the equity curve: a time of 30 characters, two doubles of at
/// most 24, and the names. All requested points fit.
const POINT_BYTES: usize = 130;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "get_performance",
    title: "Performance",
    description: Description {
        does: "Computes the performance of a backtest run in one currency: equity curve, Sharpe, Sortino and Calmar ratio, volatility, win rate, profit factor, exposure, the deepest drawdowns with the trades in them, monthly returns, rolling Sharpe ratio, and a comparison with a benchmark.",
        when: "Use this when asking how good the strategy is, or which trades made its worst period. For single trades and win rates by group use `list_trades`.",
        returns: "Returns figures with their definitions: returns are those of periods that end with the last value of the curve in the period; no risk-free rate; sample standard deviation; ratios are annualised. They equal quantstats and empyrical on the same returns.",
        asks: &["What is the Sharpe ratio of this run?", "Which trades made the longest drawdown?", "How were the returns month by month?"],
    },
    aliases: &["backtest_get_performance"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "the sample run, as an account of a million",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "initialCapital": 1000000, "drawdowns": 1}"#,
            expect: Expect::Data(r#"{"start": 1000000.0, "profit": -11300.1}"#),
        },
    ],
    tags: &["backtest", "performance"],
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// The performance to compute.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// The currency of the account; needed if the run has several. Empty for amounts without one.
    #[schemars(length(max = 32))]
    currency: Option<String>,
    /// Start of the period, ISO 8601; default: the whole run.
    #[schemars(length(max = 64))]
    start_time: Option<String>,
    /// End of the period, ISO 8601.
    #[schemars(length(max = 64))]
    end_time: Option<String>,
    /// Length of a return's period; default: day.
    period: Option<WirePeriod>,
    /// Periods of a year; default 252 days, 52 weeks, 12 months, 6048 hours.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    periods_per_year: Option<f64>,
    /// Capital to add to the curve, if it is profit and not the value of an account.
    #[schemars(range(min = 0.0, max = 1e18))]
    initial_capital: Option<serde_json::Number>,
    /// Number of drawdowns to return, deepest first; default 3.
    #[schemars(range(min = 0, max = 50))]
    drawdowns: Option<u64>,
    /// Length of the window of the rolling Sharpe ratio, in periods; none by default.
    #[schemars(range(min = 2, max = 10_000))]
    rolling_window: Option<u64>,
    /// A security whose prices are in the log, to compare with.
    #[schemars(length(max = 200))]
    benchmark: Option<String>,
    /// Points of the equity curve to return, with its extremes; default none.
    #[schemars(range(min = 0, max = 2000))]
    equity_points: Option<u64>,
}

/// The length of a period.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum WirePeriod {
    /// An hour.
    Hour,
    /// A day, UTC.
    Day,
    /// A week from Monday.
    Week,
    /// A calendar month.
    Month,
}

impl From<WirePeriod> for Period {
    fn from(period: WirePeriod) -> Self {
        match period {
            WirePeriod::Hour => Self::Hour,
            WirePeriod::Day => Self::Day,
            WirePeriod::Week => Self::Week,
            WirePeriod::Month => Self::Month,
        }
    }
}

/// The performance of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The currency of the amounts, if the log names one.
    currency: Option<String>,
    /// Value of the curve at the start of the period, that of the last point before it.
    start: f64,
    /// Last value of the curve in the period.
    end: f64,
    /// Last minus first value.
    profit: f64,
    /// Share of the time of the run in which a position was open.
    exposure: Option<f64>,
    /// The trades in this currency that were closed in the period.
    trades: TradeFigures,
    /// The equity curve, down-sampled: first and last value, smallest and largest of each share of
    /// the points, both ends of the deepest drawdown.
    equity: Vec<EquityPoint>,
    /// Ratios of the returns; null if the curve is not a positive account value.
    returns: Option<WireReturns>,
    /// The deepest drawdowns, deepest first.
    drawdowns: Vec<WireDrawdown>,
    /// Returns by month; empty if the curve is not a positive account value.
    monthly: Vec<MonthReturn>,
    /// Sharpe ratio of the window that ends with each period, if requested; at most 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    rolling_sharpe: Option<Vec<RollingPoint>>,
    /// The benchmark, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    benchmark: Option<Benchmark>,
    /// The source of the curve.
    metadata: PerformanceMetadata,
}

/// Ratios of a series of returns.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WireReturns {
    /// Number of returns.
    periods: u64,
    /// Compounded return.
    total: f64,
    /// `(1 + total) ^ (periods per year / periods) - 1`.
    annual: f64,
    /// Annualised sample standard deviation.
    volatility: Option<f64>,
    /// Mean divided by sample standard deviation, annualised.
    sharpe: Option<f64>,
    /// Mean divided by the root mean square of the negative returns, annualised.
    sortino: Option<f64>,
    /// Annual return divided by the maximum drawdown of the returns.
    calmar: Option<f64>,
    /// Maximum drawdown of the compounded returns, negative.
    max_drawdown: f64,
    /// Population skewness.
    skewness: Option<f64>,
    /// Population kurtosis; 3 for a normal distribution.
    kurtosis: Option<f64>,
    /// Largest return.
    best: f64,
    /// Smallest return.
    worst: f64,
    /// Share of positive returns among those that are not zero.
    positive: Option<f64>,
}

impl From<ReturnFigures> for WireReturns {
    fn from(own: ReturnFigures) -> Self {
        Self {
            periods: own.periods,
            total: own.total,
            annual: own.annual,
            volatility: own.volatility,
            sharpe: own.sharpe,
            sortino: own.sortino,
            calmar: own.calmar,
            max_drawdown: own.max_drawdown,
            skewness: own.skewness,
            kurtosis: own.kurtosis,
            best: own.best,
            worst: own.worst,
            positive: own.positive,
        }
    }
}

/// A fall of the curve below its maximum.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WireDrawdown {
    /// Time of the maximum.
    peak: String,
    /// Time of the lowest value.
    trough: String,
    /// First time at or above the maximum again; null until then.
    recovered: Option<String>,
    /// Depth in money.
    depth: f64,
    /// Depth in percent of the maximum; null if it is not positive.
    percent: Option<f64>,
    /// Number of trades that were open between maximum and lowest value.
    trades: usize,
    /// Those with the largest losses, worst first, by their number in `list_trades`.
    worst_trades: Vec<DrawdownTrade>,
}

/// A trade in a drawdown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DrawdownTrade {
    /// Number of the trade.
    number: usize,
    /// The security.
    security_symbol: String,
    /// Profit net of commissions.
    profit: f64,
    /// Handle of its first fill.
    entry: String,
}

/// The return of a month.
#[derive(Debug, Serialize, JsonSchema)]
struct MonthReturn {
    /// `YYYY-MM`.
    month: String,
    /// Last value of the month divided by that of the month before, minus one.
    value: f64,
}

/// A point of the rolling Sharpe ratio.
#[derive(Debug, Serialize, JsonSchema)]
struct RollingPoint {
    /// Start of the last period of the window.
    time: String,
    /// Annualised Sharpe ratio.
    sharpe: f64,
}

/// A comparison with the price of a security.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Benchmark {
    /// The security.
    security_symbol: String,
    /// Compounded return of its price.
    total: f64,
    /// Periods that both have.
    periods: usize,
    /// Covariance with its returns divided by their variance.
    beta: Option<f64>,
    /// Mean return minus beta times its mean return, compounded over a year.
    alpha: Option<f64>,
}

/// The source of the curve.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PerformanceMetadata {
    /// `equity`, `pnl`, `markToMarket`, `balance` or `fills`.
    curve: String,
    /// Number of points.
    points: usize,
    /// Periods of a year that ratios are annualised with.
    periods_per_year: f64,
    /// The currencies of the run that have a curve.
    currencies: Vec<String>,
}

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let number = curve_number(&run, params.currency.as_deref())?;
    let info = run.head().curves.get(number).cloned();
    let info = info.ok_or_else(|| ToolError::system("a curve has no description"))?;
    let (from, to) = time_range(params.start_time.as_deref(), params.end_time.as_deref())?;
    let mut points = within(run.curve(number).map_err(tool_error)?, (from, to));
    let capital = params.initial_capital.as_ref().and_then(|own| decimal(&own.to_string()));
    let capital = capital.filter(|_| !info.is_account);
    if let Some(capital) = capital {
        for point in &mut points {
            point.value = point.value.checked_add(capital).unwrap_or(point.value);
        }
    }
    let is_account = info.is_account || capital.is_some();
    cx.check_cancelled()?;
    let period = params.period.map_or(Period::Day, Period::from);
    let per_year = params.periods_per_year.unwrap_or_else(|| period.per_year());
    let series = is_account.then(|| returns::periodic(&points, period)).flatten();
    let monthly = is_account.then(|| returns::periodic(&points, Period::Month)).flatten();
    let figures = series.as_ref().and_then(|own| ReturnFigures::of(&own.values(), per_year));
    let rolling = params.rolling_window.and_then(|window| {
        let window = usize::try_from(window).ok()?;
        series.as_ref().map(|own| rolling_points(own, window, per_year))
    });
    let benchmark = match &params.benchmark {
        None => None,
        Some(symbol) => {
            let prices = run.price_series(symbol).map_err(tool_error)?;
            let prices = within(prices, (from, to));
            Some(compare(symbol, &prices, series.as_ref(), period, per_year)?)
        }
    };
    let first = points.first().map_or(Decimal::ZERO, |point| point.value);
    let last = points.last().map_or(Decimal::ZERO, |point| point.value);
    let limit = usize::try_from(params.drawdowns.unwrap_or(3)).unwrap_or_default();
    let shown_points = usize::try_from(params.equity_points.unwrap_or(0)).unwrap_or_default();
    let data = Output {
        currency: (!info.currency.is_empty()).then(|| info.currency.clone()),
        start: to_f64(first),
        end: to_f64(last),
        profit: to_f64(last.checked_sub(first).unwrap_or_default()),
        exposure: exposure(&run),
        trades: trade_figures(&run, &info.currency, (from, to))?,
        equity: equity(&points, shown_points),
        returns: figures.map(WireReturns::from),
        drawdowns: deepest(&run, &points, &info.currency, limit)?,
        monthly: monthly.map(|own| months(&own)).unwrap_or_default(),
        rolling_sharpe: rolling,
        benchmark,
        metadata: PerformanceMetadata {
            curve: curve_word(info.source).to_owned(),
            points: points.len(),
            periods_per_year: per_year,
            currencies: run.head().curves.iter().map(|own| own.currency.clone()).collect(),
        },
    };
    let bytes = REPLY_BYTES.saturating_add(shown_points.saturating_mul(POINT_BYTES));
    Ok(reply(&run, data, &params.run_id.0).up_to_bytes(bytes))
}

fn reply(run: &SealedRun, data: Output, run_id: &str) -> Reply<Output> {
    let sharpe = data.returns.as_ref().and_then(|own| own.sharpe);
    let text = match sharpe {
        Some(sharpe) => format!("Profit {}, Sharpe ratio {sharpe:.2}.", data.profit),
        None => format!("Profit {}; returns in percent need an account value.", data.profit),
    };
    let has_returns = data.returns.is_some();
    let reply = Reply::new(data, text, page::evidence(run)).next(NextAction::new(
        "list_trades",
        json!({"runId": run_id, "sortBy": "profit", "pageSize": 10}),
        "see the largest losses",
    ));
    if has_returns {
        reply
    } else {
        reply.needing("initialCapital: the curve is profit, not the value of an account")
    }
}

const fn curve_word(source: CurveSource) -> &'static str {
    match source {
        CurveSource::Equity => "equity",
        CurveSource::Pnl => "pnl",
        CurveSource::MarkToMarket => "markToMarket",
        CurveSource::Balance => "balance",
        CurveSource::Fills => "fills",
    }
}

/// The curve of the requested currency, or the only one.
fn curve_number(run: &SealedRun, currency: Option<&str>) -> Result<usize, ToolError> {
    let curves = &run.head().curves;
    let names: Vec<&str> = curves.iter().map(|own| own.currency.as_str()).collect();
    let problem = |message: String| {
        let hint = if names.is_empty() {
            "the log has neither fills nor account amounts; see `describe_run`".to_owned()
        } else {
            let quoted: Vec<String> = names.iter().map(|own| format!("\"{own}\"")).collect();
            format!("name one of {} in `currency`", quoted.join(", "))
        };
        Err(ToolError::validation("INVALID_PARAMETER", message).hint(hint))
    };
    // Amounts whose currency the log does not name have an empty one.
    let is_unnamed = names.contains(&"") && names.len() > 1;
    match (currency.filter(|own| is_unnamed || !own.is_empty()), names.as_slice()) {
        (_, []) => problem("the run has no equity curve".to_owned()),
        (None, [_]) => Ok(0),
        (None, _) => problem("the run has several currencies".to_owned()),
        (Some(wanted), _) => match names.iter().position(|own| *own == wanted) {
            Some(number) => Ok(number),
            None => problem(format!("the run has no curve in `{wanted}`")),
        },
    }
}

fn trade_figures(
    run: &SealedRun,
    currency: &str,
    period: (Timestamp, Timestamp),
) -> Result<TradeFigures, ToolError> {
    let chunks = run.trades().map_err(tool_error)?;
    Ok(TradeFigures::of(chunks.iter().flat_map(|chunk| chunk.iter()), currency, period))
}

fn exposure(run: &SealedRun) -> Option<f64> {
    let head = run.head();
    let length = head.last.saturating_sub(head.first);
    (length > 0).then(|| head.summary.in_market as f64 / length as f64)
}

fn rolling_points(series: &Returns, window: usize, per_year: f64) -> Vec<RollingPoint> {
    const MAX_POINTS: usize = 200;
    let all = returns::rolling_sharpe(series, window, per_year);
    let step = all.len().div_ceil(MAX_POINTS).max(1);
    let shown = all.into_iter().rev().step_by(step);
    let mut points: Vec<RollingPoint> =
        shown.map(|(time, sharpe)| RollingPoint { time: time.to_string(), sharpe }).collect();
    points.reverse();
    points
}

fn months(series: &Returns) -> Vec<MonthReturn> {
    let month = |own: &returns::PeriodReturn| MonthReturn {
        month: own.start.to_string().chars().take(7).collect(),
        value: own.value,
    };
    series.0.iter().map(month).collect()
}

/// The deepest drawdowns with the trades that were open in them.
fn deepest(
    run: &SealedRun,
    points: &[Point],
    currency: &str,
    limit: usize,
) -> Result<Vec<WireDrawdown>, ToolError> {
    const WORST: usize = 5;
    let mut found = drawdowns(points);
    found.sort_by_key(|own| std::cmp::Reverse(own.depth()));
    found.truncate(limit);
    let chunks = run.trades().map_err(tool_error)?;
    let trades: Vec<(usize, &Trade)> = (1..)
        .zip(chunks.iter().flat_map(|chunk| chunk.iter()))
        .filter(|(_, trade)| trade.currency == currency)
        .collect();
    let wire = |own: &Drawdown| {
        let is_inside = |trade: &Trade| {
            trade.opened <= own.trough && trade.closed.is_none_or(|closed| closed >= own.peak)
        };
        let mut inside: Vec<(usize, &Trade)> =
            trades.iter().copied().filter(|(_, trade)| is_inside(trade)).collect();
        inside.sort_by_key(|(_, trade)| trade.profit());
        let worst = inside.iter().take(WORST).map(|(number, trade)| DrawdownTrade {
            number: *number,
            security_symbol: trade.symbol.clone(),
            profit: to_f64(trade.profit()),
            entry: trade.fills.first().map(|seq| format!("e{seq}")).unwrap_or_default(),
        });
        WireDrawdown {
            peak: own.peak.to_string(),
            trough: own.trough.to_string(),
            recovered: own.recovered.map(|time| time.to_string()),
            depth: to_f64(own.depth()),
            percent: own.percent().map(to_f64),
            trades: inside.len(),
            worst_trades: worst.collect(),
        }
    };
    Ok(found.iter().map(wire).collect())
}

/// The points from `from` to `to`. A curve keeps its value until the next point, so that of the last
/// point before is its value at the start.
fn within(mut points: Vec<Point>, (from, to): (Timestamp, Timestamp)) -> Vec<Point> {
    let before = points.partition_point(|point| point.time < from);
    let start = before.checked_sub(1).and_then(|place| points.get(place)).copied();
    points.retain(|point| (from..=to).contains(&point.time));
    if let Some(start) = start.filter(|_| points.first().is_none_or(|own| own.time > from)) {
        points.insert(0, Point { time: from, value: start.value });
    }
    points
}

/// Compares the returns with those of the last price of a security in each period.
fn compare(
    symbol: &str,
    prices: &[Point],
    series: Option<&Returns>,
    period: Period,
    per_year: f64,
) -> Result<Benchmark, ToolError> {
    if prices.is_empty() {
        let message = format!("the log has no prices of `{symbol}` in the period");
        return Err(ToolError::validation("INVALID_PARAMETER", message)
            .hint("ask `describe_run` for the securities of the run"));
    }
    let own = returns::periodic(prices, period).unwrap_or(Returns(Vec::new()));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for one in series.map_or(&[][..], |series| series.0.as_slice()) {
        if let Ok(place) = own.0.binary_search_by_key(&one.start, |other| other.start)
            && let Some(other) = own.0.get(place)
        {
            ours.push(one.value);
            theirs.push(other.value);
        }
    }
    let fitted = returns::beta_and_alpha(&ours, &theirs, per_year);
    let total = ReturnFigures::of(&own.values(), per_year).map_or(0.0, |figures| figures.total);
    Ok(Benchmark {
        security_symbol: symbol.to_owned(),
        total,
        periods: ours.len(),
        beta: fitted.map(|(beta, _)| beta),
        alpha: fitted.map(|(_, alpha)| alpha),
    })
}
