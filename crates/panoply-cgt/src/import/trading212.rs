//! Trading 212: CSV with Action, Time, Ticker, No. of shares, Price / share and fees.

use jiff::civil::Date;

use super::csv::Sheet;
use super::draft::{Drafts, Trade, amount, iso_date};
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

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    let Some(sheet) = Sheet::find(text, &["action", "time", "ticker", "no. of shares"]) else {
        return drafts.not_recognised("expected the headings Action, Time, Ticker, No. of shares");
    };
    let mut halves: Vec<Half<'_>> = Vec::new();
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (action, line) = (get("Action"), record.line);
        let lower = action.to_lowercase();
        let date = iso_date(get("Time"));
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
            };
            drafts.trade(line, &trade);
        } else if lower.starts_with("dividend") {
            dividend(&sheet, record, date, drafts);
        } else if lower.starts_with("stock split") {
            let opens = lower.ends_with("open");
            halves.push(Half {
                line,
                ticker: get("Ticker"),
                date,
                opens,
                shares: get("No. of shares"),
            });
        } else if [
            "deposit",
            "withdrawal",
            "interest",
            "currency conversion",
            "spending",
            "card",
            "cashback",
            "result adjustment",
        ]
        .iter()
        .any(|word| lower.contains(word))
        {
            drafts.skip(action);
        } else {
            drafts.warn(line, format!("`{action}` is not understood and left out"));
        }
    }
    splits(halves, drafts);
}

/// Half of a split: the old shares go as `Stock split close`, the new ones come as `open`.
struct Half<'a> {
    line: u32,
    ticker: &'a str,
    date: Option<Date>,
    opens: bool,
    shares: &'a str,
}

fn splits(halves: Vec<Half<'_>>, drafts: &mut Drafts) {
    let (mut opened, closed): (Vec<_>, Vec<_>) = halves.into_iter().partition(|half| half.opens);
    let mut alone = Vec::new();
    for old in closed {
        let same = |new: &Half<'_>| (new.ticker, new.date) == (old.ticker, old.date);
        match opened.iter().position(same) {
            Some(place) => split(&old, &opened.remove(place), drafts),
            None => alone.push(old),
        }
    }
    for half in alone.iter().chain(&opened) {
        let other = if half.opens { "closing" } else { "opening" };
        let ticker = half.ticker;
        drafts.warn(half.line, format!("a split of {ticker} without its {other} row: add a SPLIT or UNSPLIT with its ratio by hand"));
    }
}

fn split(old: &Half<'_>, new: &Half<'_>, drafts: &mut Drafts) {
    let shares = |half: &Half<'_>| {
        let number = amount(half.shares)?.abs().normalize();
        Quantity::new(number)
    };
    let Some((date, ticker)) = drafts.date_and_ticker(old.line, old.date, old.ticker) else {
        return;
    };
    match (shares(old), shares(new)) {
        (Some(old_shares), Some(new_shares)) => {
            let kind = Kind::Restruct { old: old_shares, new: new_shares };
            drafts.push(old.line, date, ticker, kind);
        }
        _ => drafts
            .warn(old.line, format!("a split of {ticker} is left out: its shares cannot be read")),
    }
}

/// Dividends are told per share; the total is the product, the tax is kept back from it.
fn dividend(sheet: &Sheet, record: &super::csv::Record, date: Option<Date>, drafts: &mut Drafts) {
    let get = |name: &str| sheet.get(record, name);
    let shares = amount(get("No. of shares"));
    let each = amount(get("Price / share"));
    let total = shares.zip(each).and_then(|(shares, each)| shares.checked_mul(each));
    let total = total.map_or_else(String::new, |total| total.normalize().to_string());
    let tax = (get("Withholding tax"), get("Currency (Withholding tax)"));
    drafts.dividend(
        record.line,
        date,
        get("Ticker"),
        (&total, get("Currency (Price / share)")),
        tax,
    );
}

fn fee_currency<'a>(sheet: &Sheet, record: &'a super::csv::Record, fee: &str) -> &'a str {
    sheet.exact(record, &format!("Currency ({fee})"))
}
