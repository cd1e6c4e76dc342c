//! Trading 212: CSV with Action, Time, Ticker, No. of shares, Price / share and fees.

use jiff::civil::Date;

use super::builder::{ImportBuilder, Trade, amount, iso_date};
use super::sheet::Sheet;
use crate::transaction::{Kind, Quantity};

const FEES: [&str; 7] = [
    "Stamp duty reserve tax",
    "Stamp duty",
    "Currency conversion fee",
    "Transaction fee",
    "Finra fee",
    "PTM levy",
    "French transaction tax",
];

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let Some(sheet) = Sheet::find(text, &["action", "time", "ticker", "no. of shares"]) else {
        return builder.not_recognised("expected the headings Action, Time, Ticker, No. of shares");
    };
    let mut split_rows: Vec<SplitRow<'_>> = Vec::new();
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (action, line) = (get("Action"), record.line);
        let lower = action.to_lowercase();
        let date = iso_date(get("Time"));
        builder.record(get("ID"), get("Time"), "", get("ISIN"));
        if lower.ends_with("buy") || lower.ends_with("sell") {
            let fees = FEES
                .iter()
                .flat_map(|fee| {
                    let split = (sheet.exact(record, fee), fee_currency(&sheet, record, fee));
                    [split, sheet.with_unit(record, fee)]
                })
                .collect();
            let trade = Trade {
                date,
                ticker: get("Ticker"),
                sells: lower.ends_with("sell"),
                quantity: get("No. of shares"),
                price: get("Price / share"),
                currency: get("Currency (Price / share)"),
                fees,
                rate: if in_pounds(&sheet, record) { get("Exchange rate") } else { "" },
            };
            builder.trade(line, &trade);
        } else if lower.starts_with("dividend") {
            dividend(&sheet, record, date, builder);
        } else if lower.starts_with("stock split") {
            let opens = lower.ends_with("open");
            split_rows.push(SplitRow {
                line,
                ticker: get("Ticker"),
                date,
                opens,
                shares: get("No. of shares"),
            });
        } else if lower.contains("interest") {
            builder.interest(line, date, "", (get("Total"), get("Currency (Total)")));
        } else if [
            "deposit",
            "withdrawal",
            "currency conversion",
            "spending",
            "card",
            "cashback",
            "result adjustment",
        ]
        .iter()
        .any(|word| lower.contains(word))
        {
            builder.skip(action);
        } else {
            builder.warn(line, format!("`{action}` is not understood and left out"));
        }
    }
    splits(split_rows, builder);
}

/// A row of a split: `Stock split close` removes the old shares, `open` adds the new ones.
struct SplitRow<'a> {
    line: u32,
    ticker: &'a str,
    date: Option<Date>,
    opens: bool,
    shares: &'a str,
}

fn splits(split_rows: Vec<SplitRow<'_>>, builder: &mut ImportBuilder) {
    let (mut opened, closed): (Vec<_>, Vec<_>) = split_rows.into_iter().partition(|row| row.opens);
    let mut alone = Vec::new();
    for old in closed {
        let same = |new: &SplitRow<'_>| (new.ticker, new.date) == (old.ticker, old.date);
        match opened.iter().position(same) {
            Some(index) => split(&old, &opened.remove(index), builder),
            None => alone.push(old),
        }
    }
    for row in alone.iter().chain(&opened) {
        let other = if row.opens { "closing" } else { "opening" };
        let ticker = row.ticker;
        builder.warn(row.line, format!("a split of {ticker} without its {other} row: add a SPLIT or UNSPLIT with its ratio manually"));
    }
}

fn split(old: &SplitRow<'_>, new: &SplitRow<'_>, builder: &mut ImportBuilder) {
    let shares = |row: &SplitRow<'_>| {
        let number = amount(row.shares)?.abs().normalize();
        Quantity::new(number)
    };
    let Some((date, ticker)) = builder.date_and_ticker(old.line, old.date, old.ticker) else {
        return;
    };
    match (shares(old), shares(new)) {
        (Some(old_shares), Some(new_shares)) => {
            let kind = Kind::Restruct { old: old_shares, new: new_shares };
            builder.push(old.line, date, ticker, kind);
        }
        _ => builder
            .warn(old.line, format!("a split of {ticker} is left out: its shares cannot be read")),
    }
}

/// Dividends are stated per share; the total is the product, before withholding tax.
fn dividend(
    sheet: &Sheet,
    record: &super::sheet::Record,
    date: Option<Date>,
    builder: &mut ImportBuilder,
) {
    let get = |name: &str| sheet.get(record, name);
    let shares = amount(get("No. of shares"));
    let each = amount(get("Price / share"));
    let total = shares.zip(each).and_then(|(shares, each)| shares.checked_mul(each));
    let total = total.map_or_else(String::new, |total| total.normalize().to_string());
    let tax = (get("Withholding tax"), get("Currency (Withholding tax)"));
    builder.dividend(
        record.line,
        date,
        get("Ticker"),
        (&total, get("Currency (Price / share)")),
        tax,
    );
}

/// Whether the account is in pounds, so that the exchange rate is units per pound.
fn in_pounds(sheet: &Sheet, record: &super::sheet::Record) -> bool {
    let (_, unit) = sheet.with_unit(record, "Total");
    sheet.exact(record, "Currency (Total)") == "GBP" || unit.eq_ignore_ascii_case("GBP")
}

fn fee_currency<'a>(sheet: &Sheet, record: &'a super::sheet::Record, fee: &str) -> &'a str {
    sheet.exact(record, &format!("Currency ({fee})"))
}
