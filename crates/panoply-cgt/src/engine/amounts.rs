//! Amounts of a day in pounds, and the rare events: capital distributions, claims, demergers and
//! takeovers.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::{Dividends, EngineError, Original};
use crate::currency::Currency;
use crate::fx::{Rate, Rates};
use crate::money::{Money, Product};
use crate::tax_year::TaxYear;
use crate::transaction::{Amount, Kind, Row};

/// A capital distribution, claim or reorganisation that involves another holding.
#[derive(Clone, Debug)]
pub(super) struct Event<'a> {
    pub(super) row: &'a Row,
    pub(super) kind: EventKind,
}

/// What the event does to the pool.
#[derive(Clone, Debug)]
pub(super) enum EventKind {
    /// Shares from another holding join this one with part of its cost.
    Incoming,
    /// Shares taken up in a rights issue; they joined with the opening parcel.
    Rights,
    /// Capital distribution with the value of what remains, in pounds.
    Distribution { amount: Money, fees: Money, value: Option<Money>, originals: Originals },
    /// Claim of negligible value.
    Negligible { value: Money },
    /// Part of the cost leaves with demerged shares.
    Demerger { value: Money, remaining: Money },
    /// The whole holding is exchanged.
    Takeover { cash: Money, value: Option<Money>, originals: Originals },
}

/// Amounts before conversion; `None` when all were in pounds.
pub(super) type Originals = Option<Arc<[Original]>>;

/// Amounts by currency and rate.
#[derive(Default)]
pub(super) struct CurrencySums(pub(super) Vec<(Currency, Rate, Product)>);

impl CurrencySums {
    fn add(&mut self, currency: Currency, rate: Rate, amount: Product) -> Option<()> {
        let same = |entry: &&mut (Currency, Rate, Product)| (entry.0, entry.1) == (currency, rate);
        match self.0.iter_mut().find(same) {
            Some(entry) => entry.2 = entry.2.plus(amount)?,
            None => self.0.push((currency, rate, amount)),
        }
        Some(())
    }

    pub(super) fn pounds(&self) -> Option<Money> {
        self.0.iter().map(|(_, rate, amount)| amount.divided_by(rate.units_per_pound)).sum()
    }

    fn of(&self, currency: Currency, rate: Rate) -> Product {
        let found = self.0.iter().find(|entry| (entry.0, entry.1) == (currency, rate));
        found.map(|entry| entry.2).unwrap_or_default()
    }
}

pub(super) struct AmountConverter<'a> {
    pub(super) row: &'a Row,
    pub(super) rates: &'a Rates,
}

impl AmountConverter<'_> {
    pub(super) fn add(
        &self,
        sums: &mut CurrencySums,
        amount: Amount,
        times: Decimal,
    ) -> Result<(), EngineError> {
        if amount.is_none() {
            return Ok(());
        }
        let rate = self.rate(amount)?;
        let product = Product::of(amount.value()).times(times);
        product
            .and_then(|product| sums.add(amount.currency(), rate, product))
            .ok_or_else(|| too_large(self.row))
    }

    /// Adds a dividend and the tax withheld from it to its tax year.
    pub(super) fn income(
        &self,
        dividends: &mut BTreeMap<TaxYear, Dividends>,
        total: Amount,
        tax: Amount,
    ) -> Result<(), EngineError> {
        let (total, tax) = (self.pounds(total)?, self.pounds(tax)?);
        let of_year = dividends.entry(TaxYear::of(self.row.transaction.date)).or_default();
        of_year.income += total;
        of_year.tax += tax;
        Ok(())
    }

    /// Converts a rare event of the row's own holding.
    pub(super) fn event(&self, kind: &Kind) -> Result<EventKind, EngineError> {
        let optional =
            |amount: Option<Amount>| amount.map(|amount| self.pounds(amount)).transpose();
        Ok(match kind {
            Kind::CapReturn { total, fees, value, .. } => EventKind::Distribution {
                amount: self.pounds(*total)?,
                fees: self.pounds(*fees)?,
                value: optional(value.as_deref().copied())?,
                originals: self.originals(*total, *fees)?,
            },
            Kind::Demerger(demerger) => EventKind::Demerger {
                value: self.pounds(demerger.value)?,
                remaining: self.pounds(demerger.remaining)?,
            },
            Kind::Takeover(takeover) => {
                if !takeover.cash.value().is_zero() {
                    refuse_before_2008(self.row)?;
                }
                EventKind::Takeover {
                    cash: self.pounds(takeover.cash)?,
                    value: optional(takeover.value)?,
                    originals: self.originals(takeover.cash, Amount::NONE)?,
                }
            }
            Kind::Negligible { value } => {
                refuse_before_2008(self.row)?;
                EventKind::Negligible { value: self.pounds(*value)? }
            }
            _ => EventKind::Incoming,
        })
    }

    fn originals(&self, total: Amount, fees: Amount) -> Result<Originals, EngineError> {
        let (mut amounts, mut costs) = (CurrencySums::default(), CurrencySums::default());
        self.add(&mut amounts, total, Decimal::ONE)?;
        self.add(&mut costs, fees, Decimal::ONE)?;
        Ok(originals(&amounts, &costs))
    }

    fn pounds(&self, amount: Amount) -> Result<Money, EngineError> {
        let rate = self.rate(amount)?;
        let pounds = Product::of(amount.value()).divided_by(rate.units_per_pound);
        pounds.ok_or_else(|| too_large(self.row))
    }

    fn rate(&self, amount: Amount) -> Result<Rate, EngineError> {
        let transaction = &self.row.transaction;
        self.rates.of_amount(amount, transaction.date).map_err(|error| EngineError::MissingRate {
            location: self.row.location.clone(),
            date: transaction.date,
            ticker: transaction.ticker.clone(),
            error,
        })
    }
}

/// Amounts before conversion; `None` when all were in pounds.
pub(super) fn originals(amounts: &CurrencySums, fees: &CurrencySums) -> Originals {
    let foreign = |sums: &CurrencySums| sums.0.iter().any(|(currency, ..)| currency.is_foreign());
    if !foreign(amounts) && !foreign(fees) {
        return None;
    }
    let mut keys: Vec<(Currency, Rate)> =
        amounts.0.iter().chain(&fees.0).map(|(currency, rate, _)| (*currency, *rate)).collect();
    keys.sort_by(|a, b| {
        let key =
            |(currency, rate): &(Currency, Rate)| (*currency, rate.units_per_pound, rate.source);
        key(a).cmp(&key(b))
    });
    keys.dedup();
    let of = |(currency, rate): (Currency, Rate)| {
        Original::new(currency, rate, amounts.of(currency, rate), fees.of(currency, rate))
    };
    Some(keys.into_iter().map(of).collect())
}

/// Refuses a disposal before 6 April 2008: taper relief, indexation and other identification rules
/// applied then (FA 2008 Sch 2).
pub(super) fn refuse_before_2008(row: &Row) -> Result<(), EngineError> {
    let transaction = &row.transaction;
    if transaction.date >= FIRST_DAY {
        return Ok(());
    }
    Err(EngineError::BeforeApril2008 {
        location: row.location.clone(),
        date: transaction.date,
        ticker: transaction.ticker.clone(),
    })
}

const FIRST_DAY: Date = jiff::civil::date(2008, 4, 6);

impl EventKind {
    /// Order within a day: what enters the pool, what changes its cost, what leaves it.
    pub(super) const fn order(&self) -> u8 {
        match self {
            Self::Incoming => 0,
            Self::Rights => 1,
            Self::Distribution { .. } => 2,
            Self::Negligible { .. } => 3,
            Self::Demerger { .. } => 4,
            Self::Takeover { .. } => 5,
        }
    }
}

pub(super) fn too_large(row: &Row) -> EngineError {
    let transaction = &row.transaction;
    EngineError::TooLarge {
        location: row.location.clone(),
        date: transaction.date,
        ticker: transaction.ticker.clone(),
    }
}
