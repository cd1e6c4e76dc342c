//! JSON types of transactions and amounts.

use panoply_contract::prelude::*;

use crate::engine::Original;
use crate::security::{IncomeKind, SecurityClass};
use crate::transaction::{Amount, Kind, Row};

/// An amount and its currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AmountOut {
    /// Number, as written.
    amount: String,
    /// ISO 4217 code.
    currency: String,
    /// Exchange rate given on the transaction, in units per pound.
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

/// Transaction in canonical form. `amount`, `total_value` and `tax_paid` repeat `quantity`, `total`
/// and `tax` for clients of the earlier format.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct TransactionOut {
    /// Date, YYYY-MM-DD.
    date: String,
    /// Action of the transaction language, such as BUY.
    action: String,
    /// Ticker, in upper case.
    ticker: String,
    /// Number of shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantity: Option<String>,
    /// Alias of `quantity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<String>,
    /// Price per share.
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<AmountOut>,
    /// Incidental costs; zero pounds by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    fees: Option<AmountOut>,
    /// Total amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<AmountOut>,
    /// Alias of `total`.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_value: Option<AmountOut>,
    /// Tax withheld; zero pounds by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    tax: Option<AmountOut>,
    /// Alias of `tax`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tax_paid: Option<AmountOut>,
    /// New shares per old share (SPLIT), old per new (UNSPLIT), or `old:new` (RESTRUCT, BONUS).
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<String>,
    /// Ticker of the other holding: DEMERGER, TAKEOVER, RENAME.
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<String>,
    /// Market value: CAPRETURN, DEMERGER, TAKEOVER, NEGLIGIBLE.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<AmountOut>,
    /// Market value of the shares that remain: DEMERGER.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<AmountOut>,
    /// Cash received beside the shares: TAKEOVER.
    #[serde(skip_serializing_if = "Option::is_none")]
    cash: Option<AmountOut>,
    /// Class of asset: SECURITY.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<SecurityClass>,
    /// ISIN: SECURITY.
    #[serde(skip_serializing_if = "Option::is_none")]
    isin: Option<String>,
    /// Kind of income: SECURITY.
    #[serde(skip_serializing_if = "Option::is_none")]
    income: Option<IncomeKind>,
    /// Country of the issuer: SECURITY.
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<String>,
    /// Name: SECURITY.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Currency of the price or total; GBP by default.
    currency: String,
    /// Line in the input; the element number in a list.
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
            line: row.location.line,
            into: transaction.kind.into_ticker().map(ToString::to_string),
            ..Self::default()
        };
        match &transaction.kind {
            Kind::Buy { quantity, price, fees }
            | Kind::Sell { quantity, price, fees }
            | Kind::Rights { quantity, price, fees } => {
                out.shares(quantity.to_string());
                out.currency = price.currency().to_string();
                out.price = Some(AmountOut::of(*price));
                out.fees = Some(AmountOut::of(*fees));
            }
            Kind::Dividend { total, tax } | Kind::Interest { total, tax } => {
                out.paid(*total);
                out.taxed(*tax);
            }
            Kind::Accumulation { quantity, total, tax } => {
                out.shares(quantity.to_string());
                out.paid(*total);
                out.taxed(*tax);
            }
            Kind::CapReturn { quantity, total, fees, value } => {
                out.shares(quantity.to_string());
                out.paid(*total);
                out.fees = Some(AmountOut::of(*fees));
                out.value = value.as_deref().copied().map(AmountOut::of);
            }
            Kind::Split { ratio } | Kind::Unsplit { ratio } => out.ratio = Some(ratio.to_string()),
            Kind::Restruct { old, new } | Kind::Bonus { held: old, new } => {
                out.ratio = Some(format!("{old}:{new}"));
            }
            Kind::SpouseOut { quantity } => out.shares(quantity.to_string()),
            Kind::SpouseIn { quantity, total }
            | Kind::Opening { quantity, cost: total }
            | Kind::Equalisation { quantity, total }
            | Kind::Scrip { quantity, total } => {
                out.shares(quantity.to_string());
                out.paid(*total);
            }
            Kind::Demerger(demerger) => {
                out.shares(demerger.quantity.to_string());
                out.value = Some(AmountOut::of(demerger.value));
                out.remaining = Some(AmountOut::of(demerger.remaining));
            }
            Kind::Takeover(takeover) => {
                out.shares(takeover.quantity.to_string());
                out.cash = Some(AmountOut::of(takeover.cash));
                out.value = takeover.value.map(AmountOut::of);
            }
            Kind::Rename { .. } => {}
            Kind::Negligible { value } => out.value = Some(AmountOut::of(*value)),
            Kind::Security(security) => {
                out.class = security.class;
                out.isin = security.isin.as_ref().map(ToString::to_string);
                out.income = security.income;
                out.country = security.country.map(|country| country.to_string());
                out.name.clone_from(&security.name);
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

/// Amounts before conversion, and the exchange rate.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OriginalOut {
    /// Currency.
    currency: String,
    /// Price times quantity, in that currency.
    amount: String,
    /// Fees, in that currency.
    fees: String,
    /// Units of the currency per pound.
    rate: String,
    /// Source of the rate.
    rate_source: String,
}

/// Amounts of a day's trades before conversion; `None` when all were in pounds.
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

/// Table of transactions.
pub(super) fn table_of(rows: &[Row]) -> Table {
    // The text is truncated beyond this anyway.
    const MAX_ROWS: usize = 60;
    let table = Table::new(["line", "transaction"]);
    rows.iter().take(MAX_ROWS).fold(table, |table, row| {
        table.row([row.location.line.to_string(), crate::dsl::line(&row.transaction)])
    })
}
