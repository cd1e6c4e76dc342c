//! Printer: transactions to lines in canonical form, with upper-case keywords and explicit
//! currencies.
//!
//! Fees or tax of zero pounds are omitted; zero in a foreign currency is printed.

use std::fmt::Write as _;

use crate::transaction::{Amount, Kind, Transaction};

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
        Kind::Buy { quantity, price, fees } | Kind::Sell { quantity, price, fees } => {
            let _ = write!(text, " {quantity} @ {}", written(*price));
            optional(&mut text, "FEES", *fees);
        }
        Kind::Dividend { total, tax } => {
            let _ = write!(text, " TOTAL {}", written(*total));
            optional(&mut text, "TAX", *tax);
        }
        Kind::Accumulation { quantity, total, tax } => {
            let _ = write!(text, " {quantity} TOTAL {}", written(*total));
            optional(&mut text, "TAX", *tax);
        }
        Kind::CapReturn { quantity, total, fees } => {
            let _ = write!(text, " {quantity} TOTAL {}", written(*total));
            optional(&mut text, "FEES", *fees);
        }
        Kind::Split { ratio } | Kind::Unsplit { ratio } => {
            let _ = write!(text, " RATIO {ratio}");
        }
        Kind::Restruct { old, new } => {
            let _ = write!(text, " RATIO {old}:{new}");
        }
        Kind::SpouseOut { quantity } => {
            let _ = write!(text, " {quantity}");
        }
        Kind::SpouseIn { quantity, total } => {
            let _ = write!(text, " {quantity} TOTAL {}", written(*total));
        }
        Kind::Opening { quantity, cost } => {
            let _ = write!(text, " {quantity} COST {}", written(*cost));
        }
    }
    text
}

fn optional(text: &mut String, word: &str, amount: Amount) {
    if !amount.is_none() {
        let _ = write!(text, " {word} {}", written(amount));
    }
}

fn written(amount: Amount) -> String {
    let plain = format!("{} {}", amount.value(), amount.currency());
    match amount.rate() {
        Some(rate) => format!("{plain} RATE {rate}"),
        None => plain,
    }
}
