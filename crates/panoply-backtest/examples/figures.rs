//! How fast a run is sealed and asked, on synthetic events.
//!
//! ```text
//! cargo run --release -p panoply-backtest --example figures -- 1000000
//! ```
//!
//! With the feature `tools` (the default) the same questions go to a plain SQLite table of
//! events with `json_extract`, in the same process, for comparison.

#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use panoply_backtest::event::{EventType, Guid};
use panoply_backtest::import::{Import, native};
use panoply_backtest::query::aggregate::Question;
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::query::selection::{Entity, Filter};
use panoply_backtest::query::sequence::{Pattern, Step};
use panoply_backtest::query::snapshot::View;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::timestamp::Timestamp;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let wanted: u32 = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse())?;
    let mut out = std::io::stdout().lock();
    let run = Guid::new(0x5eed_0000_0000_4000_8000_0000_0000_0001);
    let lines = generate(run, wanted);
    writeln!(out, "{wanted} events, {} MB of JSONL", lines.len() >> 20)?;

    let store = Arc::new(MemoryStore::default());
    let began = Instant::now();
    let clock = Arc::new(move || began.elapsed());
    let mut import = Import::new(
        Arc::clone(&store) as Arc<dyn Store>,
        Some(run),
        RunHeader::default(),
        Timestamp::from_nanos(0),
        clock,
    );
    native::read(lines.as_slice(), &mut import, &mut |_| {}, &|| false)?;
    let taken = began.elapsed();
    import.seal(&mut |_, _| {}, &|| false)?;
    let sealed = began.elapsed();
    let rate = f64::from(wanted) / sealed.as_secs_f64();
    writeln!(out, "taken in {taken:.2?}, sealed after {sealed:.2?}: {rate:.0} events/s")?;

    let blobs = store.sealed(run)?;
    let sealed = SealedRun::open(run, blobs, Cache::new(96 << 20))?;
    ask(&sealed, &mut out)?;
    #[cfg(feature = "tools")]
    peer::ask(&lines, &mut out)?;
    Ok(())
}

/// The median and the worst of some repetitions, the first of which finds nothing unpacked.
fn time(
    out: &mut impl std::io::Write,
    name: &str,
    mut work: impl FnMut() -> Outcome<u64>,
) -> Outcome<()> {
    let mut times: Vec<Duration> = Vec::new();
    let mut answer = 0;
    for _ in 0..21 {
        let began = Instant::now();
        answer = work()?;
        times.push(began.elapsed());
    }
    let first = times.first().copied().unwrap_or_default();
    times.sort_unstable();
    let median = times.get(10).copied().unwrap_or_default();
    writeln!(out, "  {name:<40} first {first:>10.1?}  median {median:>10.1?}  ({answer})")?;
    Ok(())
}

fn ask(run: &SealedRun, out: &mut impl std::io::Write) -> Outcome<()> {
    let whole = run.between(None, None)?;
    let page = |filter: &Filter, last: bool| -> Outcome<u64> {
        let selection = run.select(filter, whole.clone())?;
        let from = if last { selection.total().saturating_sub(100) } else { 0 };
        let mut bytes = 0;
        for seq in selection.page(from, 100) {
            let event = run.event(seq)?;
            bytes += panoply_backtest::line::printed(run.id(), &run.original_event(&event)?).len()
                as u64;
        }
        Ok(bytes)
    };
    writeln!(out, "sealed run:")?;
    for kind in EventType::ALL {
        let filter = Filter { types: vec![*kind], ..Filter::default() };
        time(out, &format!("{kind}, first page"), || page(&filter, false))?;
        time(out, &format!("{kind}, last page"), || page(&filter, true))?;
    }
    let filter = Filter { entity: Some((Entity::Symbol, "SYM03".to_owned())), ..Filter::default() };
    time(out, "SYM03, last page", || page(&filter, true))?;
    let middle = Timestamp::from_nanos(i64::midpoint(run.head().first, run.head().last));
    time(out, "six aggregates of all prices", || {
        let question =
            Question { event_type: EventType::TradeExecution, path: "Price", range: whole.clone() };
        Ok(run.aggregate(&question, &|| false)?.1.count)
    })?;
    time(out, "six aggregates of half the indicators", || {
        let range = run.between(None, Some(middle))?;
        let question =
            Question { event_type: EventType::IndicatorCalculation, path: "Value", range };
        Ok(run.aggregate(&question, &|| false)?.1.count)
    })?;
    let view = View { symbol: None, indicators: true, orders: Some(500) };
    time(out, "snapshot in the middle", || {
        Ok(run.snapshot(middle, &view, &|| false)?.open_orders as u64)
    })?;
    time(out, "snapshot at the end", || {
        Ok(run.snapshot(Timestamp::MAX, &view, &|| false)?.open_orders as u64)
    })?;
    let steps = vec![Step::Type(EventType::TradeExecution), Step::Type(EventType::PositionUpdate)];
    let pattern = Pattern { steps, max_depth: 10 };
    time(out, "fills without a position update", || {
        Ok(run.chains(&pattern, true, &|| false)?.len() as u64)
    })?;
    Ok(())
}

/// Events of a made-up strategy on eight securities; the same for the same number.
fn generate(run: Guid, wanted: u32) -> Vec<u8> {
    let mut maker =
        Maker { state: 42, run, text: String::new(), made: 0, wanted, time: 1_577_923_200_000 };
    let mut prices = [100.0_f64; 8];
    while maker.made < wanted {
        maker.time += 60_000;
        for (place, price) in prices.iter_mut().enumerate() {
            *price *= 1.0 + (maker.share() - 0.5) * 0.002;
            maker.bar(place, *price);
        }
    }
    maker.text.into_bytes()
}

struct Maker {
    state: u64,
    run: Guid,
    text: String,
    made: u32,
    wanted: u32,
    time: i64,
}

impl Maker {
    /// Xorshift64*.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn id(&mut self) -> Guid {
        Guid::new(u128::from(self.next()) << 64 | u128::from(self.next()))
    }

    fn event(
        &mut self,
        kind: &str,
        severity: &str,
        category: &str,
        properties: &str,
        parent: Option<Guid>,
    ) -> Option<Guid> {
        if self.made >= self.wanted {
            return None;
        }
        self.made += 1;
        let id = self.id();
        let time = Timestamp::from_nanos(self.time * 1_000_000).with_millis();
        let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
        let run = self.run;
        let _ = writeln!(
            self.text,
            r#"{{"eventId":"{id}","runId":"{run}","timestamp":"{time}","eventType":"{kind}","severity":"{severity}","category":"{category}","properties":{properties},"parentEventId":{parent},"validationErrors":null}}"#
        );
        Some(id)
    }

    fn bar(&mut self, place: usize, price: f64) {
        let symbol = format!("SYM{place:02}");
        let (high, low, volume) = (price * 1.0003, price * 0.9997, self.next() >> 52);
        let bar = self.event("MarketDataEvent", "Debug", "MarketData", &format!(r#"{{"SecuritySymbol":"{symbol}","DataType":"Candle","Data":{{"Open":{price:.4},"High":{high:.4},"Low":{low:.4},"Close":{price:.4},"Volume":{volume}}}}}"#), None);
        let average = price * (1.0 + 0.002 * (self.share() - 0.5));
        let signal = self.event("IndicatorCalculation", "Debug", "Indicators", &format!(r#"{{"IndicatorName":"SMA_10","SecuritySymbol":"{symbol}","Value":{average:.6},"Parameters":{{"Period":10}}}}"#), bar);
        let strength = 100.0 * self.share();
        self.event("IndicatorCalculation", "Debug", "Indicators", &format!(r#"{{"IndicatorName":"RSI_14","SecuritySymbol":"{symbol}","Value":{strength:.4},"Parameters":{{"Period":14}}}}"#), bar);
        if self.share() < 0.02 {
            let value = self.next() >> 53;
            self.event("RiskEvent", "Warning", "Risk", &format!(r#"{{"RiskType":"MaxExposure","SecuritySymbol":"{symbol}","Threshold":1000,"CurrentValue":{value},"Action":"Check"}}"#), signal);
        }
        if self.share() < 0.10 {
            self.order(&symbol, price, signal);
        }
    }

    fn order(&mut self, symbol: &str, price: f64, signal: Option<Guid>) {
        let (order, chance) = (self.id(), self.share());
        let quantity = 10 * (1 + (self.next() >> 60));
        if chance < 0.08 {
            self.event("OrderRejection", "Error", "Execution", &format!(r#"{{"OrderId":"{order}","SecuritySymbol":"{symbol}","RejectionReason":"InsufficientMargin","RequestedQuantity":{quantity},"RequestedPrice":{price:.4}}}"#), signal);
            return;
        }
        let placed = self.event("StateChange", "Info", "Execution", &format!(r#"{{"StateType":"Order","OrderStatus":"Placed","OrderId":"{order}","SecuritySymbol":"{symbol}","Direction":"Buy","Quantity":{quantity},"Price":{price:.4},"ChangeReason":"Signal"}}"#), signal);
        if chance < 0.09 {
            return;
        }
        let commission = 0.001 * price;
        let fill = self.event("TradeExecution", "Info", "Execution", &format!(r#"{{"OrderId":"{order}","SecuritySymbol":"{symbol}","PositionId":"{symbol}-NET","Direction":"Buy","Quantity":{quantity},"Price":{price:.4},"Commission":{commission:.4},"Slippage":0.01}}"#), placed);
        if chance < 0.99 {
            self.event("PositionUpdate", "Info", "Performance", &format!(r#"{{"SecuritySymbol":"{symbol}","PositionId":"{symbol}-NET","Quantity":{quantity},"AveragePrice":{price:.6},"UnrealizedPnL":0.5,"RealizedPnL":1.25}}"#), fill);
        }
    }
}

#[cfg(feature = "tools")]
mod peer {
    //! The contract's own SQL on a plain table.

    use rusqlite::Connection;

    use super::{Outcome, time};

    pub(super) fn ask(lines: &[u8], out: &mut impl std::io::Write) -> Outcome<()> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE TABLE Events (Id INTEGER PRIMARY KEY, Timestamp TEXT, EventType TEXT, Properties TEXT);
             CREATE INDEX ByType ON Events (EventType); CREATE INDEX ByTime ON Events (Timestamp);",
        )?;
        let transaction = connection.transaction()?;
        {
            let mut insert = transaction.prepare(
                "INSERT INTO Events (Timestamp, EventType, Properties) VALUES (?1, ?2, ?3)",
            )?;
            for line in std::str::from_utf8(lines)?.lines() {
                let (_, event) = panoply_backtest::line::parse(line)?;
                insert.execute((
                    event.timestamp.with_millis(),
                    event.event_type.as_str(),
                    &*event.properties,
                ))?;
            }
        }
        transaction.commit()?;
        writeln!(out, "plain SQLite with json_extract:")?;
        let one = |sql: &str| -> Outcome<u64> {
            Ok(connection.query_row(sql, (), |row| row.get::<_, i64>(0))?.cast_unsigned())
        };
        time(out, "IndicatorCalculation, last page", || {
            one(
                "SELECT max(length(Properties)) FROM (SELECT Properties FROM Events WHERE EventType = 'IndicatorCalculation' ORDER BY Timestamp LIMIT 100 OFFSET (SELECT count(*) - 100 FROM Events WHERE EventType = 'IndicatorCalculation'))",
            )
        })?;
        time(out, "SYM03, last page", || {
            one(
                "SELECT count(*) FROM Events WHERE json_extract(Properties, '$.SecuritySymbol') = 'SYM03'",
            )
        })?;
        time(out, "aggregates of all prices", || {
            one(
                "SELECT count(*) + 0 * avg(CAST(json_extract(Properties, '$.Price') AS REAL)) + 0 * max(CAST(json_extract(Properties, '$.Price') AS REAL)) FROM Events WHERE EventType = 'TradeExecution'",
            )
        })?;
        Ok(())
    }
}
