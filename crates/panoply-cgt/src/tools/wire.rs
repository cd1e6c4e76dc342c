//! What an agent sees of transactions and amounts.

use panoply_contract::prelude::*;

use crate::engine::Original;
use crate::json::Parsed;
use crate::transaction::{Amount, Kind, Row};

/// An amount and its currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AmountOut {
    /// The number, as it was written.
    amount: String,
    /// ISO 4217.
    currency: String,
    /// The rate that was written beside it: units a pound.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<String>,
}

impl AmountOut {
    fn of(amount: Amount) -> Self {
        Self {
            amount: amount.value().to_string(),
            currency: amount.currency().to_string(),
            rate: amount.rate().map(|rate| rate.to_string()),
        }
    }
}

/// A transaction in its one normal form. `amount`, `total_value` and `tax_paid` repeat
/// `quantity`, `total` and `tax` for readers of the earlier form.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct TransactionOut {
    /// The day, YYYY-MM-DD.
    date: String,
    /// BUY, SELL, DIVIDEND, ACCUMULATION, CAPRETURN, SPLIT, UNSPLIT, RESTRUCT, SPOUSE_OUT, SPOUSE_IN or OPENING.
    action: String,
    /// The holding, in upper case.
    ticker: String,
    /// How many shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantity: Option<String>,
    /// The same as `quantity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<String>,
    /// For each share.
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<AmountOut>,
    /// Costs of the trade; nought pounds when none were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    fees: Option<AmountOut>,
    /// All that was paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<AmountOut>,
    /// The same as `total`.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_value: Option<AmountOut>,
    /// Tax kept back; nought pounds when none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    tax: Option<AmountOut>,
    /// The same as `tax`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tax_paid: Option<AmountOut>,
    /// New shares for an old one (SPLIT), old for a new one (UNSPLIT), or `old:new` (RESTRUCT).
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<String>,
    /// The currency of the price or total; GBP where there is neither.
    currency: String,
    /// The line it was written on; the element's number in a list.
    line: u32,
}

impl TransactionOut {
    pub(super) fn of(row: &Row) -> Self {
        let transaction = &row.transaction;
        let mut out = Self {
            date: transaction.date.to_string(),
            action: transaction.kind.word().to_owned(),
            ticker: transaction.ticker.to_string(),
            currency: "GBP".to_owned(),
            line: row.place.line,
            ..Self::default()
        };
        match &transaction.kind {
            Kind::Buy { quantity, price, fees } | Kind::Sell { quantity, price, fees } => {
                out.shares(quantity.to_string());
                out.currency = price.currency().to_string();
                out.price = Some(AmountOut::of(*price));
                out.fees = Some(AmountOut::of(*fees));
            }
            Kind::Dividend { total, tax } => {
                out.paid(*total);
                out.taxed(*tax);
            }
            Kind::Accumulation { quantity, total, tax } => {
                out.shares(quantity.to_string());
                out.paid(*total);
                out.taxed(*tax);
            }
            Kind::CapReturn { quantity, total, fees } => {
                out.shares(quantity.to_string());
                out.paid(*total);
                out.fees = Some(AmountOut::of(*fees));
            }
            Kind::Split { ratio } | Kind::Unsplit { ratio } => out.ratio = Some(ratio.to_string()),
            Kind::Restruct { old, new } => out.ratio = Some(format!("{old}:{new}")),
            Kind::SpouseOut { quantity } => out.shares(quantity.to_string()),
            Kind::SpouseIn { quantity, total } | Kind::Opening { quantity, cost: total } => {
                out.shares(quantity.to_string());
                out.paid(*total);
            }
        }
        out
    }

    fn shares(&mut self, quantity: String) {
        self.amount = Some(quantity.clone());
        self.quantity = Some(quantity);
    }

    fn paid(&mut self, total: Amount) {
        self.currency = total.currency().to_string();
        self.total = Some(AmountOut::of(total));
        self.total_value = Some(AmountOut::of(total));
    }

    fn taxed(&mut self, tax: Amount) {
        self.tax = Some(AmountOut::of(tax));
        self.tax_paid = Some(AmountOut::of(tax));
    }
}

/// Amounts before conversion, and the rate they were converted at.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OriginalOut {
    /// The currency.
    currency: String,
    /// Price times quantity, in that currency.
    amount: String,
    /// Fees, in that currency.
    fees: String,
    /// Units of the currency a pound.
    rate: String,
    /// Who says so.
    rate_source: String,
}

/// The originals of a day's trades, where any was foreign.
pub(super) fn originals(of: Option<&[Original]>) -> Option<Vec<OriginalOut>> {
    let out = |original: &Original| OriginalOut {
        currency: original.currency.to_string(),
        amount: original.gross.clone(),
        fees: original.fees.clone(),
        rate: original.rate.units_per_pound.to_string(),
        rate_source: original.rate.source.as_str().to_owned(),
    };
    of.map(|originals| originals.iter().map(out).collect())
}

/// A table of transactions for people.
pub(super) fn table_of(parsed: &Parsed) -> Table {
    // More than fits is cut anyway.
    const MOST: usize = 60;
    let table = Table::new(["line", "transaction"]);
    parsed.rows.iter().take(MOST).fold(table, |table, row| {
        table.row([row.place.line.to_string(), crate::dsl::line(&row.transaction)])
    })
}
