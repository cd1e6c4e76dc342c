//! Charles Schwab: JSON of brokerage transactions, and of equity awards for what vested shares
//! were worth.

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::Value;

use super::draft::{Drafts, Trade, amount, is_nothing, month_first};

/// Shares arrive some days after they vest.
const DAYS_BETWEEN_VESTING_AND_ARRIVAL: i64 = 7;

pub(super) fn read(text: &str, awards: Option<&str>, drafts: &mut Drafts) {
    let parsed: Result<Value, _> = serde_json::from_str(text);
    let rows = parsed
        .as_ref()
        .ok()
        .and_then(|value| value.get("BrokerageTransactions"))
        .and_then(Value::as_array);
    let Some(rows) = rows else {
        return drafts.not_recognised("expected JSON with `BrokerageTransactions`");
    };
    let awards = awards.map(|text| read_awards(text, drafts)).unwrap_or_default();
    let rows: Vec<Item<'_>> = (1..).zip(rows).map(|(line, value)| Item { line, value }).collect();
    let cancelled = cancelled_sales(&rows, drafts);
    let mut taxes: Vec<&Item<'_>> = rows.iter().filter(|item| is_tax(item.get("Action"))).collect();
    for item in rows.iter().filter(|item| !cancelled.contains(&item.line)) {
        match item.get("Action") {
            "Buy" | "Sell" | "Sell Short" | "Buy to Cover" => trade(item, drafts),
            "Stock Plan Activity" => vest(item, &awards, drafts),
            "Cash Dividend"
            | "Qualified Dividend"
            | "Special Dividend"
            | "Non-Qualified Div"
            | "Pr Yr Cash Div"
            | "Short Term Cap Gain"
            | "Long Term Cap Gain"
            | "Reinvest Dividend" => {
                let key = (item.date(), item.get("Symbol"));
                let place = taxes.iter().position(|tax| (tax.date(), tax.get("Symbol")) == key);
                let tax = place.map(|place| taxes.remove(place).get("Amount")).unwrap_or_default();
                drafts.dividend(
                    item.line,
                    item.date(),
                    item.get("Symbol"),
                    (item.get("Amount"), "USD"),
                    (tax, "USD"),
                );
            }
            "Stock Split" => drafts.warn(
                item.line,
                format!("a split of {}: add a SPLIT with its ratio by hand", item.get("Symbol")),
            ),
            "Cancel Sell" => {}
            action if is_tax(action) => {}
            action @ ("Wire Sent"
            | "Wire Received"
            | "Wire Funds"
            | "Wire Funds Received"
            | "Journal"
            | "MoneyLink Transfer"
            | "Credit Interest"
            | "Service Fee"
            | "Misc Cash Entry"
            | "Bank Interest"
            | "ADR Mgmt Fee"
            | "Adjustment"
            | "Funds Received") => {
                drafts.skip(action);
            }
            action => drafts.warn(item.line, format!("`{action}` is not understood and left out")),
        }
    }
    for tax in taxes {
        drafts.warn(
            tax.line,
            format!(
                "tax of {} on {} belongs to no dividend of that day and is left out",
                tax.get("Amount"),
                tax.get("Symbol")
            ),
        );
    }
}

/// One element of the list; its number stands for its line.
struct Item<'a> {
    line: u32,
    value: &'a Value,
}

impl<'a> Item<'a> {
    fn get(&self, name: &str) -> &'a str {
        self.value.get(name).and_then(Value::as_str).unwrap_or_default().trim()
    }

    /// `01/20/2024 as of 01/15/2024` happened on the second day.
    fn date(&self) -> Option<Date> {
        let text = self.get("Date");
        month_first(text.rsplit_once(" as of ").map_or(text, |(_, date)| date))
    }
}

fn is_tax(action: &str) -> bool {
    matches!(action, "NRA Tax Adj" | "NRA Withholding" | "Foreign Tax Paid")
}

fn trade(item: &Item<'_>, drafts: &mut Drafts) {
    let trade = Trade {
        date: item.date(),
        ticker: item.get("Symbol"),
        sells: item.get("Action").starts_with("Sell"),
        quantity: item.get("Quantity"),
        price: item.get("Price"),
        currency: "USD",
        fees: vec![(item.get("Fees & Comm"), "USD")],
    };
    drafts.trade(item.line, &trade);
}

/// Shares that vested, at what they were worth on that day.
fn vest(item: &Item<'_>, awards: &[Award], drafts: &mut Drafts) {
    let symbol = item.get("Symbol");
    let arrived = item.date();
    let vested = arrived.and_then(|arrived| {
        let earliest = arrived.checked_sub(DAYS_BETWEEN_VESTING_AND_ARRIVAL.days()).ok()?;
        let fits =
            |award: &&Award| award.symbol == symbol && (earliest..=arrived).contains(&award.date);
        awards.iter().filter(fits).max_by_key(|award| award.date)
    });
    let Some(award) = vested else {
        return drafts.warn(item.line, format!("{} shares of {symbol} vested, but no award says what they were worth; they are left out: give the awards file or add a BUY by hand", item.get("Quantity")));
    };
    let trade = Trade {
        date: Some(award.date),
        ticker: symbol,
        sells: false,
        quantity: item.get("Quantity"),
        price: &award.value,
        currency: "USD",
        fees: Vec::new(),
    };
    drafts.trade(item.line, &trade);
}

/// What a share was worth when it vested.
struct Award {
    date: Date,
    symbol: String,
    value: String,
}

fn read_awards(text: &str, drafts: &mut Drafts) -> Vec<Award> {
    let parsed: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(rows) =
        parsed.get("Transactions").or_else(|| parsed.get("EquityAwards")).and_then(Value::as_array)
    else {
        drafts.warn(1, "the awards file has no `Transactions` and is not used");
        return Vec::new();
    };
    let mut awards = Vec::new();
    for row in rows {
        let item = Item { line: 0, value: row };
        let details = row.get("TransactionDetails").and_then(Value::as_array);
        for detail in details.into_iter().flatten() {
            let detail = Item { line: 0, value: detail.get("Details").unwrap_or(detail) };
            let date = month_first(detail.get("VestDate")).or_else(|| item.date());
            let value = ["VestFairMarketValue", "FairMarketValuePrice", "PurchaseFairMarketValue"]
                .iter()
                .map(|name| detail.get(name))
                .find(|value| !is_nothing(value));
            if let (Some(date), Some(value)) = (date, value) {
                awards.push(Award {
                    date,
                    symbol: item.get("Symbol").to_owned(),
                    value: value.to_owned(),
                });
            }
        }
    }
    awards
}

/// Sales that a `Cancel Sell` takes back, by line.
fn cancelled_sales(rows: &[Item<'_>], drafts: &mut Drafts) -> Vec<u32> {
    let mut cancelled = Vec::new();
    let same = |a: &Item<'_>, b: &Item<'_>| {
        let numbers = |item: &Item<'_>| {
            (amount(item.get("Quantity")).map(|number| number.abs()), amount(item.get("Price")))
        };
        a.date() == b.date() && a.get("Symbol") == b.get("Symbol") && numbers(a) == numbers(b)
    };
    for cancel in rows.iter().filter(|item| item.get("Action") == "Cancel Sell") {
        let sale = rows.iter().find(|item| {
            item.get("Action") == "Sell" && !cancelled.contains(&item.line) && same(item, cancel)
        });
        match sale {
            Some(sale) => cancelled.push(sale.line),
            None => drafts.warn(
                cancel.line,
                format!("a cancelled sale of {} fits no sale", cancel.get("Symbol")),
            ),
        }
    }
    cancelled
}
