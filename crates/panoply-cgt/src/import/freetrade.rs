//! Freetrade: CSV with Type, Timestamp, Buy / Sell, Ticker and amounts in pounds.

use super::builder::{ImportBuilder, Trade, is_blank_or_zero, iso_date};
use super::sheet::Sheet;

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let Some(sheet) = Sheet::find(text, &["type", "timestamp", "buy / sell", "ticker"]) else {
        return builder.not_recognised("expected the headings Type, Timestamp, Buy / Sell, Ticker");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (kind, line) = (get("Type"), record.line);
        let date = iso_date(get("Timestamp"));
        let account = get("Account Currency");
        builder.record(get("Order ID"), get("Timestamp"), "", get("ISIN"));
        match kind {
            "ORDER" | "FREESHARE_ORDER" => {
                let trade = Trade {
                    date,
                    ticker: get("Ticker"),
                    sells: get("Buy / Sell").eq_ignore_ascii_case("sell"),
                    quantity: get("Quantity"),
                    price: get("Price per Share in Account Currency"),
                    currency: account,
                    fees: vec![(get("Stamp Duty"), account), (get("FX Fee Amount"), account)],
                    rate: "",
                };
                builder.trade(line, &trade);
                if kind == "FREESHARE_ORDER" {
                    builder.warn(
                        line,
                        "a free share: check that its price is what it was worth when it came",
                    );
                }
            }
            "DIVIDEND" | "SPECIAL_DIVIDEND" => {
                // The total is the net amount; the gross amount is taxable.
                let instrument = get("Instrument Currency");
                let gross = get("Dividend Gross Distribution Amount");
                let total = if is_blank_or_zero(gross) {
                    (get("Total Amount"), account)
                } else {
                    (gross, instrument)
                };
                let tax = (get("Dividend Withheld Tax Amount"), instrument);
                builder.dividend(line, date, get("Ticker"), total, tax);
            }
            "INTEREST_FROM_CASH" => {
                builder.interest(line, date, "", (get("Total Amount"), account));
            }
            "TOP_UP" | "WITHDRAWAL" | "MONTHLY_STATEMENT" | "TAX_CERTIFICATE" | "SUBSCRIPTION" => {
                builder.skip(kind);
            }
            other => builder.warn(line, format!("`{other}` is not understood and left out")),
        }
    }
}
