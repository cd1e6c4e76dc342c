//! Freetrade: CSV with Type, Timestamp, Buy / Sell, Ticker and amounts in pounds.

use super::csv::Sheet;
use super::draft::{Drafts, Trade, is_nothing, iso_date};

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    let Some(sheet) = Sheet::find(text, &["type", "timestamp", "buy / sell", "ticker"]) else {
        return drafts.not_recognised("expected the headings Type, Timestamp, Buy / Sell, Ticker");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (kind, line) = (get("Type"), record.line);
        let date = iso_date(get("Timestamp"));
        let account = get("Account Currency");
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
                };
                drafts.trade(line, &trade);
                if kind == "FREESHARE_ORDER" {
                    drafts.warn(
                        line,
                        "a free share: check that its price is what it was worth when it came",
                    );
                }
            }
            "DIVIDEND" | "SPECIAL_DIVIDEND" => {
                // The total is what arrived; what is taxed is what was paid before tax.
                let instrument = get("Instrument Currency");
                let gross = get("Dividend Gross Distribution Amount");
                let total = if is_nothing(gross) {
                    (get("Total Amount"), account)
                } else {
                    (gross, instrument)
                };
                let tax = (get("Dividend Withheld Tax Amount"), instrument);
                drafts.dividend(line, date, get("Ticker"), total, tax);
            }
            "TOP_UP" | "WITHDRAWAL" | "INTEREST_FROM_CASH" | "MONTHLY_STATEMENT"
            | "TAX_CERTIFICATE" | "SUBSCRIPTION" => {
                drafts.skip(kind);
            }
            other => drafts.warn(line, format!("`{other}` is not understood and left out")),
        }
    }
}
