//! Exchange rates: given by the caller, or prices of currency pairs in the log.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::reader::SealedRun;
use crate::error::LogError;
use crate::sealed::dictionary::Dictionary;
use crate::timestamp::Timestamp;

/// A rate that was applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// The currency of the amount.
    pub from: String,
    /// The currency of the result.
    pub to: String,
    /// One unit of `from` in units of `to`.
    pub rate: Decimal,
    /// The security whose price it is, and the time of that price; `None` if the caller gave it.
    pub source: Option<(String, Timestamp)>,
}

impl Rate {
    /// Where it comes from, in words.
    pub fn described(&self) -> String {
        match &self.source {
            None => "given".to_owned(),
            Some((symbol, time)) => format!("price of {symbol} at {time}"),
        }
    }
}

/// Converts amounts to one currency.
pub struct Converter<'a> {
    run: &'a SealedRun,
    to: String,
    /// One unit of each currency in units of `to`.
    given: &'a BTreeMap<String, Decimal>,
}

impl<'a> Converter<'a> {
    /// Converts to `to` with the given rates and those of the log.
    pub fn new(run: &'a SealedRun, to: &str, given: &'a BTreeMap<String, Decimal>) -> Self {
        Self { run, to: to.to_owned(), given }
    }

    /// The rate of a currency after the event at `last`; `None` if neither caller nor log has one.
    pub fn rate(&self, from: &str, last: u32) -> Result<Option<Rate>, LogError> {
        let found =
            |rate, source| Some(Rate { from: from.to_owned(), to: self.to.clone(), rate, source });
        if from == self.to {
            return Ok(found(Decimal::ONE, None));
        }
        if let Some(rate) = self.given.get(from) {
            return Ok(found(*rate, None));
        }
        let wanted = [pair_name(from, &self.to), pair_name(&self.to, from)];
        for (symbol, _) in self.run.values(Dictionary::PriceState, 10_000)? {
            let pairs = pairs_of(&symbol);
            let is_inverse = pairs.contains(&wanted[1]);
            if !is_inverse && !pairs.contains(&wanted[0]) {
                continue;
            }
            let Some(price) = self.run.price_at(&symbol, last)? else { continue };
            let rate =
                if is_inverse { Decimal::ONE.checked_div(price.price) } else { Some(price.price) };
            if let Some(rate) = rate {
                return Ok(found(rate, Some((symbol.into_string(), price.time))));
            }
        }
        Ok(None)
    }
}

/// The pairs that a symbol may mean: `EURUSD` for `EUR/USD`, `EUR-USD`, `EUR_USD`, `EUR/USD.SIM`,
/// `EUR.USD`, `FX:EURUSD` and `EURUSD=X`.
fn pairs_of(symbol: &str) -> Vec<String> {
    let parts: Vec<String> = symbol.split(['.', ':', '=']).map(plain).collect();
    let joined = parts.windows(2).map(<[String]>::concat).collect::<Vec<_>>();
    parts.into_iter().chain(joined).collect()
}

fn pair_name(from: &str, to: &str) -> String {
    plain(from) + &plain(to)
}

/// Letters and digits only, in capitals.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_uppercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currency_pairs_are_recognised_in_their_usual_forms() {
        for symbol in [
            "EURUSD",
            "EUR/USD",
            "eur-usd",
            "EUR_USD",
            "EUR/USD.SIM",
            "EURUSD:FX",
            "EUR.USD",
            "FX:EURUSD",
            "OANDA:EUR_USD",
            "EURUSD=X",
        ] {
            assert!(pairs_of(symbol).contains(&"EURUSD".to_owned()), "{symbol}");
        }
        for symbol in ["EUR", "USD", "EURUSDT", "X.EURJPY", "USDEUR"] {
            assert!(!pairs_of(symbol).contains(&"EURUSD".to_owned()), "{symbol}");
        }
    }
}
