//! Scenarios: the same transactions with a sale moved to another day, or a purchase added.

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::transaction::{Amount, Kind, Quantity, Row, SourceLocation, Ticker, Transaction};

/// Why a sale cannot be moved.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MoveError {
    /// No sale on that day.
    #[error("{ticker} was not sold on {date}")]
    NoSale {
        /// Ticker.
        ticker: Ticker,
        /// Date.
        date: Date,
    },
    /// Fewer shares were sold.
    #[error("only {sold} shares of {ticker} were sold on {date}")]
    TooMany {
        /// Ticker.
        ticker: Ticker,
        /// Date.
        date: Date,
        /// Number of shares sold.
        sold: Decimal,
    },
}

/// A sale to move, in full or in part, optionally at another price.
#[derive(Clone, Debug)]
pub struct SaleMove {
    /// Ticker.
    pub ticker: Ticker,
    /// Original date.
    pub from: Date,
    /// New date.
    pub to: Date,
    /// Number of shares; by default all of that day's sale.
    pub quantity: Option<Quantity>,
    /// Price on the new date; by default unchanged.
    pub price: Option<Amount>,
}

/// Moves a sale. Fees stay with the remaining part, or move with a full sale.
pub fn move_sale(rows: &[Row], to_move: &SaleMove) -> Result<Vec<Row>, MoveError> {
    let (ticker, date) = (&to_move.ticker, to_move.from);
    let is_sale = |row: &&Row| {
        let transaction = &row.transaction;
        transaction.ticker == *ticker
            && transaction.date == date
            && matches!(transaction.kind, Kind::Sell { .. })
    };
    let sold: Decimal = rows.iter().filter(is_sale).filter_map(quantity_of).sum();
    if sold.is_zero() {
        return Err(MoveError::NoSale { ticker: ticker.clone(), date });
    }
    let mut left = to_move.quantity.map_or(sold, Quantity::get);
    if left > sold {
        return Err(MoveError::TooMany { ticker: ticker.clone(), date, sold });
    }
    let mut result = Vec::with_capacity(rows.len() + 1);
    for row in rows {
        let Kind::Sell { quantity, price, fees } = &row.transaction.kind else {
            result.push(row.clone());
            continue;
        };
        let part = if is_sale(&row) { left.min(quantity.get()) } else { Decimal::ZERO };
        left -= part;
        let stays = Quantity::new(quantity.get() - part);
        if let Some(quantity) = stays {
            let kind = Kind::Sell { quantity, price: *price, fees: *fees };
            result.push(with_kind(row, row.transaction.date, kind));
        }
        if let Some(quantity) = Quantity::new(part) {
            let fees = if stays.is_some() { Amount::NONE } else { *fees };
            let kind = Kind::Sell { quantity, price: to_move.price.unwrap_or(*price), fees };
            result.push(with_kind(row, to_move.to, kind));
        }
    }
    Ok(result)
}

/// Adds a purchase.
pub fn with_purchase(
    rows: &[Row],
    ticker: &Ticker,
    date: Date,
    quantity: Quantity,
    price: Amount,
) -> Vec<Row> {
    let kind = Kind::Buy { quantity, price, fees: Amount::NONE };
    let transaction = Transaction { date, ticker: ticker.clone(), kind };
    let mut result = rows.to_vec();
    result.push(Row { transaction, location: SourceLocation::default() });
    result
}

fn quantity_of(row: &Row) -> Option<Decimal> {
    match &row.transaction.kind {
        Kind::Sell { quantity, .. } => Some(quantity.get()),
        _ => None,
    }
}

fn with_kind(row: &Row, date: Date, kind: Kind) -> Row {
    let ticker = row.transaction.ticker.clone();
    Row { transaction: Transaction { date, ticker, kind }, location: row.location.clone() }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::dsl;

    fn lines(rows: &[Row]) -> String {
        dsl::print(rows.iter().map(|row| &row.transaction))
    }

    #[test]
    fn moving_part_of_a_sale_leaves_its_fees() {
        let rows = dsl::parse(
            "2024-01-01 BUY A 10 @ 1\n2024-04-01 SELL A 6 @ 2 FEES 3\n2024-04-01 SELL A 2 @ 2",
        )
        .unwrap();
        let to_move = |quantity: Option<&str>| SaleMove {
            ticker: Ticker::parse("A").unwrap(),
            from: date(2024, 4, 1),
            to: date(2024, 4, 6),
            quantity: quantity.map(|text| Quantity::new(text.parse().unwrap()).unwrap()),
            price: None,
        };
        assert_eq!(
            lines(&move_sale(&rows, &to_move(Some("4"))).unwrap()),
            "2024-01-01 BUY A 10 @ 1 GBP\n2024-04-01 SELL A 2 @ 2 GBP FEES 3 GBP\n2024-04-06 SELL A 4 @ 2 GBP\n2024-04-01 SELL A 2 @ 2 GBP"
        );
        assert_eq!(
            lines(&move_sale(&rows, &to_move(None)).unwrap()),
            "2024-01-01 BUY A 10 @ 1 GBP\n2024-04-06 SELL A 6 @ 2 GBP FEES 3 GBP\n2024-04-06 SELL A 2 @ 2 GBP"
        );
        assert!(matches!(move_sale(&rows, &to_move(Some("9"))), Err(MoveError::TooMany { .. })));
    }
}
