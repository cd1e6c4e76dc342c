//! Excess reportable income of offshore funds: what a unit is treated as having paid.
//!
//! An investor in a reporting fund is taxed on income that the fund kept, as if it had been
//! paid six months after the period's end, on the units held at that end (Offshore Funds (Tax)
//! Regulations 2009, SI 2009/3001, reg.94). The same amount adds to the cost of the units
//! (reg.99); dated at the period's end it reaches units sold in between as well.

use jiff::ToSpan;
use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::currency::Currency;
use crate::number;

/// Figures collected by KapJI/capital-gains-calculator (MIT); see `data/cgt/README.md`.
const TABLE: &str = include_str!("../../../data/cgt/eri_per_unit.csv");

/// What a unit earned and kept in a period.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReportedIncome {
    /// The last day of the period.
    pub period_end: Date,
    /// For each unit.
    pub per_unit: Decimal,
    /// In which currency.
    pub currency: Currency,
    /// Who manages the fund.
    pub provider: &'static str,
}

impl ReportedIncome {
    /// The day it counts as income: six months after the period's end.
    pub fn income_date(&self) -> Option<Date> {
        self.period_end.checked_add(6.months()).ok()
    }
}

/// A fund's periods in order; empty when the table does not have it.
pub fn of_fund(isin: &str) -> Vec<ReportedIncome> {
    let isin = isin.trim().to_ascii_uppercase();
    let mut found: Vec<ReportedIncome> = TABLE
        .lines()
        .skip(1)
        .filter_map(|line| line.strip_prefix(isin.as_str())?.strip_prefix(','))
        .filter_map(row)
        .collect();
    found.sort_by_key(|income| income.period_end);
    found
}

/// How many funds there are, and the last period of any.
pub fn extent() -> (usize, Option<Date>) {
    let mut isins: Vec<&str> =
        TABLE.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    isins.dedup();
    let last = TABLE
        .lines()
        .skip(1)
        .filter_map(|line| crate::dsl::read_date(line.split(',').nth(1)?))
        .max();
    (isins.len(), last)
}

fn row(rest: &'static str) -> Option<ReportedIncome> {
    let mut fields = rest.split(',');
    Some(ReportedIncome {
        period_end: crate::dsl::read_date(fields.next()?)?,
        currency: Currency::parse(fields.next()?).ok()?,
        per_unit: number::parse(fields.next()?).ok()?,
        provider: fields.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read() {
        let rows = TABLE.lines().skip(1).filter(|line| !line.is_empty());
        for line in rows {
            let (_, rest) = line.split_once(',').unwrap();
            assert!(row(rest).is_some(), "{line}");
        }
        assert_eq!(extent().0, 2342);
    }

    #[test]
    fn a_funds_income_counts_half_a_year_after_its_period() {
        let found = of_fund("ie00004fvb93");
        assert_eq!(found[0].per_unit.to_string(), "6.43330");
        assert_eq!(found[0].period_end.to_string(), "2023-11-30");
        assert_eq!(found[0].income_date().unwrap().to_string(), "2024-05-30");
        assert!(of_fund("XX0000000000").is_empty());
    }
}
