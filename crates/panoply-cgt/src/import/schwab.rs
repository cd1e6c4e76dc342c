//! Charles Schwab: brokerage transactions as JSON or CSV, and equity awards as JSON for the value
//! of vested shares.

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::Value;

use super::builder::{ImportBuilder, Trade, amount, is_blank_or_zero, month_first};
use super::schwab_awards;
use super::sheet::{Record, Sheet};
use crate::json::positions::ElementPositions;

/// Vested shares arrive up to this many days later.
const MAX_SETTLEMENT_DAYS: i64 = 7;

pub(super) fn read(text: &str, awards: Option<&str>, builder: &mut ImportBuilder) {
    let Some(rows) = transactions(text) else {
        if let Some(list) = list_of(text, "Transactions").or_else(|| list_of(text, "transactions"))
        {
            return schwab_awards::read(&list, builder);
        }
        return builder.not_recognised(
            "expected JSON with `BrokerageTransactions` or `Transactions`, or CSV with Date, Action, Symbol, Quantity, Price",
        );
    };
    let awards = awards.map(|text| read_awards(text, builder)).unwrap_or_default();
    let cancelled = cancelled_trades(&rows, builder);
    let mut taxes: Vec<&Item> = rows.iter().filter(|item| is_tax(item.get("Action"))).collect();
    for item in rows.iter().filter(|item| !cancelled.contains(&item.line)) {
        match item.get("Action") {
            "Buy" | "Sell" | "Sell Short" | "Buy to Cover" | "Reinvest Shares" => {
                trade(item, builder);
            }
            "Stock Plan Activity" => vest(item, &awards, builder),
            "Cash Dividend"
            | "Qualified Dividend"
            | "Special Dividend"
            | "Non-Qualified Div"
            | "Pr Yr Cash Div"
            | "Short Term Cap Gain"
            | "Long Term Cap Gain"
            | "Reinvest Dividend"
            | "Qual Div Reinvest"
            | "Div For Reinvest" => dividend(item, &mut taxes, builder),
            "Stock Split" => builder.warn(
                item.line,
                format!("a split of {}: add a SPLIT with its ratio manually", item.get("Symbol")),
            ),
            "Credit Interest" | "Bond Interest" | "Bank Interest" => {
                let total = (item.get("Amount"), "USD");
                builder.interest(item.line, item.date(), item.get("Symbol"), total);
            }
            "Cash Merger" => cash_merger(item, &rows, builder),
            // Read with its Cash Merger.
            "Cash Merger Adj" => {}
            "Cancel Sell" | "Cancel Buy" => {}
            action if is_tax(action) => {}
            action @ ("Wire Sent"
            | "Wire Received"
            | "Wire Funds"
            | "Wire Funds Received"
            | "Journal"
            | "MoneyLink Transfer"
            | "Service Fee"
            | "Misc Cash Entry"
            | "ADR Mgmt Fee"
            | "Adjustment"
            | "Funds Received") => {
                builder.skip(action);
            }
            action => builder.warn(item.line, format!("`{action}` is not understood and left out")),
        }
    }
    warn_unmatched_taxes(&taxes, builder);
}

/// A takeover for cash: the payment is in one row, the number of shares in another of that day.
fn cash_merger(item: &Item, rows: &[Item], builder: &mut ImportBuilder) {
    let key = (item.date(), item.get("Symbol"));
    let shares = rows.iter().find(|other| {
        other.get("Action") == "Cash Merger Adj" && (other.date(), other.get("Symbol")) == key
    });
    let shares = shares.map(|other| other.get("Quantity")).unwrap_or_default();
    let paid = amount(item.get("Amount"));
    let each = paid.zip(amount(shares)).and_then(|(paid, shares)| paid.checked_div(shares.abs()));
    let Some(each) = each else {
        return builder.warn(
            item.line,
            format!(
                "the cash merger of {} has no row with its number of shares: add a SELL manually",
                item.get("Symbol")
            ),
        );
    };
    let trade = Trade {
        date: item.date(),
        ticker: item.get("Symbol"),
        sells: true,
        quantity: shares,
        price: &each.abs().round_dp(12).normalize().to_string(),
        currency: "USD",
        fees: vec![(item.get("Fees & Comm"), "USD")],
        rate: "",
    };
    builder.trade(item.line, &trade);
}

/// Brokerage transactions, from JSON or CSV.
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

/// Array under `name`, each element with its line.
fn list_of(text: &str, name: &str) -> Option<Vec<Item>> {
    let mut parsed: Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}')).ok()?;
    let positions = ElementPositions::of_member(text, name);
    let Some(Value::Array(list)) = parsed.get_mut(name).map(Value::take) else { return None };
    let item = |(index, value)| Item { line: positions.element(index).line(), value };
    Some(list.into_iter().enumerate().map(item).collect())
}

/// Adds a dividend with the tax withheld on the same day.
pub(super) fn dividend(item: &Item, taxes: &mut Vec<&Item>, builder: &mut ImportBuilder) {
    let key = (item.date(), item.get("Symbol"));
    let matching = taxes.iter().position(|tax| (tax.date(), tax.get("Symbol")) == key);
    let tax = matching.map(|index| taxes.remove(index).get("Amount")).unwrap_or_default();
    builder.dividend(
        item.line,
        item.date(),
        item.get("Symbol"),
        (item.get("Amount"), "USD"),
        (tax, "USD"),
    );
}

/// Warns about tax without a dividend.
pub(super) fn warn_unmatched_taxes(taxes: &[&Item], builder: &mut ImportBuilder) {
    for tax in taxes {
        let (amount, symbol) = (tax.get("Amount"), tax.get("Symbol"));
        builder.warn(
            tax.line,
            format!("tax of {amount} on {symbol} matches no dividend of that day and is left out"),
        );
    }
}

/// A transaction and its line.
pub(super) struct Item {
    pub(super) line: u32,
    pub(super) value: Value,
}

impl Item {
    /// Member by name, ignoring case: CSV headings are in lower case.
    pub(super) fn get(&self, name: &str) -> &str {
        member(&self.value, name)
    }

    /// `01/20/2024 as of 01/15/2024` is dated 15 January.
    pub(super) fn date(&self) -> Option<Date> {
        // The first version of the equity awards file says `eventDate`.
        let text =
            if self.get("Date").is_empty() { self.get("EventDate") } else { self.get("Date") };
        month_first(text.rsplit_once(" as of ").map_or(text, |(_, date)| date))
    }
}

/// String member; empty when missing.
pub(super) fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    let members = value.as_object();
    let found = members.and_then(|members| {
        members.get(name).or_else(|| {
            members
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
        })
    });
    found.and_then(Value::as_str).unwrap_or_default().trim()
}

/// Award or purchase details of a transaction.
pub(super) fn details(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.get("TransactionDetails").or_else(|| value.get("transactionDetails"));
    let list = list.and_then(Value::as_array);
    list.into_iter().flatten().map(|detail| detail.get("Details").unwrap_or(detail))
}

fn is_tax(action: &str) -> bool {
    matches!(action, "NRA Tax Adj" | "NRA Withholding" | "Foreign Tax Paid")
}

fn trade(item: &Item, builder: &mut ImportBuilder) {
    let trade = Trade {
        date: item.date(),
        ticker: item.get("Symbol"),
        sells: item.get("Action").starts_with("Sell"),
        quantity: item.get("Quantity"),
        price: item.get("Price"),
        currency: "USD",
        fees: vec![(item.get("Fees & Comm"), "USD")],
        rate: "",
    };
    builder.trade(item.line, &trade);
}

/// Adds vested shares at their market value on the vesting day.
fn vest(item: &Item, awards: &[Award], builder: &mut ImportBuilder) {
    let symbol = item.get("Symbol");
    let arrived = item.date();
    let vested = arrived.and_then(|arrived| {
        let earliest = arrived.checked_sub(MAX_SETTLEMENT_DAYS.days()).ok()?;
        let fits =
            |award: &&Award| award.symbol == symbol && (earliest..=arrived).contains(&award.date);
        awards.iter().filter(fits).max_by_key(|award| award.date)
    });
    let Some(award) = vested else {
        return builder.warn(item.line, format!("{} shares of {symbol} vested, but no award says what they were worth; they are left out: give the awards file or add a BUY manually", item.get("Quantity")));
    };
    let trade = Trade {
        date: Some(award.date),
        ticker: symbol,
        sells: false,
        quantity: item.get("Quantity"),
        price: &award.value,
        currency: "USD",
        fees: Vec::new(),
        rate: "",
    };
    builder.trade(item.line, &trade);
}

/// Market value of a share at vesting.
struct Award {
    date: Date,
    symbol: String,
    value: String,
}

fn read_awards(text: &str, builder: &mut ImportBuilder) -> Vec<Award> {
    let Some(rows) = list_of(text, "Transactions").or_else(|| list_of(text, "EquityAwards")) else {
        builder.warn(1, "the awards file has no `Transactions` and is not used");
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
                .find(|value| !is_blank_or_zero(value));
            if let (Some(date), Some(value)) = (date, value) {
                let (symbol, value) = (row.get("Symbol").to_owned(), value.to_owned());
                awards.push(Award { date, symbol, value });
            }
        }
    }
    awards
}

/// Lines of trades reversed by a `Cancel Sell` or `Cancel Buy`.
fn cancelled_trades(rows: &[Item], builder: &mut ImportBuilder) -> Vec<u32> {
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
            None if matches!(action, "Buy" | "Sell") => builder.warn(
                cancel.line,
                format!(
                    "a cancelled {} of {} matches no trade",
                    action.to_lowercase(),
                    cancel.get("Symbol")
                ),
            ),
            None => {}
        }
    }
    cancelled
}
