//! Revolut: CSV with Date, Ticker, Type, Quantity, Price per share, Total Amount and Currency.

use rust_decimal::Decimal;

use super::csv::{Record, Sheet};
use super::draft::{Drafts, Trade, amount, iso_date};

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    let Some(sheet) = Sheet::find(text, &["date", "ticker", "type", "price per share"]) else {
        return drafts.not_recognised("expected the headings Date, Ticker, Type, Price per share");
    };
    let kind_of = |record: &Record| sheet.get(record, "Type").to_uppercase();
    let mut taxes: Vec<&Record> =
        sheet.records.iter().filter(|record| is_tax(&kind_of(record))).collect();
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (kind, line) = (kind_of(record), record.line);
        if kind.starts_with("BUY") || kind.starts_with("SELL") {
            trade(&sheet, record, kind.starts_with("SELL"), drafts);
        } else if is_tax(&kind) {
            // Stands with its dividend.
        } else if kind.starts_with("DIVIDEND") {
            let key = (get("Ticker"), iso_date(get("Date")));
            let same =
                |tax: &&Record| (sheet.get(tax, "Ticker"), iso_date(sheet.get(tax, "Date"))) == key;
            let tax = taxes.iter().position(same).map(|place| taxes.remove(place));
            let tax = tax.map_or(("", ""), |tax| {
                (sheet.get(tax, "Total Amount"), sheet.get(tax, "Currency"))
            });
            drafts.dividend(line, key.1, key.0, (get("Total Amount"), get("Currency")), tax);
        } else if kind.contains("SPLIT") {
            let (ticker, added) = (get("Ticker"), get("Quantity"));
            drafts.warn(line, format!("a split of {ticker} that brought {added} shares: add a SPLIT or UNSPLIT with its ratio by hand, for this file does not say how many were held"));
        } else if ["CASH", "CUSTODY", "FEE", "TRANSFER FROM", "TRANSFER TO"]
            .iter()
            .any(|word| kind.contains(word))
        {
            drafts.skip(get("Type"));
        } else {
            drafts.warn(line, format!("`{}` is not understood and left out", get("Type")));
        }
    }
    for tax in taxes {
        let (ticker, total) = (sheet.get(tax, "Ticker"), sheet.get(tax, "Total Amount"));
        drafts.warn(
            tax.line,
            format!(
                "tax of {total} on {ticker} belongs to no dividend of that day and is left out"
            ),
        );
    }
}

fn is_tax(kind: &str) -> bool {
    kind.starts_with("DIVIDEND TAX")
}

/// Revolut names no fees: they are what lies between price times quantity and the total.
fn trade(sheet: &Sheet, record: &Record, sells: bool, drafts: &mut Drafts) {
    let get = |name: &str| sheet.get(record, name);
    let (quantity, price, total) = (get("Quantity"), get("Price per share"), get("Total Amount"));
    let between = between(quantity, price, total, sells);
    let fee = between.filter(|fee| *fee > Decimal::ZERO).map(|fee| fee.to_string());
    let fee = fee.unwrap_or_default();
    let trade = Trade {
        date: iso_date(get("Date")),
        ticker: get("Ticker"),
        sells,
        quantity,
        price,
        currency: get("Currency"),
        fees: vec![(&fee, get("Currency"))],
    };
    drafts.trade(record.line, &trade);
    match between {
        Some(between) if between.is_sign_negative() => drafts.warn(record.line, format!("price times quantity is {} {} away from the total {total}, the wrong way for a fee; the price is kept", -between, trade.currency)),
        Some(_) => drafts.warn(record.line, format!("{fee} {} between price times quantity and the total {total} count as fees", trade.currency)),
        None => {}
    }
}

/// What was paid more, or received less, than price times quantity; nothing where the price's
/// missing decimals explain it.
fn between(quantity: &str, price: &str, total: &str, sells: bool) -> Option<Decimal> {
    let (quantity, price, total) =
        (amount(quantity)?.abs(), amount(price)?.abs(), amount(total)?.abs());
    let product = quantity.checked_mul(price)?;
    let difference = if sells { product - total } else { total - product };
    let half_a_unit = Decimal::new(5, price.scale() + 1);
    let rounding = quantity.checked_mul(half_a_unit)?.checked_add(Decimal::new(1, 2))?;
    (difference.abs() > rounding).then(|| difference.round_dp(2))
}
