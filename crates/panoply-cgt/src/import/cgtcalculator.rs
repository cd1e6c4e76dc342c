//! cgtcalculator text format: `B 08/09/2010 BARC 5000 4.1565 9.95 104`, that is action, date,
//! company, shares, price, charges and tax. `R` is a split with its factor.

use super::builder::{ImportBuilder, Trade, amount, day_first};
use crate::transaction::{Kind, Quantity};

pub(super) fn matches(text: &str) -> bool {
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| {
        let mut words = line.split_whitespace();
        let action = words.next().map(str::to_uppercase);
        let known = ["B", "S", "R", "BUY", "SELL", "SPLIT", "UNSPLIT"];
        action.is_some_and(|action| known.contains(&action.as_str()))
            && words.next().is_some_and(|date| day_first(date).is_some())
    })
}

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    for (line, row) in (1..).zip(text.lines()) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let first = words.first().map(|word| word.to_uppercase()).unwrap_or_default();
        match (first.as_str(), words.as_slice()) {
            ("", _) => {}
            (word, _) if word.starts_with('#') => {}
            ("B" | "S" | "BUY" | "SELL", [_, date, ticker, shares, price, charges @ ..]) => {
                let trade = Trade {
                    date: day_first(date),
                    ticker,
                    sells: first.starts_with('S'),
                    quantity: shares,
                    price,
                    currency: "GBP",
                    fees: charges.iter().take(2).map(|fee| (*fee, "GBP")).collect(),
                    rate: "",
                };
                builder.trade(line, &trade);
            }
            ("R" | "SPLIT" | "UNSPLIT", [_, date, ticker, factor, ..]) => {
                let ratio = amount(factor).and_then(Quantity::new);
                let target = builder.date_and_ticker(line, day_first(date), ticker);
                match (target, ratio) {
                    (Some((date, ticker)), Some(ratio)) if first == "UNSPLIT" => {
                        builder.push(line, date, ticker, Kind::Unsplit { ratio });
                    }
                    (Some((date, ticker)), Some(ratio)) => {
                        builder.push(line, date, ticker, Kind::Split { ratio });
                    }
                    (None, _) => {}
                    (Some(_), None) => {
                        builder.warn(line, format!("the factor `{factor}` cannot be read"));
                    }
                }
            }
            _ => builder.warn(line, format!("`{row}` is not understood and left out")),
        }
    }
}
