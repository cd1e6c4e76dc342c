//! Computation of gains in four phases, each in a file that cites its statute:
//!
//! 1. [`normalize`](self): rows of one holding (groups), aggregated by day, in grains and pounds
//!    (amounts);
//! 2. plan: share identification (matching); quantities only;
//! 3. value: allowable cost and gain of each leg, and corporate actions (events);
//! 4. [`report`]: rounding, tax years, totals.
//!
//! Holdings are independent, except that a demerger or takeover carries cost from one to another:
//! the valuation of such holdings goes forward day by day in step. Each needs one sort and three passes, so the time is O(*n* log *n*),
//! and the order of rows does not matter.

mod amounts;
mod error;
mod events;
mod groups;
mod normalize;
mod plan;
mod remarks;
pub mod report;
pub mod residence;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use error::EngineError;
use events::Transfers;
use groups::{Group, Names};
use jiff::civil::Date;
pub(crate) use normalize::split_factor;
pub use residence::Absence;
use serde::{Deserialize, Serialize};

use crate::currency::Currency;
use crate::eri::AddedIncome;
use crate::fx::{Rate, Rates};
use crate::money::{Money, Product};
use crate::ratio::Ratio;
use crate::security::Securities;
use crate::tax_year::TaxYear;
use crate::transaction::{Row, Ticker};
use value::Valuer;

/// Options of the computation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    pub allow_short: bool,
    /// Order of a split and trades on the same day.
    pub same_day_split: SameDaySplit,
    /// Day at whose end the holdings are stated; by default after the last transaction.
    pub holdings_at: Option<Date>,
    /// Whether to list the purchases that entered the pools.
    pub pool_entries: bool,
    /// Time during which the person was not resident in the UK.
    pub absence: Option<Absence>,
}

/// Order of a split and trades on the same day.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SameDaySplit {
    /// Reject: the order is ambiguous.
    #[default]
    Refuse,
    /// The split comes first; that day's trades are in new shares.
    BeforeTrades,
    /// The split comes last; that day's trades are in old shares.
    AfterTrades,
}

/// Unrounded result of the computation.
#[derive(Clone, Debug, Default)]
pub struct Computation {
    /// Disposals, by date and ticker.
    pub disposals: Vec<Disposal>,
    /// Transfers to the spouse, by date and ticker.
    pub transfers: Vec<Transfer>,
    /// Remaining Section 104 holdings by ticker, including empty ones.
    pub holdings: Vec<Holding>,
    /// Dividends by tax year.
    pub dividends: BTreeMap<TaxYear, Dividends>,
    /// Purchases that entered a pool, by ticker and date; only with `Options::pool_entries`.
    pub pool_entries: Vec<PoolEntry>,
    /// Disposals of gilts and qualifying corporate bonds, by date and ticker.
    pub exempt: Vec<Disposal>,
    /// Facts about the securities.
    pub securities: Securities,
    /// Excess reportable income that was added to the cost.
    pub added_income: Vec<AddedIncome>,
    /// `Options::absence`.
    pub absence: Option<Absence>,
}

/// Shares of a day's purchases that entered the pool.
#[derive(Clone, Debug)]
pub struct PoolEntry {
    /// Date.
    pub date: Date,
    /// Ticker.
    pub ticker: Ticker,
    /// Number of shares as of that day.
    pub quantity: Ratio,
    /// Their cost.
    pub cost: Money,
    /// The whole day's purchase before conversion; `None` when all was in pounds.
    pub originals: Option<Arc<[Original]>>,
}

/// Event that is a disposal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Occasion {
    /// Sale.
    Sale,
    /// Capital distribution that is not small (TCGA 1992 s.122).
    CapitalDistribution,
    /// Cash received in a takeover (TCGA 1992 s.128(3)).
    TakeoverCash,
    /// Claim of negligible value (TCGA 1992 s.24).
    NegligibleValue,
}

impl Occasion {
    /// Identifier in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sale => "Sale",
            Self::CapitalDistribution => "CapitalDistribution",
            Self::TakeoverCash => "TakeoverCash",
            Self::NegligibleValue => "NegligibleValue",
        }
    }
}

/// All sales of one holding on one day: a single transaction in law (TCGA 1992 s.105(1)(a)); or a
/// part disposal or deemed disposal.
#[derive(Clone, Debug)]
pub struct Disposal {
    /// Date.
    pub date: Date,
    /// Ticker.
    pub ticker: Ticker,
    /// What happened.
    pub occasion: Occasion,
    /// Number of shares as of that day; zero for a part disposal.
    pub quantity: Ratio,
    /// Gross proceeds.
    pub gross: Money,
    /// Costs of disposal.
    pub fees: Money,
    /// Matched legs.
    pub legs: Vec<Leg>,
    /// Amounts before conversion; absent when all were in pounds.
    pub originals: Option<Arc<[Original]>>,
}

impl Disposal {
    /// Net proceeds.
    pub fn proceeds(&self) -> Money {
        self.gross - self.fees
    }

    /// Unrounded gain.
    pub fn gain(&self) -> Money {
        self.legs.iter().map(|leg| leg.gain()).sum()
    }
}

/// Shares of a disposal matched by one rule.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Identification rule.
    pub rule: Rule,
    /// Number of shares as of the disposal.
    pub quantity: Ratio,
    /// Proportion of the net proceeds.
    pub proceeds: Money,
    /// Allowable cost.
    pub cost: Money,
    /// Acquisition date; `None` for the pool.
    pub acquired: Option<Date>,
    /// Pool before and after.
    pub pool: Option<PoolChange>,
    /// Amounts of the acquisition before conversion; `None` when all were in pounds.
    pub originals: Option<Arc<[Original]>>,
}

impl Leg {
    /// Unrounded gain.
    pub fn gain(&self) -> Money {
        self.proceeds - self.cost
    }
}

/// Identification rules in statutory order (HMRC CG51555).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// Acquired on the day of the disposal.
    SameDay,
    /// Acquired within 30 days after the disposal.
    BedAndBreakfast,
    /// From the Section 104 pool.
    Section104,
    /// Acquired later than 30 days, covering a short sale.
    LaterAcquisition,
    /// Capital distribution: cost in proportion to values.
    PartDisposal,
    /// Small capital distribution above the whole cost, which is set against it.
    CostElection,
    /// Deemed disposal of the whole pool.
    NegligibleValue,
}

impl Rule {
    /// Identifier in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameDay => "SameDay",
            Self::BedAndBreakfast => "BedAndBreakfast",
            Self::Section104 => "Section104",
            Self::LaterAcquisition => "LaterAcquisition",
            Self::PartDisposal => "PartDisposal",
            Self::CostElection => "CostElection",
            Self::NegligibleValue => "NegligibleValue",
        }
    }

    /// Display name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::SameDay => "Same Day",
            Self::BedAndBreakfast => "Bed & Breakfast",
            Self::Section104 => "Section 104",
            Self::LaterAcquisition => "Later Acquisition",
            Self::PartDisposal => "Part Disposal",
            Self::CostElection => "Small Distribution above Cost",
            Self::NegligibleValue => "Negligible Value",
        }
    }

    /// Statutory reference.
    pub const fn law(self) -> &'static str {
        match self {
            Self::SameDay => "TCGA 1992 s.105(1); HMRC CG51560",
            Self::BedAndBreakfast => "TCGA 1992 s.106A(5), (5A); HMRC CG51560",
            Self::Section104 => "TCGA 1992 s.104; HMRC CG51575",
            Self::LaterAcquisition => "TCGA 1992 s.105(2); HMRC CG51555",
            Self::PartDisposal => "TCGA 1992 s.122(1), s.128(3), s.42; HMRC CG57800, CG52587",
            Self::CostElection => "TCGA 1992 s.122(4); HMRC CG57847",
            Self::NegligibleValue => "TCGA 1992 s.24(1A), (2); HMRC CG13120",
        }
    }
}

/// Pool before and after a withdrawal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PoolChange {
    /// Before.
    pub before: PoolState,
    /// After.
    pub after: PoolState,
}

/// State of a pool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PoolState {
    /// Number of shares as of that day.
    pub quantity: Ratio,
    /// Pooled cost.
    pub cost: Money,
}

/// Amounts of a day's trades in one currency at one rate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Original {
    /// Currency.
    pub currency: Currency,
    /// Exchange rate and its source.
    pub rate: Rate,
    /// Price times quantity.
    pub gross: String,
    /// Fees.
    pub fees: String,
}

/// Transfer of shares to the spouse at cost (TCGA 1992 s.58; HMRC CG22200).
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Date.
    pub date: Date,
    /// Ticker.
    pub ticker: Ticker,
    /// Number of shares as of that day.
    pub quantity: Ratio,
    /// Cost passed to the spouse.
    pub cost: Money,
    /// Matched legs.
    pub legs: Vec<Leg>,
}

/// Remaining Section 104 holding.
#[derive(Clone, Debug)]
pub struct Holding {
    /// Ticker.
    pub ticker: Ticker,
    /// Number of shares.
    pub quantity: Ratio,
    /// Pooled cost.
    pub cost: Money,
}

/// Dividends of a tax year.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Dividends {
    /// Gross income.
    pub income: Money,
    /// Tax withheld.
    pub tax: Money,
}

/// Computes gains and holdings, or reports all errors.
pub fn compute(
    rows: &[Row],
    rates: &Rates,
    options: Options,
) -> Result<Computation, Vec<EngineError>> {
    let mut computation = Computation::default();
    let mut errors = Vec::new();
    let names = Names::of(rows);
    let mut linked = Vec::new();
    for group in groups::groups(rows, &names) {
        let planned = plan_holding(&group, &names, rates, options, &mut computation);
        let valued = planned.and_then(|valuer| match valuer {
            Some(valuer) if group.linked => {
                linked.push(valuer);
                Ok(())
            }
            Some(valuer) => valuer.run(&mut computation).map_err(|error| vec![error]),
            None => Ok(()),
        });
        errors.extend(valued.err().into_iter().flatten());
    }
    let out_of_order = !linked.is_empty() || names.is_any();
    if errors.is_empty() {
        errors.extend(value_linked(linked, &mut computation).err());
    }
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.location().line);
        return Err(errors);
    }
    if out_of_order {
        computation.disposals.sort_by(|a, b| a.ticker.cmp(&b.ticker));
        computation.transfers.sort_by(|a, b| a.ticker.cmp(&b.ticker));
        computation.holdings.sort_by(|a, b| a.ticker.cmp(&b.ticker));
    }
    // Now sorted by ticker, so a stable sort by date keeps each day sorted by ticker.
    computation.disposals.sort_by_key(|disposal| disposal.date);
    computation.transfers.sort_by_key(|transfer| transfer.date);
    computation.absence = options.absence;
    set_exempt_apart(rows, &mut computation);
    Ok(computation)
}

/// Moves disposals of exempt securities to their own list (TCGA 1992 s.115): neither their gains nor
/// their losses count.
fn set_exempt_apart(rows: &[Row], computation: &mut Computation) {
    let securities = Securities::of(rows);
    if securities.iter().any(|(_, security)| security.class().is_exempt()) {
        let disposals = std::mem::take(&mut computation.disposals);
        let is_exempt = |disposal: &Disposal| securities.class(&disposal.ticker).is_exempt();
        (computation.exempt, computation.disposals) = disposals.into_iter().partition(is_exempt);
    }
    computation.securities = securities;
}

fn plan_holding<'a>(
    group: &Group<'a>,
    names: &Names<'a>,
    rates: &Rates,
    options: Options,
    computation: &mut Computation,
) -> Result<Option<Valuer<'a>>, Vec<EngineError>> {
    let history = normalize::history(group, names, rates, options, &mut computation.dividends)?;
    let Some(history) = history else { return Ok(None) };
    let legs = plan::plan(&history, options).map_err(|error| vec![error])?;
    Ok(Some(Valuer::new(history, legs, options)))
}

/// Values holdings linked by demergers and takeovers, day by day; on one day the holding that gives
/// comes before the one that receives.
fn value_linked(
    mut valuers: Vec<Valuer<'_>>,
    computation: &mut Computation,
) -> Result<(), EngineError> {
    let mut transfers = Transfers::default();
    while let Some(date) =
        valuers.iter().filter_map(|valuer| valuer.next()).map(|day| day.date).min()
    {
        let due = |valuer: &Valuer<'_>| valuer.next().filter(|day| day.date == date).is_some();
        let ready = |valuer: &&mut Valuer<'_>| {
            let today = valuer.next().filter(|day| day.date == date);
            today.is_some_and(|day| transfers.are_ready(day))
        };
        match valuers.iter_mut().find(ready) {
            Some(valuer) => valuer.step(&mut transfers, computation)?,
            None => {
                let waiting = valuers.iter().find(|valuer| due(valuer));
                let Some(day) = waiting.and_then(|valuer| valuer.next()) else { break };
                return Err(EngineError::CircularExchange {
                    location: day.row.location.clone(),
                    date,
                    ticker: day.row.transaction.ticker.clone(),
                });
            }
        }
    }
    valuers.into_iter().try_for_each(|valuer| valuer.finish(computation))
}

impl Original {
    fn new(currency: Currency, rate: Rate, gross: Product, fees: Product) -> Self {
        Self { currency, rate, gross: gross.to_text(), fees: fees.to_text() }
    }
}

#[cfg(test)]
mod tests;
