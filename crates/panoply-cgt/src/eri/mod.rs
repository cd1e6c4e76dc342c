//! Excess reportable income (ERI) of offshore reporting funds.
//!
//! An investor in a reporting fund is taxed on undistributed income as if it had been paid six
//! months after the period end, on the units held at that end (Offshore Funds (Tax) Regulations
//! 2009, SI 2009/3001, reg.94). The same amount is allowable cost of the units (reg.99); dated at
//! the period end it also applies to units sold in between.
//!
//! Units sold before the period end and matched by the 30-day rule with units bought after it count
//! as held at that end (reg.94(3A)).

mod added;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use added::{AddedIncome, compute, with_reported_income};
use jiff::ToSpan;
use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::currency::Currency;
use crate::engine::{Computation, Leg, Options, Rule, SameDaySplit, split_factor};
use crate::number;
use crate::ratio::Ratio;
use crate::security::Isin;
use crate::transaction::{Kind, Row, Ticker, Transaction};

/// Collected by KapJI/capital-gains-calculator (MIT); see `data/cgt/README.md`.
const TABLE: &str = include_str!("../../../../data/cgt/eri_per_unit.csv");

/// Reported income of one period.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReportedIncome {
    /// Last day of the period.
    pub period_end: Date,
    /// Income per unit.
    pub per_unit: Decimal,
    /// Currency of the income.
    pub currency: Currency,
    /// Fund manager.
    pub provider: Arc<str>,
}

impl ReportedIncome {
    /// Date of the deemed income: six months after the period end, from the last day of a month to
    /// the last day of a month.
    pub fn income_date(&self) -> Option<Date> {
        let later = self.period_end.checked_add(6.months()).ok()?;
        let ends_month = self.period_end == self.period_end.last_of_month();
        Some(if ends_month { later.last_of_month() } else { later })
    }
}

/// Published income of funds: the bundled table, and lists that the person brings.
#[derive(Clone, Debug, Default)]
pub struct ReportedIncomeTable {
    own: BTreeMap<String, Vec<ReportedIncome>>,
}

impl ReportedIncomeTable {
    /// Adds a list as CSV: `isin,period_end,currency,eri_per_unit,provider`, or the columns of
    /// cgt-calc. Its rows replace bundled ones of the same period. Every invalid row is reported.
    pub fn with_list(mut self, csv: &str) -> Result<Self, Vec<String>> {
        let mut bad = Vec::new();
        for (number, line) in (1..).zip(csv.trim_start_matches('\u{FEFF}').lines()) {
            let fields: Vec<&str> =
                line.split(',').map(|field| field.trim().trim_matches('"')).collect();
            let is_heading =
                number == 1 && fields.first().is_some_and(|first| Isin::parse(first).is_none());
            if line.trim().is_empty() || is_heading {
                continue;
            }
            match listed(&fields) {
                Some((isin, income)) => {
                    let periods = self.own.entry(isin.as_str().to_owned()).or_default();
                    periods.retain(|known| known.period_end != income.period_end);
                    periods.push(income);
                }
                None => bad.push(format!(
                    "line {number}: `{}` is not `isin,period_end,currency,eri_per_unit`",
                    line.chars().take(80).collect::<String>()
                )),
            }
        }
        if bad.is_empty() { Ok(self) } else { Err(bad) }
    }

    /// Returns a fund's periods in order; empty when the table does not have the fund.
    pub fn of_fund(&self, isin: &str) -> Vec<ReportedIncome> {
        let isin = isin.trim().to_ascii_uppercase();
        let own = self.own.get(&isin).map(Vec::as_slice).unwrap_or_default();
        let is_replaced =
            |income: &ReportedIncome| own.iter().any(|own| own.period_end == income.period_end);
        let mut found: Vec<ReportedIncome> = TABLE
            .lines()
            .skip(1)
            .filter_map(|line| line.strip_prefix(isin.as_str())?.strip_prefix(','))
            .filter_map(row)
            .filter(|income| !is_replaced(income))
            .collect();
        found.extend(own.iter().cloned());
        found.sort_by_key(|income| income.period_end);
        found
    }

    /// Number of funds in the table, and the latest period end.
    pub fn extent(&self) -> (usize, Option<Date>) {
        let bundled = TABLE.lines().skip(1).filter_map(|line| line.split(',').next());
        let isins: BTreeSet<&str> = bundled.chain(self.own.keys().map(String::as_str)).collect();
        let own = self.own.values().flatten().map(|income| income.period_end);
        let last = TABLE
            .lines()
            .skip(1)
            .filter_map(|line| crate::dsl::read_date(line.split(',').nth(1)?))
            .chain(own)
            .max();
        (isins.len(), last)
    }
}

/// A row of a person's own list; the date year first or day first.
fn listed(fields: &[&str]) -> Option<(Isin, ReportedIncome)> {
    let [isin, end, currency, per_unit, rest @ ..] = fields else { return None };
    let end = crate::dsl::read_date(end)
        .or_else(|| crate::dsl::read_date(&crate::dsl::day_first(end)?))?;
    let income = ReportedIncome {
        period_end: end,
        currency: Currency::parse(currency).ok()?,
        per_unit: number::parse(per_unit).ok()?,
        provider: rest.first().copied().unwrap_or("own list").into(),
    };
    Some((Isin::parse(isin)?, income))
}

/// Units that count as held at a period end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnitsHeld {
    /// Units actually held.
    pub held: Ratio,
    /// Units sold before and bought back within 30 days, but after the period end (reg.94(3A)).
    pub bought_back: Ratio,
}

impl UnitsHeld {
    /// Total; `None` on overflow.
    pub fn all(self) -> Option<Ratio> {
        self.held.plus(self.bought_back)
    }
}

/// Counts the units of a holding at the end of a day. `None` on overflow.
pub fn units_at(
    rows: &[Row],
    computation: &Computation,
    ticker: &Ticker,
    end: Date,
    options: Options,
) -> Option<UnitsHeld> {
    let concerns = |row: &&Row| {
        let Transaction { ticker: own, kind, .. } = &row.transaction;
        own == ticker || kind.into_ticker() == Some(ticker)
    };
    let own: Vec<&Row> = rows.iter().filter(concerns).collect();
    units_of(&own, computation, ticker, end, options)
}

/// The same for rows of the holding only.
fn units_of(
    rows: &[&Row],
    computation: &Computation,
    ticker: &Ticker,
    end: Date,
    options: Options,
) -> Option<UnitsHeld> {
    let mut own: Vec<&Row> =
        rows.iter().copied().filter(|row| row.transaction.date <= end).collect();
    own.sort_by_key(|row| row.transaction.date);
    Some(UnitsHeld {
        held: held(&own, ticker, options.same_day_split)?,
        bought_back: bought_back(&own, computation, ticker, end, options.same_day_split)?,
    })
}

/// Units held after all rows, which belong to one holding and are sorted by date.
fn held(rows: &[&Row], ticker: &Ticker, same_day_split: SameDaySplit) -> Option<Ratio> {
    let (mut acquired, mut disposed) = (Ratio::ZERO, Ratio::ZERO);
    for of_day in rows.chunk_by(|a, b| a.transaction.date == b.transaction.date) {
        let factor = split_factor(of_day)?;
        let (mut in_today, mut out_today) = (Ratio::ZERO, Ratio::ZERO);
        for row in of_day {
            match &row.transaction.kind {
                Kind::Buy { quantity, .. }
                | Kind::SpouseIn { quantity, .. }
                | Kind::Rights { quantity, .. }
                | Kind::Scrip { quantity, .. }
                | Kind::Opening { quantity, .. } => {
                    in_today = in_today.plus(Ratio::of(quantity.get())?)?;
                }
                Kind::Sell { quantity, .. } | Kind::SpouseOut { quantity } => {
                    out_today = out_today.plus(Ratio::of(quantity.get())?)?;
                }
                Kind::Demerger(demerger) if demerger.into == *ticker => {
                    in_today = in_today.plus(Ratio::of(demerger.quantity.get())?)?;
                }
                Kind::Takeover(takeover) if takeover.into == *ticker => {
                    in_today = in_today.plus(Ratio::of(takeover.quantity.get())?)?;
                }
                Kind::Takeover(_) => {
                    (acquired, disposed) = (Ratio::ZERO, Ratio::ZERO);
                    (in_today, out_today) = (Ratio::ZERO, Ratio::ZERO);
                }
                Kind::Dividend { .. }
                | Kind::Accumulation { .. }
                | Kind::CapReturn { .. }
                | Kind::Equalisation { .. }
                | Kind::Demerger(_)
                | Kind::Rename { .. }
                | Kind::Negligible { .. }
                | Kind::Bonus { .. }
                | Kind::Split { .. }
                | Kind::Unsplit { .. }
                | Kind::Interest { .. }
                | Kind::Security(_)
                | Kind::Restruct { .. } => {}
            }
        }
        let add = |sum: Ratio, today: Ratio| match same_day_split {
            SameDaySplit::BeforeTrades => sum.times(factor)?.plus(today),
            SameDaySplit::AfterTrades | SameDaySplit::Refuse => sum.plus(today)?.times(factor),
        };
        acquired = add(acquired, in_today)?;
        disposed = add(disposed, out_today)?;
    }
    // With short sales allowed, disposals can exceed acquisitions: then nothing was held.
    Some(acquired.minus(disposed).unwrap_or(Ratio::ZERO))
}

/// Units sold up to the end and bought back after it, in units as of the end.
fn bought_back(
    rows: &[&Row],
    computation: &Computation,
    ticker: &Ticker,
    end: Date,
    same_day_split: SameDaySplit,
) -> Option<Ratio> {
    let sold = computation.disposals.iter().map(|sale| (&sale.ticker, sale.date, &sale.legs));
    let given = computation.transfers.iter().map(|gift| (&gift.ticker, gift.date, &gift.legs));
    let mut sum = Ratio::ZERO;
    for (_, date, legs) in sold.chain(given).filter(|(of, date, _)| *of == ticker && *date <= end) {
        let is_bought_back = |leg: &&Leg| {
            leg.rule == Rule::BedAndBreakfast && leg.acquired.is_some_and(|acquired| acquired > end)
        };
        let splits_since = rows.iter().copied().filter(|row| match same_day_split {
            SameDaySplit::BeforeTrades => row.transaction.date > date,
            SameDaySplit::AfterTrades | SameDaySplit::Refuse => row.transaction.date >= date,
        });
        let factor = split_factor(&splits_since.collect::<Vec<_>>())?;
        for leg in legs.iter().filter(is_bought_back) {
            sum = sum.plus(leg.quantity.times(factor)?)?;
        }
    }
    Some(sum)
}

fn row(rest: &str) -> Option<ReportedIncome> {
    let mut fields = rest.split(',');
    Some(ReportedIncome {
        period_end: crate::dsl::read_date(fields.next()?)?,
        currency: Currency::parse(fields.next()?).ok()?,
        per_unit: number::parse(fields.next()?).ok()?,
        provider: fields.next()?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_eri_table_row_parses() {
        let rows = TABLE.lines().skip(1).filter(|line| !line.is_empty());
        for line in rows {
            let (_, rest) = line.split_once(',').unwrap();
            assert!(row(rest).is_some(), "{line}");
        }
        assert_eq!(ReportedIncomeTable::default().extent().0, 2342);
    }

    #[test]
    fn units_at_period_end_include_those_bought_back_within_30_days() {
        let cases = [
            // (transactions, period end, held, bought back)
            ("2023-01-01 BUY F 100 @ 1", "2023-11-30", "100", "0"),
            ("2023-01-01 BUY F 100 @ 1", "2022-12-31", "0", "0"),
            ("2023-01-01 BUY F 100 @ 1\n2023-11-30 SELL F 40 @ 1", "2023-11-30", "60", "0"),
            // Sold before and bought back after the end, within 30 days: reg.94(3A).
            (
                "2023-01-01 BUY F 100 @ 1\n2023-11-20 SELL F 40 @ 1\n2023-12-10 BUY F 30 @ 1",
                "2023-11-30",
                "60",
                "30",
            ),
            (
                "2023-01-01 BUY F 100 @ 1\n2023-11-20 SELL F 100 @ 1\n2023-12-20 BUY F 100 @ 1",
                "2023-11-30",
                "0",
                "100",
            ),
            (
                "2023-01-01 BUY F 100 @ 1\n2023-11-20 SELL F 100 @ 1\n2023-12-21 BUY F 100 @ 1",
                "2023-11-30",
                "0",
                "0",
            ),
            // Bought back before the end: actually held.
            (
                "2023-01-01 BUY F 100 @ 1\n2023-11-20 SELL F 40 @ 1\n2023-11-25 BUY F 40 @ 1",
                "2023-11-30",
                "100",
                "0",
            ),
            // A split between sale and period end.
            (
                "2023-01-01 BUY F 100 @ 1\n2023-11-20 SELL F 40 @ 1\n2023-11-22 SPLIT F RATIO 10\n2023-12-10 BUY F 300 @ 1",
                "2023-11-30",
                "600",
                "300",
            ),
            (
                "2023-01-01 OPENING F 10 COST 5\n2023-02-01 UNSPLIT F RATIO 3\n2023-03-01 SPOUSE_OUT F 1\n2023-03-02 SPOUSE_IN F 2 TOTAL 5",
                "2023-11-30",
                "4.333333333333",
                "0",
            ),
            ("2023-01-01 BUY F 5 @ 1\n2023-01-01 BUY G 7 @ 1", "2023-11-30", "5", "0"),
        ];
        for (text, end, held, back) in cases {
            let rows = crate::dsl::parse(text).unwrap();
            let options = Options::default();
            let computation =
                crate::engine::compute(&rows, &crate::fx::Rates::default(), options).unwrap();
            let end = crate::dsl::read_date(end).unwrap();
            let ticker = Ticker::parse("F").unwrap();
            let units = units_at(&rows, &computation, &ticker, end, options).unwrap();
            assert_eq!(
                (units.held.to_string().as_str(), units.bought_back.to_string().as_str()),
                (held, back),
                "{text} at {end}"
            );
        }
    }

    #[test]
    fn reportable_income_is_dated_six_months_after_the_period_end() {
        let table = ReportedIncomeTable::default();
        let found = table.of_fund("ie00004fvb93");
        assert_eq!(found[0].per_unit.to_string(), "6.43330");
        assert_eq!(found[0].period_end.to_string(), "2023-11-30");
        // Managers print the last day of the month: 31 May after 30 November.
        assert_eq!(found[0].income_date().unwrap().to_string(), "2024-05-31");
        assert!(table.of_fund("XX0000000000").is_empty());
        let middle =
            ReportedIncome { period_end: jiff::civil::date(2024, 3, 15), ..found[0].clone() };
        assert_eq!(middle.income_date().unwrap().to_string(), "2024-09-15");
    }

    #[test]
    fn own_lists_replace_periods_and_add_funds() {
        let list = "ISIN,Fund Reporting Period End Date,Currency,Excess of reporting income over distribution\nIE00004FVB93,30/11/2024,USD,1.5\nIE00BK5BQT80,2026-06-30,USD,2.25,vanguard\n";
        let table = ReportedIncomeTable::default().with_list(list).unwrap();
        let known: Vec<String> = table
            .of_fund("IE00004FVB93")
            .iter()
            .map(|income| format!("{} {}", income.period_end, income.per_unit))
            .collect();
        assert_eq!(known, ["2023-11-30 6.43330", "2024-11-30 1.5"]);
        assert_eq!(table.extent().1.unwrap().to_string(), "2026-06-30");
        let bad = ReportedIncomeTable::default().with_list("a\nIE00004FVB94,2024-11-30,USD,1\nx");
        assert_eq!(bad.unwrap_err().len(), 2);
    }
}
