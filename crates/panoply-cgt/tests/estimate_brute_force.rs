//! `estimate` against a search through all allocations, 1,000 random taxpayers in every tax year.
//!
//! The search has its own tables of the law and its own order of deductions. All amounts are
//! multiples of a quarter of the year's exempt amount, so that a few units are a whole taxpayer and
//! every allocation of units can be tried. Whole units suffice: the constraints are those of a
//! transportation problem, whose optimum is at whole units when its data are.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail the test"
)]

use jiff::civil::{Date, date};
use panoply_cgt::dsl;
use panoply_cgt::engine::report::{Rounding, report};
use panoply_cgt::engine::{Options, compute};
use panoply_cgt::estimate::{Estimate, OtherGain, Situation, estimate};
use panoply_cgt::fx::Rates;
use panoply_cgt::money::Money;
use panoply_cgt::parameters::{AssetClass, Parameters};
use panoply_cgt::tax_year::TaxYear;

/// Tax year, exempt amount (TCGA 1992 s.1K and its predecessor s.3) and basic rate band (ITA 2007
/// s.10) in pounds.
const YEARS: [(i16, i64, i64); 19] = [
    (2008, 9_600, 34_800),
    (2009, 10_100, 37_400),
    (2010, 10_100, 37_400),
    (2011, 10_600, 35_000),
    (2012, 10_600, 34_370),
    (2013, 10_900, 32_010),
    (2014, 11_000, 31_865),
    (2015, 11_100, 31_785),
    (2016, 11_100, 32_000),
    (2017, 11_300, 33_500),
    (2018, 11_700, 34_500),
    (2019, 12_000, 37_500),
    (2020, 12_300, 37_500),
    (2021, 12_300, 37_700),
    (2022, 12_300, 37_700),
    (2023, 6_000, 37_700),
    (2024, 3_000, 37_700),
    (2025, 3_000, 37_700),
    (2026, 3_000, 37_700),
];

const CASES: usize = 1_000;
const UNITS_OF_EXEMPT_AMOUNT: i64 = 4;

/// Basic and higher rate in percent on a date (TCGA 1992 ss.1H, 169N as in force then).
fn rates_on(class: AssetClass, day: Date) -> (i64, i64) {
    let from = |year, month, first| day >= date(year, month, first);
    match class {
        AssetClass::General if from(2024, 10, 30) => (18, 24),
        AssetClass::General if from(2016, 4, 6) => (10, 20),
        AssetClass::ResidentialProperty if from(2024, 4, 6) => (18, 24),
        AssetClass::CarriedInterest if from(2025, 4, 6) => (32, 32),
        AssetClass::BusinessAssets if from(2026, 4, 6) => (18, 18),
        AssetClass::BusinessAssets if from(2025, 4, 6) => (14, 14),
        AssetClass::BusinessAssets => (10, 10),
        _ if from(2010, 6, 23) => (18, 28),
        _ => (18, 18),
    }
}

/// A gain, in units.
#[derive(Clone, Copy, Debug)]
struct Gain {
    class: AssetClass,
    day: Date,
    units: i64,
}

/// A taxpayer's year, in units.
#[derive(Debug)]
struct Taxpayer {
    gains: Vec<Gain>,
    loss: i64,
    brought_forward: i64,
    /// Units of the band that income leaves.
    band: i64,
}

/// Figures in units; tax in units times percent.
#[derive(Debug, PartialEq)]
struct Expected {
    tax: i64,
    losses_used: i64,
    carried_forward: i64,
    exempt_used: i64,
}

/// The lowest tax over all allocations of deductions and band to the gains.
fn least_tax(gains: &[Gain], deductions: i64, band: i64) -> Option<i64> {
    let Some((gain, rest)) = gains.split_first() else { return (deductions == 0).then_some(0) };
    let (basic, higher) = rates_on(gain.class, gain.day);
    let mut best: Option<i64> = None;
    for deducted in 0..=gain.units.min(deductions) {
        let left = gain.units - deducted;
        // Gains with the relief for business assets use the band first (s.1I(5)); they are first.
        let forced = gain.class == AssetClass::BusinessAssets;
        let least = if forced { left.min(band) } else { 0 };
        for in_band in least..=left.min(band) {
            if let Some(others) = least_tax(rest, deductions - deducted, band - in_band) {
                let tax = others + in_band * basic + (left - in_band) * higher;
                best = Some(best.map_or(tax, |best| best.min(tax)));
            }
        }
    }
    best
}

fn expected(taxpayer: &Taxpayer) -> Expected {
    let total: i64 = taxpayer.gains.iter().map(|gain| gain.units).sum();
    let of_the_year = taxpayer.loss.min(total);
    let net = total - of_the_year;
    // Of the losses brought forward, the least that leaves no more than the exempt amount
    // (s.1F(3)); found by trying.
    let losses_used = (0..=taxpayer.brought_forward)
        .find(|used| net - used <= UNITS_OF_EXEMPT_AMOUNT)
        .unwrap_or(taxpayer.brought_forward);
    let exempt_used = (net - losses_used).min(UNITS_OF_EXEMPT_AMOUNT);
    let deductions = of_the_year + losses_used + exempt_used;
    Expected {
        tax: least_tax(&taxpayer.gains, deductions, taxpayer.band).unwrap(),
        losses_used,
        carried_forward: taxpayer.brought_forward - losses_used + taxpayer.loss - of_the_year,
        exempt_used,
    }
}

/// Linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % u64::try_from(limit).unwrap()).unwrap()
    }
}

fn taxpayer(random: &mut Random, start: i16) -> Taxpayer {
    // Rates changed on 23 June 2010 and 30 October 2024: days on both sides.
    let days = [date(start, 5, 1), date(start, 12, 1)];
    let mut gains = Vec::new();
    if random.below(3) == 0 {
        let units = random.below(6);
        gains.push(Gain { class: AssetClass::BusinessAssets, day: days[0], units });
    }
    for day in days {
        gains.push(Gain { class: AssetClass::General, day, units: random.below(7) });
    }
    let other = match random.below(3) {
        0 => Some(AssetClass::ResidentialProperty),
        // Carried interest is income from 6 April 2026.
        1 if start < 2026 => Some(AssetClass::CarriedInterest),
        _ => None,
    };
    if let Some(class) = other {
        let day = days[usize::try_from(random.below(2)).unwrap()];
        gains.push(Gain { class, day, units: random.below(6) });
    }
    let loss = if random.below(2) == 0 { random.below(10) } else { 0 };
    let brought_forward = if random.below(2) == 0 { random.below(12) } else { 0 };
    Taxpayer { gains, loss, brought_forward, band: random.below(12) }
}

/// The year computed by the program.
fn ours(taxpayer: &Taxpayer, start: i16, unit: i64, band: i64) -> Estimate {
    let mut lines = String::new();
    for (index, gain) in taxpayer.gains.iter().enumerate() {
        if gain.class == AssetClass::General && gain.units > 0 {
            let price = gain.units * unit + 1;
            lines += &format!("2005-01-01 BUY G{index} 1 @ 1\n");
            lines += &format!("{} SELL G{index} 1 @ {price}\n", gain.day);
        }
    }
    if taxpayer.loss > 0 {
        let price = taxpayer.loss * unit + 1;
        lines += &format!("2005-01-01 BUY L 1 @ {price}\n{start}-09-01 SELL L 1 @ 1\n");
    }
    let other: Vec<OtherGain> = taxpayer
        .gains
        .iter()
        .filter(|gain| gain.class != AssetClass::General)
        .map(|gain| OtherGain {
            class: gain.class,
            date: Some(gain.day),
            gain: Money::pounds(gain.units * unit),
            loss: Money::ZERO,
        })
        .collect();
    let rows = dsl::parse(&lines).unwrap();
    let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
    let parameters = Parameters::bundled().unwrap();
    let year = TaxYear::starting(start.into()).unwrap();
    let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
    let situation = Situation {
        taxable_income: Money::pounds(band - taxpayer.band * unit),
        losses_brought_forward: Money::pounds(taxpayer.brought_forward * unit),
        basic_rate_band: None,
        other: &other,
    };
    estimate(&report.years[0], parameters, situation).unwrap()
}

#[test]
fn estimate_equals_the_lowest_tax_of_all_allocations_in_every_year() {
    let mut random = Random(11);
    for (start, exempt, band) in YEARS {
        let unit = exempt / UNITS_OF_EXEMPT_AMOUNT;
        let mut taxed = 0;
        for case in 0..CASES {
            let mut taxpayer = taxpayer(&mut random, start);
            // Income cannot be negative: no more of the band is left than there is.
            taxpayer.band = taxpayer.band.min(band / unit);
            let found = ours(&taxpayer, start, unit, band);
            let wanted = expected(&taxpayer);
            let pounds = |units: i64| Money::pounds(units * unit);
            let of = format!("{start}, case {case}: {taxpayer:?}");
            assert_eq!(found.tax, pounds(wanted.tax).percent(1), "{of}");
            assert_eq!(found.losses_used, pounds(wanted.losses_used), "{of}");
            assert_eq!(found.losses_carried_forward, pounds(wanted.carried_forward), "{of}");
            assert_eq!(found.exempt_amount_used, pounds(wanted.exempt_used), "{of}");
            assert_eq!(found.band_left, pounds(taxpayer.band), "{of}");
            taxed += usize::from(wanted.tax > 0);
        }
        assert!(taxed > CASES / 4, "{taxed} of the taxpayers of {start} owe tax");
    }
}
