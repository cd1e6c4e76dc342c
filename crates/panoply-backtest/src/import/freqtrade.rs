//! Importer for freqtrade: the result of `freqtrade backtesting`, as `.zip` or JSON.
//!
//! Each strategy becomes a run. A trade's orders become orders, fills and position updates;
//! versions that write no orders yield one entry and one exit per trade. Realized profit is the
//! engine's own figure once a trade is closed, and average cost until then. The account balance is
//! known at the start and at the end.

use std::io::{BufRead, Cursor, Read};

use rust_decimal::Decimal;
use serde_json::Value;
use serde_json::value::RawValue;

use super::event_builder::{EventBuilder, decimal_text, parse_timestamp};
use super::records::{MAX_DOCUMENT_BYTES, document};
use super::{Import, ImportControl};
use crate::error::{LogError, check_stop};
use crate::event::{EventType, Guid};
use crate::position::{Position, decimal};
use crate::run::RunHeader;
use crate::scan::{self, Token, member_text};
use crate::timestamp::Timestamp;

/// Reads a result. Unless the import names a run, a single strategy becomes `run`, and several
/// become runs with ids derived from `run` and the strategy names.
pub fn read(
    mut source: impl BufRead,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let is_zip = source.fill_buf()?.starts_with(b"PK");
    let text = if is_zip { result_from_archive(source)? } else { document(source)? };
    (control.progress)(text.len() as u64 / 2);
    let whole: &RawValue = match serde_json::from_str(&text) {
        Ok(whole) => whole,
        Err(error) => return Err(invalid_source(format!("the result is not JSON: {error}"))),
    };
    let Some(Token::Object(strategies)) = scan::member(whole.get(), "strategy") else {
        return Err(invalid_source("there is no `strategy` in the result".to_owned()));
    };
    let strategies: Vec<(&str, &str)> =
        scan::members(strategies).filter_map(|(name, token)| Some((name, token.json()?))).collect();
    if let (Some(named), [_, _, ..]) = (import.run(), strategies.as_slice()) {
        let names: Vec<&str> = strategies.iter().map(|(name, _)| *name).collect();
        return Err(invalid_source(format!(
            "the result has {} strategies ({}), which cannot all be run `{named}`: import it without --run",
            names.len(),
            names.join(", ")
        )));
    }
    for (name, json) in &strategies {
        let own = if strategies.len() == 1 { run } else { Guid::named(run, name) };
        strategy(name, json, own, import, control)?;
    }
    (control.progress)(text.len() as u64);
    Ok(())
}

fn invalid_source(message: String) -> LogError {
    LogError::Source(std::io::Error::new(std::io::ErrorKind::InvalidData, message))
}

/// Extracts the result: the JSON file that is neither configuration nor metadata.
fn result_from_archive(mut source: impl BufRead) -> Result<String, LogError> {
    let mut bytes = Vec::new();
    source.by_ref().take(MAX_DOCUMENT_BYTES).read_to_end(&mut bytes)?;
    let broken = |error: zip::result::ZipError| invalid_source(format!("the archive: {error}"));
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    let names: Vec<String> = archive
        .file_names()
        .map(|name| name.map(std::borrow::Cow::into_owned))
        .collect::<Result<_, _>>()
        .map_err(broken)?;
    let is_result = |name: &&String| {
        let json = name.strip_suffix(".json");
        json.is_some_and(|name| !name.ends_with("_config") && !name.ends_with(".meta"))
    };
    let Some(name) = names.iter().filter(is_result).min_by_key(|name| name.len()) else {
        let seen: Vec<&str> = names.iter().map(String::as_str).take(10).collect();
        return Err(invalid_source(format!(
            "the archive has no result, only: {}",
            seen.join(", ")
        )));
    };
    let file = archive.by_name(name).map_err(broken)?;
    document(file)
}

/// A filled order of a trade.
struct Fill<'a> {
    time: Timestamp,
    pair: &'a str,
    external: String,
    signed: Decimal,
    price: Decimal,
    /// `None` if the trade has no fee rate.
    fee: Option<Decimal>,
    reason: String,
    /// The engine's profit, on the closing fill.
    profit: Option<Decimal>,
    trade: u64,
    /// Index among the orders of its trade.
    index: usize,
    /// Entry time of the trade.
    opened: Timestamp,
}

fn strategy(
    name: &str,
    json: &str,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    import.set_header(run, header(name, json))?;
    let trades = elements(json, "trades");
    let pairs: Vec<String> =
        trades.iter().map(|trade| member_text(trade.get(), "pair").unwrap_or_default()).collect();
    let mut fills = Vec::new();
    for ((number, trade), pair) in (1_u64..).zip(&trades).zip(&pairs) {
        match Trade::new(number, trade.get(), pair).fills() {
            Ok(own) => fills.extend(own),
            Err(reason) => import.reject(number, format!("trade {number}: {reason}")),
        }
    }
    // At one timestamp older trades fill first: they release the pair.
    fills.sort_by_key(|fill| (fill.time, fill.opened, fill.trade, fill.index));
    let opening =
        member_text(json, "starting_balance").or_else(|| member_text(json, "dry_run_wallet"));
    let opening = opening.as_deref().and_then(decimal);
    let edge = |name: &str| member_text(json, name).as_deref().and_then(parse_timestamp);
    let balance = |time, balance: Decimal, currency: &str| {
        EventBuilder::account(time, &[("Balance", &decimal_text(balance)), ("Currency", currency)])
    };
    let currency = member_text(json, "stake_currency").unwrap_or_default();
    if let (Some(time), Some(opening)) =
        (edge("backtest_start_ts").or(edge("backtest_start")), opening)
    {
        balance(time, opening, &currency).send(import, run, 0, "opening balance")?;
    }
    let mut pairs: std::collections::BTreeMap<&str, (Position, Decimal)> = Default::default();
    for fill in &fills {
        check_stop(control.stop)?;
        let (position, closed) = pairs.entry(fill.pair).or_default();
        if position.fill(fill.signed, fill.price, fill.fee.unwrap_or_default()).is_none() {
            import.reject(fill.trade, format!("trade {}: its numbers are too large", fill.trade));
            continue;
        }
        if let Some(profit) = fill.profit {
            // The engine's figure includes interest, funding and its own rounding.
            *closed += profit;
            position.realized = *closed;
        }
        send(fill, position, &currency, run, import)?;
    }
    let last = member_text(json, "final_balance").as_deref().and_then(decimal);
    if let (Some(time), Some(last)) = (edge("backtest_end_ts").or(edge("backtest_end")), last) {
        let time = fills.last().map_or(time, |fill| fill.time.max(time));
        balance(time, last, &currency).send(import, run, 0, "final balance")?;
    }
    Ok(())
}

fn header(name: &str, json: &str) -> RunHeader {
    let moment_text = |name: &str| {
        member_text(json, name).as_deref().and_then(parse_timestamp).map(|time| time.with_millis())
    };
    let mut config = serde_json::Map::new();
    for key in [
        "timeframe",
        "timerange",
        "stake_currency",
        "stake_amount",
        "max_open_trades",
        "trading_mode",
        "stoploss",
    ] {
        let value = scan::member(json, key).and_then(|token| match token {
            Token::Number(text) => serde_json::from_str(text).ok(),
            token => token.text().map(|text| Value::from(&*text)),
        });
        if let Some(value) = value {
            config.insert(key.to_owned(), value);
        }
    }
    RunHeader {
        start_time: moment_text("backtest_start"),
        end_time: moment_text("backtest_end"),
        strategy_name: Some(name.to_owned()),
        config: (!config.is_empty()).then_some(Value::Object(config)),
        source: Some("freqtrade".to_owned()),
        ..RunHeader::default()
    }
}

/// A trade of a result.
struct Trade<'a> {
    number: u64,
    json: &'a str,
    pair: &'a str,
    is_short: bool,
}

impl<'a> Trade<'a> {
    fn new(number: u64, json: &'a str, pair: &'a str) -> Self {
        Self { number, json, pair, is_short: flag(json, "is_short") }
    }

    /// The fills, from the trade's orders if any is filled, otherwise from the trade itself.
    fn fills(&self) -> Result<Vec<Fill<'a>>, String> {
        if self.pair.is_empty() {
            return Err("there is no `pair`".to_owned());
        }
        let is_open = flag(self.json, "is_open");
        let profit = if is_open { None } else { Some(self.require("profit_abs")?) };
        let mut fills = self.fills_of_orders()?;
        if fills.is_empty() {
            fills = self.entry_and_exit(is_open)?;
        }
        let opened = fills.iter().map(|fill| fill.time).min();
        for fill in &mut fills {
            fill.opened = opened.unwrap_or(fill.time);
        }
        if let Some(last) = fills.last_mut() {
            last.profit = profit;
        }
        Ok(fills)
    }

    fn fills_of_orders(&self) -> Result<Vec<Fill<'a>>, String> {
        let mut fills = Vec::new();
        for (index, order) in (1..).zip(elements(self.json, "orders")) {
            let order = order.get();
            let filled = member_text(order, "order_filled_timestamp");
            // Skips orders that were never filled.
            let Some(time) = filled.as_deref().and_then(parse_timestamp) else { continue };
            let amount = number(order, "filled").or_else(|| number(order, "amount"));
            let price = number(order, "average").or_else(|| number(order, "safe_price"));
            let (Some(amount), Some(price)) = (amount, price) else {
                return Err(format!("order {index} has no `amount` or no `safe_price`"));
            };
            let tag = member_text(order, "ft_order_tag").filter(|tag| !tag.is_empty());
            fills.push(self.fill(index, flag(order, "ft_is_entry"), time, amount, price, tag)?);
        }
        Ok(fills)
    }

    /// For versions of freqtrade that write no orders.
    fn entry_and_exit(&self, is_open: bool) -> Result<Vec<Fill<'a>>, String> {
        let text =
            |names: [&str; 2]| names.into_iter().find_map(|name| member_text(self.json, name));
        let amount = self.require("amount")?;
        let time = self.time(["open_timestamp", "open_date"])?;
        let price = self.require("open_rate")?;
        let tag = text(["enter_tag", "buy_tag"]);
        let mut fills = vec![self.fill(1, true, time, amount, price, tag)?];
        if !is_open {
            let time = self.time(["close_timestamp", "close_date"])?;
            let price = self.require("close_rate")?;
            let tag = text(["exit_reason", "sell_reason"]);
            fills.push(self.fill(2, false, time, amount, price, tag)?);
        }
        Ok(fills)
    }

    fn fill(
        &self,
        index: usize,
        is_entry: bool,
        time: Timestamp,
        amount: Decimal,
        price: Decimal,
        tag: Option<String>,
    ) -> Result<Fill<'a>, String> {
        let rate = number(self.json, if is_entry { "fee_open" } else { "fee_close" });
        let cost = amount.checked_mul(price).ok_or("its numbers are too large")?;
        let fee = match rate {
            None => None,
            Some(rate) => Some(cost.checked_mul(rate).ok_or("its numbers are too large")?),
        };
        Ok(Fill {
            time,
            pair: self.pair,
            external: format!("{}-{index}", self.number),
            signed: if is_entry == self.is_short { -amount } else { amount },
            price,
            fee,
            reason: tag.unwrap_or_else(|| if is_entry { "entry" } else { "exit" }.to_owned()),
            profit: None,
            trade: self.number,
            index,
            opened: time,
        })
    }

    fn require(&self, name: &str) -> Result<Decimal, String> {
        number(self.json, name).ok_or_else(|| format!("there is no `{name}`"))
    }

    fn time(&self, names: [&str; 2]) -> Result<Timestamp, String> {
        let read = |name: &str| member_text(self.json, name).as_deref().and_then(parse_timestamp);
        let found = names.into_iter().find_map(read);
        found.ok_or_else(|| format!("there is no `{}`", names[0]))
    }
}

fn number(json: &str, name: &str) -> Option<Decimal> {
    member_text(json, name).as_deref().and_then(decimal)
}

fn flag(json: &str, name: &str) -> bool {
    scan::member(json, name) == Some(Token::Bool(true))
}

/// The elements of an array member. The text was parsed before, so only a missing array is empty.
fn elements<'a>(json: &'a str, name: &str) -> Vec<&'a RawValue> {
    match scan::member(json, name) {
        Some(Token::Array(array)) => serde_json::from_str(array).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn send(
    fill: &Fill<'_>,
    position: &Position,
    currency: &str,
    run: Guid,
    import: &mut Import,
) -> Result<(), LogError> {
    let direction = if fill.signed < Decimal::ZERO { "Sell" } else { "Buy" };
    let described = |event: EventBuilder| {
        event
            .order(run, &fill.external)
            .text("SecuritySymbol", fill.pair)
            .text("PositionId", &format!("trade-{}", fill.trade))
            .text("Direction", direction)
            .decimal("Quantity", fill.signed.abs())
            .decimal("Price", fill.price)
    };
    let (line, name) = (fill.trade, &fill.external);
    let placed = described(EventBuilder::order_status(fill.time, "Placed"))
        .text("ChangeReason", &fill.reason)
        .send(import, run, line, &format!("placed {name}"))?;
    let filled = described(EventBuilder::new(fill.time, EventType::TradeExecution))
        .parent(Some(placed))
        .text_if("Currency", Some(currency));
    let filled = match fill.fee {
        Some(fee) => filled.decimal("Commission", fee),
        None => filled.warning("Properties.Commission", "The source has no fee rate"),
    };
    let filled = filled.send(import, run, line, &format!("filled {name}"))?;
    let update = EventBuilder::position(fill.time, fill.pair, position).parent(Some(filled));
    update.send(import, run, line, &format!("position {name}")).map(|_| ())
}
