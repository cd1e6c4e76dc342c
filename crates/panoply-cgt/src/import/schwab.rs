//! Charles Schwab: JSON or CSV of brokerage transactions, and JSON of equity awards for what
//! vested shares were worth.

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::Value;

use super::csv::{Record, Sheet};
use super::draft::{Drafts, Trade, amount, is_nothing, month_first};
use super::schwab_awards;
use crate::json::places::Places;

/// Shares arrive some days after they vest.
const DAYS_BETWEEN_VESTING_AND_ARRIVAL: i64 = 7;

pub(super) fn read(text: &str, awards: Option<&str>, drafts: &mut Drafts) {
    let Some(rows) = transactions(text) else {
        if let Some(list) = list_of(text, "Transactions") {
            return schwab_awards::read(&list, drafts);
        }
        return drafts.not_recognised(
            "expected JSON with `BrokerageTransactions` or `Transactions`, or CSV with Date, Action, Symbol, Quantity, Price",
        );
    };
    let awards = awards.map(|text| read_awards(text, drafts)).unwrap_or_default();
    let cancelled = cancelled_trades(&rows, drafts);
    let mut taxes: Vec<&Item> = rows.iter().filter(|item| is_tax(item.get("Action"))).collect();
    for item in rows.iter().filter(|item| !cancelled.contains(&item.line)) {
        match item.get("Action") {
            "Buy" | "Sell" | "Sell Short" | "Buy to Cover" | "Reinvest Shares" => {
                trade(item, drafts);
            }
            "Stock Plan Activity" => vest(item, &awards, drafts),
            "Cash Dividend"
            | "Qualified Dividend"
            | "Special Dividend"
            | "Non-Qualified Div"
            | "Pr Yr Cash Div"
            | "Short Term Cap Gain"
            | "Long Term Cap Gain"
            | "Reinvest Dividend"
            | "Qual Div Reinvest"
            | "Div For Reinvest" => dividend(item, &mut taxes, drafts),
            "Stock Split" => drafts.warn(
                item.line,
                format!("a split of {}: add a SPLIT with its ratio by hand", item.get("Symbol")),
            ),
            "Cancel Sell" | "Cancel Buy" => {}
            action if is_tax(action) => {}
            action @ ("Wire Sent"
            | "Wire Received"
            | "Wire Funds"
            | "Wire Funds Received"
            | "Journal"
            | "MoneyLink Transfer"
            | "Credit Interest"
            | "Bond Interest"
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
    warn_of_taxes(&taxes, drafts);
}

/// The transactions of a brokerage account, from JSON or CSV.
fn transactions(text: &str) -> Option<Vec<Item>> {
    if let Some(list) = list_of(text, "BrokerageTransactions") {
        return Some(list);
    }
    let sheet = Sheet::find(text, &["date", "action", "symbol", "quantity", "price"])?;
    let item = |record: &Record| {
        let fields = sheet.fields(record);
        let members = fields.map(|(name, field)| (name.to_owned(), Value::from(field))).collect();
        Item { line: record.line, value: Value::Object(members) }
    };
    Some(sheet.records.iter().map(item).collect())
}

/// The list that the JSON has under `name`, each element with the line it starts on.
fn list_of(text: &str, name: &str) -> Option<Vec<Item>> {
    let mut parsed: Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}')).ok()?;
    let places = Places::of_member(text, name);
    let Some(Value::Array(list)) = parsed.get_mut(name).map(Value::take) else { return None };
    let item = |(index, value)| Item { line: places.element(index).line(), value };
    Some(list.into_iter().enumerate().map(item).collect())
}

/// A dividend with the tax of the same day that belongs to it.
pub(super) fn dividend(item: &Item, taxes: &mut Vec<&Item>, drafts: &mut Drafts) {
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

/// Tax that no dividend took.
pub(super) fn warn_of_taxes(taxes: &[&Item], drafts: &mut Drafts) {
    for tax in taxes {
        let (amount, symbol) = (tax.get("Amount"), tax.get("Symbol"));
        drafts.warn(
            tax.line,
            format!(
                "tax of {amount} on {symbol} belongs to no dividend of that day and is left out"
            ),
        );
    }
}

/// One transaction and the line it starts on.
pub(super) struct Item {
    pub(super) line: u32,
    pub(super) value: Value,
}

impl Item {
    /// A member by its name in any case: headings of a CSV are in lower case.
    pub(super) fn get(&self, name: &str) -> &str {
        member(&self.value, name)
    }

    /// `01/20/2024 as of 01/15/2024` happened on the second day.
    pub(super) fn date(&self) -> Option<Date> {
        let text = self.get("Date");
        month_first(text.rsplit_once(" as of ").map_or(text, |(_, date)| date))
    }
}

/// A text member by its name; empty when it is not there.
pub(super) fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    let exact = value.get(name).or_else(|| value.get(name.to_lowercase()));
    exact.and_then(Value::as_str).unwrap_or_default().trim()
}

/// What a transaction says about single awards or purchases.
pub(super) fn details(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.get("TransactionDetails").and_then(Value::as_array);
    list.into_iter().flatten().map(|detail| detail.get("Details").unwrap_or(detail))
}

fn is_tax(action: &str) -> bool {
    matches!(action, "NRA Tax Adj" | "NRA Withholding" | "Foreign Tax Paid")
}

fn trade(item: &Item, drafts: &mut Drafts) {
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
fn vest(item: &Item, awards: &[Award], drafts: &mut Drafts) {
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
    let Some(rows) = list_of(text, "Transactions").or_else(|| list_of(text, "EquityAwards")) else {
        drafts.warn(1, "the awards file has no `Transactions` and is not used");
        return Vec::new();
    };
    let mut awards = Vec::new();
    for row in &rows {
        for detail in details(&row.value) {
            let get = |name: &str| member(detail, name);
            let date = month_first(get("VestDate")).or_else(|| row.date());
            let value = ["VestFairMarketValue", "FairMarketValuePrice", "PurchaseFairMarketValue"]
                .iter()
                .map(|name| get(name))
                .find(|value| !is_nothing(value));
            if let (Some(date), Some(value)) = (date, value) {
                let (symbol, value) = (row.get("Symbol").to_owned(), value.to_owned());
                awards.push(Award { date, symbol, value });
            }
        }
    }
    awards
}

/// Trades that a `Cancel Sell` or `Cancel Buy` takes back, by line.
fn cancelled_trades(rows: &[Item], drafts: &mut Drafts) -> Vec<u32> {
    let mut cancelled = Vec::new();
    let same = |a: &Item, b: &Item| {
        let numbers = |item: &Item| {
            (amount(item.get("Quantity")).map(|number| number.abs()), amount(item.get("Price")))
        };
        a.date() == b.date() && a.get("Symbol") == b.get("Symbol") && numbers(a) == numbers(b)
    };
    for cancel in rows {
        let Some(action) = cancel.get("Action").strip_prefix("Cancel ") else { continue };
        let trade = rows.iter().find(|item| {
            item.get("Action") == action && !cancelled.contains(&item.line) && same(item, cancel)
        });
        match trade {
            Some(trade) => cancelled.push(trade.line),
            None if matches!(action, "Buy" | "Sell") => drafts.warn(
                cancel.line,
                format!(
                    "a cancelled {} of {} fits no trade",
                    action.to_lowercase(),
                    cancel.get("Symbol")
                ),
            ),
            None => {}
        }
    }
    cancelled
}
