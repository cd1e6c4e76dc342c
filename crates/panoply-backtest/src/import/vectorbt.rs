//! Importer for vectorbt: `portfolio.orders.records_readable.to_csv()`, and
//! `portfolio.value().rename("value").to_csv()`.
//!
//! The column of a portfolio names the security. vectorbt prices fees in the same currency as the
//! order. A portfolio whose groups are currencies has a value in each: `portfolio.value().to_csv()`.

use std::io::BufRead;

use super::event_builder::{EventBuilder, parse_timestamp};
use super::fills::{Fill, FillBook};
use super::records::RecordOutcome;
use super::table::{self, Row};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::Guid;
use crate::position::decimal;

/// Reads orders, or the value of the portfolio, depending on the columns. `symbol` is the security
/// of a portfolio whose only column has no name.
pub fn read(
    source: impl BufRead,
    symbol: &str,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let mut book = FillBook::default();
    table::each_row(source, import, control, |row, import| {
        if !row.has("Side") {
            return value(row, run, import);
        }
        match order(row, symbol) {
            Err(reason) => Ok(Err(reason)),
            Ok(fill) => book.send(&fill, row.number, run, import),
        }
    })
}

fn value(row: &Row<'_>, run: Guid, import: &mut Import) -> RecordOutcome {
    let time = row.at(0).and_then(parse_timestamp);
    let amounts: Vec<(&str, &str)> = row.cells().skip(1).collect();
    let by_currency = amounts.iter().all(|(name, _)| is_currency(name));
    let value = row.cell("value").or_else(|| row.at(1));
    let (Some(time), Some(value)) = (time, value) else {
        return Ok(Err("there is no time or no value".to_owned()));
    };
    let mut send = |after: &[(&str, &str)], name: &str| {
        EventBuilder::account(time, after).send(import, run, row.number, name)
    };
    if !by_currency {
        return send(&[("Equity", value)], &format!("value {}", row.number)).map(|_| Ok(()));
    }
    for (currency, value) in amounts {
        let name = format!("value {} {currency}", row.number);
        send(&[("Equity", value), ("Currency", currency)], &name)?;
    }
    Ok(Ok(()))
}

/// Whether the name of a column is an ISO 4217 code.
pub(super) fn is_currency(name: &str) -> bool {
    name.len() == 3 && name.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn order(row: &Row<'_>, symbol: &str) -> Result<Fill, String> {
    let cell = |name: &str| row.cell(name).ok_or_else(|| format!("there is no `{name}`"));
    let number = |name: &str| {
        let text = cell(name)?;
        decimal(text).ok_or_else(|| format!("`{name}` is `{text}`, not a number"))
    };
    let time = cell("Timestamp").or_else(|_| cell("Fill Index")).or_else(|_| cell("Index"))?;
    let time = parse_timestamp(time).ok_or_else(|| format!("`{time}` is not a time"))?;
    let size = number("Size")?;
    let signed = match cell("Side")? {
        "Buy" => size,
        "Sell" => -size,
        side => return Err(format!("`Side` is `{side}`, neither Buy nor Sell")),
    };
    // The only column of a portfolio is 0 unless it has a name; 7203 is Toyota's.
    let symbol = row.cell("Column").filter(|column| *column != "0").unwrap_or(symbol);
    let id = row.cell("Order Id").unwrap_or_default();
    Ok(Fill {
        time,
        order: format!("{symbol} {id}"),
        symbol: symbol.to_owned(),
        signed,
        price: number("Price")?,
        commission: Some(number("Fees")?),
    })
}
