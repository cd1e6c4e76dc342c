//! Estimate of the tax on a year's gains, with deductions allocated in the most beneficial way.
//!
//! Losses of the year are deducted in full; losses brought forward only down to the exempt amount
//! (TCGA 1992 s.1E, s.1F, s.1K). Where gains are taxed at different rates, deductions and the unused
//! basic rate band may be allocated to gains in the most beneficial way (s.1F; HMRC CG10246), except
//! that gains with business asset disposal relief use the band first (s.1I(5)). A pound of deduction
//! saves most where its marginal tax is highest, counting the band that it frees; taking that pound
//! by pound, or rather from one change of the marginal tax to the next, gives the lowest tax.

use jiff::civil::Date;

use crate::engine::report::YearReport;
use crate::engine::residence::accrues;
use crate::money::Money;
use crate::parameters::{AssetClass, Parameters, RatePeriod};
use crate::tax_year::TaxYear;

/// Taxpayer's income and losses.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// Income after allowances and reliefs; it uses up the basic rate band.
    pub taxable_income: Money,
    /// Claimed and unused losses of earlier years.
    pub losses_brought_forward: Money,
    /// Basic rate band, when it differs from the year's standard.
    pub basic_rate_band: Option<Money>,
    /// Gains and losses beside those of the transactions.
    pub other: &'a [OtherGain],
}

/// Gains or losses on other assets, as entered.
#[derive(Clone, Copy, Debug)]
pub struct OtherGain {
    /// Kind of asset.
    pub class: AssetClass,
    /// Date of disposal; the first day of the year when it is not given.
    pub date: Option<Date>,
    /// Gain, after reliefs.
    pub gain: Money,
    /// Allowable loss.
    pub loss: Money,
}

/// Tax of a year and its computation.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// Gains by class of asset and period of rates.
    pub periods: Vec<Period>,
    /// Gains, with those on other assets.
    pub total_gain: Money,
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

/// Gains of one class of assets in a period with uniform rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// Class of assets.
    pub class: AssetClass,
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
    situation: Situation<'_>,
) -> Option<Estimate> {
    let exempt = parameters.exempt_amount(year.year)?;
    let band = situation.basic_rate_band.or(parameters.basic_rate_band(year.year))?;
    let band_left = (band - situation.taxable_income).at_least(Money::ZERO).min(band);
    let gains = gains_by_rate(year, parameters, situation.other)?;
    let total_gain = year.total_gain + situation.other.iter().map(|other| other.gain).sum();
    let total_loss = year.total_loss + situation.other.iter().map(|other| other.loss).sum();
    let net = total_gain - total_loss;
    let above_exempt = (net - exempt).at_least(Money::ZERO);
    let losses_used = situation.losses_brought_forward.min(above_exempt);
    let exempt_amount_used = exempt.min((net - losses_used).at_least(Money::ZERO));
    let deductions = total_loss.min(total_gain) + losses_used + exempt_amount_used;
    let tax_of = |periods: &[Period]| -> Money { periods.iter().map(|period| period.tax).sum() };
    let at_first = optimal_allocation(at_first_rates(&gains), deductions, band_left);
    let periods = optimal_allocation(gains, deductions, band_left);
    Some(Estimate {
        total_gain,
        losses_in_year: total_loss,
        losses_used,
        losses_carried_forward: situation.losses_brought_forward - losses_used
            + (-net).at_least(Money::ZERO),
        exempt_amount_used,
        taxable: total_gain - deductions,
        band_left,
        tax: tax_of(&periods).to_pence(),
        tax_at_first_rates: tax_of(&at_first).to_pence(),
        periods,
    })
}

/// Gains of the year by class and rates; general assets first, even without gains. `None` when a
/// rate is unknown.
fn gains_by_rate(
    year: &YearReport<'_>,
    parameters: &Parameters,
    other: &[OtherGain],
) -> Option<Vec<Period>> {
    let mut periods = periods_of(AssetClass::General, year.year, parameters)?;
    let mut classes: Vec<AssetClass> = other.iter().map(|other| other.class).collect();
    classes.sort_unstable();
    classes.dedup();
    for class in classes.into_iter().filter(|class| *class != AssetClass::General) {
        periods.extend(periods_of(class, year.year, parameters)?);
    }
    let sales = year.disposals.iter().map(|disposal| {
        let accrued = accrues(disposal.disposal, year.absence).unwrap_or(disposal.disposal.date);
        (AssetClass::General, accrued, disposal.gain.at_least(Money::ZERO))
    });
    let others = other.iter().map(|other| {
        (other.class, other.date.unwrap_or_else(|| year.year.first_day()), other.gain)
    });
    for (class, date, gain) in sales.chain(others) {
        let inside = |period: &&mut Period| period.class == class && period.from <= date;
        if let Some(period) = periods.iter_mut().rfind(inside) {
            period.gains += gain;
        }
    }
    Some(periods)
}

fn periods_of(class: AssetClass, year: TaxYear, parameters: &Parameters) -> Option<Vec<Period>> {
    let rates = parameters.rates(class, year);
    let period = |rates: &RatePeriod| Period {
        class,
        from: rates.from.max(year.first_day()),
        rates: *rates,
        gains: Money::ZERO,
        deducted: Money::ZERO,
        at_basic: Money::ZERO,
        at_higher: Money::ZERO,
        tax: Money::ZERO,
    };
    (!rates.is_empty()).then(|| rates.iter().map(period).collect())
}

/// The gains of each class at the rates of its first period.
fn at_first_rates(gains: &[Period]) -> Vec<Period> {
    let mut firsts: Vec<Period> = Vec::new();
    for period in gains {
        match firsts.iter_mut().find(|first| first.class == period.class) {
            Some(first) => first.gains += period.gains,
            None => firsts.push(*period),
        }
    }
    firsts
}

/// Allocates deductions and band to the gains for the lowest tax.
fn optimal_allocation(mut periods: Vec<Period>, mut deductions: Money, band: Money) -> Vec<Period> {
    fill(&mut periods, band);
    while deductions > Money::ZERO {
        let Some((index, step)) = best_deduction(&periods) else { break };
        let Some(period) = periods.get_mut(index) else { break };
        let step = step.min(deductions);
        period.deducted += step;
        deductions -= step;
        fill(&mut periods, band);
    }
    periods
}

/// Period in which a pound of deduction saves most, and for how many pounds that holds.
fn best_deduction(periods: &[Period]) -> Option<(usize, Money)> {
    // Band that is freed goes to the gains above it with the largest difference of rates.
    let waiting = periods
        .iter()
        .filter(|period| period.at_higher > Money::ZERO && period.difference() > 0)
        .max_by_key(|period| period.difference());
    let saving = |period: &Period| {
        if period.at_higher > Money::ZERO {
            (period.rates.higher, period.at_higher)
        } else {
            let freed = waiting.map_or(0, Period::difference);
            let until = waiting.map_or(period.at_basic, |waiting| waiting.at_higher);
            (period.rates.basic + freed, until.min(period.at_basic))
        }
    };
    let open = periods.iter().enumerate().filter(|(_, period)| period.left() > Money::ZERO);
    open.max_by_key(|(_, period)| saving(period).0).map(|(index, period)| (index, saving(period).1))
}

impl Period {
    /// Gains after deductions.
    fn left(&self) -> Money {
        self.gains - self.deducted
    }

    /// What a pound of band saves, in percent.
    const fn difference(&self) -> u32 {
        self.rates.higher.saturating_sub(self.rates.basic)
    }
}

/// Distributes the band: business assets first by law, then where it saves most.
fn fill(periods: &mut [Period], mut band: Money) {
    let mut order: Vec<usize> = (0..periods.len()).collect();
    order.sort_by_key(|index| {
        periods.get(*index).map(|period| {
            let by_law = period.class != AssetClass::BusinessAssets;
            (by_law, std::cmp::Reverse(period.difference()))
        })
    });
    for index in order {
        if let Some(period) = periods.get_mut(index) {
            period.at_basic = period.left().min(band);
            period.at_higher = period.left() - period.at_basic;
            band -= period.at_basic;
            period.tax = period.at_basic.percent(period.rates.basic)
                + period.at_higher.percent(period.rates.higher);
        }
    }
}

#[cfg(test)]
mod tests {
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
            other: &[],
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
        assert!(parameters.rates(AssetClass::General, TaxYear::parse("2030").unwrap()).is_empty());
    }

    #[test]
    fn other_gains_share_the_exempt_amount_and_the_band() {
        // By hand for 2023/24, income 30,000, so 7,700 of the band are left. Gains: shares 10,000
        // (10/20 %), a flat 20,000 (18/28 %), less a loss of 1,000 and 6,000 exempt. The deductions
        // save 28 % on the flat, which keeps 13,000. The band saves ten points on either: shares
        // first. 7,700 x 10 % + 2,300 x 20 % + 13,000 x 28 % = 770 + 460 + 3,640 = 4,870.
        let rows = dsl::parse(&sale("2023-12-01", 10_000)).unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let year = TaxYear::parse("2023").unwrap();
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        let flat = OtherGain {
            class: AssetClass::ResidentialProperty,
            date: None,
            gain: Money::pounds(20_000),
            loss: Money::ZERO,
        };
        let crypto = OtherGain {
            class: AssetClass::General,
            gain: Money::ZERO,
            loss: Money::pounds(1_000),
            ..flat
        };
        let situation = Situation {
            taxable_income: Money::pounds(30_000),
            losses_brought_forward: Money::ZERO,
            basic_rate_band: None,
            other: &[flat, crypto],
        };
        let estimate = estimate(&report.years[0], parameters, situation).unwrap();
        assert_eq!((estimate.tax, estimate.taxable), (Money::pounds(4_870), Money::pounds(23_000)));
        let carried = OtherGain { class: AssetClass::CarriedInterest, ..flat };
        let later = TaxYear::parse("2026").unwrap();
        let report =
            crate::engine::report::report(&computation, parameters, Some(later), Rounding::PerLeg);
        let situation = Situation { other: &[carried], ..situation };
        assert!(super::estimate(&report.years[0], parameters, situation).is_none());
    }

    /// Lowest tax in hundredths of a pound over every allocation of whole pounds, by recursion over
    /// the periods: each pound of gain is deducted, or in the band, or above it.
    fn brute_force(periods: &[Period], pounds: &[i64], deductions: i64, band: i64) -> i64 {
        let Some((period, rest)) = periods.split_first() else {
            return if deductions == 0 { 0 } else { i64::MAX };
        };
        let (gains, rest_pounds) = pounds.split_first().unwrap();
        let (basic, higher) = (i64::from(period.rates.basic), i64::from(period.rates.higher));
        let mut best = i64::MAX;
        for deducted in 0..=(*gains).min(deductions) {
            let left = gains - deducted;
            // Business assets come first in `periods` and must use the band.
            let forced = period.class == AssetClass::BusinessAssets;
            let least = if forced { left.min(band) } else { 0 };
            for in_band in least..=left.min(band) {
                let below = brute_force(rest, rest_pounds, deductions - deducted, band - in_band);
                if below < i64::MAX {
                    best = best.min(below + in_band * basic + (left - in_band) * higher);
                }
            }
        }
        best
    }

    #[test]
    fn allocation_is_optimal_in_every_year() {
        let parameters = Parameters::bundled().unwrap();
        let mut state = 7_u64;
        let mut random = |limit: i64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((state >> 33) % u64::try_from(limit).unwrap()).unwrap()
        };
        let classes = [
            AssetClass::BusinessAssets,
            AssetClass::General,
            AssetClass::ResidentialProperty,
            AssetClass::CarriedInterest,
        ];
        for start in 2008..=2026 {
            let year = TaxYear::starting(start).unwrap();
            for case in 0..1_000 {
                let mut periods: Vec<Period> = Vec::new();
                for class in classes {
                    if random(3) > 0 {
                        periods.extend(periods_of(class, year, parameters).unwrap_or_default());
                    }
                }
                // Three periods and small amounts keep the search short.
                periods.truncate(3);
                let pounds: Vec<i64> = periods.iter().map(|_| random(5)).collect();
                for (period, pounds) in periods.iter_mut().zip(&pounds) {
                    period.gains = Money::pounds(*pounds);
                }
                let deductions = random(8).min(pounds.iter().sum());
                let band = random(6);
                let expected = brute_force(&periods, &pounds, deductions, band);
                let found: Money = optimal_allocation(
                    periods.clone(),
                    Money::pounds(deductions),
                    Money::pounds(band),
                )
                .iter()
                .map(|period| period.tax)
                .sum();
                assert_eq!(
                    found,
                    Money::pounds(expected).percent(1),
                    "{start}, case {case}: {periods:?} less {deductions}, band {band}"
                );
            }
        }
    }
}
