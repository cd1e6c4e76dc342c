//! Excess reportable income added to the transactions, by the ISINs of `SECURITY` lines.
//!
//! The cost rises by what is taxed (reg.99), so the amount is converted at the rate of the day on
//! which it counts as income; before HMRC has published that month, at the rate of the period end.

use std::collections::BTreeMap;

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::{ReportedIncomeTable, units_of};
use crate::currency::Currency;
use crate::engine::{self, Computation, EngineError, Options};
use crate::fx::{Month, Rates};
use crate::security::Securities;
use crate::transaction::{Amount, Kind, Quantity, Row, SourceLocation, Ticker, Transaction};

/// Income of a period that was added to a holding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddedIncome {
    /// Holding.
    pub ticker: Ticker,
    /// Last day of the period.
    pub period_end: Date,
    /// Day on which it counts as income.
    pub income_date: Date,
    /// Units that count as held.
    pub units: Decimal,
    /// Income per unit.
    pub per_unit: Decimal,
    /// Income.
    pub amount: Decimal,
    /// Currency of both.
    pub currency: Currency,
}

/// Computes gains and holdings with the excess reportable income of funds added to their cost.
pub fn compute(
    rows: &[Row],
    rates: &Rates,
    table: &ReportedIncomeTable,
    options: Options,
) -> Result<Computation, Vec<EngineError>> {
    let (with_income, added) = with_reported_income(rows, rates, table, options)?;
    let rows = if added.is_empty() { rows } else { with_income.as_slice() };
    let mut computation = engine::compute(rows, rates, options)?;
    computation.added_income = added;
    Ok(computation)
}

/// The transactions with an `ACCUMULATION` for each period of a fund that they do not have yet; no
/// transactions when there is none.
pub fn with_reported_income(
    rows: &[Row],
    rates: &Rates,
    table: &ReportedIncomeTable,
    options: Options,
) -> Result<(Vec<Row>, Vec<AddedIncome>), Vec<EngineError>> {
    let securities = Securities::of(rows);
    let mut funds = BTreeMap::new();
    for (ticker, security) in securities.iter() {
        let periods =
            security.isin.as_ref().map(|isin| table.of_fund(isin.as_str())).unwrap_or_default();
        if !periods.is_empty() {
            funds.insert(ticker, periods);
        }
    }
    if funds.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let computation = engine::compute(rows, rates, options)?;
    let mut all = rows.to_vec();
    let mut added = Vec::new();
    for (ticker, periods) in funds {
        let own: Vec<&Row> = rows.iter().filter(|row| concerns(row, ticker)).collect();
        for income in periods.iter().filter(|income| !income.per_unit.is_zero()) {
            let Some(income_date) = income.income_date() else { continue };
            let is_recorded = own.iter().any(|row| {
                let Transaction { date, kind, .. } = &row.transaction;
                matches!(kind, Kind::Accumulation { .. })
                    && (*date == income.period_end || *date == income_date)
            });
            let units = units_of(&own, &computation, ticker, income.period_end, options);
            let units = units.and_then(super::UnitsHeld::all);
            let units = units.and_then(|units| units.to_string().parse::<Decimal>().ok());
            let Some(units) = units.filter(|units| !units.is_zero() && !is_recorded) else {
                continue;
            };
            let amount = units.checked_mul(income.per_unit).map(|amount| amount.normalize());
            let Some(total) = amount.and_then(|amount| Amount::new(amount, income.currency)) else {
                continue;
            };
            let rate = rates.monthly(income.currency, Month::of(income_date)).ok();
            let total = total.at_rate(rate.and_then(|rate| Quantity::new(rate.units_per_pound)));
            all.push(row(ticker, income.period_end, units, total));
            added.push(AddedIncome {
                ticker: ticker.clone(),
                period_end: income.period_end,
                income_date,
                units,
                per_unit: income.per_unit,
                amount: total.value(),
                currency: income.currency,
            });
        }
    }
    Ok((all, added))
}

fn concerns(row: &Row, ticker: &Ticker) -> bool {
    row.transaction.ticker == *ticker || row.transaction.kind.into_ticker() == Some(ticker)
}

fn row(ticker: &Ticker, date: Date, units: Decimal, total: Amount) -> Row {
    let kind = Kind::Accumulation { quantity: units, total, tax: Amount::NONE };
    Row {
        transaction: Transaction { date, ticker: ticker.clone(), kind },
        location: SourceLocation { file: Some("excess reportable income".into()), line: 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsl;

    /// USD 6.4333 a unit for the year to 30 November 2023, counted as income on 31 May 2024, when
    /// HMRC's rate for the month was 1.2457: 10 units are £51.64.
    const FUND: &str = "2023-01-05 BUY F 10 @ 100\n2023-01-01 SECURITY F ISIN IE00004FVB93\n";

    fn cost(text: &str) -> (String, usize) {
        let rows = dsl::parse(text).unwrap();
        let table = ReportedIncomeTable::default();
        let rates = Rates::default();
        let computation = compute(&rows, &rates, &table, Options::default()).unwrap();
        let held = computation.holdings.iter().find(|held| held.ticker.as_str() == "F").unwrap();
        (held.cost.to_string(), computation.added_income.len())
    }

    #[test]
    fn excess_reportable_income_adds_to_the_cost_by_isin() {
        let may = Rates::default()
            .monthly(Currency::parse("USD").unwrap(), Month::new(2024, 5).unwrap())
            .unwrap();
        let expected = (Decimal::from(1000)
            + "64.333".parse::<Decimal>().unwrap() / may.units_per_pound)
            .round_dp(2);
        let sold = format!("{FUND}2024-01-02 SELL F 5 @ 120\n2024-01-03 BUY G 1 @ 1");
        let rows = dsl::parse(&sold).unwrap();
        let table = ReportedIncomeTable::default();
        let computation = compute(&rows, &Rates::default(), &table, Options::default()).unwrap();
        // Half of the cost with the income of the period that ended before the sale.
        let half = (expected / Decimal::TWO).round_dp(2).to_string();
        assert_eq!(computation.disposals[0].legs[0].cost.to_string(), half);
    }

    #[test]
    fn recorded_income_is_not_added_twice() {
        let (cost_before, added) = cost(FUND);
        assert_eq!(added, 2);
        let recorded = format!("{FUND}2023-11-30 ACCUMULATION F 10 TOTAL 64.333 USD");
        let (cost_after, added) = cost(&recorded);
        assert_eq!(added, 1);
        assert_ne!(cost_before, "1000.00");
        assert_ne!(cost_after, "1000.00");
        let none = "2023-01-05 BUY F 10 @ 100\n2023-01-01 SECURITY F ISIN US0378331005";
        assert_eq!(cost(none), ("1000.00".to_owned(), 0));
    }
}
