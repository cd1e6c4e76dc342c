//! cgt-calc's own CSV: date, action, symbol, quantity, price, fees, currency. The price of a dividend
//! is per share. A split states the shares added, so its ratio depends on the holding.

use super::builder::{ImportBuilder, Trade, amount, iso_date};
use super::sheet::Sheet;
use crate::transaction::{Kind, Quantity};

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
            "INTEREST" => {
                let total = (get("price"), currency);
                builder.interest(line, iso_date(get("date")), get("symbol"), total);
            }
            "TRANSFER" => builder.skip("TRANSFER"),
            "TRANSFER_TO_SPOUSE" | "TRANSFER_FROM_SPOUSE" => {
                spouse(line, &get, action == "TRANSFER_TO_SPOUSE", builder);
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

/// A transfer between spouses; one that is received states the transferor's cost per share.
fn spouse<'a>(
    line: u32,
    get: &dyn Fn(&str) -> &'a str,
    is_given: bool,
    builder: &mut ImportBuilder,
) {
    let found = builder.date_and_ticker(line, iso_date(get("date")), get("symbol"));
    let Some((date, ticker)) = found else { return };
    let shares = amount(get("quantity")).map(|number| number.abs());
    let cost = shares.zip(amount(get("price"))).and_then(|(shares, each)| shares.checked_mul(each));
    let total = cost.and_then(|cost| builder.money(&cost.to_string(), get("currency")));
    match (shares.and_then(Quantity::new), total) {
        (Some(quantity), _) if is_given => {
            builder.push(line, date, ticker, Kind::SpouseOut { quantity });
        }
        (Some(quantity), Some(total)) => {
            builder.push(line, date, ticker, Kind::SpouseIn { quantity, total });
        }
        _ => builder
            .warn(line, format!("a transfer of {ticker} is left out: its figures cannot be read")),
    }
}
