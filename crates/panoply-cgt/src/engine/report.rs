//! Phase 4: rounding, tax years, totals.
//!
//! The law names no rounding for computations. `PerLeg` is to the penny, halves away from zero,
//! leg by leg, so that every sum can be checked with a pencil. `Exact` rounds nothing.
//! `WholePounds` is how HMRC's examples and the return work: proceeds down, costs up.

use std::collections::{BTreeMap, BTreeSet};

use super::{Computation, Disposal, Dividends, Holding, Leg, Transfer};
use crate::money::Money;
use crate::parameters::Parameters;
use crate::tax_year::TaxYear;

/// How figures are rounded.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Rounding {
    /// To the penny, leg by leg.
    #[default]
    PerLeg,
    /// Not at all.
    Exact,
    /// Proceeds down and costs up, to whole pounds.
    WholePounds,
}

impl Rounding {
    /// How an amount is written under this rounding.
    pub fn text(self, amount: Money) -> String {
        match self {
            Self::Exact => amount.exact(),
            Self::PerLeg | Self::WholePounds => amount.to_string(),
        }
    }

    fn proceeds(self, amount: Money) -> Money {
        match self {
            Self::PerLeg => amount.to_pence(),
            Self::Exact => amount,
            Self::WholePounds => amount.pounds_down(),
        }
    }

    fn cost(self, amount: Money) -> Money {
        match self {
            Self::PerLeg => amount.to_pence(),
            Self::Exact => amount,
            Self::WholePounds => amount.pounds_up(),
        }
    }
}

/// The figures of every tax year, rounded.
#[derive(Debug)]
pub struct Report<'a> {
    /// In order; only years with disposals, unless one was asked for.
    pub years: Vec<YearReport<'a>>,
    /// What is left.
    pub holdings: &'a [Holding],
    /// Transfers to the spouse in those years.
    pub transfers: Vec<&'a Transfer>,
    /// What a reader should know.
    pub warnings: Vec<String>,
}

/// The figures of one tax year.
#[derive(Debug)]
pub struct YearReport<'a> {
    /// The year.
    pub year: TaxYear,
    /// Its disposals, by date and ticker.
    pub disposals: Vec<RoundedDisposal<'a>>,
    /// All gains.
    pub total_gain: Money,
    /// All losses, as a positive amount.
    pub total_loss: Money,
    /// Gains less losses.
    pub net_gain: Money,
    /// What the disposals brought before costs.
    pub gross_proceeds: Money,
    /// What the shares had cost, without the costs of selling.
    pub allowable_cost: Money,
    /// The costs of selling.
    pub selling_costs: Money,
    /// What is free of tax; `None` when we do not know the year.
    pub exempt_amount: Option<Money>,
    /// What is above the exempt amount; `None` when that is not known and there is a net gain.
    pub taxable_gain: Option<Money>,
    /// Dividends.
    pub dividends: Dividends,
}

/// A disposal with rounded figures.
#[derive(Debug)]
pub struct RoundedDisposal<'a> {
    /// The disposal itself.
    pub disposal: &'a Disposal,
    /// What it brought before costs.
    pub gross: Money,
    /// What it brought after costs.
    pub proceeds: Money,
    /// The legs.
    pub legs: Vec<RoundedLeg<'a>>,
    /// What it gained: the sum of its legs.
    pub gain: Money,
}

/// A leg with rounded figures.
#[derive(Debug)]
pub struct RoundedLeg<'a> {
    /// The leg itself.
    pub leg: &'a Leg,
    /// What the shares had cost.
    pub cost: Money,
    /// What they gained.
    pub gain: Money,
}

/// The report of one year, or of every year with disposals.
pub fn report<'a>(
    computation: &'a Computation,
    parameters: &Parameters,
    year: Option<TaxYear>,
    rounding: Rounding,
) -> Report<'a> {
    let mut by_year: BTreeMap<TaxYear, Vec<RoundedDisposal<'a>>> = BTreeMap::new();
    for disposal in &computation.disposals {
        let of = TaxYear::of(disposal.date);
        if year.is_none_or(|year| year == of) {
            by_year.entry(of).or_default().push(rounded(disposal, rounding));
        }
    }
    if let Some(year) = year {
        by_year.entry(year).or_default();
    }
    let shown: BTreeSet<TaxYear> = by_year.keys().copied().collect();
    let years: Vec<YearReport<'a>> = by_year
        .into_iter()
        .map(|(year, disposals)| {
            let dividends = computation.dividends.get(&year).copied().unwrap_or_default();
            year_report(year, disposals, dividends, parameters, rounding)
        })
        .collect();
    let warnings = years.iter().filter_map(|year| unknown_year(year, parameters)).collect();
    let transfers = computation.transfers.iter();
    let transfers = transfers
        .filter(|transfer| year.is_none() || shown.contains(&TaxYear::of(transfer.date)))
        .collect();
    Report { years, holdings: &computation.holdings, transfers, warnings }
}

fn year_report<'a>(
    year: TaxYear,
    disposals: Vec<RoundedDisposal<'a>>,
    dividends: Dividends,
    parameters: &Parameters,
    rounding: Rounding,
) -> YearReport<'a> {
    let gains = || disposals.iter().map(|disposal| disposal.gain);
    let total_gain: Money = gains().filter(|gain| !gain.is_negative()).sum();
    let total_loss: Money = gains().filter(|gain| gain.is_negative()).map(|gain| -gain).sum();
    let net_gain = total_gain - total_loss;
    let exempt_amount = parameters.exempt_amount(year);
    let taxable_gain = match exempt_amount {
        Some(exempt) => Some((net_gain - exempt).at_least(Money::ZERO)),
        None if net_gain <= Money::ZERO => Some(Money::ZERO),
        None => None,
    };
    let legs = || disposals.iter().flat_map(|disposal| &disposal.legs);
    YearReport {
        year,
        total_gain,
        total_loss,
        net_gain,
        gross_proceeds: disposals.iter().map(|disposal| disposal.gross).sum(),
        allowable_cost: legs().map(|leg| leg.cost).sum(),
        selling_costs: disposals.iter().map(|disposal| rounding.cost(disposal.disposal.fees)).sum(),
        exempt_amount,
        taxable_gain,
        dividends: match rounding {
            Rounding::Exact => dividends,
            Rounding::PerLeg | Rounding::WholePounds => {
                Dividends { income: dividends.income.to_pence(), tax: dividends.tax.to_pence() }
            }
        },
        disposals,
    }
}

fn rounded(disposal: &Disposal, rounding: Rounding) -> RoundedDisposal<'_> {
    let gross = rounding.proceeds(disposal.gross);
    let proceeds = match rounding {
        Rounding::WholePounds => gross - rounding.cost(disposal.fees),
        Rounding::PerLeg | Rounding::Exact => rounding.proceeds(disposal.proceeds()),
    };
    let mut legs: Vec<RoundedLeg<'_>> = disposal
        .legs
        .iter()
        .map(|leg| RoundedLeg {
            leg,
            cost: rounding.cost(leg.cost),
            gain: rounding.proceeds(leg.gain()),
        })
        .collect();
    if rounding == Rounding::WholePounds {
        share_out_whole_pounds(&mut legs, proceeds);
    }
    let gain = legs.iter().map(|leg| leg.gain).sum();
    RoundedDisposal { disposal, gross, proceeds, legs, gain }
}

/// In whole pounds the disposal is rounded, not its legs: proceeds less costs. The first leg
/// takes what the others leave, so that the legs still add up.
fn share_out_whole_pounds(legs: &mut [RoundedLeg<'_>], proceeds: Money) {
    let gain = proceeds - legs.iter().map(|leg| leg.cost).sum();
    if let Some((first, others)) = legs.split_first_mut() {
        first.gain = gain - others.iter().map(|leg| leg.gain).sum();
    }
}

fn unknown_year(report: &YearReport<'_>, parameters: &Parameters) -> Option<String> {
    if report.exempt_amount.is_some() {
        return None;
    }
    let (first, last) = parameters.years()?;
    Some(format!(
        "no exempt amount is known for {}; amounts are known from {first} to {last}, as of {}",
        report.year, parameters.as_of
    ))
}
