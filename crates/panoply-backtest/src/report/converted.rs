//! Amounts of several currencies in one: converted with given rates, or with prices of the log.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::Serialize;

use crate::error::LogError;
use crate::performance::CurrencyFigures;
use crate::position::{decimal, to_f64};
use crate::query::rates::{Converter, Rate};
use crate::query::reader::SealedRun;

/// Amounts of all currencies of a run in one currency, at the rates of its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConvertedFigures {
    /// The currency of the amounts.
    pub currency: String,
    /// The change of the curves.
    pub profit: f64,
    /// Total profit of the winning trades.
    pub gross_profit: f64,
    /// Total loss of the losing trades, negative.
    pub gross_loss: f64,
    /// Commissions of all fills.
    pub commissions: f64,
    /// The rates that were applied.
    pub rates: Vec<AppliedRate>,
}

/// A rate that was applied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AppliedRate {
    /// The converted currency.
    pub from: String,
    /// One unit of it in the currency of the result.
    pub rate: f64,
    /// `given`, or the security and the time of its price in the log.
    pub source: String,
}

/// Why amounts were not converted.
#[derive(Debug, thiserror::Error)]
pub enum NotConverted {
    /// The run could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Neither the caller nor the log has a rate.
    #[error("the log has no price of {from} in {to}; give a rate")]
    NoRate {
        /// The currency of an amount.
        from: String,
        /// The requested currency.
        to: String,
    },
    /// A result is beyond the range of decimals.
    #[error("an amount exceeds the range of decimals")]
    TooLarge,
}

/// A text that is no rate.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no rate")]
pub struct BadRate(String);

/// Reads rates written as `CURRENCY=RATE`.
pub fn parse_rates(given: &[String]) -> Result<BTreeMap<String, Decimal>, BadRate> {
    let read = |text: &String| {
        let (currency, rate) = text.split_once('=')?;
        let rate = decimal(rate.trim()).filter(|rate| *rate > Decimal::ZERO)?;
        Some((currency.trim().to_owned(), rate))
    };
    given.iter().map(|text| read(text).ok_or_else(|| BadRate(text.clone()))).collect()
}

impl SealedRun {
    /// The amounts of the run in the currency `to`. `given` has the value of one unit of each
    /// currency in units of `to`.
    pub fn converted_figures(
        &self,
        to: &str,
        given: &BTreeMap<String, Decimal>,
    ) -> Result<ConvertedFigures, NotConverted> {
        let last = self.head().events.saturating_sub(1);
        let converter = Converter::new(self, to, given);
        let mut sums = [Decimal::ZERO; 4];
        let mut rates = Vec::new();
        for own in &self.head().summary.currencies {
            let amounts = [own.profit(), own.gross_profit, own.gross_loss, own.commission];
            if amounts.iter().all(Decimal::is_zero) {
                continue;
            }
            let rate = rate_of(&converter, own, to, last)?;
            for (sum, amount) in sums.iter_mut().zip(amounts) {
                let part = amount.checked_mul(rate.rate).and_then(|part| sum.checked_add(part));
                *sum = part.ok_or(NotConverted::TooLarge)?;
            }
            if own.currency != to {
                rates.push(AppliedRate {
                    rate: to_f64(rate.rate),
                    source: rate.described(),
                    from: rate.from,
                });
            }
        }
        let [profit, gross_profit, gross_loss, commissions] = sums.map(to_f64);
        let currency = to.to_owned();
        Ok(ConvertedFigures { currency, profit, gross_profit, gross_loss, commissions, rates })
    }
}

fn rate_of(
    converter: &Converter<'_>,
    own: &CurrencyFigures,
    to: &str,
    last: u32,
) -> Result<Rate, NotConverted> {
    converter.rate(&own.currency, last)?.ok_or_else(|| NotConverted::NoRate {
        from: if own.currency.is_empty() { "no currency".into() } else { own.currency.clone() },
        to: to.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_positive_decimals_by_currency() {
        let read = |text: &str| parse_rates(&[text.to_owned()]);
        assert_eq!(read("JPY=0.0067").unwrap()["JPY"], Decimal::new(67, 4));
        for text in ["JPY", "JPY=", "JPY=0", "JPY=-1", "JPY=x", "0.0067"] {
            assert_eq!(read(text).unwrap_err().to_string(), format!("`{text}` is no rate"));
        }
    }
}
