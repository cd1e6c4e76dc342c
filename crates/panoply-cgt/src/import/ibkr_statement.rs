//! Interactive Brokers: the activity statement and the transaction history as CSV. Each row starts
//! with its section and `Header` or `Data`.
//!
//! The transaction history states gross amounts in the base currency of the account; they are the
//! facts, whatever the currency of the price.

use std::collections::HashMap;

use rust_decimal::Decimal;

use super::builder::{ImportBuilder, Trade, amount, iso_date};
use super::sheet::{Record, rows};

pub(super) fn matches(head: &str) -> bool {
    head.contains("Statement,Header,Field Name,Field Value")
        || head.contains("Trades,Header,DataDiscriminator")
        || head.contains("Transaction History,Header")
}

/// Sections by name: the headings that are in force.
type Headings = HashMap<String, Vec<String>>;

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let mut headings = Headings::new();
    let mut base = String::from("GBP");
    let mut account = String::new();
    let records = rows(text);
    let mut taxes: Vec<Payment> = Vec::new();
    let mut dividends: Vec<Payment> = Vec::new();
    for record in &records {
        let fields: Vec<&str> = record.texts().collect();
        let [section, kind, rest @ ..] = fields.as_slice() else { continue };
        match (*section, *kind) {
            (section, "Header") => {
                let names = rest.iter().map(|name| name.trim().to_lowercase()).collect();
                headings.insert(section.to_owned(), names);
            }
            ("Summary" | "Account Information", "Data") => match rest {
                ["Base Currency", currency, ..] => base = (*currency).to_owned(),
                ["Account", number, ..] => account = (*number).to_owned(),
                _ => {}
            },
            (section, "Data") => {
                let Some(names) = headings.get(section) else { continue };
                let get = |wanted: &str| field(names, rest, wanted);
                match section {
                    "Trades" => trade(record, &get, &account, builder),
                    "Transaction History" => {
                        history(record, &get, &base, builder, (&mut dividends, &mut taxes));
                    }
                    "Dividends" => dividends.extend(Payment::of(record, &get)),
                    "Withholding Tax" => taxes.extend(Payment::of(record, &get)),
                    "Corporate Actions" => builder.warn(
                        record.line,
                        format!("a corporate action is left out: {}", get("description")),
                    ),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    if headings.is_empty() {
        return builder.not_recognised("expected sections such as Trades or Transaction History");
    }
    pay(dividends, taxes, builder);
}

fn field<'a>(names: &[String], fields: &[&'a str], wanted: &str) -> &'a str {
    let column = names.iter().position(|name| name == wanted);
    column.and_then(|column| fields.get(column)).map_or("", |text| text.trim())
}

/// Rows of orders; lots and subtotals repeat them.
fn trade<'a>(
    record: &Record,
    get: &dyn Fn(&str) -> &'a str,
    account: &str,
    builder: &mut ImportBuilder,
) {
    if !matches!(get("datadiscriminator"), "Order" | "Trade" | "") {
        return;
    }
    let (category, symbol) = (get("asset category"), get("symbol"));
    if category != "Stocks" {
        return builder.unsupported(record.line, &category.to_lowercase(), symbol);
    }
    let (currency, fee) = (get("currency"), get("comm/fee"));
    builder.record("", get("date/time"), account, "");
    let trade = Trade {
        date: iso_date(get("date/time")),
        ticker: &symbol.replace(' ', "."),
        sells: get("quantity").starts_with('-'),
        quantity: get("quantity"),
        price: get("t. price"),
        currency,
        fees: vec![(fee, currency)],
        rate: "",
    };
    builder.trade(record.line, &trade);
}

fn history<'a>(
    record: &Record,
    get: &dyn Fn(&str) -> &'a str,
    base: &str,
    builder: &mut ImportBuilder,
    (dividends, taxes): (&mut Vec<Payment>, &mut Vec<Payment>),
) {
    let symbol = get("symbol").replace(' ', ".");
    let payment = || Payment {
        line: record.line,
        date: get("date").to_owned(),
        ticker: symbol.clone(),
        amount: get("gross amount").to_owned(),
        currency: base.to_owned(),
    };
    match get("transaction type") {
        kind @ ("Buy" | "Sell") => {
            let each = amount(get("gross amount"))
                .zip(amount(get("quantity")))
                .and_then(|(gross, quantity)| gross.checked_div(quantity))
                .map(|price| price.abs().round_dp(12).normalize().to_string());
            builder.record("", "", get("account"), "");
            let trade = Trade {
                date: iso_date(get("date")),
                ticker: &symbol,
                sells: kind == "Sell",
                quantity: get("quantity"),
                price: &each.unwrap_or_default(),
                currency: base,
                fees: vec![(get("commission"), base)],
                rate: "",
            };
            builder.trade(record.line, &trade);
        }
        "Dividend" | "Payment in Lieu" => dividends.push(payment()),
        "Foreign Tax Withholding" if symbol != "-" => taxes.push(payment()),
        "Forex Trade Component" => builder.unsupported(record.line, "currency", &symbol),
        "Credit Interest" => {
            builder.record("", "", get("account"), "");
            builder.interest(record.line, iso_date(get("date")), "", (get("gross amount"), base));
        }
        kind @ ("Deposit"
        | "Withdrawal"
        | "Debit Interest"
        | "Adjustment"
        | "Other Fee"
        | "Foreign Tax Withholding"
        | "Cash Transfer") => builder.skip(kind),
        kind => builder.warn(
            record.line,
            format!("`{kind}` is not understood and left out: {}", get("description")),
        ),
    }
}

/// A dividend, or tax withheld from one.
struct Payment {
    line: u32,
    date: String,
    ticker: String,
    amount: String,
    currency: String,
}

impl Payment {
    /// `AAPL(US0378331005) Cash Dividend USD 0.24 per Share`; totals have no date.
    fn of<'a>(record: &Record, get: &dyn Fn(&str) -> &'a str) -> Option<Self> {
        iso_date(get("date"))?;
        let ticker = get("description").split('(').next().unwrap_or_default().trim();
        Some(Self {
            line: record.line,
            date: get("date").to_owned(),
            ticker: ticker.replace(' ', "."),
            amount: get("amount").to_owned(),
            currency: get("currency").to_owned(),
        })
    }
}

/// Tax belongs to the dividend of the same day and ticker; corrections are added up.
fn pay(dividends: Vec<Payment>, mut taxes: Vec<Payment>, builder: &mut ImportBuilder) {
    for dividend in dividends {
        let same = |tax: &Payment| tax.date == dividend.date && tax.ticker == dividend.ticker;
        let withheld: Decimal =
            taxes.iter().filter(|tax| same(tax)).filter_map(|tax| amount(&tax.amount)).sum();
        taxes.retain(|tax| !same(tax));
        let tax = if withheld.is_zero() { String::new() } else { withheld.to_string() };
        builder.record("", "", "", "");
        builder.dividend(
            dividend.line,
            iso_date(&dividend.date),
            &dividend.ticker,
            (&dividend.amount, &dividend.currency),
            (&tax, &dividend.currency),
        );
    }
    for tax in taxes {
        builder.warn(
            tax.line,
            format!(
                "tax of {} on {} matches no dividend of that day and is left out",
                tax.amount, tax.ticker
            ),
        );
    }
}
