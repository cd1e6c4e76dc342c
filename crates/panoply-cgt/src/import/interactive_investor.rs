//! interactive investor: CSV with Date, Settlement Date, Symbol, Sedol, Quantity, Price,
//! Description, Reference, Debit, Credit and Running Balance.
//!
//! The debit or credit is what was paid or received in pounds, with all charges; price and charges
//! follow from it.

use super::builder::{ImportBuilder, Trade, amount, day_first, is_blank_or_zero};
use super::sheet::Sheet;
use super::vanguard::slug;

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let needed = ["date", "symbol", "sedol", "quantity", "price", "debit", "credit"];
    let Some(sheet) = Sheet::find(text, &needed) else {
        return builder.not_recognised("expected the headings Date, Symbol, Sedol, Quantity, Price, Description, Reference, Debit, Credit");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.exact(record, name);
        let (symbol, description, line) = (get("Symbol"), get("Description"), record.line);
        let (debit, credit) = (get("Debit"), get("Credit"));
        builder.record(get("Reference"), "", "", "");
        let date = day_first(get("Date"));
        let is_trade = !is_blank_or_zero(get("Quantity")) && !is_blank_or_zero(get("Price"));
        let blank = |text: &str| is_blank_or_zero(text) || text.eq_ignore_ascii_case("n/a");
        if is_trade {
            let sells = blank(debit);
            let total = amount(if sells { credit } else { debit }).map(|total| total.abs());
            let each = total
                .zip(amount(get("Quantity")))
                .and_then(|(total, quantity)| total.checked_div(quantity.abs()))
                .map(|price| price.round_dp(12).normalize().to_string());
            let ticker = if blank(symbol) { slug(description) } else { symbol.to_owned() };
            let trade = Trade {
                date,
                ticker: &ticker,
                sells,
                quantity: get("Quantity"),
                price: &each.unwrap_or_default(),
                currency: "GBP",
                fees: Vec::new(),
                rate: "",
            };
            builder.trade(line, &trade);
        } else if description.to_lowercase().contains("div") && !blank(symbol) {
            builder.dividend(line, date, symbol, (credit, "GBP"), ("", ""));
        } else if blank(symbol) {
            builder.skip("cash");
        } else {
            builder.warn(line, format!("`{description}` is not understood and left out"));
        }
    }
}
