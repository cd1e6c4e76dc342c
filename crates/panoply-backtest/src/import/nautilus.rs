//! nautilus_trader: events as their `to_dict` writes them, one a line or in one array.
//!
//! Orders, positions, the account, and bars and ticks where they were logged too. A position's
//! `realized_pnl` begins anew when it is opened again; here it runs on, security by security.
//! `PositionClosed` has no `ts_event`, only `ts_closed`.

use std::collections::BTreeMap;
use std::io::BufRead;

use rust_decimal::Decimal;

use super::draft::{Draft, moment, shown};
use super::records::{Taken, each_object};
use super::{Import, Watch};
use crate::books::decimal;
use crate::error::LogError;
use crate::event::{EventType, Guid, Severity};
use crate::scan::{self, Token};
use crate::timestamp::Timestamp;

/// Reads events.
pub fn read(
    source: impl BufRead,
    run: Guid,
    import: &mut Import,
    watch: &mut Watch<'_>,
) -> Result<(), LogError> {
    let mut reader =
        Reader { run, placed: BTreeMap::new(), fills: BTreeMap::new(), positions: BTreeMap::new() };
    each_object(source, import, watch, |number, json, import| reader.take(number, json, import))
}

struct Reader {
    run: Guid,
    /// The event that placed each order.
    placed: BTreeMap<String, Guid>,
    /// The last fill of each security.
    fills: BTreeMap<String, Guid>,
    /// By security and position: strategies may hold the same security apart.
    positions: BTreeMap<(String, String), Held>,
}

/// A position, through all its lives.
#[derive(Default)]
struct Held {
    signed: Decimal,
    average: Decimal,
    /// Of lives that have ended.
    ended: Decimal,
    realized: Decimal,
    unrealized: Decimal,
    currency: String,
}

/// An event and what is read of every one.
struct Seen<'a> {
    number: u64,
    json: &'a str,
    time: Timestamp,
    symbol: String,
    name: String,
}

impl Seen<'_> {
    fn cell(&self, name: &str) -> Option<String> {
        text_of(self.json, name)
    }

    /// A number, whether alone or before its currency.
    fn amount(&self, name: &str) -> Option<Decimal> {
        decimal(self.cell(name)?.split(' ').next().unwrap_or_default())
    }

    fn plain(&self, name: &str) -> String {
        self.amount(name).map(shown).unwrap_or_default()
    }

    /// The currency of an amount that has one behind it.
    fn currency_of(&self, name: &str) -> Option<String> {
        self.cell(name)?.split_once(' ').map(|(_, currency)| currency.to_owned())
    }
}

impl Reader {
    fn take(&mut self, number: u64, json: &str, import: &mut Import) -> Taken {
        let Some(kind) = text_of(json, "type") else {
            return Ok(Err("there is no `type`".to_owned()));
        };
        let time = ["ts_event", "ts_closed", "ts_init"]
            .into_iter()
            .find_map(|name| text_of(json, name).as_deref().and_then(moment));
        let Some(time) = time else { return Ok(Err("there is no `ts_event`".to_owned())) };
        let instrument = text_of(json, "instrument_id")
            .or_else(|| text_of(json, "bar_type").map(|text| bar_instrument(&text)));
        let symbol = instrument.as_deref().map(symbol_of).unwrap_or_default().to_owned();
        let seen = Seen { number, json, time, symbol, name: format!("event {number}") };
        if kind != "AccountState" && seen.symbol.is_empty() {
            return Ok(Err(format!("a `{kind}` without an `instrument_id`")));
        }
        match kind.as_str() {
            "AccountState" => self.account(&seen, import),
            "OrderFilled" => self.filled(&seen, import),
            "PositionOpened" | "PositionChanged" | "PositionClosed" => {
                self.position(&seen, &kind, import)
            }
            "Bar" | "QuoteTick" | "TradeTick" => self.market_data(&seen, &kind, import),
            other => match other.strip_prefix("Order") {
                Some(status) => self.order(&seen, status, import),
                None => Ok(Err(format!("the type `{kind}` is not known"))),
            },
        }
    }

    fn order(&mut self, seen: &Seen<'_>, status: &str, import: &mut Import) -> Taken {
        let Some(order) = seen.cell("client_order_id") else {
            return Ok(Err("there is no `client_order_id`".to_owned()));
        };
        let cause = self.placed.get(&order).copied();
        let run = self.run;
        let described = |draft: Draft| {
            draft
                .id(seen.cell("event_id").as_deref().and_then(Guid::parse))
                .parent(cause)
                .order(run, &order)
                .text("SecuritySymbol", &seen.symbol)
        };
        let changed = |word: &str| described(Draft::order_status(seen.time, word));
        let draft = match status {
            "Initialized" => {
                let options = options_of(seen.json);
                let price = ["price", "trigger_price"]
                    .into_iter()
                    .find_map(|name| text_of(&options, name))
                    .unwrap_or_default();
                let sent = changed("Placed")
                    .text("Direction", direction(seen.cell("order_side").as_deref()))
                    .text_if("OrderType", seen.cell("order_type").as_deref())
                    .number("Quantity", &seen.plain("quantity"))
                    .number("Price", &price)
                    .send(import, run, seen.number, &seen.name)?;
                self.placed.insert(order, sent);
                return Ok(Ok(()));
            }
            "Rejected" | "Denied" => {
                let reason = seen.cell("reason").unwrap_or_else(|| status.to_owned());
                described(Draft::new(seen.time, EventType::OrderRejection))
                    .text("RejectionReason", &reason)
            }
            "Canceled" => changed("Cancelled"),
            "Expired" => changed("Expired"),
            "Updated" => changed("Updated")
                .number("Quantity", &seen.plain("quantity"))
                .number("Price", &seen.plain("price")),
            // The order itself lives on: only the wish to change it was refused.
            "ModifyRejected" | "CancelRejected" => changed(status)
                .severity(Severity::Warning)
                .text_if("ChangeReason", seen.cell("reason").as_deref()),
            "Submitted" | "Accepted" | "Triggered" | "Emulated" | "Released" | "PendingUpdate"
            | "PendingCancel" => changed(status).severity(Severity::Debug),
            other => return Ok(Err(format!("the type `Order{other}` is not known"))),
        };
        draft.send(import, run, seen.number, &seen.name).map(|_| Ok(()))
    }

    fn filled(&mut self, seen: &Seen<'_>, import: &mut Import) -> Taken {
        let Some(order) = seen.cell("client_order_id") else {
            return Ok(Err("there is no `client_order_id`".to_owned()));
        };
        let id = Draft::new(seen.time, EventType::TradeExecution)
            .id(seen.cell("event_id").as_deref().and_then(Guid::parse))
            .parent(self.placed.get(&order).copied())
            .order(self.run, &order)
            .text("SecuritySymbol", &seen.symbol)
            .text_if("PositionId", seen.cell("position_id").as_deref())
            .text("Direction", direction(seen.cell("order_side").as_deref()))
            .number("Quantity", &seen.plain("last_qty"))
            .number("Price", &seen.plain("last_px"))
            .text_if("Currency", seen.cell("currency").as_deref())
            .number("Commission", &seen.plain("commission"))
            .text_if("CommissionCurrency", seen.currency_of("commission").as_deref())
            .text_if("LiquiditySide", seen.cell("liquidity_side").as_deref())
            .text_if("TradeId", seen.cell("trade_id").as_deref())
            .send(import, self.run, seen.number, &seen.name)?;
        self.fills.insert(seen.symbol.clone(), id);
        Ok(Ok(()))
    }

    fn position(&mut self, seen: &Seen<'_>, kind: &str, import: &mut Import) -> Taken {
        let (Some(id), Some(signed)) = (seen.cell("position_id"), seen.amount("signed_qty")) else {
            return Ok(Err("there is no `position_id` or no `signed_qty`".to_owned()));
        };
        let held = self.positions.entry((seen.symbol.clone(), id.clone())).or_default();
        held.signed = signed;
        held.average = if signed.is_zero() {
            Decimal::ZERO
        } else {
            seen.amount("avg_px_open").unwrap_or_default()
        };
        held.realized = seen.amount("realized_pnl").unwrap_or_default();
        held.unrealized = seen.amount("unrealized_pnl").unwrap_or_default();
        held.currency = seen.cell("currency").unwrap_or_default();
        if kind == "PositionClosed" {
            held.ended += std::mem::take(&mut held.realized);
            held.unrealized = Decimal::ZERO;
        }
        let own = self.positions.iter().filter(|((symbol, _), _)| *symbol == seen.symbol);
        let Some(totals) = Totals::of(own.map(|(_, held)| held)) else {
            return Ok(Err("the numbers of this position are too large".to_owned()));
        };
        let update = Draft::new(seen.time, EventType::PositionUpdate)
            .id(seen.cell("event_id").as_deref().and_then(Guid::parse))
            .parent(self.fills.get(&seen.symbol).copied())
            .text("SecuritySymbol", &seen.symbol)
            .text("PositionId", &id)
            .decimal("Quantity", totals.signed)
            .decimal("AveragePrice", totals.average)
            .decimal("UnrealizedPnL", totals.unrealized)
            .decimal("RealizedPnL", totals.realized)
            .text_if("Currency", seen.cell("currency").as_deref())
            .text("PositionStatus", kind.trim_start_matches("Position"))
            .send(import, self.run, seen.number, &seen.name)?;
        // Sums over currencies would need rates, which the log does not have.
        let currency = self.positions.values().next().map(|held| held.currency.clone());
        let one_currency =
            self.positions.values().all(|held| Some(&held.currency) == currency.as_ref());
        if let (true, Some(all)) = (one_currency, Totals::of(self.positions.values())) {
            Draft::pnl(seen.time, all.realized, all.unrealized)
                .parent(Some(update))
                .text_if("Currency", currency.as_deref())
                .text("ChangeReason", kind)
                .send(import, self.run, seen.number, &format!("{} pnl", seen.name))?;
        }
        Ok(Ok(()))
    }

    fn account(&self, seen: &Seen<'_>, import: &mut Import) -> Taken {
        let Some(Token::Array(balances)) = scan::member(seen.json, "balances") else {
            return Ok(Err("an `AccountState` without `balances`".to_owned()));
        };
        let balances: Vec<&serde_json::value::RawValue> =
            serde_json::from_str(balances).unwrap_or_default();
        let draft = match balances.as_slice() {
            [balance] => {
                let cell = |name: &str| text_of(balance.get(), name).unwrap_or_default();
                let after = [
                    ("Balance", cell("total")),
                    ("Free", cell("free")),
                    ("Locked", cell("locked")),
                    ("Currency", cell("currency")),
                ];
                let after = after.each_ref().map(|(name, value)| (*name, value.as_str()));
                Draft::account(seen.time, &after)
            }
            // One number for several currencies would need rates.
            several => {
                let cells: Vec<(String, String)> = several
                    .iter()
                    .filter_map(|one| {
                        Some((text_of(one.get(), "currency")?, text_of(one.get(), "total")?))
                    })
                    .collect();
                let balances: Vec<(&str, &str)> =
                    cells.iter().map(|(name, total)| (name.as_str(), total.as_str())).collect();
                Draft::account_of_several(seen.time, &balances)
            }
        };
        let draft = draft
            .id(seen.cell("event_id").as_deref().and_then(Guid::parse))
            .text_if("AccountId", seen.cell("account_id").as_deref())
            .text_if("AccountType", seen.cell("account_type").as_deref());
        draft.send(import, self.run, seen.number, &seen.name).map(|_| Ok(()))
    }

    fn market_data(&self, seen: &Seen<'_>, kind: &str, import: &mut Import) -> Taken {
        let (data_type, names): (_, &[&str]) = match kind {
            "Bar" => ("Candle", &["open", "high", "low", "close", "volume"]),
            "QuoteTick" => ("Level2", &["bid_price", "ask_price", "bid_size", "ask_size"]),
            _ => ("Tick", &["price", "size"]),
        };
        let cells: Vec<(String, String)> =
            names.iter().map(|name| (pascal(name), seen.plain(name))).collect();
        let data: Vec<(&str, &str)> =
            cells.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Draft::new(seen.time, EventType::MarketDataEvent)
            .text("SecuritySymbol", &seen.symbol)
            .text("DataType", data_type)
            .text_if("BarType", seen.cell("bar_type").as_deref())
            .object("Data", &data)
            .send(import, self.run, seen.number, &seen.name)
            .map(|_| Ok(()))
    }
}

/// Sums over positions.
struct Totals {
    signed: Decimal,
    average: Decimal,
    realized: Decimal,
    unrealized: Decimal,
}

impl Totals {
    fn of<'a>(positions: impl Iterator<Item = &'a Held>) -> Option<Self> {
        let zero = Decimal::ZERO;
        let mut totals = Self { signed: zero, average: zero, realized: zero, unrealized: zero };
        let mut worth = zero;
        for held in positions {
            totals.signed = totals.signed.checked_add(held.signed)?;
            worth = worth.checked_add(held.average.checked_mul(held.signed)?)?;
            let realized = held.ended.checked_add(held.realized)?;
            totals.realized = totals.realized.checked_add(realized)?;
            totals.unrealized = totals.unrealized.checked_add(held.unrealized)?;
        }
        if !totals.signed.is_zero() {
            totals.average = worth.checked_div(totals.signed)?;
        }
        Some(totals)
    }
}

/// A member as text, whether text or number.
fn text_of(json: &str, name: &str) -> Option<String> {
    scan::member(json, name)?.id_text().map(|text| text.into_owned())
}

/// What an order was asked to do. Some versions write it as JSON inside a string.
fn options_of(json: &str) -> String {
    match scan::member(json, "options") {
        Some(Token::Object(json)) => json.to_owned(),
        Some(text @ Token::Text(_)) => text
            .text()
            .filter(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
            .unwrap_or_default()
            .into_owned(),
        _ => String::new(),
    }
}

/// `EUR/USD` of `EUR/USD.SIM`: what follows the last point is the venue.
fn symbol_of(instrument: &str) -> &str {
    instrument.rsplit_once('.').map_or(instrument, |(symbol, _)| symbol)
}

/// The instrument of `EUR/USD.SIM-1-HOUR-MID-EXTERNAL`.
fn bar_instrument(bar_type: &str) -> String {
    let mut parts: Vec<&str> = bar_type.rsplitn(5, '-').collect();
    parts.pop().unwrap_or_default().to_owned()
}

fn direction(side: Option<&str>) -> &'static str {
    match side {
        Some("SELL" | "2") => "Sell",
        _ => "Buy",
    }
}

/// `BidPrice` of `bid_price`.
fn pascal(name: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    name.split('_').map(word).collect()
}
