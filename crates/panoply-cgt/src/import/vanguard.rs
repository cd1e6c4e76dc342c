//! Vanguard UK: the sheets of its report, saved as CSV. Investment Transactions has Date,
//! InvestmentName, TransactionDetails, Quantity, Price and Cost; Cash Transactions has Date,
//! Details, Amount and Balance, and is the only one with dividends. A file may have either or both,
//! one below the other.

use super::builder::{ImportBuilder, Trade, amount, day_first};
use super::sheet::{Record, Sheet};

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let investments =
        Sheet::find(text, &["date", "investmentname", "transactiondetails", "quantity", "price"]);
    let cash = Sheet::find(text, &["date", "details", "amount", "balance"]);
    if investments.is_none() && cash.is_none() {
        return builder.not_recognised(
            "expected the headings Date, InvestmentName, TransactionDetails, Quantity, Price, or Date, Details, Amount, Balance",
        );
    }
    let end = |sheet: &Sheet, other: Option<&Sheet>| {
        other.map(|other| other.line).filter(|line| *line > sheet.line).unwrap_or(u32::MAX)
    };
    if let Some(sheet) = &investments {
        let end = end(sheet, cash.as_ref());
        for record in sheet.records.iter().filter(|record| record.line < end) {
            investment(sheet, record, builder);
        }
    }
    if let Some(sheet) = &cash {
        let end = end(sheet, investments.as_ref());
        let rows: Vec<&Record> = sheet.records.iter().filter(|record| record.line < end).collect();
        cash_rows(sheet, &rows, investments.is_some(), builder);
    }
}

/// Titles between the sheets, and totals.
fn is_frame(sheet: &Sheet, record: &Record) -> bool {
    record.width() <= 1 || matches!(sheet.get(record, "Date"), "Balance" | "Cost")
}

fn investment(sheet: &Sheet, record: &Record, builder: &mut ImportBuilder) {
    let get = |name: &str| sheet.get(record, name);
    let (name, details, line) = (get("InvestmentName"), get("TransactionDetails"), record.line);
    let lower = details.to_lowercase();
    let negative = amount(get("Quantity")).is_some_and(|quantity| quantity.is_sign_negative());
    let sells = lower.starts_with("sold") || lower.starts_with("sell") || negative;
    let buys =
        lower.starts_with("bought") || lower.starts_with("buy") || lower.contains("reinvest");
    if sells || buys {
        let ticker = ticker_in(name).or_else(|| ticker_in(details)).unwrap_or_else(|| slug(name));
        let trade = Trade {
            date: day_first(get("Date")),
            ticker: &ticker,
            sells,
            quantity: get("Quantity"),
            price: get("Price"),
            currency: "GBP",
            fees: Vec::new(),
            rate: "",
        };
        builder.trade(line, &trade);
    } else if is_frame(sheet, record) {
        // Not about shares.
    } else if ["dividend", "deposit", "fee", "interest"].iter().any(|word| lower.contains(word)) {
        builder.skip(details);
    } else {
        builder.warn(line, format!("`{details}` is not understood and left out"));
    }
}

fn cash_rows(
    sheet: &Sheet,
    rows: &[&Record],
    trades_stand_elsewhere: bool,
    builder: &mut ImportBuilder,
) {
    let mut reversed: Vec<&Record> = rows
        .iter()
        .copied()
        .filter(|row| sheet.get(row, "Details").starts_with(REVERSAL))
        .collect();
    for record in rows {
        let details = sheet.get(record, "Details");
        if let Some(dividend) = details.strip_prefix("DIV:") {
            let takes_back = |row: &&Record| {
                let (of, amount) = (sheet.get(row, "Details"), sheet.get(row, "Amount"));
                of.strip_prefix(REVERSAL).map(str::trim) == Some(details)
                    && amount.strip_prefix('-') == Some(sheet.get(record, "Amount"))
            };
            if let Some(index) = reversed.iter().position(takes_back) {
                reversed.remove(index);
                continue;
            }
            let ticker = dividend.split(['.', '@']).next().unwrap_or_default().trim();
            let total = (sheet.get(record, "Amount"), "GBP");
            builder.dividend(
                record.line,
                day_first(sheet.get(record, "Date")),
                ticker,
                total,
                ("", ""),
            );
        } else if details.starts_with(REVERSAL) || is_frame(sheet, record) {
            // Reversals are handled with their dividend; titles and totals are not transactions.
        } else if details.starts_with("Bought ") || details.starts_with("Sold ") {
            if !trades_stand_elsewhere {
                cash_trade(sheet, record, builder);
            }
        } else {
            cash_only(details, record.line, builder);
        }
    }
    for record in reversed {
        let details = sheet.get(record, "Details");
        builder
            .warn(record.line, format!("`{details}` reverses a dividend that is not in this file"));
    }
}

const REVERSAL: &str = "Reversal of ";

fn cash_only(details: &str, line: u32, builder: &mut ImportBuilder) {
    let lower = details.to_lowercase();
    let known = ["deposit", "interest", "fee", "payment", "withdrawal", "transfer"];
    match known.iter().find(|word| lower.contains(*word)) {
        Some(word) => builder.skip(word),
        None => builder.warn(line, format!("`{details}` is not understood and left out")),
    }
}

/// `Bought 1,550 Foo ETF Distributing (FOO)`, with the total cost as the amount.
fn cash_trade(sheet: &Sheet, record: &Record, builder: &mut ImportBuilder) {
    let details = sheet.get(record, "Details");
    let mut words = details.splitn(3, ' ');
    let (action, quantity, name) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let price = amount(sheet.get(record, "Amount"))
        .zip(amount(quantity))
        .and_then(|(total, quantity)| total.abs().checked_div(quantity))
        // Twelve decimals: a trillionth of a pound cannot change a penny.
        .map(|price| price.round_dp(PRICE_DECIMALS).normalize());
    let price = price.map_or_else(String::new, |price| price.to_string());
    let ticker = ticker_in(name).unwrap_or_else(|| slug(name));
    let trade = Trade {
        date: day_first(sheet.get(record, "Date")),
        ticker: &ticker,
        sells: action == "Sold",
        quantity,
        price: &price,
        currency: "GBP",
        fees: Vec::new(),
        rate: "",
    };
    builder.trade(record.line, &trade);
}

const PRICE_DECIMALS: u32 = 12;

/// Ticker in brackets at the end of a name: `S&P 500 UCITS ETF (VUSA)`.
fn ticker_in(name: &str) -> Option<String> {
    let (_, rest) = name.rsplit_once('(')?;
    let (ticker, _) = rest.split_once(')')?;
    let fits = (2..=6).contains(&ticker.len())
        && ticker.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    fits.then(|| ticker.to_owned())
}

/// Converts a name to a ticker: letters and digits, words joined by dashes.
pub(super) fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_uppercase().chars().take(50).collect()
}
