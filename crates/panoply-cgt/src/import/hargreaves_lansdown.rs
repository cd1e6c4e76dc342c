//! Hargreaves Lansdown: CSV with Trade date, Reference, Description, Unit cost (p), Quantity
//! and Value (£). There are no tickers; the description becomes one.

use rust_decimal::Decimal;

use super::builder::{ImportBuilder, Trade, amount, day_first};
use super::sheet::Sheet;
use super::vanguard::slug;

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let Some(sheet) = Sheet::find(
        text,
        &["trade date", "reference", "description", "unit cost", "quantity", "value"],
    ) else {
        return builder.not_recognised("expected the headings Trade date, Reference, Description, Unit cost (p), Quantity, Value");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (reference, line) = (get("Reference"), record.line);
        builder.record(reference, "", "", "");
        let is_order =
            reference.len() > 1 && reference.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        let sells = match reference.bytes().next() {
            Some(b'B') if is_order => false,
            Some(b'S') if is_order => true,
            _ => {
                if reference.to_uppercase().starts_with("INTEREST") {
                    let date = day_first(get("Trade date"));
                    builder.interest(line, date, "", (get("Value"), "GBP"));
                    continue;
                }
                let known = ["FPC", "CARD", "TRANSFER", "MANAGE FEE", "FPD", "LOYALTY", "UNIT"];
                if known.iter().any(|word| reference.to_uppercase().starts_with(word)) {
                    builder.skip(reference);
                } else {
                    builder.warn(
                        line,
                        format!(
                            "`{reference}` is not understood and left out: {}",
                            get("Description")
                        ),
                    );
                }
                continue;
            }
        };
        let ticker = slug(name_in(get("Description")));
        let fees = fees(get("Unit cost"), get("Quantity"), get("Value"), sells);
        let fees = fees.unwrap_or_else(|| {
            let message = "the value does not agree with price and quantity: the costs of this trade are taken as zero, enter them by hand";
            builder.warn(line, message);
            String::new()
        });
        let trade = Trade {
            date: day_first(get("Trade date")),
            ticker: &ticker,
            sells,
            quantity: get("Quantity"),
            price: get("Unit cost"),
            currency: "GBX",
            fees: vec![(&fees, "GBP")],
            rate: "",
        };
        builder.trade(line, &trade);
    }
}

/// Company name in `Vodafone Group plc 1000 @ 70.00`; the trade follows the name.
fn name_in(description: &str) -> &str {
    let Some((before, _)) = description.rsplit_once('@') else { return description };
    match before.trim_end().rsplit_once(' ') {
        Some((name, quantity)) if amount(quantity).is_some() => name.trim_end(),
        _ => description,
    }
}

/// Difference between price times quantity and the value paid or received, empty for none. `None`
/// when a figure is not a number, or when the value is off by more than rounded prices explain.
fn fees(pence: &str, quantity: &str, value: &str, sells: bool) -> Option<String> {
    let quantity = amount(quantity)?.abs();
    let gross = amount(pence)?.checked_mul(quantity)? / Decimal::ONE_HUNDRED;
    let value = amount(value)?.abs();
    let fees = if sells { gross - value } else { value - gross };
    // Prices are printed to a hundredth of a penny at least.
    let rounding = Decimal::new(1, 4).checked_mul(quantity)? + Decimal::new(1, 2);
    match fees {
        fees if fees > Decimal::ZERO => Some(fees.round_dp(2).to_string()),
        fees if -fees <= rounding => Some(String::new()),
        _ => None,
    }
}
