//! Sharesight: the All Trades report and the Taxable Income report as CSV. Exchange rates are units
//! of the market currency per unit of the portfolio's, which is taken to be pounds.

use super::builder::{ImportBuilder, Trade, day_first};
use super::sheet::Sheet;

pub(super) fn matches(head: &str) -> bool {
    head.contains("Market,Code,Name,Type,Date,Quantity,Price")
        || head.contains("Taxable Income Report")
}

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let trades = Sheet::find(text, &["market", "code", "type", "date", "quantity", "price"]);
    let foreign =
        Sheet::find(text, &["code", "date paid", "exchange rate", "currency", "net amount"]);
    let local = Sheet::find(text, &["code", "date paid", "net dividend", "gross dividend"]);
    if trades.is_none() && foreign.is_none() && local.is_none() {
        return builder.not_recognised("expected the All Trades or the Taxable Income report");
    }
    if let Some(sheet) = &trades {
        for record in sheet.records.iter().filter(|record| record.width() > 3) {
            let get = |name: &str| sheet.get(record, name);
            let kind = get("Type");
            if !matches!(kind, "Buy" | "Sell") {
                builder.warn(record.line, format!("`{kind}` is not understood and left out"));
                continue;
            }
            builder.record("", "", "", "");
            if get("Market") == "FX" {
                builder.unsupported(record.line, "currency accounts", get("Code"));
                continue;
            }
            let currency = get("Currency");
            let trade = Trade {
                date: day_first(get("Date")),
                ticker: get("Code"),
                sells: kind == "Sell",
                quantity: get("Quantity"),
                price: get("Price"),
                currency,
                fees: vec![(get("Brokerage"), currency)],
                rate: get("Exchange Rate"),
            };
            builder.trade(record.line, &trade);
        }
    }
    for (sheet, gross, tax) in [
        (&local, "Gross Dividend", "Tax Deducted"),
        (&foreign, "Gross Amount", "Foreign Tax Deducted"),
    ] {
        let Some(sheet) = sheet else { continue };
        for record in &sheet.records {
            let get = |name: &str| sheet.get(record, name);
            let Some(date) = day_first(get("Date Paid")) else { continue };
            let ticker = get("Code").split('.').next().unwrap_or_default();
            let currency = get("Currency");
            builder.record("", "", "", "");
            builder.dividend(
                record.line,
                Some(date),
                ticker,
                (get(gross), currency),
                (get(tax), currency),
            );
        }
    }
}
