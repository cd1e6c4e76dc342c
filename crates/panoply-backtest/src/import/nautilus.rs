//! Importer for nautilus_trader: events as written by `to_dict`, as JSONL or as one array.
//!
//! Reads orders, positions, the account, bars and ticks. The engine resets a position's
//! `realized_pnl` when the position is opened again; here it accumulates per security.
//! `PositionClosed` has no `ts_event`, only `ts_closed`.

use std::collections::BTreeMap;
use std::io::BufRead;

use rust_decimal::Decimal;

use super::event_builder::{EventBuilder, decimal_text, parse_timestamp};
use super::records::{RecordOutcome, each_object};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::{EventType, Guid, Severity};
use crate::position::decimal;
use crate::run::RunHeader;
use crate::scan::{self, Token, member_text};
use crate::timestamp::Timestamp;

/// Reads events.
pub fn read(
    source: impl BufRead,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let engine = Some("nautilus_trader".to_owned());
    import.set_header(run, RunHeader { source: engine, ..RunHeader::default() })?;
    let mut reader =
        Reader { run, placed: BTreeMap::new(), fills: BTreeMap::new(), positions: BTreeMap::new() };
    each_object(source, import, control, |number, json, import| {
        reader.read_event(number, json, import)
    })
}

struct Reader {
    run: Guid,
    /// The event that placed each order.
    placed: BTreeMap<String, Guid>,
    /// The last fill of each security.
    fills: BTreeMap<String, Guid>,
    /// By security and position id: strategies may hold separate positions in one security.
    positions: BTreeMap<(String, String), PositionState>,
}

/// A position, including its closed lifetimes.
#[derive(Default)]
struct PositionState {
    signed: Decimal,
    average: Decimal,
    /// Realized profit of closed lifetimes.
    closed_pnl: Decimal,
    realized: Decimal,
    currency: String,
}

/// A source event with its common fields.
struct Record<'a> {
    number: u64,
    json: &'a str,
    time: Timestamp,
    symbol: String,
    name: String,
}

impl Record<'_> {
    fn cell(&self, name: &str) -> Option<String> {
        member_text(self.json, name)
    }

    /// A number, with or without a currency after it.
    fn amount(&self, name: &str) -> Option<Decimal> {
        decimal(self.cell(name)?.split(' ').next().unwrap_or_default())
    }

    fn plain(&self, name: &str) -> String {
        self.amount(name).map(decimal_text).unwrap_or_default()
    }

    /// The currency after an amount.
    fn currency_of(&self, name: &str) -> Option<String> {
        self.cell(name)?.split_once(' ').map(|(_, currency)| currency.to_owned())
    }
}

impl Reader {
    fn read_event(&mut self, number: u64, json: &str, import: &mut Import) -> RecordOutcome {
        let Some(kind) = member_text(json, "type") else {
            return Ok(Err("there is no `type`".to_owned()));
        };
        let time = ["ts_event", "ts_closed", "ts_init"]
            .into_iter()
            .find_map(|name| member_text(json, name).as_deref().and_then(parse_timestamp));
        let Some(time) = time else { return Ok(Err("there is no `ts_event`".to_owned())) };
        let instrument = member_text(json, "instrument_id")
            .or_else(|| member_text(json, "bar_type").map(|text| bar_instrument(&text)));
        let symbol = instrument.as_deref().map(symbol_of).unwrap_or_default().to_owned();
        let record = Record { number, json, time, symbol, name: format!("event {number}") };
        if kind != "AccountState" && record.symbol.is_empty() {
            return Ok(Err(format!("a `{kind}` without an `instrument_id`")));
        }
        match kind.as_str() {
            "AccountState" => self.account(&record, import),
            "OrderFilled" => self.filled(&record, import),
            "PositionOpened" | "PositionChanged" | "PositionClosed" => {
                self.position(&record, &kind, import)
            }
            "Bar" | "QuoteTick" | "TradeTick" => self.market_data(&record, &kind, import),
            other => match other.strip_prefix("Order") {
                Some(status) => self.order(&record, status, import),
                None => Ok(Err(format!("the type `{kind}` is not known"))),
            },
        }
    }

    fn order(&mut self, record: &Record<'_>, status: &str, import: &mut Import) -> RecordOutcome {
        let Some(order) = record.cell("client_order_id") else {
            return Ok(Err("there is no `client_order_id`".to_owned()));
        };
        let cause = self.placed.get(&order).copied();
        let run = self.run;
        let described = |event: EventBuilder| {
            event
                .id(record.cell("event_id").as_deref().and_then(Guid::parse))
                .parent(cause)
                .order(run, &order)
                .text("SecuritySymbol", &record.symbol)
        };
        let changed = |word: &str| described(EventBuilder::order_status(record.time, word));
        let event = match status {
            "Initialized" => {
                let options = options_of(record.json);
                let price = ["price", "trigger_price"]
                    .into_iter()
                    .find_map(|name| member_text(&options, name))
                    .unwrap_or_default();
                let sent = changed("Placed")
                    .text("Direction", direction(record.cell("order_side").as_deref()))
                    .text_if("OrderType", record.cell("order_type").as_deref())
                    .number("Quantity", &record.plain("quantity"))
                    .number("Price", &price)
                    .send(import, run, record.number, &record.name)?;
                self.placed.insert(order, sent);
                return Ok(Ok(()));
            }
            "Rejected" | "Denied" => {
                let reason = record.cell("reason").unwrap_or_else(|| status.to_owned());
                described(EventBuilder::new(record.time, EventType::OrderRejection))
                    .text("RejectionReason", &reason)
            }
            "Canceled" => changed("Cancelled"),
            "Expired" => changed("Expired"),
            "Updated" => changed("Updated")
                .number("Quantity", &record.plain("quantity"))
                .number("Price", &record.plain("price")),
            // Only the request was rejected; the order itself stays open.
            "ModifyRejected" | "CancelRejected" => changed(status)
                .severity(Severity::Warning)
                .text_if("ChangeReason", record.cell("reason").as_deref()),
            "Submitted" | "Accepted" | "Triggered" | "Emulated" | "Released" | "PendingUpdate"
            | "PendingCancel" => changed(status).severity(Severity::Debug),
            other => return Ok(Err(format!("the type `Order{other}` is not known"))),
        };
        event.send(import, run, record.number, &record.name).map(|_| Ok(()))
    }

    fn filled(&mut self, record: &Record<'_>, import: &mut Import) -> RecordOutcome {
        let Some(order) = record.cell("client_order_id") else {
            return Ok(Err("there is no `client_order_id`".to_owned()));
        };
        let id = EventBuilder::new(record.time, EventType::TradeExecution)
            .id(record.cell("event_id").as_deref().and_then(Guid::parse))
            .parent(self.placed.get(&order).copied())
            .order(self.run, &order)
            .text("SecuritySymbol", &record.symbol)
            .text_if("PositionId", record.cell("position_id").as_deref())
            .text("Direction", direction(record.cell("order_side").as_deref()))
            .number("Quantity", &record.plain("last_qty"))
            .number("Price", &record.plain("last_px"))
            .text_if("Currency", record.cell("currency").as_deref())
            .number("Commission", &record.plain("commission"))
            .text_if("CommissionCurrency", record.currency_of("commission").as_deref())
            .text_if("LiquiditySide", record.cell("liquidity_side").as_deref())
            .text_if("TradeId", record.cell("trade_id").as_deref())
            .send(import, self.run, record.number, &record.name)?;
        self.fills.insert(record.symbol.clone(), id);
        Ok(Ok(()))
    }

    fn position(&mut self, record: &Record<'_>, kind: &str, import: &mut Import) -> RecordOutcome {
        let (Some(id), Some(signed)) = (record.cell("position_id"), record.amount("signed_qty"))
        else {
            return Ok(Err("there is no `position_id` or no `signed_qty`".to_owned()));
        };
        let position = self.positions.entry((record.symbol.clone(), id.clone())).or_default();
        position.signed = signed;
        position.average = if signed.is_zero() {
            Decimal::ZERO
        } else {
            record.amount("avg_px_open").unwrap_or_default()
        };
        position.realized = record.amount("realized_pnl").unwrap_or_default();
        position.currency = record.cell("currency").unwrap_or_default();
        if kind == "PositionClosed" {
            position.closed_pnl += std::mem::take(&mut position.realized);
        }
        let own = self.positions.iter().filter(|((symbol, _), _)| *symbol == record.symbol);
        let Some(totals) = Totals::of(own.map(|(_, position)| position)) else {
            return Ok(Err("the numbers of this position are too large".to_owned()));
        };
        let update = EventBuilder::new(record.time, EventType::PositionUpdate)
            .id(record.cell("event_id").as_deref().and_then(Guid::parse))
            .parent(self.fills.get(&record.symbol).copied())
            .text("SecuritySymbol", &record.symbol)
            .text("PositionId", &id)
            .decimal("Quantity", totals.signed)
            .decimal("AveragePrice", totals.average)
            .decimal("RealizedPnL", totals.realized)
            .text_if("Currency", record.cell("currency").as_deref())
            .text("PositionStatus", kind.trim_start_matches("Position"))
            .send(import, self.run, record.number, &record.name)?;
        // Profit is reported per currency: a sum over currencies would need exchange rates. The
        // engine's unrealized profit is that of the moment of the event and would soon be stale.
        let currency = record.cell("currency").unwrap_or_default();
        let own = self.positions.values().filter(|position| position.currency == currency);
        if let Some(all) = Totals::of(own) {
            EventBuilder::pnl(record.time, all.realized, None)
                .parent(Some(update))
                .text_if("Currency", Some(&currency))
                .text("ChangeReason", kind)
                .send(import, self.run, record.number, &format!("{} pnl", record.name))?;
        }
        Ok(Ok(()))
    }

    fn account(&self, record: &Record<'_>, import: &mut Import) -> RecordOutcome {
        let Some(Token::Array(balances)) = scan::member(record.json, "balances") else {
            return Ok(Err("an `AccountState` without `balances`".to_owned()));
        };
        let balances: Vec<&serde_json::value::RawValue> =
            serde_json::from_str(balances).unwrap_or_default();
        let event = match balances.as_slice() {
            [balance] => {
                let cell = |name: &str| member_text(balance.get(), name).unwrap_or_default();
                let after = [
                    ("Balance", cell("total")),
                    ("Free", cell("free")),
                    ("Locked", cell("locked")),
                    ("Currency", cell("currency")),
                ];
                let after = after.each_ref().map(|(name, value)| (*name, value.as_str()));
                EventBuilder::account(record.time, &after)
            }
            // A sum over currencies would need exchange rates.
            several => {
                let cells: Vec<(String, String)> = several
                    .iter()
                    .filter_map(|one| {
                        Some((
                            member_text(one.get(), "currency")?,
                            member_text(one.get(), "total")?,
                        ))
                    })
                    .collect();
                let balances: Vec<(&str, &str)> =
                    cells.iter().map(|(name, total)| (name.as_str(), total.as_str())).collect();
                EventBuilder::account_of_several(record.time, &balances)
            }
        };
        let event = event
            .id(record.cell("event_id").as_deref().and_then(Guid::parse))
            .text_if("AccountId", record.cell("account_id").as_deref())
            .text_if("AccountType", record.cell("account_type").as_deref());
        event.send(import, self.run, record.number, &record.name).map(|_| Ok(()))
    }

    fn market_data(&self, record: &Record<'_>, kind: &str, import: &mut Import) -> RecordOutcome {
        let (data_type, names): (_, &[&str]) = match kind {
            "Bar" => ("Candle", &["open", "high", "low", "close", "volume"]),
            "QuoteTick" => ("Level2", &["bid_price", "ask_price", "bid_size", "ask_size"]),
            _ => ("Tick", &["price", "size"]),
        };
        let cells: Vec<(String, String)> =
            names.iter().map(|name| (pascal(name), record.plain(name))).collect();
        let data: Vec<(&str, &str)> =
            cells.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        EventBuilder::new(record.time, EventType::MarketDataEvent)
            .text("SecuritySymbol", &record.symbol)
            .text("DataType", data_type)
            .text_if("BarType", record.cell("bar_type").as_deref())
            .object("Data", &data)
            .send(import, self.run, record.number, &record.name)
            .map(|_| Ok(()))
    }
}

/// Sums over positions.
struct Totals {
    signed: Decimal,
    average: Decimal,
    realized: Decimal,
}

impl Totals {
    fn of<'a>(positions: impl Iterator<Item = &'a PositionState>) -> Option<Self> {
        let zero = Decimal::ZERO;
        let mut totals = Self { signed: zero, average: zero, realized: zero };
        let mut worth = zero;
        for position in positions {
            totals.signed = totals.signed.checked_add(position.signed)?;
            worth = worth.checked_add(position.average.checked_mul(position.signed)?)?;
            let realized = position.closed_pnl.checked_add(position.realized)?;
            totals.realized = totals.realized.checked_add(realized)?;
        }
        if !totals.signed.is_zero() {
            totals.average = worth.checked_div(totals.signed)?;
        }
        Some(totals)
    }
}

/// The options of an order. Some versions write them as JSON inside a string.
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

/// `EUR/USD` for `EUR/USD.SIM`: the part after the last point is the venue.
fn symbol_of(instrument: &str) -> &str {
    instrument.rsplit_once('.').map_or(instrument, |(symbol, _)| symbol)
}

/// The instrument of a bar type such as `EUR/USD.SIM-1-HOUR-MID-EXTERNAL`.
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

/// `BidPrice` for `bid_price`.
fn pascal(name: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    name.split('_').map(word).collect()
}
