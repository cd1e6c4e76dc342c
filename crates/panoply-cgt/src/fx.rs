//! Conversion rates to pounds: HMRC's monthly rates, the operator's own table, or the rate given on
//! a transaction.
//!
//! Gains are computed in sterling, each amount at the rate of its own date (HMRC CG78310). HMRC
//! accepts its monthly rates for that. A month without a rate is an error: the rate of another
//! month would give an unverifiable figure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use hmrc_rates::{LookupError, RateType, YearMonth};
use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::currency::Currency;
use crate::number;
use crate::transaction::{Amount, Quantity};

/// A calendar month.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Month {
    year: i16,
    month: i8,
}

impl Month {
    /// Returns `None` for an invalid month or year.
    pub fn new(year: i16, month: i8) -> Option<Self> {
        ((1..=12).contains(&month) && (1..=9999).contains(&year)).then_some(Self { year, month })
    }

    /// The month of a date.
    pub fn of(date: Date) -> Self {
        Self { year: date.year(), month: date.month() }
    }

    /// Parses `2024-03`.
    pub fn parse(text: &str) -> Option<Self> {
        crate::dsl::read_date(&format!("{text}-01")).map(Self::of)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

/// Exchange rate and its source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rate {
    /// Units of the currency per pound.
    pub units_per_pound: Decimal,
    /// Source of the rate.
    pub source: RateSource,
}

/// Source of a rate.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RateSource {
    /// HMRC monthly rate.
    Hmrc,
    /// The operator's own table.
    OwnTable,
    /// The transaction itself.
    Written,
}

impl RateSource {
    /// Description for reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hmrc => "HMRC monthly rate",
            Self::OwnTable => "own rate table",
            Self::Written => "rate on the transaction",
        }
    }
}

/// Why there is no rate.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum FxError {
    /// HMRC publishes no rate for the currency.
    #[error("HMRC publishes no monthly rate for {currency}")]
    NoSuchCurrency {
        /// Currency.
        currency: Currency,
    },
    /// HMRC publishes no rate for the month.
    #[error("there is no rate for {currency} in {month}; there are rates from {first} to {last}")]
    NoRate {
        /// Currency.
        currency: Currency,
        /// Requested month.
        month: Month,
        /// First month with a rate.
        first: Month,
        /// Last month with a rate.
        last: Month,
    },
}

/// HMRC's rates, overridden by the operator's own table.
#[derive(Clone)]
pub struct Rates {
    hmrc: Arc<hmrc_rates::Rates>,
    /// Rates that HMRC published after the program was made.
    newer: BTreeMap<(Currency, Month), Decimal>,
    own: BTreeMap<(Currency, Month), Decimal>,
}

impl Default for Rates {
    fn default() -> Self {
        let hmrc = Arc::new(hmrc_rates::Rates::new());
        Self { hmrc, newer: BTreeMap::new(), own: BTreeMap::new() }
    }
}

impl fmt::Debug for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rates")
            .field("newer", &self.newer.len())
            .field("own", &self.own.len())
            .finish_non_exhaustive()
    }
}

impl Rates {
    /// Adds the operator's table: lines of `month,currency,units_per_gbp`, such as
    /// `2024-03,USD,1.2614`. A header line is skipped.
    pub fn with_table(mut self, csv: &str) -> Result<Self, Vec<String>> {
        self.own.extend(table(csv)?);
        Ok(self)
    }

    /// Adds rates that HMRC published, in the form of the operator's table.
    pub fn with_published(mut self, csv: &str) -> Result<Self, Vec<String>> {
        self.newer.extend(table(csv)?);
        Ok(self)
    }

    /// Rate for an amount; 1 for pounds.
    pub fn of_amount(&self, amount: Amount, date: Date) -> Result<Rate, FxError> {
        match amount.rate() {
            Some(rate) => Ok(Rate { units_per_pound: rate.get(), source: RateSource::Written }),
            None => self.monthly(amount.currency(), Month::of(date)),
        }
    }

    /// Rate of a month.
    pub fn monthly(&self, currency: Currency, month: Month) -> Result<Rate, FxError> {
        if !currency.is_foreign() {
            return Ok(Rate { units_per_pound: Decimal::ONE, source: RateSource::Hmrc });
        }
        if let Some(rate) = self.own.get(&(currency, month)) {
            return Ok(Rate { units_per_pound: *rate, source: RateSource::OwnTable });
        }
        self.published(currency, month)
            .map(|units_per_pound| Rate { units_per_pound, source: RateSource::Hmrc })
            .ok_or_else(|| self.missing(currency, month))
    }

    /// First and last month in HMRC's table.
    pub fn span(&self) -> Option<(Month, Month)> {
        let months = self.months();
        Some((*months.first()?, *months.last()?))
    }

    /// Months with a rate of HMRC, in order.
    fn months(&self) -> BTreeSet<Month> {
        let newer = self.newer.keys().map(|(_, month)| *month);
        self.hmrc.months().filter_map(month_of).chain(newer).collect()
    }

    fn published(&self, currency: Currency, month: Month) -> Option<Decimal> {
        if let Some(rate) = self.newer.get(&(currency, month)) {
            return Some(*rate);
        }
        let key = YearMonth::new(i32::from(month.year), u32::try_from(month.month).ok()?)?;
        let found: Result<_, LookupError> = self.hmrc.monthly_rate(currency.as_str(), key);
        found.ok().map(|rate| rate.units_per_gbp()).filter(|rate| *rate > Decimal::ZERO)
    }

    fn missing(&self, currency: Currency, month: Month) -> FxError {
        let known = self.hmrc.currencies(RateType::Monthly);
        let is_known = known.into_iter().any(|known| known.as_str() == currency.as_str())
            || self.newer.keys().any(|(newer, _)| *newer == currency);
        let mut months =
            self.months().into_iter().filter(|month| self.published(currency, *month).is_some());
        match (is_known, months.next()) {
            (true, Some(first)) => FxError::NoRate {
                currency,
                month,
                first,
                last: months.next_back().unwrap_or(first),
            },
            _ => FxError::NoSuchCurrency { currency },
        }
    }
}

fn month_of(month: YearMonth) -> Option<Month> {
    Month::new(i16::try_from(month.year()).ok()?, i8::try_from(month.month()).ok()?)
}

/// A table of rates, or every line that is none.
fn table(csv: &str) -> Result<BTreeMap<(Currency, Month), Decimal>, Vec<String>> {
    let mut rates = BTreeMap::new();
    let mut bad = Vec::new();
    for (number, line) in (1..).zip(csv.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || (number == 1 && line.starts_with("month")) {
            continue;
        }
        match own_rate(line) {
            Some((currency, month, rate)) => drop(rates.insert((currency, month), rate)),
            None => bad.push(format!(
                "line {number}: `{line}` is not `month,currency,units_per_gbp`, such as `2024-03,USD,1.2614`"
            )),
        }
    }
    if bad.is_empty() { Ok(rates) } else { Err(bad) }
}

fn own_rate(line: &str) -> Option<(Currency, Month, Decimal)> {
    let mut fields = line.split(',').map(str::trim);
    let month = Month::parse(fields.next()?)?;
    let currency = Currency::parse(fields.next()?).ok()?;
    let rate = number::parse(fields.next()?).ok().and_then(Quantity::new)?;
    fields.next().is_none().then_some((currency, month, rate.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd() -> Currency {
        Currency::parse("USD").unwrap()
    }

    fn month(text: &str) -> Month {
        Month::parse(text).unwrap()
    }

    #[test]
    fn hmrc_rates_match_the_publication() {
        // HMRC, monthly exchange rates for customs and VAT.
        let cases =
            [("USD", "2024-03", "1.2614"), ("USD", "2024-01", "1.2651"), ("GBP", "1990-01", "1")];
        for (code, at, expected) in cases {
            let rate = Rates::default().monthly(Currency::parse(code).unwrap(), month(at)).unwrap();
            assert_eq!(rate.units_per_pound.to_string(), expected, "{code} {at}");
        }
        assert_eq!(Rates::default().span(), Some((month("2014-02"), month("2026-11"))));
    }

    #[test]
    fn missing_rate_error_names_the_available_months() {
        let error = Rates::default().monthly(usd(), month("2010-01")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no rate for USD in 2010-01; there are rates from 2014-02 to 2026-11"
        );
        // Croatia adopted the euro in 2023.
        let kuna = Currency::parse("HRK").unwrap();
        let error = Rates::default().monthly(kuna, month("2024-01")).unwrap_err();
        assert!(error.to_string().ends_with("to 2023-02"), "{error}");
        let bitcoin_like = Currency::parse("CLF").unwrap();
        assert!(matches!(
            Rates::default().monthly(bitcoin_like, month("2024-01")),
            Err(FxError::NoSuchCurrency { .. })
        ));
    }

    #[test]
    fn operator_rate_table_overrides_hmrc() {
        let rates =
            Rates::default().with_table("month,currency,units_per_gbp\n2010-01,USD,1.6\n").unwrap();
        let rate = rates.monthly(usd(), month("2010-01")).unwrap();
        assert_eq!(
            (rate.units_per_pound.to_string().as_str(), rate.source),
            ("1.6", RateSource::OwnTable)
        );
        let bad = Rates::default().with_table("2010-13,USD,1.6\n2010-01,USD,0\n").err().unwrap();
        assert_eq!(bad.len(), 2);
    }
}
