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

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::{Dividends, EngineError, Options, Original, SameDaySplit};
use crate::currency::Currency;
use crate::fx::{Rate, Rates};
use crate::money::{Money, Parcel, Product};
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
    /// Pool brought forward.
    pub(super) opening: Parcel,
    /// Reinvested income.
    pub(super) accumulated: Money,
    /// Capital returned, after fees.
    pub(super) returned: Money,
    /// Amounts before conversion.
    pub(super) bought_originals: Option<Arc<[Original]>>,
    pub(super) sold_originals: Option<Arc<[Original]>>,
    /// Row that errors about the day refer to.
    pub(super) row: &'a Row,
}

impl Day<'_> {
    /// Shares disposed of, by sale or transfer.
    pub(super) const fn out(&self) -> u128 {
        self.sold.saturating_add(self.given)
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

/// Groups rows by holding, sorted by ticker and date.
pub(super) fn holdings(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut by_ticker: HashMap<&Ticker, Vec<&Row>> = HashMap::new();
    for row in rows {
        by_ticker.entry(&row.transaction.ticker).or_default().push(row);
    }
    let mut holdings: Vec<(&Ticker, Vec<&Row>)> = by_ticker.into_iter().collect();
    holdings.sort_unstable_by_key(|(ticker, _)| *ticker);
    holdings
        .into_iter()
        .map(|(_, mut rows)| {
            rows.sort_by_key(|row| row.transaction.date);
            rows
        })
        .collect()
}

/// Builds a holding's history, or reports all its errors. `None` when it has dividends only; those
/// are added to `dividends`.
pub(super) fn history<'a>(
    rows: &[&'a Row],
    rates: &Rates,
    options: Options,
    dividends: &mut BTreeMap<TaxYear, Dividends>,
) -> Result<Option<History<'a>>, Vec<EngineError>> {
    let mut errors = Vec::new();
    let Some(first) = rows.first() else { return Ok(None) };
    let (factors, last_factor) = factors(rows, options.same_day_split, &mut errors);
    let Some(scale) = Scale::of(rows, &factors) else {
        return Err(vec![too_large(first)]);
    };
    let mut days = Vec::new();
    let mut sums = Sums::default();
    for (of_day, factor) in rows.chunk_by(same_date).zip(factors) {
        let converter = Converter { rates, scale, factor };
        match sums.day(of_day, &converter, dividends) {
            Ok(Some(day)) => days.push(day),
            Ok(None) => {}
            Err(mut found) => errors.append(&mut found),
        }
    }
    match errors.is_empty() {
        true if days.is_empty() => Ok(None),
        true => {
            let ticker = first.transaction.ticker.clone();
            Ok(Some(History { ticker, days, scale, last_factor, first }))
        }
        false => Err(errors),
    }
}

fn same_date(a: &&Row, b: &&Row) -> bool {
    a.transaction.date == b.transaction.date
}

/// Split factor of each day's trades, and the factor after the last day.
fn factors(
    rows: &[&Row],
    same_day_split: SameDaySplit,
    errors: &mut Vec<EngineError>,
) -> (Vec<Ratio>, Ratio) {
    let mut current = Ratio::ONE;
    let mut factors = Vec::new();
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
        factors.push(match (split, same_day_split) {
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
    (factors, current)
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
        Kind::Buy { .. }
        | Kind::Sell { .. }
        | Kind::Dividend { .. }
        | Kind::Accumulation { .. }
        | Kind::CapReturn { .. }
        | Kind::SpouseOut { .. }
        | Kind::SpouseIn { .. }
        | Kind::Opening { .. } => None,
    }
}

/// Whether the row's quantity takes part in the computation.
const fn counts_shares(kind: &Kind) -> bool {
    quantity_of(kind).is_some()
}

const fn quantity_of(kind: &Kind) -> Option<Quantity> {
    match kind {
        Kind::Buy { quantity, .. }
        | Kind::Sell { quantity, .. }
        | Kind::SpouseOut { quantity }
        | Kind::SpouseIn { quantity, .. }
        | Kind::Opening { quantity, .. } => Some(*quantity),
        Kind::Dividend { .. }
        | Kind::Accumulation { .. }
        | Kind::CapReturn { .. }
        | Kind::Split { .. }
        | Kind::Unsplit { .. }
        | Kind::Restruct { .. } => None,
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
    fn of(rows: &[&Row], factors: &[Ratio]) -> Option<Self> {
        let quantities = rows.iter().filter_map(|row| quantity_of(&row.transaction.kind));
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
    return_fees: CurrencySums,
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
        let mut representative: Option<&Row> = None;
        for row in rows {
            match self.add(row, converter, &mut shares, dividends) {
                Ok(true) => representative = more_significant(representative, row),
                Ok(false) => {}
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let Some(row) = representative else { return Ok(None) };
        self.finish(row, converter.factor, shares).map(Some).ok_or_else(|| vec![too_large(row)])
    }

    fn finish<'a>(&self, row: &'a Row, factor: Ratio, shares: Shares) -> Option<Day<'a>> {
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
            returned: self.returned.pounds()? - self.return_fees.pounds()?,
            bought_originals: originals(&self.bought, &self.buying_fees),
            sold_originals: originals(&self.sold, &self.selling_fees),
            row,
        })
    }

    /// Adds a row; returns `false` when it does not affect the holding.
    fn add(
        &mut self,
        row: &Row,
        converter: &Converter<'_>,
        shares: &mut Shares,
        dividends: &mut BTreeMap<TaxYear, Dividends>,
    ) -> Result<bool, EngineError> {
        let transaction = &row.transaction;
        let date = transaction.date;
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
            Kind::Sell { quantity, price, fees } => {
                count(&mut shares.sold, *quantity)?;
                adder.add(&mut self.sold, *price, quantity.get())?;
                adder.add(&mut self.selling_fees, *fees, Decimal::ONE)?;
            }
            Kind::SpouseOut { quantity } => count(&mut shares.given, *quantity)?,
            Kind::Opening { quantity, cost } => {
                count(&mut shares.opening, *quantity)?;
                adder.add(&mut self.opening, *cost, Decimal::ONE)?;
            }
            Kind::Accumulation { total, .. } => {
                adder.add(&mut self.accumulated, *total, Decimal::ONE)?;
            }
            Kind::CapReturn { total, fees, .. } => {
                adder.add(&mut self.returned, *total, Decimal::ONE)?;
                adder.add(&mut self.return_fees, *fees, Decimal::ONE)?;
            }
            Kind::Dividend { total, tax } => {
                let of_year = dividends.entry(TaxYear::of(date)).or_default();
                of_year.income += adder.pounds(*total)?;
                of_year.tax += adder.pounds(*tax)?;
                return Ok(false);
            }
            Kind::Split { .. } | Kind::Unsplit { .. } | Kind::Restruct { .. } => return Ok(false),
        }
        Ok(true)
    }

    fn clear(&mut self) {
        let Self {
            bought,
            buying_fees,
            sold,
            selling_fees,
            opening,
            accumulated,
            returned,
            return_fees,
        } = self;
        for sums in
            [bought, buying_fees, sold, selling_fees, opening, accumulated, returned, return_fees]
        {
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
            Kind::CapReturn { .. } | Kind::Accumulation { .. } => 1,
            Kind::Buy { .. }
            | Kind::Dividend { .. }
            | Kind::Split { .. }
            | Kind::Unsplit { .. }
            | Kind::Restruct { .. }
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

/// Amounts by currency and rate.
#[derive(Default)]
struct CurrencySums(Vec<(Currency, Rate, Product)>);

impl CurrencySums {
    fn add(&mut self, currency: Currency, rate: Rate, amount: Product) -> Option<()> {
        let same = |entry: &&mut (Currency, Rate, Product)| (entry.0, entry.1) == (currency, rate);
        match self.0.iter_mut().find(same) {
            Some(entry) => entry.2 = entry.2.plus(amount)?,
            None => self.0.push((currency, rate, amount)),
        }
        Some(())
    }

    fn pounds(&self) -> Option<Money> {
        self.0.iter().map(|(_, rate, amount)| amount.divided_by(rate.units_per_pound)).sum()
    }

    fn of(&self, currency: Currency, rate: Rate) -> Product {
        let found = self.0.iter().find(|entry| (entry.0, entry.1) == (currency, rate));
        found.map(|entry| entry.2).unwrap_or_default()
    }
}

struct AmountConverter<'a> {
    row: &'a Row,
    rates: &'a Rates,
}

impl AmountConverter<'_> {
    fn add(
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
fn originals(amounts: &CurrencySums, fees: &CurrencySums) -> Option<Arc<[Original]>> {
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

fn too_large(row: &Row) -> EngineError {
    let transaction = &row.transaction;
    EngineError::TooLarge {
        location: row.location.clone(),
        date: transaction.date,
        ticker: transaction.ticker.clone(),
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
