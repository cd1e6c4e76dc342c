//! Revolut: CSV with Date, Ticker, Type, Quantity, Price per share, Total Amount and Currency.

use rust_decimal::Decimal;

use super::builder::{ImportBuilder, Trade, amount, iso_date};
use super::sheet::{Record, Sheet};

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let Some(sheet) = Sheet::find(text, &["date", "ticker", "type", "price per share"]) else {
        return builder.not_recognised("expected the headings Date, Ticker, Type, Price per share");
    };
    let kind_of = |record: &Record| sheet.get(record, "Type").to_uppercase();
    let mut taxes: Vec<&Record> =
        sheet.records.iter().filter(|record| is_tax(&kind_of(record))).collect();
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (kind, line) = (kind_of(record), record.line);
        builder.record("", get("Date"), "", get("ISIN"));
        if kind.starts_with("BUY") || kind.starts_with("SELL") {
            trade(&sheet, record, kind.starts_with("SELL"), builder);
        } else if is_tax(&kind) {
            // Handled with its dividend.
        } else if kind.starts_with("DIVIDEND") {
            let key = (get("Ticker"), iso_date(get("Date")));
            let same =
                |tax: &&Record| (sheet.get(tax, "Ticker"), iso_date(sheet.get(tax, "Date"))) == key;
            let tax = taxes.iter().position(same).map(|index| taxes.remove(index));
            let tax = tax.map_or(("", ""), |tax| {
                (sheet.get(tax, "Total Amount"), sheet.get(tax, "Currency"))
            });
            builder.dividend(line, key.1, key.0, (get("Total Amount"), get("Currency")), tax);
        } else if kind.contains("SPLIT") {
            let (ticker, added) = (get("Ticker"), get("Quantity"));
            builder.warn(line, format!("a split of {ticker} that added {added} shares: add a SPLIT or UNSPLIT with its ratio manually, because this file does not state how many were held"));
        } else if ["CASH", "CUSTODY", "FEE", "TRANSFER FROM", "TRANSFER TO"]
            .iter()
            .any(|word| kind.contains(word))
        {
            builder.skip(get("Type"));
        } else {
            builder.warn(line, format!("`{}` is not understood and left out", get("Type")));
        }
    }
    for tax in taxes {
        let (ticker, total) = (sheet.get(tax, "Ticker"), sheet.get(tax, "Total Amount"));
        builder.warn(
            tax.line,
            format!("tax of {total} on {ticker} matches no dividend of that day and is left out"),
        );
    }
}

fn is_tax(kind: &str) -> bool {
    kind.starts_with("DIVIDEND TAX")
}

/// Revolut states no fees: they are the difference between price times quantity and the total.
fn trade(sheet: &Sheet, record: &Record, sells: bool, builder: &mut ImportBuilder) {
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
        rate: get("FX Rate"),
    };
    builder.trade(record.line, &trade);
    match between {
        Some(between) if between.is_sign_negative() => builder.warn(record.line, format!("price times quantity differs from the total {total} by {} {} and cannot be a fee; the price is used", -between, trade.currency)),
        Some(_) => builder.warn(record.line, format!("{fee} {} between price times quantity and the total {total} count as fees", trade.currency)),
        None => {}
    }
}

/// Amount paid above, or received below, price times quantity; `None` when the rounding of the
/// price explains it.
fn between(quantity: &str, price: &str, total: &str, sells: bool) -> Option<Decimal> {
    let (quantity, price, total) =
        (amount(quantity)?.abs(), amount(price)?.abs(), amount(total)?.abs());
    let product = quantity.checked_mul(price)?;
    let difference = if sells { product - total } else { total - product };
    let half_a_unit = Decimal::new(5, price.scale() + 1);
    let rounding = quantity.checked_mul(half_a_unit)?.checked_add(Decimal::new(1, 2))?;
    (difference.abs() > rounding).then(|| difference.round_dp(2))
}
