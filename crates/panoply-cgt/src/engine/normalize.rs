//! Phase 1: rows of one holding, aggregated by day, in grains and pounds.
//!
//! *Days.* All shares bought on a day count as one purchase and all sold as one sale (TCGA 1992
//! s.105(1)(a)); transfers from the spouse count as bought at their cost (s.58).
//!
//! *Shares.* A reorganisation such as a split is neither a disposal nor an acquisition: the new
//! shares are the old ones (s.127). All quantities are therefore expressed in shares before the
//! first split. They are counted in *grains*: the largest unit of which every quantity of the
//! holding is an integer multiple. Integers leave no residue such as 0.000000001 of a share.
//!
//! *Pounds.* Foreign amounts of a day are summed before conversion, so that an order filled in two
//! parts costs exactly the same as one fill.

use std::collections::BTreeMap;

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::amounts::{
    AmountConverter, CurrencySums, Event, EventKind, Originals, originals, refuse_before_2008,
    too_large,
};
use super::groups::{Group, Names};
use super::{Dividends, EngineError, Options, SameDaySplit};
use crate::fx::Rates;
use crate::money::{Money, Parcel};
use crate::ratio::{Ratio, lcm};
use crate::tax_year::TaxYear;
use crate::transaction::{Amount, Kind, Quantity, Row, Ticker};

/// Days of one holding, in order.
pub(super) struct History<'a> {
    pub(super) ticker: Ticker,
    pub(super) days: Vec<Day<'a>>,
    scale: Scale,
    /// Current shares per share before the first split.
    pub(super) last_factor: Ratio,
    /// The factor on the day of `Options::holdings_at`.
    pub(super) factor_at: Ratio,
    first: &'a Row,
}

/// Transactions of a holding on one day, aggregated.
pub(super) struct Day<'a> {
    pub(super) date: Date,
    /// Day number, for counting the 30 days.
    pub(super) number: i32,
    /// Shares of this day per share before the first split.
    pub(super) factor: Ratio,
    /// Shares acquired, with their cost.
    pub(super) bought: Parcel,
    /// Shares sold.
    pub(super) sold: u128,
    /// Shares transferred to the spouse.
    pub(super) given: u128,
    /// Gross proceeds.
    pub(super) gross: Money,
    /// Costs of disposal.
    pub(super) fees: Money,
    /// Shares that join the pool without being acquired that day: pool brought forward, rights
    /// issue, shares received in a demerger or takeover (whose cost is in `events`).
    pub(super) opening: Parcel,
    /// Reinvested income.
    pub(super) accumulated: Money,
    /// Equalisation and small capital distributions, after fees.
    pub(super) returned: Money,
    /// Rare events of the day, in order of application.
    pub(super) events: Vec<Event<'a>>,
    /// Amounts before conversion.
    pub(super) bought_originals: Originals,
    pub(super) sold_originals: Originals,
    /// Row that errors about the day refer to.
    pub(super) row: &'a Row,
}

impl Day<'_> {
    /// Shares disposed of, by sale or transfer.
    pub(super) const fn out(&self) -> u128 {
        self.sold.saturating_add(self.given)
    }

    /// Whether the whole holding is exchanged at the end of the day.
    pub(super) fn is_taken_over(&self) -> bool {
        self.events.iter().any(|event| matches!(event.kind, EventKind::Takeover { .. }))
    }

    pub(super) fn too_large(&self) -> EngineError {
        too_large(self.row)
    }
}

impl History<'_> {
    /// Overflow error, located at the first row.
    pub(super) fn too_large(&self) -> EngineError {
        too_large(self.first)
    }

    /// Converts grains to shares of a day with this factor.
    pub(super) fn shares(&self, grains: u128, factor: Ratio) -> Option<Ratio> {
        Ratio::new(grains, self.scale.grains_per_share)?.times(factor)
    }
}

/// Builds a holding's history, or reports all its errors. `None` when it has dividends only; those
/// are added to `dividends`.
pub(super) fn history<'a>(
    group: &Group<'a>,
    names: &Names<'a>,
    rates: &Rates,
    options: Options,
    dividends: &mut BTreeMap<TaxYear, Dividends>,
) -> Result<Option<History<'a>>, Vec<EngineError>> {
    let mut errors = Vec::new();
    let rows = group.rows.as_slice();
    let Some(first) = rows.first() else { return Ok(None) };
    let Factors { of_days, last: last_factor, at: factor_at } = factors(rows, options, &mut errors);
    let is_incoming =
        |row: &Row| names.current(&row.transaction.ticker, row.transaction.date) != group.ticker;
    let Some(scale) = Scale::of(rows, &of_days, &is_incoming) else {
        return Err(vec![too_large(first)]);
    };
    let mut days = Vec::new();
    let mut sums = Sums::default();
    for (of_day, factor) in rows.chunk_by(same_date).zip(of_days) {
        let converter = Converter { rates, scale, factor, is_incoming: &is_incoming };
        match sums.day(of_day, &converter, dividends) {
            Ok(Some(day)) => days.push(day),
            Ok(None) => {}
            Err(mut found) => errors.append(&mut found),
        }
    }
    match errors.is_empty() {
        true if days.is_empty() => Ok(None),
        true => {
            let ticker = group.ticker.clone();
            Ok(Some(History { ticker, days, scale, last_factor, factor_at, first }))
        }
        false => Err(errors),
    }
}

fn same_date(a: &&Row, b: &&Row) -> bool {
    a.transaction.date == b.transaction.date
}

/// Split factors of a holding.
struct Factors {
    /// Of each day's trades.
    of_days: Vec<Ratio>,
    /// After the last day.
    last: Ratio,
    /// After the day of `Options::holdings_at`.
    at: Ratio,
}

fn factors(rows: &[&Row], options: Options, errors: &mut Vec<EngineError>) -> Factors {
    let (mut current, mut at) = (Ratio::ONE, Ratio::ONE);
    let mut of_days = Vec::new();
    for of_day in rows.chunk_by(same_date) {
        let before = current;
        let mut split: Option<&Row> = None;
        for row in of_day {
            let Some(step) = step(&row.transaction.kind) else { continue };
            split = Some(row);
            match step.and_then(|step| current.times(step)) {
                Some(next) => current = next,
                None => errors.push(too_large(row)),
            }
        }
        let trades = of_day.iter().any(|row| counts_shares(&row.transaction.kind));
        let is_before = |date: Date| of_day.iter().all(|row| row.transaction.date <= date);
        if options.holdings_at.is_none_or(is_before) {
            at = current;
        }
        of_days.push(match (split, options.same_day_split) {
            (Some(row), SameDaySplit::Refuse) if trades => {
                let (date, ticker) = (row.transaction.date, row.transaction.ticker.clone());
                errors.push(EngineError::AmbiguousSplit {
                    location: row.location.clone(),
                    date,
                    ticker,
                });
                before
            }
            (_, SameDaySplit::BeforeTrades) => current,
            (_, SameDaySplit::Refuse | SameDaySplit::AfterTrades) => before,
        });
    }
    Factors { of_days, last: current, at }
}

/// Product of all split factors among the rows; `None` on overflow.
pub(crate) fn split_factor(rows: &[&Row]) -> Option<Ratio> {
    let steps = rows.iter().filter_map(|row| step(&row.transaction.kind));
    steps.into_iter().try_fold(Ratio::ONE, |factor, step| factor.times(step?))
}

/// Split factor of a row: outer `None` when it is no reorganisation, inner `None` on overflow.
fn step(kind: &Kind) -> Option<Option<Ratio>> {
    let of = |quantity: &Quantity| Ratio::of(quantity.get());
    match kind {
        Kind::Split { ratio } => Some(of(ratio)),
        Kind::Unsplit { ratio } => Some(of(ratio).and_then(Ratio::inverse)),
        Kind::Restruct { old, new } => Some(
            of(new).zip(of(old).and_then(Ratio::inverse)).and_then(|(new, old)| new.times(old)),
        ),
        Kind::Bonus { held, new } => Some(
            of(held).zip(of(new)).and_then(|(held, new)| held.plus(new)?.times(held.inverse()?)),
        ),
        Kind::Buy { .. }
        | Kind::Sell { .. }
        | Kind::Dividend { .. }
        | Kind::Accumulation { .. }
        | Kind::CapReturn { .. }
        | Kind::Equalisation { .. }
        | Kind::Rights { .. }
        | Kind::Scrip { .. }
        | Kind::Demerger(_)
        | Kind::Takeover(_)
        | Kind::Rename { .. }
        | Kind::Negligible { .. }
        | Kind::SpouseOut { .. }
        | Kind::SpouseIn { .. }
        | Kind::Interest { .. }
        | Kind::Security(_)
        | Kind::Opening { .. } => None,
    }
}

/// Whether the row's quantity takes part in the computation.
const fn counts_shares(kind: &Kind) -> bool {
    quantity_of(kind).is_some()
}

/// Shares that the row adds to its own holding or takes from it.
const fn quantity_of(kind: &Kind) -> Option<Quantity> {
    match kind {
        Kind::Buy { quantity, .. }
        | Kind::Sell { quantity, .. }
        | Kind::Rights { quantity, .. }
        | Kind::Scrip { quantity, .. }
        | Kind::SpouseOut { quantity }
        | Kind::SpouseIn { quantity, .. }
        | Kind::Opening { quantity, .. } => Some(*quantity),
        Kind::Dividend { .. }
        | Kind::Accumulation { .. }
        | Kind::CapReturn { .. }
        | Kind::Equalisation { .. }
        | Kind::Split { .. }
        | Kind::Unsplit { .. }
        | Kind::Restruct { .. }
        | Kind::Bonus { .. }
        | Kind::Demerger(_)
        | Kind::Takeover(_)
        | Kind::Rename { .. }
        | Kind::Interest { .. }
        | Kind::Security(_)
        | Kind::Negligible { .. } => None,
    }
}

/// Shares that a demerger or takeover adds to the other holding.
fn incoming_quantity(kind: &Kind) -> Option<Quantity> {
    match kind {
        Kind::Demerger(demerger) => Some(demerger.quantity),
        Kind::Takeover(takeover) => Some(takeover.quantity),
        _ => None,
    }
}

/// Conversion of quantities to grains.
#[derive(Clone, Copy)]
struct Scale {
    /// Decimals of the finest quantity.
    decimals: u32,
    /// Common multiple of all factors' numerators.
    numerators: u128,
    grains_per_share: u128,
}

impl Scale {
    fn of(rows: &[&Row], factors: &[Ratio], is_incoming: &dyn Fn(&Row) -> bool) -> Option<Self> {
        let quantities = rows.iter().filter_map(|row| {
            let kind = &row.transaction.kind;
            quantity_of(kind).or_else(|| incoming_quantity(kind).filter(|_| is_incoming(row)))
        });
        let decimals = quantities.map(|quantity| quantity.get().normalize().scale()).max();
        let decimals = decimals.unwrap_or(0);
        let numerators =
            factors.iter().try_fold(1, |common, factor| lcm(common, factor.numerator()))?;
        let grains_per_share = 10_u128.checked_pow(decimals)?.checked_mul(numerators)?;
        Some(Self { decimals, numerators, grains_per_share })
    }

    /// Converts shares of a day with this factor to grains.
    fn grains(&self, quantity: Quantity, factor: Ratio) -> Option<u128> {
        let quantity = quantity.get().normalize();
        let finer = 10_u128.checked_pow(self.decimals.checked_sub(quantity.scale())?)?;
        let mantissa = u128::try_from(quantity.mantissa()).ok()?;
        mantissa
            .checked_mul(finer)?
            .checked_mul(factor.denominator())?
            .checked_mul(self.numerators / factor.numerator())
    }
}

/// Converts a day's rows to grains and pounds.
struct Converter<'a> {
    rates: &'a Rates,
    scale: Scale,
    factor: Ratio,
    is_incoming: &'a dyn Fn(&Row) -> bool,
}

/// Totals of a day. Reused between days to avoid allocations.
#[derive(Default)]
struct Sums {
    bought: CurrencySums,
    buying_fees: CurrencySums,
    sold: CurrencySums,
    selling_fees: CurrencySums,
    opening: CurrencySums,
    accumulated: CurrencySums,
    returned: CurrencySums,
}

impl Sums {
    fn day<'a>(
        &mut self,
        rows: &[&'a Row],
        converter: &Converter<'_>,
        dividends: &mut BTreeMap<TaxYear, Dividends>,
    ) -> Result<Option<Day<'a>>, Vec<EngineError>> {
        self.clear();
        let mut errors = Vec::new();
        let mut shares = Shares::default();
        let mut events = Vec::new();
        let mut representative: Option<&Row> = None;
        for row in rows {
            match self.add(row, converter, &mut shares, &mut events, dividends) {
                Ok(true) => representative = more_significant(representative, row),
                Ok(false) => {}
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let Some(row) = representative else { return Ok(None) };
        events.sort_by_key(|event: &Event<'_>| event.kind.order());
        self.finish(row, converter.factor, shares, events)
            .map(Some)
            .ok_or_else(|| vec![too_large(row)])
    }

    fn finish<'a>(
        &self,
        row: &'a Row,
        factor: Ratio,
        shares: Shares,
        events: Vec<Event<'a>>,
    ) -> Option<Day<'a>> {
        let cost = self.bought.pounds()? + self.buying_fees.pounds()?;
        Some(Day {
            date: row.transaction.date,
            number: day_number(row.transaction.date),
            factor,
            bought: Parcel { grains: shares.bought, value: cost },
            sold: shares.sold,
            given: shares.given,
            gross: self.sold.pounds()?,
            fees: self.selling_fees.pounds()?,
            opening: Parcel { grains: shares.opening, value: self.opening.pounds()? },
            accumulated: self.accumulated.pounds()?,
            returned: self.returned.pounds()?,
            events,
            bought_originals: originals(&self.bought, &self.buying_fees),
            sold_originals: originals(&self.sold, &self.selling_fees),
            row,
        })
    }

    /// Adds a row; returns `false` when it does not affect the holding.
    fn add<'a>(
        &mut self,
        row: &'a Row,
        converter: &Converter<'_>,
        shares: &mut Shares,
        events: &mut Vec<Event<'a>>,
        dividends: &mut BTreeMap<TaxYear, Dividends>,
    ) -> Result<bool, EngineError> {
        let transaction = &row.transaction;
        let adder = AmountConverter { row, rates: converter.rates };
        let count = |into: &mut u128, quantity: Quantity| {
            let grains = converter.scale.grains(quantity, converter.factor);
            let sum = grains.and_then(|grains| into.checked_add(grains));
            *into = sum.filter(|sum| *sum <= u128::MAX / 4).ok_or_else(|| too_large(row))?;
            Ok(())
        };
        match &transaction.kind {
            Kind::Buy { quantity, price, fees } => {
                count(&mut shares.bought, *quantity)?;
                adder.add(&mut self.bought, *price, quantity.get())?;
                adder.add(&mut self.buying_fees, *fees, Decimal::ONE)?;
            }
            Kind::SpouseIn { quantity, total } => {
                count(&mut shares.bought, *quantity)?;
                adder.add(&mut self.bought, *total, Decimal::ONE)?;
            }
            Kind::Scrip { quantity, total } => {
                count(&mut shares.bought, *quantity)?;
                adder.add(&mut self.bought, *total, Decimal::ONE)?;
                adder.income(dividends, *total, Amount::NONE)?;
            }
            Kind::Sell { quantity, price, fees } => {
                refuse_before_2008(row)?;
                count(&mut shares.sold, *quantity)?;
                adder.add(&mut self.sold, *price, quantity.get())?;
                adder.add(&mut self.selling_fees, *fees, Decimal::ONE)?;
            }
            Kind::SpouseOut { quantity } => {
                refuse_before_2008(row)?;
                count(&mut shares.given, *quantity)?;
            }
            Kind::Opening { quantity, cost } => {
                count(&mut shares.opening, *quantity)?;
                adder.add(&mut self.opening, *cost, Decimal::ONE)?;
            }
            Kind::Rights { quantity, price, fees } => {
                count(&mut shares.opening, *quantity)?;
                adder.add(&mut self.opening, *price, quantity.get())?;
                adder.add(&mut self.opening, *fees, Decimal::ONE)?;
                events.push(Event { row, kind: EventKind::Rights });
            }
            Kind::Accumulation { total, .. } => {
                adder.add(&mut self.accumulated, *total, Decimal::ONE)?;
            }
            Kind::Equalisation { total, .. } => {
                adder.add(&mut self.returned, *total, Decimal::ONE)?;
            }
            Kind::Dividend { total, tax } => {
                adder.income(dividends, *total, *tax)?;
                return Ok(false);
            }
            Kind::Interest { .. } | Kind::Security(_) => return Ok(false),
            Kind::Split { .. }
            | Kind::Unsplit { .. }
            | Kind::Restruct { .. }
            | Kind::Bonus { .. }
            | Kind::Rename { .. } => return Ok(false),
            kind @ (Kind::CapReturn { .. }
            | Kind::Negligible { .. }
            | Kind::Demerger(_)
            | Kind::Takeover(_)) => match incoming_quantity(kind) {
                Some(quantity) if (converter.is_incoming)(row) => {
                    count(&mut shares.opening, quantity)?;
                    events.push(Event { row, kind: EventKind::Incoming });
                }
                _ => events.push(Event { row, kind: adder.event(kind)? }),
            },
        }
        Ok(true)
    }

    fn clear(&mut self) {
        let Self { bought, buying_fees, sold, selling_fees, opening, accumulated, returned } = self;
        for sums in [bought, buying_fees, sold, selling_fees, opening, accumulated, returned] {
            sums.0.clear();
        }
    }
}

/// Shares of a day, in grains.
#[derive(Clone, Copy, Default)]
struct Shares {
    bought: u128,
    sold: u128,
    given: u128,
    opening: u128,
}

/// Selects the row that errors about the day refer to: disposals before acquisitions.
fn more_significant<'a>(representative: Option<&'a Row>, row: &'a Row) -> Option<&'a Row> {
    const fn weight(kind: &Kind) -> u8 {
        match kind {
            Kind::Sell { .. } | Kind::SpouseOut { .. } => 2,
            Kind::CapReturn { .. }
            | Kind::Accumulation { .. }
            | Kind::Equalisation { .. }
            | Kind::Demerger(_)
            | Kind::Takeover(_)
            | Kind::Negligible { .. } => 1,
            Kind::Buy { .. }
            | Kind::Dividend { .. }
            | Kind::Interest { .. }
            | Kind::Security(_)
            | Kind::Split { .. }
            | Kind::Unsplit { .. }
            | Kind::Restruct { .. }
            | Kind::Bonus { .. }
            | Kind::Rights { .. }
            | Kind::Scrip { .. }
            | Kind::Rename { .. }
            | Kind::SpouseIn { .. }
            | Kind::Opening { .. } => 0,
        }
    }
    let key = |row: &Row| (weight(&row.transaction.kind), std::cmp::Reverse(row.location.line));
    match representative {
        Some(other) if key(other) >= key(row) => representative,
        _ => Some(row),
    }
}

/// Days since 1 March of year 0. Years start in March, so that the leap day comes last.
fn day_number(date: Date) -> i32 {
    let (year, month, day) =
        (i32::from(date.year()), i32::from(date.month()), i32::from(date.day()));
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;
    use jiff::civil::date;

    use super::*;

    #[test]
    fn day_number_increments_by_one() {
        let mut day = date(1899, 12, 30);
        let start = day_number(day);
        for passed in 0..80_000 {
            assert_eq!(day_number(day) - start, passed, "{day}");
            day = day.checked_add(1.day()).unwrap();
        }
    }
}
