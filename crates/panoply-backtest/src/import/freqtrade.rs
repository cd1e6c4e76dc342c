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
    fee: Decimal,
    reason: String,
    /// The engine's profit, on the closing fill.
    profit: Option<Decimal>,
    trade: u64,
    /// Index among the orders of its trade.
    place: usize,
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
    let trades: Vec<&RawValue> = match scan::member(json, "trades") {
        Some(Token::Array(trades)) => serde_json::from_str(trades).unwrap_or_default(),
        _ => Vec::new(),
    };
    let pairs: Vec<String> =
        trades.iter().map(|trade| member_text(trade.get(), "pair").unwrap_or_default()).collect();
    let mut fills = Vec::new();
    for ((number, trade), pair) in (1_u64..).zip(&trades).zip(&pairs) {
        match fills_of(number, trade.get(), pair) {
            Ok(own) => fills.extend(own),
            Err(reason) => import.reject(number, format!("trade {number}: {reason}")),
        }
    }
    // At one timestamp older trades fill first: they release the pair.
    fills.sort_by_key(|fill| (fill.time, fill.opened, fill.trade, fill.place));
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
        if position.fill(fill.signed, fill.price, fill.fee).is_none() {
            import.reject(fill.trade, format!("trade {}: its numbers are too large", fill.trade));
            continue;
        }
        if let Some(profit) = fill.profit {
            // The engine's figure includes interest, funding and its own rounding.
            *closed += profit;
            position.realized = *closed;
        }
        send(fill, position, run, import)?;
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

/// The fills of one trade, from its orders if it has any, otherwise from the trade itself.
fn fills_of<'a>(trade: u64, json: &str, pair: &'a str) -> Result<Vec<Fill<'a>>, String> {
    if pair.is_empty() {
        return Err("there is no `pair`".to_owned());
    }
    let number = |json: &str, name: &str| member_text(json, name).as_deref().and_then(decimal);
    let need = |name: &str| number(json, name).ok_or_else(|| format!("there is no `{name}`"));
    let time = |names: [&str; 2]| {
        let found = names
            .into_iter()
            .find_map(|name| member_text(json, name).as_deref().and_then(parse_timestamp));
        found.ok_or_else(|| format!("there is no `{}`", names[0]))
    };
    let is_short = scan::member(json, "is_short") == Some(Token::Bool(true));
    let is_open = scan::member(json, "is_open") == Some(Token::Bool(true));
    let profit = if is_open { None } else { Some(need("profit_abs")?) };
    let (fee_open, fee_close) = (
        number(json, "fee_open").unwrap_or_default(),
        number(json, "fee_close").unwrap_or_default(),
    );
    let exit_reason = member_text(json, "exit_reason").or_else(|| member_text(json, "sell_reason"));
    let enter_tag = member_text(json, "enter_tag").or_else(|| member_text(json, "buy_tag"));
    let make = |place: usize,
                is_entry: bool,
                time,
                amount: Decimal,
                price: Decimal,
                tag: Option<String>| {
        let buys = is_entry != is_short;
        let rate = if is_entry { fee_open } else { fee_close };
        let fee = amount.checked_mul(price).and_then(|cost| cost.checked_mul(rate));
        Fill {
            time,
            pair,
            external: format!("{trade}-{place}"),
            signed: if buys { amount } else { -amount },
            price,
            fee: fee.unwrap_or_default(),
            reason: tag.unwrap_or_else(|| if is_entry { "entry" } else { "exit" }.to_owned()),
            profit: None,
            trade,
            place,
            opened: time,
        }
    };
    let orders: Vec<&RawValue> = match scan::member(json, "orders") {
        Some(Token::Array(orders)) => serde_json::from_str(orders).unwrap_or_default(),
        _ => Vec::new(),
    };
    let mut fills = Vec::new();
    for (place, order) in (1..).zip(&orders) {
        let order = order.get();
        // Skips orders that were never filled.
        let Some(time) =
            member_text(order, "order_filled_timestamp").as_deref().and_then(parse_timestamp)
        else {
            continue;
        };
        let amount = number(order, "filled").or_else(|| number(order, "amount"));
        let price = number(order, "average").or_else(|| number(order, "safe_price"));
        let (Some(amount), Some(price)) = (amount, price) else {
            return Err(format!("order {place} has no `amount` or no `safe_price`"));
        };
        let is_entry = scan::member(order, "ft_is_entry") == Some(Token::Bool(true));
        let tag = member_text(order, "ft_order_tag").filter(|tag| !tag.is_empty());
        fills.push(make(place, is_entry, time, amount, price, tag));
    }
    if fills.is_empty() {
        let amount = need("amount")?;
        let opened = time(["open_timestamp", "open_date"])?;
        fills.push(make(1, true, opened, amount, need("open_rate")?, enter_tag));
        if !is_open {
            let closed = time(["close_timestamp", "close_date"])?;
            fills.push(make(2, false, closed, amount, need("close_rate")?, exit_reason));
        }
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

fn send(
    fill: &Fill<'_>,
    position: &Position,
    run: Guid,
    import: &mut Import,
) -> Result<(), LogError> {
    let direction = if fill.signed < Decimal::ZERO { "Sell" } else { "Buy" };
    let described = |draft: EventBuilder| {
        draft
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
        .decimal("Commission", fill.fee)
        .send(import, run, line, &format!("filled {name}"))?;
    let update = EventBuilder::position(fill.time, fill.pair, position).parent(Some(filled));
    update.send(import, run, line, &format!("position {name}")).map(|_| ())
}
