//! Charles Schwab's Equity Award Center by itself: JSON with shares that came in and were sold
//! there, for people who never move them to a brokerage account.

use super::draft::{Drafts, Trade, is_nothing, month_first};
use super::schwab::{Item, details, dividend, member, warn_of_taxes};

pub(super) fn read(rows: &[Item], drafts: &mut Drafts) {
    let is_tax = |item: &&Item| item.get("Action") == "Tax Withholding";
    let mut taxes: Vec<&Item> = rows.iter().filter(is_tax).collect();
    for item in rows {
        match item.get("Action") {
            "Deposit" => deposit(item, drafts),
            "Sale" => sale(item, drafts),
            "Dividend" => dividend(item, &mut taxes, drafts),
            "Tax Withholding" => {}
            // A lapse says again what its deposit says.
            action @ ("Lapse" | "Journal" | "Wire Transfer") => drafts.skip(action),
            action => drafts.warn(item.line, format!("`{action}` is not understood and left out")),
        }
    }
    warn_of_taxes(&taxes, drafts);
}

/// Shares that vested or were bought under a plan, at what they were worth on that day: that is
/// what income tax was paid on. Shares kept back for tax never arrived.
fn deposit(item: &Item, drafts: &mut Drafts) {
    let mut seen = false;
    for detail in details(&item.value) {
        let get = |name: &str| member(detail, name);
        let first = |names: [&str; 2]| {
            let of = names.into_iter().map(get);
            of.into_iter().find(|text| !is_nothing(text)).unwrap_or_default()
        };
        let net = get("NetSharesDeposited");
        let date = first(["VestDate", "PurchaseDate"]);
        let trade = Trade {
            date: month_first(date),
            ticker: item.get("Symbol"),
            sells: false,
            quantity: if is_nothing(net) { item.get("Quantity") } else { net },
            price: first(["VestFairMarketValue", "PurchaseFairMarketValue"]),
            currency: "USD",
            fees: Vec::new(),
        };
        if seen {
            // The quantity is of the whole deposit; a second award would count it twice.
            drafts.warn(item.line, "a deposit of several awards: only the first is read");
            continue;
        }
        drafts.trade(item.line, &trade);
        seen = true;
    }
    if !seen {
        drafts.warn(item.line, "a deposit without details is left out");
    }
}

/// A sale names the lots it came from; they are one sale, with its fees once.
fn sale(item: &Item, drafts: &mut Drafts) {
    let mut fees = item.get("FeesAndCommissions");
    for detail in details(&item.value) {
        let trade = Trade {
            date: item.date(),
            ticker: item.get("Symbol"),
            sells: true,
            quantity: member(detail, "Shares"),
            price: member(detail, "SalePrice"),
            currency: "USD",
            fees: vec![(std::mem::take(&mut fees), "USD")],
        };
        drafts.trade(item.line, &trade);
    }
    if details(&item.value).next().is_none() {
        drafts.warn(item.line, "a sale without details is left out");
    }
}
