//! Simulation of saving plans: projection by a log-normal random walk, and back-test over known NAVs.
//!
//! Estimates use floating point and are rounded to whole baht. The random numbers are a fixed
//! sequence, so that the same plan gives the same figures.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::figures::{rounded, rounded_float, to_f64};
use crate::nav::NavPoint;

/// Thai inflation by year, in percent: World Bank, FP.CPI.TOTL.ZG (CC BY 4.0).
const INFLATION: &str = include_str!("../../../data/rmf/inflation_th.csv");

/// Inflation of one calendar year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YearInflation {
    /// Calendar year.
    pub year: i16,
    /// In percent.
    pub percent: Decimal,
}

/// Inflation by year, ascending.
pub fn inflation() -> Vec<YearInflation> {
    let row = |line: &str| {
        let (year, percent) = line.split_once(',')?;
        Some(YearInflation { year: year.parse().ok()?, percent: percent.trim().parse().ok()? })
    };
    INFLATION.lines().skip(1).filter_map(row).collect()
}

/// Mean inflation of the last `years` known, geometric, in percent, with the first and last year.
pub fn mean_inflation(years: usize) -> Option<(Decimal, i16, i16)> {
    let all = inflation();
    let last = all.get(all.len().saturating_sub(years)..)?;
    let (first, end) = (last.first()?.year, last.last()?.year);
    let product: f64 = last.iter().map(|year| 1.0 + to_f64(year.percent) / 100.0).product();
    let count = crate::figures::count(last.len());
    Some((rounded_float((product.powf(1.0 / count) - 1.0) * 100.0)?, first, end))
}

/// A stretch of months in one fund.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// Length in months.
    pub months: u32,
    /// Return in percent a year (geometric).
    pub annual_return: Decimal,
    /// Standard deviation in percent a year.
    pub deviation: Decimal,
}

/// A saving plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Paid at the start, in baht.
    pub lump_sum: Decimal,
    /// Paid at the start of each month, in baht.
    pub monthly: Decimal,
    /// Fee on each payment, in percent.
    pub front_fee: Decimal,
    /// Fee on a switch between phases, in percent.
    pub switch_fee: Decimal,
    /// Marginal tax rate: the tax saved by a year's payments is paid in at the end of that year.
    pub reinvested_tax_rate: Decimal,
    /// Phases in order.
    pub phases: Vec<Phase>,
    /// Inflation in percent a year.
    pub inflation: Decimal,
}

/// Values at the end of a year, in baht.
#[derive(Clone, Debug, PartialEq)]
pub struct YearEnd {
    /// Year of the plan, counted from 1.
    pub year: u32,
    /// Paid in so far, without tax saved.
    pub paid: Decimal,
    /// One in ten outcomes is below.
    pub low: Decimal,
    /// Half of the outcomes are below.
    pub median: Decimal,
    /// One in ten outcomes is above.
    pub high: Decimal,
}

/// Result of a projection, in baht.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// Values by year.
    pub years: Vec<YearEnd>,
    /// Tax saved that was paid in.
    pub tax_reinvested: Decimal,
    /// Median at the end in today's money.
    pub real_median: Decimal,
    /// Share of outcomes below what was paid in, in percent.
    pub loss_percent: Decimal,
    /// Median over the paths of the largest fall from a peak, in percent.
    pub median_drawdown: Decimal,
}

/// Number of simulated paths.
const PATHS: usize = 1_000;

/// Simulates a plan. `None` when it has no month or a figure is out of range.
pub fn project(plan: &Plan) -> Option<Projection> {
    let months: u32 = plan.phases.iter().map(|phase| phase.months).sum();
    if months == 0 || plan.phases.iter().any(|phase| to_f64(phase.annual_return) <= -100.0) {
        return None;
    }
    let ends: Vec<u32> = (1..=months).filter(|month| month % 12 == 0 || *month == months).collect();
    let mut values: Vec<Vec<f64>> = vec![Vec::with_capacity(PATHS); ends.len()];
    let mut drawdowns = Vec::with_capacity(PATHS);
    let mut random = Random(0x5eed);
    let mut tax = 0.0;
    for _ in 0..PATHS {
        let path = walk(plan, &mut random);
        for (at, end) in ends.iter().enumerate() {
            let value = path.values.get(*end as usize - 1).copied().unwrap_or_default();
            values.get_mut(at)?.push(value);
        }
        drawdowns.push(path.drawdown);
        tax = path.tax;
    }
    let paid_at = |month: u32| plan.lump_sum + plan.monthly * Decimal::from(month);
    let mut years = Vec::new();
    for (column, end) in values.iter_mut().zip(&ends) {
        column.sort_by(f64::total_cmp);
        years.push(YearEnd {
            year: end.div_ceil(12),
            paid: paid_at(*end),
            low: whole_baht(quantile(column, 10))?,
            median: whole_baht(quantile(column, 50))?,
            high: whole_baht(quantile(column, 90))?,
        });
    }
    drawdowns.sort_by(f64::total_cmp);
    let last = values.last()?;
    let paid = to_f64(paid_at(months));
    let below = last.iter().filter(|value| **value < paid).count();
    let span = f64::from(months) / 12.0;
    let deflator = (1.0 + to_f64(plan.inflation) / 100.0).powf(span);
    Some(Projection {
        real_median: whole_baht(quantile(last, 50) / deflator)?,
        tax_reinvested: whole_baht(tax)?,
        loss_percent: rounded(
            Decimal::from(below) * Decimal::ONE_HUNDRED / Decimal::from(last.len()),
        ),
        median_drawdown: rounded_float(quantile(&drawdowns, 50) * 100.0)?,
        years,
    })
}

struct Path {
    /// Value at the end of each month.
    values: Vec<f64>,
    /// Largest fall of one unit from a peak, as a fraction.
    drawdown: f64,
    tax: f64,
}

fn walk(plan: &Plan, random: &mut Random) -> Path {
    let keep = 1.0 - to_f64(plan.front_fee) / 100.0;
    let monthly = to_f64(plan.monthly);
    let rate = to_f64(plan.reinvested_tax_rate) / 100.0;
    let mut path = Path { values: Vec::new(), drawdown: 0.0, tax: 0.0 };
    let mut value = to_f64(plan.lump_sum) * keep;
    let (mut unit, mut peak, mut month) = (1.0_f64, 1.0_f64, 0_u32);
    let mut paid_this_year = to_f64(plan.lump_sum);
    for (at, phase) in plan.phases.iter().enumerate() {
        if at > 0 {
            value *= 1.0 - to_f64(plan.switch_fee) / 100.0;
        }
        let mean = (1.0 + to_f64(phase.annual_return) / 100.0).ln() / 12.0;
        let sigma = to_f64(phase.deviation) / 100.0 / 12.0_f64.sqrt();
        for _ in 0..phase.months {
            value += monthly * keep;
            paid_this_year += monthly;
            let step = (mean + sigma * random.normal()).exp();
            value *= step;
            unit *= step;
            peak = peak.max(unit);
            path.drawdown = path.drawdown.max(1.0 - unit / peak);
            month += 1;
            if month % 12 == 0 {
                value += paid_this_year * rate * keep;
                path.tax += paid_this_year * rate;
                paid_this_year = 0.0;
            }
            path.values.push(value);
        }
    }
    path
}

/// Value below which `percent` of the sorted values lie.
fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let at = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(at).copied().unwrap_or_default()
}

fn whole_baht(value: f64) -> Option<Decimal> {
    Decimal::from_f64_retain(value).map(|value| value.round())
}

/// SplitMix64 with the Box–Muller transform.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        let bits = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        (f64::from(bits) + 1.0) / 4_294_967_296.0
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// Result of investing over known NAVs, in baht.
#[derive(Clone, Debug, PartialEq)]
pub struct BackTest {
    /// First purchase.
    pub from: NavPoint,
    /// Last NAV.
    pub to: NavPoint,
    /// Number of purchases.
    pub purchases: u32,
    /// Paid in.
    pub paid: Decimal,
    /// Value at the end.
    pub value: Decimal,
    /// Largest fall of the NAV from a peak, in percent.
    pub drawdown: Decimal,
}

/// Buys at the first NAV of each month, and the lump sum at the very first. `None` for fewer than
/// two NAVs.
pub fn back_test(
    points: &[NavPoint],
    lump_sum: Decimal,
    monthly: Decimal,
    front_fee: Decimal,
) -> Option<BackTest> {
    let [first, .., last] = points else { return None };
    let keep = Decimal::ONE - front_fee / Decimal::ONE_HUNDRED;
    let mut units = (lump_sum * keep).checked_div(first.nav)?;
    let (mut paid, mut purchases) = (lump_sum, 0);
    let mut bought_in = None;
    let (mut peak, mut drawdown) = (first.nav, Decimal::ZERO);
    for point in points {
        let month = (point.date.year(), point.date.month());
        if bought_in != Some(month) {
            bought_in = Some(month);
            units += (monthly * keep).checked_div(point.nav)?;
            paid += monthly;
            purchases += 1;
        }
        peak = peak.max(point.nav);
        drawdown = drawdown.max((peak - point.nav).checked_div(peak)?);
    }
    Some(BackTest {
        from: *first,
        to: *last,
        purchases,
        paid,
        value: crate::figures::round_to(units * last.nav, 2),
        drawdown: rounded(drawdown * Decimal::ONE_HUNDRED),
    })
}

/// Months of a number of years.
pub fn months(years: Decimal) -> u32 {
    (years * Decimal::from(12)).round().to_u32().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::series;

    fn plan(lump: i64, monthly: i64, months: u32, mean: &str, deviation: &str) -> Plan {
        Plan {
            lump_sum: lump.into(),
            monthly: monthly.into(),
            front_fee: Decimal::ZERO,
            switch_fee: Decimal::ZERO,
            reinvested_tax_rate: Decimal::ZERO,
            phases: vec![Phase {
                months,
                annual_return: mean.parse().unwrap(),
                deviation: deviation.parse().unwrap(),
            }],
            inflation: Decimal::ZERO,
        }
    }

    fn near(value: Decimal, expected: f64, share: f64) {
        let value = to_f64(value);
        assert!((value / expected - 1.0).abs() < share, "{value} instead of {expected}");
    }

    #[test]
    fn without_deviation_a_plan_grows_as_an_annuity() {
        let found = project(&plan(0, 5_000, 120, "6", "0")).unwrap();
        let growth = 1.06_f64.powf(1.0 / 12.0);
        // Annuity due: r (r^n − 1) / (r − 1) payments.
        let expected = 5_000.0 * growth * (growth.powi(120) - 1.0) / (growth - 1.0);
        let end = found.years.last().unwrap();
        near(end.median, expected, 1e-6);
        assert_eq!((end.low, end.high), (end.median, end.median));
        assert_eq!((end.paid, end.year, found.loss_percent), (600_000.into(), 10, Decimal::ZERO));
    }

    #[test]
    fn quantiles_of_a_lump_sum_are_those_of_the_log_normal() {
        let found = project(&plan(100_000, 0, 120, "5", "15")).unwrap();
        let end = found.years.last().unwrap();
        let median = 100_000.0 * 1.05_f64.powi(10);
        // 10 % quantile of the standard normal: −1.2816; deviation over ten years: 0.15 √10.
        let spread = (1.281_6 * 0.15 * 10.0_f64.sqrt()).exp();
        near(end.median, median, 0.05);
        near(end.low, median / spread, 0.07);
        near(end.high, median * spread, 0.07);
    }

    #[test]
    fn fees_switches_tax_and_inflation_change_the_end() {
        let mut fees = plan(100_000, 0, 12, "0", "0");
        fees.front_fee = 1.into();
        assert_eq!(project(&fees).unwrap().years[0].median, 99_000.into());
        let mut switch = plan(100_000, 0, 12, "0", "0");
        switch.phases = vec![switch.phases[0]; 2];
        switch.switch_fee = "0.5".parse().unwrap();
        assert_eq!(project(&switch).unwrap().years[1].median, 99_500.into());
        let mut tax = plan(0, 1_000, 24, "0", "0");
        tax.reinvested_tax_rate = 20.into();
        let found = project(&tax).unwrap();
        assert_eq!((found.years[1].median, found.tax_reinvested), (28_800.into(), 4_800.into()));
        let mut real = plan(100_000, 0, 24, "0", "0");
        real.inflation = 10.into();
        assert_eq!(project(&real).unwrap().real_median, 82_645.into(), "100,000 / 1.21");
        assert!(project(&plan(1, 1, 0, "0", "0")).is_none());
    }

    #[test]
    fn same_plan_gives_the_same_figures() {
        let one = plan(1_000, 100, 60, "7", "20");
        assert_eq!(project(&one), project(&one));
    }

    #[test]
    fn back_test_buys_once_a_month() {
        // November 2025 only: one purchase.
        let nav = series(&["10", "20", "15"]);
        let found = back_test(nav.points(), 100.into(), 50.into(), Decimal::ZERO).unwrap();
        assert_eq!((found.purchases, found.paid, found.value), (1, 150.into(), 225.into()));
        assert_eq!(found.drawdown, 25.into());
        assert!(back_test(series(&["10"]).points(), 1.into(), 1.into(), Decimal::ZERO).is_none());
    }

    #[test]
    fn inflation_is_the_world_banks_series() {
        let all = inflation();
        assert_eq!((all[0].year, all.last().unwrap().year), (1960, 2023));
        assert_eq!(all.last().unwrap().percent.to_string(), "1.2280");
        let (mean, from, to) = mean_inflation(10).unwrap();
        assert_eq!((from, to), (2014, 2023));
        assert!(mean > Decimal::ZERO && mean < 3.into(), "{mean}");
    }
}
