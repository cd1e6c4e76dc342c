//! Estimate of the tax on a year's gains, with deductions allocated in the most beneficial way.
//!
//! Losses of the year are deducted in full; losses brought forward only down to the exempt amount
//! (TCGA 1992 s.1E, s.1F, s.1K). Where rates changed within the year, deductions and the unused
//! basic rate band may be allocated to gains in the most beneficial way (s.1F; HMRC CG10246). With
//! two periods there are two orders for each, so all four combinations are tried.

use jiff::civil::Date;

use crate::engine::report::YearReport;
use crate::money::Money;
use crate::parameters::{Parameters, RatePeriod};

/// Taxpayer's income and losses.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Income after allowances and reliefs; it uses up the basic rate band.
    pub taxable_income: Money,
    /// Claimed and unused losses of earlier years.
    pub losses_brought_forward: Money,
    /// Basic rate band, when it differs from the year's standard.
    pub basic_rate_band: Option<Money>,
}

/// Tax of a year and its computation.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// One period, or two when rates changed within the year.
    pub periods: Vec<Period>,
    /// Losses of the year.
    pub losses_in_year: Money,
    /// Losses of earlier years used.
    pub losses_used: Money,
    /// Losses carried forward.
    pub losses_carried_forward: Money,
    /// Exempt amount used.
    pub exempt_amount_used: Money,
    /// Taxable gain.
    pub taxable: Money,
    /// Basic rate band remaining after income.
    pub band_left: Money,
    /// Tax due.
    pub tax: Money,
    /// Tax at the year's first rates: the amount computed by the return.
    pub tax_at_first_rates: Money,
}

/// Gains of a period with uniform rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// First day.
    pub from: Date,
    /// Rates in percent.
    pub rates: RatePeriod,
    /// Gains before deductions.
    pub gains: Money,
    /// Losses and exempt amount deducted.
    pub deducted: Money,
    /// Amount taxed at the basic rate.
    pub at_basic: Money,
    /// Amount taxed at the higher rate.
    pub at_higher: Money,
    /// Tax on both.
    pub tax: Money,
}

/// Estimates the tax of a year; `None` when its rates, band or exempt amount are unknown.
pub fn estimate(
    year: &YearReport<'_>,
    parameters: &Parameters,
    situation: Situation,
) -> Option<Estimate> {
    let rates = parameters.rates(year.year);
    let exempt = parameters.exempt_amount(year.year)?;
    let band = situation.basic_rate_band.or(parameters.basic_rate_band(year.year))?;
    let band_left = (band - situation.taxable_income).at_least(Money::ZERO).min(band);
    let gains: Vec<(RatePeriod, Money)> = rates
        .iter()
        .enumerate()
        .map(|(index, period)| {
            let next = rates.get(index + 1).map(|next| next.from);
            let inside = |date: Date| {
                (index == 0 || period.from <= date) && next.is_none_or(|next| date < next)
            };
            let of_period = year.disposals.iter().filter(|disposal| inside(disposal.disposal.date));
            (
                *period,
                of_period.map(|disposal| disposal.gain).filter(|gain| !gain.is_negative()).sum(),
            )
        })
        .collect();
    if gains.is_empty() {
        return None;
    }
    let net = year.total_gain - year.total_loss;
    let above_exempt = (net - exempt).at_least(Money::ZERO);
    let losses_used = situation.losses_brought_forward.min(above_exempt);
    let exempt_amount_used = exempt.min((net - losses_used).at_least(Money::ZERO));
    let deductions = year.total_loss.min(year.total_gain) + losses_used + exempt_amount_used;
    let periods = optimal_allocation(&gains, deductions, band_left, year.year.first_day());
    let tax_of = |periods: &[Period]| -> Money { periods.iter().map(|period| period.tax).sum() };
    let all_at_first: Vec<(RatePeriod, Money)> =
        gains.first().map(|(first, _)| (*first, year.total_gain)).into_iter().collect();
    let at_first = optimal_allocation(&all_at_first, deductions, band_left, year.year.first_day());
    Some(Estimate {
        losses_in_year: year.total_loss,
        losses_used,
        losses_carried_forward: situation.losses_brought_forward - losses_used
            + (-net).at_least(Money::ZERO),
        exempt_amount_used,
        taxable: year.total_gain - deductions,
        band_left,
        tax: tax_of(&periods).to_pence(),
        tax_at_first_rates: tax_of(&at_first).to_pence(),
        periods,
    })
}

/// Allocates deductions and band to the periods for the lowest tax.
fn optimal_allocation(
    gains: &[(RatePeriod, Money)],
    deductions: Money,
    band: Money,
    first_day: Date,
) -> Vec<Period> {
    let forward: Vec<usize> = (0..gains.len()).collect();
    let backward: Vec<usize> = forward.iter().rev().copied().collect();
    let orders = [&forward, &backward];
    let ways = orders.iter().flat_map(|deduct| orders.iter().map(move |fill| (*deduct, *fill)));
    let tried =
        ways.map(|(deduct, fill)| allocate(gains, deductions, band, first_day, deduct, fill));
    tried
        .min_by_key(|periods| periods.iter().map(|period| period.tax).sum::<Money>())
        .unwrap_or_default()
}

fn allocate(
    gains: &[(RatePeriod, Money)],
    mut deductions: Money,
    mut band: Money,
    first_day: Date,
    deduct: &[usize],
    fill: &[usize],
) -> Vec<Period> {
    let mut periods: Vec<Period> = gains
        .iter()
        .map(|(rates, gains)| Period {
            from: rates.from.max(first_day),
            rates: *rates,
            gains: *gains,
            deducted: Money::ZERO,
            at_basic: Money::ZERO,
            at_higher: Money::ZERO,
            tax: Money::ZERO,
        })
        .collect();
    for index in deduct {
        if let Some(period) = periods.get_mut(*index) {
            period.deducted = period.gains.min(deductions);
            deductions -= period.deducted;
        }
    }
    for index in fill {
        if let Some(period) = periods.get_mut(*index) {
            let left = period.gains - period.deducted;
            period.at_basic = left.min(band);
            period.at_higher = left - period.at_basic;
            band -= period.at_basic;
            period.tax = period.at_basic.percent(period.rates.basic)
                + period.at_higher.percent(period.rates.higher);
        }
    }
    periods
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dsl;
    use crate::engine::report::{Rounding, report};
    use crate::engine::{Options, compute};
    use crate::fx::Rates;
    use crate::tax_year::TaxYear;

    fn of(text: &str, year: &str, income: i64, losses: i64) -> Estimate {
        let rows = dsl::parse(text).unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse(year).unwrap();
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        let situation = Situation {
            taxable_income: Money::pounds(income),
            losses_brought_forward: Money::pounds(losses),
            basic_rate_band: None,
        };
        estimate(&report.years[0], parameters, situation).unwrap()
    }

    fn sale(date: &str, gain: i64) -> String {
        format!("2020-01-01 BUY T{gain} 1 @ 1\n{date} SELL T{gain} 1 @ {}\n", gain + 1)
    }

    #[test]
    fn gain_after_30_october_2024_is_taxed_at_the_new_rates() {
        // £1,000 above the exempt amount in the basic rate band: £180, of which the return
        // computes £100 and box 51 needs £80 (GoSimpleTax, change to CGT rates).
        let estimate = of(&sale("2024-12-01", 4000), "2024", 0, 0);
        assert_eq!(estimate.tax, Money::pounds(180));
        assert_eq!(estimate.tax - estimate.tax_at_first_rates, Money::pounds(80));
    }

    #[test]
    fn losses_brought_forward_stop_at_the_exempt_amount() {
        let estimate = of(&sale("2023-12-01", 10_000), "2023", 50_000, 9_000);
        // 10,000 - 6,000 exempt: 4,000 of the 9,000 are used and 5,000 stay.
        assert_eq!(estimate.losses_used, Money::pounds(4_000));
        assert_eq!(estimate.losses_carried_forward, Money::pounds(5_000));
        assert_eq!(
            (estimate.exempt_amount_used, estimate.tax),
            (Money::pounds(6_000), Money::ZERO)
        );
    }

    #[test]
    fn net_loss_is_carried_forward() {
        let text = "2020-01-01 BUY A 1 @ 5000\n2024-05-01 SELL A 1 @ 1000\n".to_owned()
            + &sale("2024-06-01", 500);
        let estimate = of(&text, "2024", 0, 100);
        assert_eq!(estimate.losses_carried_forward, Money::pounds(3_600));
        assert_eq!((estimate.tax, estimate.taxable), (Money::ZERO, Money::ZERO));
    }

    #[test]
    fn exempt_amount_is_set_against_the_higher_rate_period() {
        let text = sale("2024-05-01", 5_000) + &sale("2024-12-01", 6_000);
        let higher = of(&text, "2024", 100_000, 0);
        // 5,000 at 20 % and 3,000 at 24 %.
        assert_eq!(higher.tax, Money::pounds(1_720));
        assert_eq!(higher.periods[1].deducted, Money::pounds(3_000));
    }

    #[test]
    fn tax_year_without_rates_has_no_estimate() {
        let parameters = Parameters::bundled().unwrap();
        assert!(parameters.rates(TaxYear::parse("2030").unwrap()).is_empty());
    }

    proptest! {
        /// Compares with brute force over whole pounds of deductions and band.
        #[test]
        fn allocation_of_deductions_is_optimal(before in 0_i64..12, after in 0_i64..12, deductions in 0_i64..12, band in 0_i64..12, which in 0_usize..2) {
            let pairs = [((10, 20), (18, 24)), ((18, 18), (18, 28))];
            let ((b1, h1), (b2, h2)) = pairs[which];
            let day = jiff::civil::date(2024, 4, 6);
            let period = |basic, higher| RatePeriod { from: day, basic, higher };
            let gains = [(period(b1, h1), Money::pounds(before)), (period(b2, h2), Money::pounds(after))];
            let deductions = deductions.min(before + after);
            let found: Money = optimal_allocation(&gains, Money::pounds(deductions), Money::pounds(band), day).iter().map(|period| period.tax).sum();
            let mut best = i64::MAX;
            for first in 0..=deductions {
                let (left1, left2) = (before - first, after - (deductions - first));
                if left1 < 0 || left2 < 0 { continue }
                for basic1 in 0..=left1.min(band) {
                    let basic2 = left2.min(band - basic1);
                    let cost = basic1 * i64::from(b1) + (left1 - basic1) * i64::from(h1) + basic2 * i64::from(b2) + (left2 - basic2) * i64::from(h2);
                    best = best.min(cost);
                }
            }
            prop_assert_eq!(found, Money::pounds(best).percent(1));
        }
    }
}
