//! Coinbase: transaction report as CSV, with or without an ID column, headings `Spot Price Currency`
//! or `Price Currency`. A conversion is a sale of one asset and a purchase of another at its value.

use rust_decimal::Decimal;

use super::builder::{ImportBuilder, Trade, amount, iso_date};
use super::sheet::{Record, Sheet};

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let needed = ["timestamp", "transaction type", "asset", "quantity transacted"];
    let Some(sheet) = Sheet::find(text, &needed) else {
        return builder.not_recognised(
            "expected the headings Timestamp, Transaction Type, Asset, Quantity Transacted",
        );
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (kind, line) = (get("Transaction Type"), record.line);
        builder.record(sheet.exact(record, "ID"), get("Timestamp"), "", "");
        match kind {
            "Buy" | "Advanced Trade Buy" | "Advance Trade Buy" => trade(&sheet, record, false, builder),
            "Sell" | "Advanced Trade Sell" | "Advance Trade Sell" => trade(&sheet, record, true, builder),
            "Convert" => convert(&sheet, record, builder),
            "Rewards Income" | "Staking Income" | "Learning Reward" | "Coinbase Earn" | "Inflation Reward" => {
                trade(&sheet, record, false, builder);
                builder.warn(line, format!("`{kind}` of {} is imported as bought at its value, which is also income to declare", get("Asset")));
            }
            "Deposit" | "Withdrawal" | "Exchange Deposit" | "Exchange Withdrawal" | "Pro Deposit" | "Pro Withdrawal" => builder.skip(kind),
            "Send" | "Receive" => builder.warn(line, format!("{kind} of {} {}: nothing to do if it went between own wallets; a payment is a SELL, a gift received a BUY at its value", get("Quantity Transacted"), get("Asset"))),
            other => builder.warn(line, format!("`{other}` is not understood and left out")),
        }
    }
}

fn currency<'a>(sheet: &Sheet, record: &'a Record) -> &'a str {
    let newer = sheet.exact(record, "Price Currency");
    if newer.is_empty() { sheet.get(record, "Spot Price Currency") } else { newer }
}

/// Value without fees, per unit.
fn price(sheet: &Sheet, record: &Record) -> String {
    let subtotal = amount(sheet.get(record, "Subtotal"));
    let quantity = amount(sheet.get(record, "Quantity Transacted"));
    let each = subtotal
        .zip(quantity)
        .and_then(|(subtotal, quantity)| subtotal.abs().checked_div(quantity.abs()));
    each.map_or_else(String::new, |each| each.round_dp(12).normalize().to_string())
}

fn trade(sheet: &Sheet, record: &Record, sells: bool, builder: &mut ImportBuilder) {
    let get = |name: &str| sheet.get(record, name);
    let currency = currency(sheet, record);
    let trade = Trade {
        date: iso_date(get("Timestamp")),
        ticker: get("Asset"),
        sells,
        quantity: get("Quantity Transacted"),
        price: &price(sheet, record),
        currency,
        fees: vec![(get("Fees and/or Spread"), currency)],
        rate: "",
    };
    builder.trade(record.line, &trade);
}

/// `Converted 0.5 BTC to 7.1 ETH`: the fee is part of what was given.
fn convert(sheet: &Sheet, record: &Record, builder: &mut ImportBuilder) {
    trade(sheet, record, true, builder);
    let get = |name: &str| sheet.get(record, name);
    let notes = get("Notes");
    let words: Vec<&str> = notes.split_whitespace().collect();
    let received = words
        .iter()
        .position(|word| *word == "to")
        .and_then(|to| Some((*words.get(to + 1)?, *words.get(to + 2)?)));
    let Some((quantity, asset)) = received else {
        return builder.warn(
            record.line,
            format!("`{notes}` does not say what was received: add a BUY manually"),
        );
    };
    let fee = amount(get("Fees and/or Spread")).unwrap_or(Decimal::ZERO).abs();
    let value = amount(get("Subtotal")).map(|value| value.abs() - fee);
    let each = value
        .zip(amount(quantity))
        .and_then(|(value, quantity)| value.checked_div(quantity))
        .map(|each| each.round_dp(12).normalize().to_string());
    let trade = Trade {
        date: iso_date(get("Timestamp")),
        ticker: asset,
        sells: false,
        quantity,
        price: &each.unwrap_or_default(),
        currency: currency(sheet, record),
        fees: Vec::new(),
        rate: "",
    };
    builder.trade(record.line, &trade);
}
