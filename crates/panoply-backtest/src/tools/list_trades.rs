//! `list_trades`: trades as objects, from flat to flat, with their costs and excursions.

use std::collections::{BTreeMap, BTreeSet};

use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::money::non_empty;
use super::params::{MaxTokens, PageIndex, PageSize, RunId};
use super::query_spec::QuerySpec;
use super::service::{BacktestService, time_range, tool_error};
use super::trade_filter::{self, ByIndicator};
use super::{events, page};
use crate::performance::returns::Period;
use crate::performance::{Trade, mean_holding, profit_factor};
use crate::position::to_f64;
use crate::query::expression::Expression;
use crate::query::reader::SealedRun;
use crate::query::snapshot::View;
use crate::timestamp::Timestamp;

pub(super) const SPEC: ToolSpec = QuerySpec {
    name: "list_trades",
    title: "Trades",
    description: Description {
        does: "Lists the trades of a backtest run, from flat to flat in one security: entry, exit, holding time, size, profit, commission, MAE and MFE, the events of their fills and, on request, the indicators at entry.",
        when: "Use this when asking which trades won or lost, when and why: filter by security, side, time and any figure (`where`), sort by any figure, or group to compare win rates, also by the value of an indicator at entry.",
        returns: "Returns the trades with their event handles; with groupBy the number of trades, win rate, profit factor and averages of each group. Profit is by average cost, net of commissions; excursions are before commissions, at the prices of the log.",
        asks: &["Which trades lost the most?", "What is the win rate by security?", "Which indicators did the losing entries have?"],
    },
    aliases: &["backtest_list_trades"],
    category: Category::Analysis,
    examples: &[
        Example {
            shows: "the largest loss of the sample run",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "outcome": "loss", "sortBy": "profit", "pageSize": 1}"#,
            expect: Expect::Data(r#"{"metadata": {"returnedCount": 1}}"#),
        },
        Example {
            shows: "long trades against short ones",
            params: r#"{"runId": "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", "groupBy": "direction"}"#,
            expect: Expect::Data(r#"{"trades": []}"#),
        },
    ],
    tags: &["backtest", "trades", "performance"],
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// The trades to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Unique identifier of the backtest run (GUID).
    run_id: RunId,
    /// Only this security, case-insensitive.
    #[schemars(length(max = 200))]
    security_symbol: Option<String>,
    /// Only long or only short trades.
    direction: Option<Side>,
    /// Only winning, losing or open trades.
    outcome: Option<Outcome>,
    /// Only trades opened at or after this time, ISO 8601.
    #[schemars(length(max = 64))]
    start_time: Option<String>,
    /// Only trades opened at or before this time, ISO 8601.
    #[schemars(length(max = 64))]
    end_time: Option<String>,
    /// Filter on profit, mae, mfe, holdingSeconds, size, commission, entryPrice, exitPrice, fills,
    /// securitySymbol, direction, isOpen, hour, weekday, timeOfDay and indicators.NAME (the value at
    /// entry), in the language of `query_events`: `profit < -100 and holdingSeconds > 3600`.
    #[serde(rename = "where")]
    #[schemars(length(max = 2000))]
    filter: Option<String>,
    /// Order of the trades; default: opened. Ascending, so that the largest losses come first.
    sort_by: Option<SortBy>,
    /// Sort in descending order.
    #[serde(default)]
    descending: bool,
    /// Return figures per group instead of trades.
    group_by: Option<GroupTrades>,
    /// Return figures per range of an indicator's value at entry instead of trades.
    group_by_indicator: Option<ByIndicator>,
    /// Include the indicator values of the security at the first fill of each trade.
    #[serde(default)]
    indicators: bool,
    /// Number of trades per page.
    #[serde(default)]
    page_size: PageSize,
    /// Zero-based page index.
    #[serde(default)]
    page_index: PageIndex,
    /// Budget for the reply, in tokens of 2.5 bytes.
    #[serde(default)]
    max_tokens: MaxTokens,
}

/// The side of a trade.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Side {
    /// Bought first.
    Long,
    /// Sold first.
    Short,
}

/// The outcome of a trade.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Outcome {
    /// Closed with a profit.
    Win,
    /// Closed with a loss.
    Loss,
    /// Closed.
    Closed,
    /// Open at the end of the run.
    Open,
}

/// The order of trades.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum SortBy {
    /// By time of the first fill.
    Opened,
    /// By profit net of commissions.
    Profit,
    /// By holding time.
    Holding,
    /// By maximum adverse excursion.
    Mae,
    /// By maximum favourable excursion.
    Mfe,
    /// By largest position.
    Size,
    /// By commission.
    Commission,
}

/// How to group trades.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum GroupTrades {
    /// By security.
    Symbol,
    /// Long and short.
    Direction,
    /// By month of the first fill, UTC.
    Month,
    /// By week of the first fill, from Monday.
    Week,
    /// By day of the week of the first fill.
    Weekday,
    /// By hour of the day of the first fill, UTC.
    HourOfDay,
}

/// Trades of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The trades; empty when groups were requested.
    trades: Vec<WireTrade>,
    /// Figures per group and currency, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<TradeGroup>>,
    /// The page's position in the result.
    metadata: TradesMetadata,
}

/// A trade.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WireTrade {
    /// Number of the trade in the run, in order of closing, from 1.
    number: usize,
    /// The security.
    security_symbol: String,
    /// Currency of the amounts, if the log names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// `long` or `short`.
    direction: &'static str,
    /// Time of the first fill.
    opened: String,
    /// Time of the last fill; null while the trade is open.
    closed: Option<String>,
    /// Seconds between them; null while the trade is open.
    holding_seconds: Option<f64>,
    /// Largest position.
    size: f64,
    /// Average price of the fills that increased the position.
    entry_price: f64,
    /// Average price of the fills that reduced it; null if there is none.
    exit_price: Option<f64>,
    /// Realized profit net of commissions.
    profit: f64,
    /// Commissions in the currency of the trade.
    commission: f64,
    /// Commissions in other currencies, which profit does not contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_commissions: Option<BTreeMap<String, f64>>,
    /// Largest loss during the trade, before commissions; null if the log has no price of the
    /// security during the trade.
    mae: Option<f64>,
    /// Largest profit during the trade, before commissions.
    mfe: Option<f64>,
    /// Handles of the fills, in order.
    fills: Vec<String>,
    /// Handles of the events that caused the fills.
    #[serde(skip_serializing_if = "Option::is_none")]
    causes: Option<Vec<String>>,
    /// Indicator values at the first fill, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    indicators: Option<BTreeMap<String, Value>>,
}

/// Figures of a group of trades.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TradeGroup {
    /// The value that the trades share.
    key: String,
    /// Currency of the amounts, if the log names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// Number of trades.
    trades: usize,
    /// Closed trades with a profit, among all closed ones.
    win_rate: Option<f64>,
    /// Gross profit divided by gross loss; null without a loss.
    profit_factor: Option<f64>,
    /// Sum of profits net of commissions.
    profit: f64,
    /// Mean profit of a closed trade.
    mean_profit: Option<f64>,
    /// Sum of commissions.
    commission: f64,
    /// Commissions in other currencies, which profit does not contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_commissions: Option<BTreeMap<String, f64>>,
    /// Mean holding time of a closed trade, in seconds.
    mean_holding_seconds: Option<f64>,
    /// Mean of the largest losses during the trades.
    mean_mae: Option<f64>,
    /// Mean of the largest profits during the trades.
    mean_mfe: Option<f64>,
}

/// The page's position in the result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TradesMetadata {
    /// Number of matching trades.
    total_count: usize,
    /// Number of trades or groups returned.
    returned_count: usize,
    /// Whether matching trades or groups follow the last one returned.
    has_more: bool,
    /// Whether the page is shorter than requested because the reply was full.
    truncated: bool,
}

/// A trade with its number.
type Numbered = (usize, Trade);

pub(super) fn call(
    service: &BacktestService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let run = service.run(&params.run_id.0)?;
    let mut found = matching(&run, &params)?;
    sort(&mut found, params.sort_by.unwrap_or(SortBy::Opened), params.descending);
    let total = found.len();
    let limit = events::budget(params.max_tokens);
    let (mut trades, mut bytes) = (Vec::new(), 0);
    let mut groups = None;
    let size = usize::try_from(params.page_size.0).unwrap_or_default();
    let start = usize::try_from(params.page_index.0).unwrap_or(usize::MAX).saturating_mul(size);
    let mut wanted = 0;
    let mut all_groups = 0;
    if let Some(keys) = group_keys(&run, &params, &found)? {
        let all = grouped(&found, keys);
        all_groups = all.len();
        let fits = |group: &TradeGroup| {
            bytes += events::size_of_json(group) + 1;
            bytes <= limit
        };
        groups = Some(all.into_iter().take_while(fits).collect::<Vec<_>>());
    } else {
        let page: Vec<&Numbered> = found.iter().skip(start).take(size).collect();
        wanted = page.len();
        for (number, trade) in page {
            cx.check_cancelled()?;
            let trade = wire_trade(&run, *number, trade, params.indicators)?;
            bytes += events::size_of_json(&trade) + 1;
            if bytes > limit {
                break;
            }
            trades.push(trade);
        }
    }
    let returned = groups.as_ref().map_or(trades.len(), Vec::len);
    let metadata = TradesMetadata {
        total_count: total,
        returned_count: returned,
        has_more: match &groups {
            Some(groups) => groups.len() < all_groups,
            None => start.saturating_add(trades.len()) < total,
        },
        truncated: trades.len() < wanted || returned < all_groups,
    };
    let text = match &groups {
        Some(_) if returned < all_groups => {
            format!("{total} trades, {returned} of {all_groups} groups; raise maxTokens for more.")
        }
        Some(_) => format!("{total} trades in {all_groups} groups."),
        None => format!("{returned} of {total} trades."),
    };
    let table = table(&trades);
    let reply = Reply::new(Output { trades, groups, metadata }, text, page::evidence(&run))
        .table(table)
        .up_to_bytes(events::reply_bytes(params.max_tokens));
    let first = found.first().and_then(|(_, trade)| trade.fills.first());
    Ok(match first {
        Some(seq) => reply.next(NextAction::new(
            "get_context",
            json!({"runId": params.run_id.0, "eventId": format!("e{seq}")}),
            "see what surrounded the entry",
        )),
        None => reply,
    })
}

fn matching(run: &SealedRun, params: &Params) -> Result<Vec<Numbered>, ToolError> {
    let (from, to) = time_range(params.start_time.as_deref(), params.end_time.as_deref())?;
    let filter = trade_filter::parse(params.filter.as_deref())?;
    let symbol = params.security_symbol.as_deref().filter(|symbol| !symbol.is_empty());
    let is_wanted = |trade: &Trade| {
        let outcome = match params.outcome {
            None => true,
            Some(Outcome::Open) => trade.closed.is_none(),
            Some(Outcome::Closed) => trade.closed.is_some(),
            Some(Outcome::Win) => trade.closed.is_some() && trade.profit() > Decimal::ZERO,
            Some(Outcome::Loss) => trade.closed.is_some() && trade.profit() < Decimal::ZERO,
        };
        outcome
            && (from..=to).contains(&trade.opened)
            && params.direction.is_none_or(|side| (side == Side::Long) == trade.is_long)
            && symbol.is_none_or(|symbol| symbol.eq_ignore_ascii_case(&trade.symbol))
    };
    let chunks = run.trades().map_err(tool_error)?;
    let mut found = Vec::new();
    for (number, trade) in (1..).zip(chunks.iter().flat_map(|chunk| chunk.iter())) {
        let matches = |filter: &Expression| trade_filter::holds(run, filter, trade);
        if is_wanted(trade) && filter.as_ref().map_or(Ok(true), matches)? {
            found.push((number, trade.clone()));
        }
    }
    Ok(found)
}

fn sort(trades: &mut [Numbered], by: SortBy, descending: bool) {
    let holding = |trade: &Trade| trade.closed.map(|end| end.nanos() - trade.opened.nanos());
    let key = |trade: &Trade| match by {
        SortBy::Opened => Some(Decimal::from(trade.opened.nanos())),
        SortBy::Profit => Some(trade.profit()),
        SortBy::Holding => holding(trade).map(Decimal::from),
        SortBy::Mae => trade.excursion.map(|own| own.0),
        SortBy::Mfe => trade.excursion.map(|own| own.1),
        SortBy::Size => Some(trade.size),
        SortBy::Commission => Some(trade.commission),
    };
    trades.sort_by(|(_, a), (_, b)| {
        let order = match (key(a), key(b)) {
            (Some(a), Some(b)) if descending => b.cmp(&a),
            (Some(a), Some(b)) => a.cmp(&b),
            // A trade without the figure is neither the best nor the worst.
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        order.then(a.opened.cmp(&b.opened))
    });
}

fn wire_trade(
    run: &SealedRun,
    number: usize,
    trade: &Trade,
    with_indicators: bool,
) -> Result<WireTrade, ToolError> {
    let mut causes = BTreeSet::new();
    for seq in &trade.fills {
        causes.extend(run.event(*seq).map_err(tool_error)?.parent_seq());
    }
    let mut indicators = None;
    if let (true, Some(entry)) = (with_indicators, trade.fills.first()) {
        let view = View { symbol: Some(&trade.symbol), indicators: true, orders: None };
        let state = run.snapshot_at(Some(*entry), &view, &|| false).map_err(tool_error)?;
        let values = state.indicators.into_iter().map(|(name, _, event)| {
            let value = crate::scan::member(event.properties(), "Value");
            (name, value.map_or(Value::Null, events::token_value))
        });
        indicators = Some(values.collect());
    }
    let held = |end: Timestamp| (end.nanos() - trade.opened.nanos()) as f64 / 1e9;
    Ok(WireTrade {
        number,
        security_symbol: trade.symbol.clone(),
        currency: (!trade.currency.is_empty()).then(|| trade.currency.clone()),
        direction: direction(trade),
        opened: trade.opened.to_string(),
        closed: trade.closed.map(|time| time.to_string()),
        holding_seconds: trade.closed.map(held),
        size: to_f64(trade.size),
        entry_price: to_f64(trade.entry),
        exit_price: trade.exit_price().map(to_f64),
        profit: to_f64(trade.profit()),
        commission: to_f64(trade.commission),
        other_commissions: other_commissions(&[trade]),
        mae: trade.excursion.map(|own| to_f64(own.0)),
        mfe: trade.excursion.map(|own| to_f64(own.1)),
        fills: trade.fills.iter().map(|seq| format!("e{seq}")).collect(),
        causes: non_empty(causes.iter().map(|seq| format!("e{seq}")).collect()),
        indicators,
    })
}

const fn direction(trade: &Trade) -> &'static str {
    if trade.is_long { "long" } else { "short" }
}

fn group_key(trade: &Trade, by: GroupTrades) -> String {
    const HOUR: i64 = 3_600_000_000_000;
    let opened = trade.opened;
    let date = |period: Period, length: usize| -> String {
        period.start(opened).to_string().chars().take(length).collect()
    };
    match by {
        GroupTrades::Symbol => trade.symbol.clone(),
        GroupTrades::Direction => direction(trade).to_owned(),
        GroupTrades::Month => date(Period::Month, 7),
        GroupTrades::Week => date(Period::Week, 10),
        GroupTrades::Weekday => trade_filter::weekday_of(trade).to_owned(),
        GroupTrades::HourOfDay => {
            format!("{:02}", opened.nanos().rem_euclid(24 * HOUR) / HOUR)
        }
    }
}

/// The key of each trade, if groups were requested.
fn group_keys(
    run: &SealedRun,
    params: &Params,
    found: &[Numbered],
) -> Result<Option<Vec<String>>, ToolError> {
    match (params.group_by, &params.group_by_indicator) {
        (None, None) => Ok(None),
        (Some(by), None) => Ok(Some(found.iter().map(|(_, own)| group_key(own, by)).collect())),
        (None, Some(by)) => {
            let trades: Vec<&Trade> = found.iter().map(|(_, own)| own).collect();
            trade_filter::groups(run, by, &trades).map(Some)
        }
        (Some(_), Some(_)) => {
            let message = "`groupBy` and `groupByIndicator` exclude each other";
            Err(ToolError::validation("INVALID_PARAMETER", message).hint("give one of them"))
        }
    }
}

fn grouped(trades: &[Numbered], keys: Vec<String>) -> Vec<TradeGroup> {
    let mut groups: BTreeMap<(String, &str), Vec<&Trade>> = BTreeMap::new();
    for ((_, trade), key) in trades.iter().zip(keys) {
        groups.entry((key, trade.currency.as_str())).or_default().push(trade);
    }
    groups.into_iter().map(|((key, currency), own)| group(key, currency, &own)).collect()
}

/// Commissions in other currencies than those of the trades, by currency.
fn other_commissions(trades: &[&Trade]) -> Option<BTreeMap<String, f64>> {
    let mut totals: BTreeMap<&str, Decimal> = BTreeMap::new();
    for (currency, amount) in trades.iter().flat_map(|trade| &trade.foreign_commissions) {
        let total = totals.entry(currency).or_default();
        *total = total.checked_add(*amount).unwrap_or(*total);
    }
    let wire = totals.into_iter().map(|(currency, total)| (currency.to_owned(), to_f64(total)));
    Some(wire.collect::<BTreeMap<_, _>>()).filter(|all| !all.is_empty())
}

fn group(key: String, currency: &str, trades: &[&Trade]) -> TradeGroup {
    let closed: Vec<&Trade> =
        trades.iter().copied().filter(|trade| trade.closed.is_some()).collect();
    let sum = |amounts: &mut dyn Iterator<Item = Decimal>| {
        amounts.fold(Decimal::ZERO, |total, own| total.checked_add(own).unwrap_or(total))
    };
    let profit = sum(&mut trades.iter().map(|trade| trade.profit()));
    let of_closed = || closed.iter().map(|trade| trade.profit());
    let gains = sum(&mut of_closed().filter(|profit| *profit > Decimal::ZERO));
    let losses = sum(&mut of_closed().filter(|profit| *profit < Decimal::ZERO));
    let wins = of_closed().filter(|profit| *profit > Decimal::ZERO).count();
    let mean = |amounts: Vec<f64>| {
        (!amounts.is_empty()).then(|| amounts.iter().sum::<f64>() / amounts.len() as f64)
    };
    let excursions: Vec<(Decimal, Decimal)> =
        trades.iter().filter_map(|trade| trade.excursion).collect();
    TradeGroup {
        key,
        currency: (!currency.is_empty()).then(|| currency.to_owned()),
        trades: trades.len(),
        win_rate: (!closed.is_empty()).then(|| wins as f64 / closed.len() as f64),
        profit_factor: profit_factor(gains, losses),
        profit: to_f64(profit),
        mean_profit: mean(of_closed().map(to_f64).collect()),
        commission: to_f64(sum(&mut trades.iter().map(|trade| trade.commission))),
        other_commissions: other_commissions(trades),
        mean_holding_seconds: mean_holding(&closed),
        mean_mae: mean(excursions.iter().map(|own| to_f64(own.0)).collect()),
        mean_mfe: mean(excursions.iter().map(|own| to_f64(own.1)).collect()),
    }
}

fn table(trades: &[WireTrade]) -> Table {
    let names = ["security", "side", "opened", "closed", "size", "entry", "exit", "profit"];
    trades.iter().take(25).fold(Table::new(names), |table, trade| {
        table.row([
            trade.security_symbol.clone(),
            trade.direction.to_owned(),
            trade.opened.clone(),
            trade.closed.clone().unwrap_or_default(),
            trade.size.to_string(),
            trade.entry_price.to_string(),
            trade.exit_price.map(|price| price.to_string()).unwrap_or_default(),
            trade.profit.to_string(),
        ])
    })
}
