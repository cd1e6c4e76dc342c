//! Generated books with shorts, reversals, partial fills and two currencies: each lost position
//! update is found, and a complete book has none.

use std::sync::Arc;

use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;
use panoply_backtest::store::memory::MemoryStore;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::helpers::{OWN_RUN, call_tool, kernel, line, sealed};

/// Books that are generated.
const BOOKS: u64 = 8;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) % limit
    }
}

/// A position by average cost, written here without the code under test.
#[derive(Clone, Copy, Default)]
struct Position {
    quantity: i64,
    average: Decimal,
}

impl Position {
    fn fill(&mut self, signed: i64, price: Decimal) {
        let after = self.quantity + signed;
        if self.quantity == 0 || self.quantity.signum() == signed.signum() {
            let cost = self.average * Decimal::from(self.quantity) + price * Decimal::from(signed);
            self.average = cost / Decimal::from(after);
        } else if after == 0 {
            self.average = Decimal::ZERO;
        } else if after.signum() != self.quantity.signum() {
            self.average = price;
        }
        self.quantity = after;
    }
}

/// A book: its lines, and the event ids of the fills with their update's place among the lines.
struct Book {
    lines: Vec<String>,
    fills: Vec<(String, usize, &'static str)>,
    shorts: u32,
    reversals: u32,
}

/// Orders in two securities of two currencies, filled in one to three parts. Updates follow their
/// fill at once or up to 900 ms later, linked to it in every other book.
fn book(seed: u64) -> Book {
    let mut random = Random(seed);
    let is_linked = seed.is_multiple_of(2);
    let delay = if seed.is_multiple_of(3) { 0 } else { random.below(900) + 1 };
    let mut held =
        [("EUR/USD", "USD", Position::default()), ("USD/JPY", "JPY", Position::default())];
    let mut made = Book { lines: Vec::new(), fills: Vec::new(), shorts: 0, reversals: 0 };
    let mut number = 0;
    for order in 0..30 {
        let (symbol, currency, position) = &mut held[usize::from(random.below(2) == 1)];
        let side = if random.below(2) == 0 { 1 } else { -1 };
        for part in 0..=random.below(3) {
            let signed = side * i64::try_from(random.below(9) + 1).unwrap() * 10;
            let price = Decimal::new(i64::try_from(10_000 + random.below(500)).unwrap(), 2);
            let before = position.quantity;
            position.fill(signed, price);
            made.shorts += u32::from(position.quantity < 0);
            made.reversals += u32::from(before.signum() * position.quantity.signum() < 0);
            let at = |millis: u64| {
                format!("2025-01-01T{:02}:{:02}:{part:02}.{millis:03}Z", order / 60, order % 60)
            };
            let direction = if signed > 0 { "Buy" } else { "Sell" };
            let fill = format!(
                r#"{{"OrderId":"00000000-0000-4000-8000-{order:012}","SecuritySymbol":"{symbol}","Direction":"{direction}","Quantity":{},"Price":{price},"Currency":"{currency}"}}"#,
                signed.abs()
            );
            let update = format!(
                r#"{{"SecuritySymbol":"{symbol}","Quantity":{},"AveragePrice":{},"Currency":"{currency}"}}"#,
                position.quantity,
                position.average.round_dp(10)
            );
            number += 2;
            made.lines.push(line(OWN_RUN, number, &at(0), "TradeExecution", &fill, None));
            let id = format!("00000000-0000-4000-8000-{number:012x}");
            made.fills.push((id, made.lines.len(), *symbol));
            let parent = is_linked.then_some(number);
            let time = at(delay);
            made.lines.push(line(OWN_RUN, number + 1, &time, "PositionUpdate", &update, parent));
        }
    }
    made
}

/// The reconciled securities of the lines.
async fn securities(lines: &[String]) -> Vec<Value> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
    let arguments = json!({"runId": OWN_RUN});
    let reply = call_tool(&kernel(store), "reconcile_run", arguments).await.unwrap();
    reply["securities"].as_array().unwrap().clone()
}

#[tokio::test]
async fn complete_generated_books_have_no_fill_without_update() {
    let (mut shorts, mut reversals) = (0, 0);
    for seed in 0..BOOKS {
        let book = book(seed);
        (shorts, reversals) = (shorts + book.shorts, reversals + book.reversals);
        for own in securities(&book.lines).await {
            assert_eq!(own["fillsWithoutUpdate"], 0, "book {seed}: {own}");
        }
    }
    assert!(shorts > 50 && reversals > 10, "{shorts} shorts and {reversals} reversals");
}

#[tokio::test]
async fn each_lost_update_of_a_generated_book_is_found_at_its_fill() {
    for seed in 0..BOOKS {
        let book = book(seed);
        let mut random = Random(seed + 1000);
        let chosen = usize::try_from(random.below(book.fills.len() as u64)).unwrap();
        let (id, update, symbol) = &book.fills[chosen];
        let mut lines = book.lines.clone();
        lines.remove(*update);
        for own in securities(&lines).await {
            let is_lost = own["securitySymbol"] == **symbol;
            assert_eq!(own["fillsWithoutUpdate"], u64::from(is_lost), "book {seed}: {own}");
            let first = own["firstFillWithoutUpdate"].as_str();
            assert_eq!(first, is_lost.then_some(id.as_str()), "book {seed}");
        }
    }
}

#[tokio::test]
async fn parts_of_one_match_may_share_an_update() {
    let fill = |n: u32, time: &str| {
        let properties = r#"{"OrderId":"00000000-0000-4000-8000-0000000000aa","SecuritySymbol":"A","Direction":"Buy","Quantity":5,"Price":10}"#;
        line(OWN_RUN, n, time, "TradeExecution", properties, None)
    };
    let update = |n: u32, quantity: u32, time: &str| {
        let properties =
            format!(r#"{{"SecuritySymbol":"A","Quantity":{quantity},"AveragePrice":10}}"#);
        line(OWN_RUN, n, time, "PositionUpdate", &properties, None)
    };
    let at = |seconds: &str| format!("2025-01-01T00:00:{seconds}Z");
    let lines = [
        fill(1, &at("01.000")),
        fill(2, &at("01.000")),
        fill(3, &at("01.040")),
        update(4, 15, &at("01.300")),
        fill(5, &at("02.000")),
        update(6, 20, &at("02.000")),
    ];
    assert_eq!(securities(&lines).await[0]["fillsWithoutUpdate"], 0);
}

#[tokio::test]
async fn numbers_of_sixteen_and_seventeen_digits_keep_every_digit() {
    const NUMBERS: u32 = 4000;
    let mut random = Random(7);
    let texts: Vec<String> = (0..NUMBERS)
        .map(|n| {
            let digits = if n % 2 == 0 { 16 } else { 17 };
            let low = 10_u64.pow(digits - 1);
            let mantissa = low + random.below(9 * low);
            let scale = u32::try_from(random.below(u64::from(digits) + 1)).unwrap();
            let value = Decimal::from_i128_with_scale(i128::from(mantissa), scale);
            let value = if random.below(2) == 0 { value } else { -value };
            value.to_string()
        })
        .collect();
    let lines: Vec<String> = (0..NUMBERS)
        .zip(&texts)
        .map(|(n, text)| {
            let time = format!("2025-01-01T{:02}:{:02}:00.000Z", n / 60 % 24, n % 60);
            let properties = format!(r#"{{"IndicatorName":"X{n}","Value":{text}}}"#);
            line(OWN_RUN, n + 1, &time, "IndicatorCalculation", &properties, None)
        })
        .collect();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    sealed(Arc::clone(&store), RunHeader::default(), lines.join("\n").as_bytes());
    let kernel = kernel(store);
    let value_of = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Decimal::from_str_exact(&text).or_else(|_| Decimal::from_scientific(&text)).unwrap()
    };
    for format in ["events", "table"] {
        let mut seen = 0;
        for page in 0..NUMBERS / 1000 {
            let arguments = json!({
                "runId": OWN_RUN, "eventType": "IndicatorCalculation", "pageSize": 1000,
                "pageIndex": page, "maxTokens": 200_000, "format": format,
                "fields": ["IndicatorName", "Value"],
            });
            let reply = call_tool(&kernel, "get_events_by_type", arguments).await.unwrap();
            let rows: Vec<(Value, Value)> = match format {
                "events" => reply["events"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|own| &own["properties"])
                    .map(|own| (own["IndicatorName"].clone(), own["Value"].clone()))
                    .collect(),
                _ => reply["table"]["rows"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|row| (row[0].clone(), row[1].clone()))
                    .collect(),
            };
            for (name, value) in rows {
                let place: usize = name.as_str().unwrap()[1..].parse().unwrap();
                let expected = Decimal::from_str_exact(&texts[place]).unwrap();
                assert_eq!(value_of(&value), expected, "{format}: {} as {value}", texts[place]);
                seen += 1;
            }
        }
        assert_eq!(seen, NUMBERS, "{format}");
    }
}
