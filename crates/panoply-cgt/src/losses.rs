//! Ledger of losses over the tax years of a history.
//!
//! Losses of a year are deducted from its gains in full, also below the exempt amount (TCGA 1992
//! s.1(3), s.1K). A net loss is carried forward and must be deducted from later gains, but only down
//! to the exempt amount (s.1(3)(b), s.1K(5)). It is allowable only once its amount is notified to
//! HMRC, within four years of the end of its tax year (TCGA 1992 s.16(2A); TMA 1970 s.43).

use jiff::civil::Date;

use crate::engine::report::YearReport;
use crate::money::Money;
use crate::parameters::Parameters;
use crate::tax_year::TaxYear;

/// Whether losses of earlier years in the history were claimed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EarlierLosses {
    /// All were claimed in time.
    Claimed,
    /// None was claimed.
    NotClaimed,
}

/// Losses of one tax year.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LossYear {
    /// Tax year.
    pub year: TaxYear,
    /// Gains minus losses of the year.
    pub net: Money,
    /// Brought forward from earlier years.
    pub brought_forward: Money,
    /// Deducted from the year's gains.
    pub used: Money,
    /// Net loss of the year.
    pub made: Money,
    /// Carried forward to the next year.
    pub carried_forward: Money,
    /// Last day for the claim of the year's net loss.
    pub claim_by: Option<Date>,
}

/// The ledger of consecutive years, as if every loss was claimed in time. In a year without a known
/// exempt amount no loss is used.
pub fn ledger(years: &[YearReport<'_>], parameters: &Parameters) -> Vec<LossYear> {
    let mut carried = Money::ZERO;
    let year_of = |year: &YearReport<'_>| {
        let brought_forward = carried;
        let above_exempt = parameters
            .exempt_amount(year.year)
            .map_or(Money::ZERO, |exempt| (year.net_gain - exempt).at_least(Money::ZERO));
        let used = brought_forward.min(above_exempt);
        let made = (-year.net_gain).at_least(Money::ZERO);
        carried = brought_forward - used + made;
        LossYear {
            year: year.year,
            net: year.net_gain,
            brought_forward,
            used,
            made,
            carried_forward: carried,
            claim_by: (!made.is_zero()).then(|| claim_deadline(year.year)).flatten(),
        }
    };
    years.iter().map(year_of).collect()
}

/// Losses of earlier years that are unused at the start of a year.
pub fn available(ledger: &[LossYear], year: TaxYear) -> Money {
    let before = ledger.iter().rfind(|entry| entry.year < year);
    before.map_or(Money::ZERO, |entry| entry.carried_forward)
}

/// Losses of earlier years that are unused at the start of a year, when those of some years were
/// not claimed: these are never used.
pub fn available_without(
    ledger: &[LossYear],
    year: TaxYear,
    unclaimed: &[TaxYear],
    parameters: &Parameters,
) -> Money {
    let mut carried = Money::ZERO;
    for entry in ledger.iter().filter(|entry| entry.year < year) {
        let above_exempt = parameters
            .exempt_amount(entry.year)
            .map_or(Money::ZERO, |exempt| (entry.net - exempt).at_least(Money::ZERO));
        carried -= carried.min(above_exempt);
        if !unclaimed.contains(&entry.year) {
            carried += entry.made;
        }
    }
    carried
}

/// Years before `year` whose net loss is part of what is available.
pub fn made_before(ledger: &[LossYear], year: TaxYear) -> impl Iterator<Item = &LossYear> {
    ledger.iter().filter(move |entry| entry.year < year && !entry.made.is_zero())
}

/// Four years after the end of the tax year.
fn claim_deadline(year: TaxYear) -> Option<Date> {
    TaxYear::starting(i64::from(year.start()) + 4).ok().map(TaxYear::last_day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsl;
    use crate::engine::report::{Rounding, report};
    use crate::engine::{Options, compute};
    use crate::fx::Rates;

    #[test]
    fn losses_are_used_down_to_the_exempt_amount_year_by_year() {
        // My arithmetic from s.1 and s.1K: 2020/21 loses 20,000. 2021/22 gains 15,000: 12,300 are
        // exempt, so 2,700 of the loss are used. 2022/23 gains 5,000, below 12,300: none is used.
        // 2023/24 gains 30,000, of which 24,000 are above 6,000: the remaining 17,300 are used.
        let sale = |ticker: &str, date: &str, cost: i64, price: i64| {
            format!("2019-01-01 BUY {ticker} 1 @ {cost}\n{date} SELL {ticker} 1 @ {price}\n")
        };
        let text = sale("A", "2020-06-01", 30_000, 10_000)
            + &sale("B", "2021-06-01", 1, 15_001)
            + &sale("C", "2022-06-01", 1, 5_001)
            + &sale("D", "2023-06-01", 1, 30_001);
        let rows = dsl::parse(&text).unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let report = report(&computation, parameters, None, Rounding::PerLeg);
        let ledger = ledger(&report.years, parameters);
        let figures: Vec<[Money; 4]> = ledger
            .iter()
            .map(|entry| [entry.brought_forward, entry.used, entry.made, entry.carried_forward])
            .collect();
        let expected = [
            [0, 0, 20_000, 20_000],
            [20_000, 2_700, 0, 17_300],
            [17_300, 0, 0, 17_300],
            [17_300, 17_300, 0, 0],
        ];
        assert_eq!(figures, expected.map(|row| row.map(Money::pounds)));
        assert_eq!(ledger[0].claim_by, Some(jiff::civil::date(2025, 4, 5)));
        assert_eq!(ledger[1].claim_by, None);
        let year = |text: &str| TaxYear::parse(text).unwrap();
        assert_eq!(available(&ledger, year("2020")), Money::ZERO);
        assert_eq!(available(&ledger, year("2023")), Money::pounds(17_300));
        assert_eq!(made_before(&ledger, year("2023")).count(), 1);
        let without =
            |unclaimed: &[TaxYear]| available_without(&ledger, year("2023"), unclaimed, parameters);
        assert_eq!(without(&[]), Money::pounds(17_300));
        assert_eq!(without(&[year("2020")]), Money::ZERO);
    }
}
