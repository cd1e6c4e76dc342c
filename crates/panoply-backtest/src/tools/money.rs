//! Money in replies: amounts by currency, and conversion with rates that are stated.

use std::collections::{BTreeMap, BTreeSet};

use panoply_contract::prelude::*;
use rust_decimal::Decimal;

use super::service::tool_error;
use crate::number::Sum;
use crate::position::{decimal, to_f64};
use crate::query::rates::{Converter, Rate};
use crate::query::reader::SealedRun;
use crate::query::snapshot;

/// Profit and loss.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pnl {
    /// Realized plus unrealized; null if there are several currencies and `currency` is not given.
    pub(crate) total: Option<f64>,
    /// Realized profit.
    pub(crate) realized: Option<f64>,
    /// Unrealized profit of open positions.
    pub(crate) unrealized: Option<f64>,
    /// The currency of these amounts, if the log names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currency: Option<String>,
    /// The amounts in each currency, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_currency: Option<Vec<CurrencyPnl>>,
}

/// Profit and loss in one currency.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CurrencyPnl {
    /// The currency; empty for amounts whose currency the log does not name.
    currency: String,
    /// Realized plus unrealized.
    total: f64,
    /// Realized profit.
    realized: f64,
    /// Unrealized profit of open positions.
    unrealized: f64,
}

/// A rate that was applied.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WireRate {
    /// The converted currency.
    from: String,
    /// The currency of the result.
    to: String,
    /// One unit of `from` in units of `to`.
    rate: f64,
    /// `given`, or the security and the time of its price in the log.
    source: String,
}

/// A rate of the caller.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenRate {
    /// The currency to convert, such as JPY.
    #[schemars(length(min = 1, max = 32))]
    currency: String,
    /// One unit of it in units of the requested currency.
    #[schemars(range(min = 0.0, max = 1e18))]
    rate: serde_json::Number,
}

/// The requested currency of amounts.
#[derive(Debug, Default)]
pub(crate) struct Conversion {
    to: Option<String>,
    given: BTreeMap<String, Decimal>,
}

/// An amount of realized and unrealized profit in one currency.
#[derive(Clone, Debug)]
pub(crate) struct Amounts {
    pub(crate) currency: String,
    pub(crate) realized: Sum,
    pub(crate) unrealized: Sum,
}

impl From<&snapshot::Pnl> for Amounts {
    fn from(pnl: &snapshot::Pnl) -> Self {
        let (realized, unrealized) = (pnl.realized, pnl.unrealized);
        Self { currency: pnl.currency.clone(), realized, unrealized }
    }
}

impl Amounts {
    fn total(&self) -> Sum {
        let mut total = self.realized;
        total.merge(self.unrealized);
        total
    }

    /// The change from `before`, by currency.
    pub(crate) fn changes(after: &[Self], before: &[Self]) -> Vec<Self> {
        let of = |all: &[Self], currency: &str| {
            all.iter().find(|own| own.currency == currency).cloned().unwrap_or_else(|| Self {
                currency: currency.to_owned(),
                realized: Sum::ZERO,
                unrealized: Sum::ZERO,
            })
        };
        let named: BTreeSet<&str> =
            after.iter().chain(before).map(|own| own.currency.as_str()).collect();
        // Before the first event nothing names a currency.
        let is_initial = |currency: &str| {
            currency.is_empty()
                && named.len() > 1
                && [after, before].iter().all(|all| of(all, currency).total().to_f64() == 0.0)
        };
        named
            .iter()
            .filter(|currency| !is_initial(currency))
            .map(|currency| {
                let (mut after, before) = (of(after, currency), of(before, currency));
                after.realized.merge(before.realized.negated());
                after.unrealized.merge(before.unrealized.negated());
                after
            })
            .collect()
    }
}

impl Conversion {
    /// Reads the parameters `currency` and `rates`.
    pub(crate) fn new(
        currency: Option<&str>,
        rates: Option<&[GivenRate]>,
    ) -> Result<Self, ToolError> {
        let mut given = BTreeMap::new();
        for own in rates.unwrap_or_default() {
            let rate = decimal(&own.rate.to_string()).filter(|rate| *rate > Decimal::ZERO);
            let Some(rate) = rate else {
                let message = format!("the rate of `{}` is not a positive number", own.currency);
                return Err(ToolError::validation("INVALID_PARAMETER", message)
                    .hint("give the value of one unit in the requested currency"));
            };
            given.insert(own.currency.clone(), rate);
        }
        let to = currency.filter(|currency| !currency.is_empty()).map(str::to_owned);
        if to.is_none() && !given.is_empty() {
            return Err(ToolError::validation(
                "INVALID_PARAMETER",
                "`rates` are of no use without `currency`",
            )
            .hint("name the currency of the result in `currency`"));
        }
        Ok(Self { to, given })
    }

    /// Amounts for the reply, converted at the rates after the event at `last` if a currency was
    /// requested, and those rates.
    pub(crate) fn pnl(
        &self,
        run: &SealedRun,
        last: u32,
        amounts: &[Amounts],
    ) -> Result<(Pnl, Option<Vec<WireRate>>), ToolError> {
        let by_currency: Vec<CurrencyPnl> = amounts
            .iter()
            .map(|own| CurrencyPnl {
                currency: own.currency.clone(),
                total: own.total().to_f64(),
                realized: own.realized.to_f64(),
                unrealized: own.unrealized.to_f64(),
            })
            .collect();
        let Some(to) = &self.to else {
            return Ok((Self::unconverted(by_currency), None));
        };
        let converter = Converter::new(run, to, &self.given);
        let (mut realized, mut unrealized) = (Decimal::ZERO, Decimal::ZERO);
        let mut rates = Vec::new();
        for own in amounts {
            let is_zero = own.total().to_f64() == 0.0 && own.realized.to_f64() == 0.0;
            if is_zero && own.currency != *to {
                continue;
            }
            let rate = converter.rate(&own.currency, last).map_err(tool_error)?;
            let rate = rate.ok_or_else(|| no_rate(&own.currency, to))?;
            let convert = |sum: Sum| decimal(&sum.to_text())?.checked_mul(rate.rate);
            let too_large = || ToolError::system("an amount exceeds the range of decimals");
            for (total, part) in [(&mut realized, own.realized), (&mut unrealized, own.unrealized)]
            {
                let part = convert(part).and_then(|part| total.checked_add(part));
                *total = part.ok_or_else(too_large)?;
            }
            if own.currency != *to {
                rates.push(wire_rate(rate));
            }
        }
        let total = realized.checked_add(unrealized).unwrap_or(realized);
        let pnl = Pnl {
            total: Some(to_f64(total)),
            realized: Some(to_f64(realized)),
            unrealized: Some(to_f64(unrealized)),
            currency: Some(to.clone()),
            by_currency: Some(by_currency).filter(|all| all.len() > 1),
        };
        Ok((pnl, non_empty(rates)))
    }

    /// The requested currency.
    pub(crate) fn currency(&self) -> Option<&str> {
        self.to.as_deref()
    }

    /// The sum of amounts in several currencies at the rates after the event at `last`; `None` if
    /// no currency was requested.
    pub(crate) fn sum(
        &self,
        run: &SealedRun,
        last: u32,
        amounts: &[(&str, Decimal)],
    ) -> Result<Option<f64>, ToolError> {
        let Some(to) = &self.to else { return Ok(None) };
        let converter = Converter::new(run, to, &self.given);
        let mut total = Decimal::ZERO;
        for (currency, amount) in amounts.iter().filter(|(_, amount)| !amount.is_zero()) {
            let rate = converter.rate(currency, last).map_err(tool_error)?;
            let rate = rate.ok_or_else(|| no_rate(currency, to))?;
            let part = amount.checked_mul(rate.rate).and_then(|part| total.checked_add(part));
            total =
                part.ok_or_else(|| ToolError::system("an amount exceeds the range of decimals"))?;
        }
        Ok(Some(to_f64(total)))
    }

    fn unconverted(by_currency: Vec<CurrencyPnl>) -> Pnl {
        match by_currency.as_slice() {
            [only] => Pnl {
                total: Some(only.total),
                realized: Some(only.realized),
                unrealized: Some(only.unrealized),
                currency: (!only.currency.is_empty()).then(|| only.currency.clone()),
                by_currency: None,
            },
            _ => Pnl {
                total: None,
                realized: None,
                unrealized: None,
                currency: None,
                by_currency: Some(by_currency),
            },
        }
    }
}

/// A list that is left out of a reply when it is empty.
pub(crate) fn non_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

fn no_rate(from: &str, to: &str) -> ToolError {
    let (message, hint) = if from.is_empty() {
        (
            "the log does not name the currency of some amounts, so they cannot be converted"
                .into(),
            "ask without `currency` to see the amounts in each currency",
        )
    } else {
        (
            format!("the log has no price of {from} in {to} at this time"),
            "give one in `rates`, or ask without `currency` to see the amounts in each currency",
        )
    };
    let message: String = message;
    ToolError::validation("INVALID_PARAMETER", message).hint(hint).detail("parameter", "currency")
}

fn wire_rate(rate: Rate) -> WireRate {
    let source = rate.described();
    WireRate { rate: to_f64(rate.rate), from: rate.from, to: rate.to, source }
}

impl Pnl {
    /// In words.
    pub(crate) fn text(&self) -> String {
        let name = |currency: &str| match currency {
            "" => String::new(),
            currency => format!(" {currency}"),
        };
        match self.total {
            Some(total) => {
                format!("{total}{}", name(self.currency.as_deref().unwrap_or_default()))
            }
            None => {
                let parts = self.by_currency.iter().flatten();
                let parts: Vec<String> =
                    parts.map(|own| format!("{}{}", own.total, name(&own.currency))).collect();
                parts.join(" and ")
            }
        }
    }
}
