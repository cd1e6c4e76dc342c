//! cgt-calc's own CSV: date, action, symbol, quantity, price, fees, currency. The price of a dividend
//! is per share. A split states the shares added, so its ratio depends on the holding.

use super::builder::{ImportBuilder, Trade, amount, iso_date};
use super::sheet::Sheet;

pub(super) fn matches(head: &str) -> bool {
    head.to_lowercase().contains("date,action,symbol,quantity,price,fees,currency")
}

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let Some(sheet) = Sheet::find(text, &["date", "action", "symbol", "quantity", "price", "fees"])
    else {
        return builder
            .not_recognised("expected date, action, symbol, quantity, price, fees, currency");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.exact(record, name);
        let (action, line, currency) = (get("action").to_uppercase(), record.line, get("currency"));
        builder.record("", "", "", "");
        match action.as_str() {
            "BUY" | "SELL" | "STOCK_ACTIVITY" => {
                let trade = Trade {
                    date: iso_date(get("date")),
                    ticker: get("symbol"),
                    sells: action == "SELL",
                    quantity: get("quantity"),
                    price: get("price"),
                    currency,
                    fees: vec![(get("fees"), currency)],
                    rate: "",
                };
                builder.trade(line, &trade);
            }
            "DIVIDEND" | "CAPITAL_GAIN" => {
                let each = amount(get("price")).zip(amount(get("quantity")));
                let total = each.and_then(|(each, quantity)| each.checked_mul(quantity));
                let total = total.map_or_else(String::new, |total| total.normalize().to_string());
                builder.dividend(
                    line,
                    iso_date(get("date")),
                    get("symbol"),
                    (&total, currency),
                    ("", ""),
                );
            }
            "STOCK_SPLIT" => builder.warn(
                line,
                format!(
                    "a split of {} that added {} shares: add a SPLIT with its ratio manually",
                    get("symbol"),
                    get("quantity")
                ),
            ),
            other => builder.warn(line, format!("`{other}` is not understood and left out")),
        }
    }
}
