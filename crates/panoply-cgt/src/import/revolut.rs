//! Revolut: CSV with Date, Ticker, Type, Quantity, Price per share, Total Amount and Currency.

use super::csv::Sheet;
use super::draft::{Drafts, Trade, amount, iso_date};

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    let Some(sheet) = Sheet::find(text, &["date", "ticker", "type", "price per share"]) else {
        return drafts.not_recognised("expected the headings Date, Ticker, Type, Price per share");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (kind, line) = (get("Type").to_uppercase(), record.line);
        let date = iso_date(get("Date"));
        if kind.starts_with("BUY") || kind.starts_with("SELL") {
            let trade = Trade {
                date,
                ticker: get("Ticker"),
                sells: kind.starts_with("SELL"),
                quantity: get("Quantity"),
                price: get("Price per share"),
                currency: get("Currency"),
                fees: Vec::new(),
            };
            drafts.trade(line, &trade);
            warn_if_the_total_differs(&trade, get("Total Amount"), line, drafts);
        } else if kind.starts_with("DIVIDEND") {
            drafts.dividend(
                line,
                date,
                get("Ticker"),
                (get("Total Amount"), get("Currency")),
                ("", ""),
            );
        } else if kind.contains("SPLIT") {
            drafts.warn(
                line,
                format!(
                    "a split of {}: add a SPLIT or UNSPLIT with its ratio by hand",
                    get("Ticker")
                ),
            );
        } else if ["CASH", "CUSTODY", "FEE", "TRANSFER FROM", "TRANSFER TO"]
            .iter()
            .any(|word| kind.contains(word))
        {
            drafts.skip(get("Type"));
        } else {
            drafts.warn(line, format!("`{}` is not understood and left out", get("Type")));
        }
    }
}

/// Revolut names no fees; they are what lies between price times quantity and the total.
fn warn_if_the_total_differs(trade: &Trade<'_>, total: &str, line: u32, drafts: &mut Drafts) {
    let product = amount(trade.quantity)
        .zip(amount(trade.price))
        .and_then(|(quantity, price)| quantity.checked_mul(price));
    let (Some(product), Some(total)) = (product, amount(total)) else { return };
    let difference = (total.abs() - product.abs()).abs();
    if difference > rust_decimal::Decimal::new(2, 2) {
        drafts.warn(
            line,
            format!(
                "price times quantity and the total differ by {}: add it as FEES if it was a fee",
                difference.round_dp(2)
            ),
        );
    }
}
