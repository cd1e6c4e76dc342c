//! Generator of synthetic event logs: minute bars of eight securities with two indicators each,
//! and orders with fills, positions and profit. The output is deterministic for a seed.
//!
//! Orders are placed, rejected, cancelled, left open, filled at once or in two parts. One fill in
//! a hundred lacks its position update, and two bars in a thousand yield an invalid event.

use std::io::{self, Write};

use panoply_backtest::event::Guid;
use panoply_backtest::timestamp::Timestamp;

const SYMBOLS: usize = 8;
/// 2020-01-02T00:00:00Z, in milliseconds.
const START: i64 = 1_577_923_200_000;

/// Facts about a log that the workload needs.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) run: Guid,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// An order from the middle of the log.
    pub(crate) order: Guid,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
}

/// Writes a log with this many events.
pub(crate) fn write(out: &mut impl Write, seed: u64, events: u64) -> io::Result<Facts> {
    let mut random = Random(seed);
    let run = random.guid();
    let mut log = Log {
        out,
        random,
        run,
        wanted: events,
        made: 0,
        bytes: 0,
        time: START,
        order: None,
        line: String::new(),
    };
    let mut securities: Vec<Security> = (0..SYMBOLS)
        .map(|place| Security {
            symbol: format!("SYM{place:02}"),
            price: 50.0 + 100.0 * log.random.share(),
            quantity: 0,
            average: 0.0,
            realized: 0.0,
        })
        .collect();
    let mut profit = Profit::default();
    while log.made < events {
        log.time += 60_000;
        for security in &mut securities {
            log.bar(security, &mut profit)?;
        }
    }
    let timestamp = |millis: i64| Timestamp::from_nanos(millis * 1_000_000);
    Ok(Facts {
        run,
        events,
        bytes: log.bytes,
        order: log.order.unwrap_or(run),
        first: timestamp(START),
        last: timestamp(log.time),
    })
}

/// Vigna's xorshift64*.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// In [0, 1).
    fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.bits() >> 32) % limit
    }

    /// Version 4, variant 1.
    fn guid(&mut self) -> Guid {
        let bits = u128::from(self.bits()) << 64 | u128::from(self.bits());
        let marked = bits & !(0xF << 76) | 4 << 76;
        Guid::new(marked & !(3 << 62) | 2 << 62)
    }
}

struct Security {
    symbol: String,
    price: f64,
    quantity: i64,
    average: f64,
    realized: f64,
}

impl Security {
    /// Books a fill at average cost.
    fn fill(&mut self, quantity: i64, price: f64) {
        let before = self.quantity;
        self.quantity += quantity;
        if before == 0 || (before > 0) == (quantity > 0) {
            let (held, added) = (before.abs() as f64, quantity.abs() as f64);
            self.average = (self.average * held + price * added) / (held + added);
            return;
        }
        let closed = quantity.abs().min(before.abs()) as f64;
        self.realized += (price - self.average) * closed * if before > 0 { 1.0 } else { -1.0 };
        if self.quantity == 0 {
            self.average = 0.0;
        } else if (self.quantity > 0) != (before > 0) {
            self.average = price;
        }
    }
}

/// Last reported profit and loss of the strategy.
#[derive(Clone, Copy, Debug, Default)]
struct Profit {
    realized: f64,
    unrealized: f64,
}

/// Writes events up to the requested number.
struct Log<'a, W> {
    out: &'a mut W,
    random: Random,
    run: Guid,
    wanted: u64,
    made: u64,
    bytes: u64,
    time: i64,
    order: Option<Guid>,
    line: String,
}

/// Type, severity and category of an event.
type Kind = (&'static str, &'static str, &'static str);

const BAR: Kind = ("MarketDataEvent", "Debug", "MarketData");
const INDICATOR: Kind = ("IndicatorCalculation", "Debug", "Indicators");
const ORDER: Kind = ("StateChange", "Info", "Execution");
const PROFIT: Kind = ("StateChange", "Info", "Performance");
const FILL: Kind = ("TradeExecution", "Info", "Execution");
const REJECTION: Kind = ("OrderRejection", "Error", "Execution");
const POSITION: Kind = ("PositionUpdate", "Info", "Performance");

impl<W: Write> Log<'_, W> {
    fn event(
        &mut self,
        (kind, severity, category): Kind,
        properties: std::fmt::Arguments<'_>,
        parent: Option<Guid>,
    ) -> io::Result<Option<Guid>> {
        use std::fmt::Write as _;
        if self.made >= self.wanted {
            return Ok(None);
        }
        self.made += 1;
        let id = self.random.guid();
        let (run, time) = (self.run, Timestamp::from_nanos(self.time * 1_000_000).with_millis());
        self.line.clear();
        let mut line = || {
            write!(
                self.line,
                r#"{{"eventId":"{id}","runId":"{run}","timestamp":"{time}","eventType":"{kind}","severity":"{severity}","category":"{category}","properties":{properties},"parentEventId":"#
            )?;
            match parent {
                None => write!(self.line, "null")?,
                Some(parent) => write!(self.line, "\"{parent}\"")?,
            }
            writeln!(self.line, r#","validationErrors":null}}"#)
        };
        line().map_err(io::Error::other)?;
        self.bytes += self.line.len() as u64;
        self.out.write_all(self.line.as_bytes())?;
        Ok(Some(id))
    }

    /// A bar, its indicator values, and sometimes an order.
    fn bar(&mut self, security: &mut Security, profit: &mut Profit) -> io::Result<()> {
        let open = security.price;
        let close = (open * (1.0 + 0.004 * (self.random.share() - 0.5))).max(1.0);
        security.price = close;
        let symbol = security.symbol.clone();
        let (high, low) = (open.max(close) * 1.0003, open.min(close) * 0.9997);
        let volume = self.random.below(4096);
        let bar = self.event(BAR, format_args!(r#"{{"SecuritySymbol":"{symbol}","DataType":"Candle","Data":{{"Open":{open:.4},"High":{high:.4},"Low":{low:.4},"Close":{close:.4},"Volume":{volume}}}}}"#), None)?;
        let mean = close * (1.0 + 0.002 * (self.random.share() - 0.5));
        let signal = self.event(INDICATOR, format_args!(r#"{{"IndicatorName":"SMA_10","SecuritySymbol":"{symbol}","Value":{mean:.6},"Parameters":{{"Period":10}}}}"#), bar)?;
        let strength = 100.0 * self.random.share();
        self.event(INDICATOR, format_args!(r#"{{"IndicatorName":"RSI_14","SecuritySymbol":"{symbol}","Value":{strength:.4},"Parameters":{{"Period":14}}}}"#), bar)?;
        if self.random.share() < 0.002 {
            let quantity = 1 + self.random.below(64);
            self.event(FILL, format_args!(r#"{{"OrderId":"invalid-guid","SecuritySymbol":"{symbol}","Quantity":{quantity}}}"#), bar)?;
        }
        if self.random.share() < 0.02 {
            let value = self.random.below(2048);
            let severity = if self.random.share() < 0.3 { "Warning" } else { "Info" };
            self.event(("RiskEvent", severity, "Risk"), format_args!(r#"{{"RiskType":"MaxExposure","SecuritySymbol":"{symbol}","Threshold":1000,"CurrentValue":{value},"Action":"Check"}}"#), signal)?;
        }
        if self.random.share() < 0.10 { self.order(security, profit, signal) } else { Ok(()) }
    }

    fn order(
        &mut self,
        security: &mut Security,
        profit: &mut Profit,
        signal: Option<Guid>,
    ) -> io::Result<()> {
        self.time += 1 + self.random.below(32).cast_signed();
        let (order, chance) = (self.random.guid(), self.random.share());
        let (symbol, price) = (security.symbol.clone(), security.price);
        let is_buy = self.random.share() < 0.5;
        let direction = if is_buy { "Buy" } else { "Sell" };
        let quantity = 10 * (1 + self.random.below(16).cast_signed());
        if chance < 0.08 {
            let reasons = ["InsufficientMargin", "PostOnlyCross", "MarketClosed"];
            let reason = if chance < 0.03 {
                reasons[0]
            } else if chance < 0.06 {
                reasons[1]
            } else {
                reasons[2]
            };
            self.event(REJECTION, format_args!(r#"{{"OrderId":"{order}","SecuritySymbol":"{symbol}","RejectionReason":"{reason}","RequestedQuantity":{quantity},"RequestedPrice":{price:.4}}}"#), signal)?;
            return Ok(());
        }
        let placed = self.event(ORDER, format_args!(r#"{{"StateType":"Order","OrderStatus":"Placed","OrderId":"{order}","SecuritySymbol":"{symbol}","Direction":"{direction}","Quantity":{quantity},"Price":{price:.4},"ChangeReason":"Signal"}}"#), signal)?;
        if chance < 0.13 {
            self.time += 1000;
            self.event(ORDER, format_args!(r#"{{"StateType":"Order","OrderStatus":"Cancelled","OrderId":"{order}","SecuritySymbol":"{symbol}","ChangeReason":"Timeout"}}"#), placed)?;
            return Ok(());
        }
        if chance < 0.14 {
            return Ok(());
        }
        if self.made <= self.wanted / 2 {
            self.order = Some(order);
        }
        let half = quantity / 2;
        let parts = if chance < 0.8 { vec![quantity] } else { vec![half, quantity - half] };
        for part in parts {
            self.time += 1 + self.random.below(16).cast_signed();
            let slip = price * 0.0002 * self.random.share();
            let paid = if is_buy { price + slip } else { price - slip };
            security.fill(if is_buy { part } else { -part }, paid);
            let commission = 0.001 * paid * part as f64;
            let fill = self.event(FILL, format_args!(r#"{{"OrderId":"{order}","SecuritySymbol":"{symbol}","PositionId":"{symbol}-NET","Direction":"{direction}","Quantity":{part},"Price":{paid:.4},"Commission":{commission:.4},"Slippage":{slip:.5}}}"#), placed)?;
            if self.random.share() >= 0.01 {
                self.position(security, profit, fill)?;
            }
        }
        Ok(())
    }

    fn position(
        &mut self,
        security: &Security,
        profit: &mut Profit,
        fill: Option<Guid>,
    ) -> io::Result<()> {
        let Security { symbol, price, quantity, average, realized } = security;
        let open = (price - average) * *quantity as f64;
        let update = self.event(POSITION, format_args!(r#"{{"SecuritySymbol":"{symbol}","PositionId":"{symbol}-NET","Quantity":{quantity},"AveragePrice":{average:.6},"UnrealizedPnL":{open:.4},"RealizedPnL":{realized:.4}}}"#), fill)?;
        if self.random.share() < 0.3 {
            let (before, after) = (*profit, Profit { realized: *realized, unrealized: open });
            self.event(PROFIT, format_args!(r#"{{"StateType":"PnL","StateBefore":{{"RealizedPnL":{:.4},"UnrealizedPnL":{:.4}}},"StateAfter":{{"RealizedPnL":{:.4},"UnrealizedPnL":{:.4}}},"ChangeReason":"Fill"}}"#, before.realized, before.unrealized, after.realized, after.unrealized), update)?;
            *profit = after;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_every_line_is_an_event() {
        let make = |seed| {
            let mut out = Vec::new();
            let facts = write(&mut out, seed, 5000).unwrap();
            (facts, out)
        };
        let (facts, lines) = make(42);
        assert_eq!(lines, make(42).1);
        assert_ne!(lines, make(43).1);
        assert_eq!(facts.bytes, lines.len() as u64);
        let text = String::from_utf8(lines).unwrap();
        assert_eq!(text.lines().count(), 5000);
        for line in text.lines() {
            let (run, event) = panoply_backtest::line::parse(line).unwrap();
            assert_eq!((run, event.original), (Some(facts.run), None), "{line}");
        }
        assert!(text.contains(&facts.order.to_string()));
    }
}
