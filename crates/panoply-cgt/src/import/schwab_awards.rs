//! Charles Schwab Equity Award Center: JSON of shares deposited and sold there, without a brokerage
//! account.

use super::builder::{ImportBuilder, Trade, is_blank_or_zero, month_first};
use super::schwab::{Item, details, dividend, member, warn_unmatched_taxes};

pub(super) fn read(rows: &[Item], builder: &mut ImportBuilder) {
    let is_tax = |item: &&Item| item.get("Action") == "Tax Withholding";
    let mut taxes: Vec<&Item> = rows.iter().filter(is_tax).collect();
    for item in rows {
        match item.get("Action") {
            "Deposit" => deposit(item, builder),
            "Sale" => sale(item, builder),
            "Dividend" => dividend(item, &mut taxes, builder),
            "Tax Withholding" => {}
            // A lapse repeats its deposit.
            action @ ("Lapse" | "Journal" | "Wire Transfer") => builder.skip(action),
            action => builder.warn(item.line, format!("`{action}` is not understood and left out")),
        }
    }
    warn_unmatched_taxes(&taxes, builder);
}

/// Vested or purchased shares, at their market value of that day, on which income tax was paid.
/// Shares withheld for tax are not part of the deposit.
fn deposit(item: &Item, builder: &mut ImportBuilder) {
    let mut seen = false;
    for detail in details(&item.value) {
        let get = |name: &str| member(detail, name);
        let first = |names: [&str; 2]| {
            let of = names.into_iter().map(get);
            of.into_iter().find(|text| !is_blank_or_zero(text)).unwrap_or_default()
        };
        let net = get("NetSharesDeposited");
        let date = first(["VestDate", "PurchaseDate"]);
        let trade = Trade {
            date: month_first(date),
            ticker: item.get("Symbol"),
            sells: false,
            quantity: if is_blank_or_zero(net) { item.get("Quantity") } else { net },
            price: first(["VestFairMarketValue", "PurchaseFairMarketValue"]),
            currency: "USD",
            fees: Vec::new(),
            rate: "",
        };
        if seen {
            // The quantity is that of the whole deposit; a second award would count it twice.
            builder.warn(item.line, "a deposit of several awards: only the first is read");
            continue;
        }
        builder.trade(item.line, &trade);
        seen = true;
    }
    if !seen {
        builder.warn(item.line, "a deposit without details is left out");
    }
}

/// A sale lists the lots it came from; they are one sale with one fee.
fn sale(item: &Item, builder: &mut ImportBuilder) {
    let fees = item.get("FeesAndCommissions");
    let mut fees = if fees.is_empty() { item.get("TotalCommissionsAndFees") } else { fees };
    for detail in details(&item.value) {
        let trade = Trade {
            date: item.date(),
            ticker: item.get("Symbol"),
            sells: true,
            quantity: member(detail, "Shares"),
            price: member(detail, "SalePrice"),
            currency: "USD",
            fees: vec![(std::mem::take(&mut fees), "USD")],
            rate: "",
        };
        builder.trade(item.line, &trade);
    }
    if details(&item.value).next().is_none() {
        builder.warn(item.line, "a sale without details is left out");
    }
}
