//! Phase 4: rounding, tax years, totals.
//!
//! The law prescribes no rounding. `PerLeg` rounds each leg to the penny, half away from zero, so
//! that sums can be verified manually. `Exact` does not round. `WholePounds` follows HMRC's examples
//! and the return: proceeds down, costs up.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::residence::year_of;
use super::{Absence, Computation, Disposal, Dividends, Holding, Leg, Transfer, remarks};
use crate::losses::{self, LossYear, ledger};
use crate::money::Money;
use crate::parameters::Parameters;
use crate::security::Securities;
use crate::tax_year::TaxYear;

/// Rounding of figures.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// To the penny, per leg; totals are sums of rounded figures.
    #[default]
    PerLeg,
    /// No rounding; ten decimals are shown.
    Exact,
    /// To whole pounds: proceeds down and costs up, as in HMRC's examples.
    WholePounds,
}

impl Rounding {
    /// Formats an amount.
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

/// Rounded figures of all tax years.
#[derive(Debug)]
pub struct Report<'a> {
    /// Tax years in order; years without disposals only on request.
    pub years: Vec<YearReport<'a>>,
    /// Holdings at the end of `holdings_at`.
    pub holdings: &'a [Holding],
    /// Last day of the requested year; `None` for the end of the history.
    pub holdings_at: Option<Date>,
    /// Transfers to the spouse in those years.
    pub transfers: Vec<&'a Transfer>,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
    /// Losses by year, from the first to the last year shown, as if all were claimed in time.
    pub losses: Vec<LossYear>,
    /// Facts about the securities.
    pub securities: &'a Securities,
    /// Disposals of gilts and qualifying corporate bonds in those years, which do not count.
    pub exempt: Vec<&'a Disposal>,
}

/// Rounded figures of one tax year.
#[derive(Debug)]
pub struct YearReport<'a> {
    /// Tax year.
    pub year: TaxYear,
    /// Disposals, by date and ticker.
    pub disposals: Vec<RoundedDisposal<'a>>,
    /// Total gains.
    pub total_gain: Money,
    /// Total losses, as a positive amount.
    pub total_loss: Money,
    /// Gains minus losses.
    pub net_gain: Money,
    /// Gross proceeds.
    pub gross_proceeds: Money,
    /// Allowable cost without costs of disposal.
    pub allowable_cost: Money,
    /// Costs of disposal.
    pub selling_costs: Money,
    /// Annual exempt amount; `None` when unknown.
    pub exempt_amount: Option<Money>,
    /// Gain above the exempt amount; `None` when that is unknown and there is a net gain.
    pub taxable_gain: Option<Money>,
    /// Unused net losses of earlier years in the history.
    pub earlier_losses: Money,
    /// Dividends.
    pub dividends: Dividends,
    /// Time during which the person was not resident.
    pub absence: Option<Absence>,
}

impl YearReport<'_> {
    /// Gain above the exempt amount after losses of earlier years, if they were claimed.
    pub fn taxable_gain_if_claimed(&self) -> Option<Money> {
        self.taxable_gain.map(|taxable| (taxable - self.earlier_losses).at_least(Money::ZERO))
    }
}

/// Disposal with rounded figures.
#[derive(Debug)]
pub struct RoundedDisposal<'a> {
    /// The disposal.
    pub disposal: &'a Disposal,
    /// Gross proceeds.
    pub gross: Money,
    /// Net proceeds.
    pub proceeds: Money,
    /// Legs.
    pub legs: Vec<RoundedLeg<'a>>,
    /// Gain: the sum of the legs' gains.
    pub gain: Money,
}

/// Leg with rounded figures.
#[derive(Debug)]
pub struct RoundedLeg<'a> {
    /// The leg.
    pub leg: &'a Leg,
    /// Allowable cost.
    pub cost: Money,
    /// Gain.
    pub gain: Money,
}

/// Reports one year, or all years with disposals.
pub fn report<'a>(
    computation: &'a Computation,
    parameters: &Parameters,
    year: Option<TaxYear>,
    rounding: Rounding,
) -> Report<'a> {
    let mut by_year: BTreeMap<TaxYear, Vec<RoundedDisposal<'a>>> = BTreeMap::new();
    // Earlier years are needed for their losses.
    for disposal in &computation.disposals {
        let Some(of) = year_of(disposal, computation.absence) else { continue };
        if year.is_none_or(|year| of <= year) {
            by_year.entry(of).or_default().push(rounded(disposal, rounding));
        }
    }
    if let Some(year) = year {
        by_year.entry(year).or_default();
    }
    let mut years: Vec<YearReport<'a>> = by_year
        .into_iter()
        .map(|(year, disposals)| {
            let dividends = computation.dividends.get(&year).copied().unwrap_or_default();
            let mut of_year = year_report(year, disposals, dividends, parameters, rounding);
            of_year.absence = computation.absence;
            of_year
        })
        .collect();
    let ledger = ledger(&years, parameters);
    for (year, losses) in years.iter_mut().zip(&ledger) {
        year.earlier_losses = losses.brought_forward;
    }
    years.retain(|shown| year.is_none_or(|year| shown.year == year));
    let mut warnings: Vec<String> =
        years.iter().filter_map(|year| unknown_year(year, parameters)).collect();
    warnings.extend(years.iter().filter_map(|year| earlier_losses(year, &ledger)));
    warnings.extend(remarks::all(computation, year));
    let shown: BTreeSet<TaxYear> = years.iter().map(|year| year.year).collect();
    let transfers = computation.transfers.iter();
    let transfers = transfers
        .filter(|transfer| year.is_none() || shown.contains(&TaxYear::of(transfer.date)))
        .collect();
    Report {
        years,
        holdings: &computation.holdings,
        holdings_at: year.map(TaxYear::last_day),
        transfers,
        warnings,
        losses: ledger,
        securities: &computation.securities,
        exempt: remarks::exempt(computation, year).collect(),
    }
}

/// Says that a gain is taxed although the history has losses.
fn earlier_losses(year: &YearReport<'_>, ledger: &[LossYear]) -> Option<String> {
    let taxable = year.taxable_gain.filter(|taxable| !taxable.is_zero())?;
    if year.earlier_losses.is_zero() {
        return None;
    }
    let made: Vec<String> = losses::made_before(ledger, year.year)
        .map(|entry| format!("£{} in {}", entry.made, entry.year))
        .collect();
    Some(format!(
        "{}: these transactions have losses of earlier years ({}), of which £{} are unused; if they were claimed in time, the taxable gain is £{} instead of £{taxable}",
        year.year,
        made.join(", "),
        year.earlier_losses,
        year.taxable_gain_if_claimed().unwrap_or_default()
    ))
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
        earlier_losses: Money::ZERO,
        absence: None,
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

/// In whole pounds the disposal is rounded, not its legs. The first leg absorbs the difference, so
/// that the legs add up.
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
