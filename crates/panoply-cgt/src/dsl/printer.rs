//! Printer: transactions to lines in canonical form, with upper-case keywords and explicit
//! currencies.
//!
//! Fees or tax of zero pounds are omitted; zero in a foreign currency is printed. A price or total
//! of zero is printed as `NIL`.

use std::fmt::Write as _;

use super::parser::NIL;
use crate::security::{Country, IncomeKind, Isin, Security, SecurityClass};
use crate::transaction::{Amount, Demerger, Kind, Transaction};

/// Prints transactions, one per line, without a trailing newline.
pub fn print<'a>(transactions: impl IntoIterator<Item = &'a Transaction>) -> String {
    let lines: Vec<String> = transactions.into_iter().map(line).collect();
    lines.join("\n")
}

/// Prints one transaction.
pub fn line(transaction: &Transaction) -> String {
    let Transaction { date, ticker, kind } = transaction;
    let mut text = format!("{date} {} {ticker}", kind.word());
    match kind {
        Kind::Buy { quantity, price, fees }
        | Kind::Sell { quantity, price, fees }
        | Kind::Rights { quantity, price, fees } => {
            let _ = write!(text, " {quantity} @ {}", written(*price));
            optional(&mut text, "FEES", *fees);
        }
        Kind::Dividend { total, tax } | Kind::Interest { total, tax } => {
            let _ = write!(text, " TOTAL {}", written(*total));
            optional(&mut text, "TAX", *tax);
        }
        Kind::Accumulation { quantity, total, tax } => {
            let _ = write!(text, " {quantity} TOTAL {}", written(*total));
            optional(&mut text, "TAX", *tax);
        }
        Kind::CapReturn { quantity, total, fees, value } => {
            let _ = write!(text, " {quantity} TOTAL {}", written(*total));
            optional(&mut text, "FEES", *fees);
            given(&mut text, "VALUE", value.as_deref());
        }
        Kind::Split { ratio } | Kind::Unsplit { ratio } => {
            let _ = write!(text, " RATIO {ratio}");
        }
        Kind::Restruct { old, new } | Kind::Bonus { held: old, new } => {
            let _ = write!(text, " RATIO {old}:{new}");
        }
        Kind::SpouseOut { quantity } => {
            let _ = write!(text, " {quantity}");
        }
        Kind::SpouseIn { quantity, total }
        | Kind::Equalisation { quantity, total }
        | Kind::Scrip { quantity, total } => {
            let _ = write!(text, " {quantity} TOTAL {}", written(*total));
        }
        Kind::Opening { quantity, cost } => {
            let _ = write!(text, " {quantity} COST {}", written(*cost));
        }
        Kind::Demerger(demerger) => {
            let Demerger { into, quantity, value, remaining } = demerger.as_ref();
            let (value, remaining) = (written(*value), written(*remaining));
            let _ = write!(text, " INTO {into} {quantity} VALUE {value} REMAINING {remaining}");
        }
        Kind::Takeover(takeover) => {
            let _ = write!(text, " INTO {} {}", takeover.into, takeover.quantity);
            optional(&mut text, "CASH", takeover.cash);
            given(&mut text, "VALUE", takeover.value.as_ref());
        }
        Kind::Rename { into } => {
            let _ = write!(text, " TO {into}");
        }
        Kind::Negligible { value } => {
            let _ = write!(text, " VALUE {}", written(*value));
        }
        Kind::Security(security) => facts(&mut text, security),
    }
    text
}

fn facts(text: &mut String, security: &Security) {
    let Security { class, isin, income, country, name } = security;
    let words = [
        ("CLASS", class.map(SecurityClass::as_str)),
        ("ISIN", isin.as_ref().map(Isin::as_str)),
        ("INCOME", income.map(IncomeKind::as_str)),
        ("COUNTRY", country.as_ref().map(Country::as_str)),
        ("NAME", name.as_deref()),
    ];
    for (word, value) in words {
        if let Some(value) = value {
            let _ = write!(text, " {word} {value}");
        }
    }
}

fn given(text: &mut String, word: &str, amount: Option<&Amount>) {
    if let Some(amount) = amount {
        let _ = write!(text, " {word} {}", written(*amount));
    }
}

fn optional(text: &mut String, word: &str, amount: Amount) {
    if !amount.is_none() {
        let _ = write!(text, " {word} {}", in_figures(amount));
    }
}

fn written(amount: Amount) -> String {
    if amount.value().is_zero() { NIL.to_owned() } else { in_figures(amount) }
}

fn in_figures(amount: Amount) -> String {
    let plain = format!("{} {}", amount.value(), amount.currency());
    match amount.rate() {
        Some(rate) => format!("{plain} RATE {rate}"),
        None => plain,
    }
}
