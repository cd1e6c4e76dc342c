//! From transactions to gains, in four phases, each a file with its law:
//!
//! 1. [`normalize`](self): one holding's rows, merged by day, in one unit of shares and in pounds;
//! 2. plan: which shares were sold, by the identification rules; quantities only;
//! 3. value: what those shares had cost, and what each leg gained;
//! 4. [`report`]: rounding, tax years, totals.
//!
//! Holdings do not touch each other. For each there is one sort and three sweeps, so the time
//! is *n* log *n*, and the order of rows cannot matter.

mod normalize;
mod plan;
pub mod report;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;
pub(crate) use normalize::split_factor;

use crate::currency::Currency;
use crate::fx::{FxError, Rate, Rates};
use crate::money::{Money, Product};
use crate::ratio::Ratio;
use crate::tax_year::TaxYear;
use crate::transaction::{Place, Row, Ticker};

/// What a caller can choose about the computation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Match sales of more than was held with later purchases, instead of refusing them.
    pub allow_short: bool,
    /// What to do with a split on a day with trades.
    pub same_day_split: SameDaySplit,
}

/// Whether a day's trades are counted in shares from before or after a split on that day.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SameDaySplit {
    /// Nobody can tell: ask.
    #[default]
    Refuse,
    /// The split came first; trades are in new shares.
    BeforeTrades,
    /// The split came last; trades are in old shares.
    AfterTrades,
}

/// Everything that follows from a list of transactions before anything is rounded.
#[derive(Clone, Debug, Default)]
pub struct Computation {
    /// Sales, by date and ticker.
    pub disposals: Vec<Disposal>,
    /// Transfers to the spouse, by date and ticker.
    pub transfers: Vec<Transfer>,
    /// What is left in each Section 104 holding, by ticker; empty ones too.
    pub holdings: Vec<Holding>,
    /// Dividends by tax year.
    pub dividends: BTreeMap<TaxYear, Dividends>,
}

/// All sales of one holding on one day: a single transaction in law (TCGA 1992 s.105(1)(a)).
#[derive(Clone, Debug)]
pub struct Disposal {
    /// The day.
    pub date: Date,
    /// The holding.
    pub ticker: Ticker,
    /// How many shares, as they were on that day.
    pub quantity: Ratio,
    /// What they brought.
    pub gross: Money,
    /// What selling cost.
    pub fees: Money,
    /// Where they came from.
    pub legs: Vec<Leg>,
    /// The amounts before conversion, where any was foreign.
    pub originals: Option<Arc<[Original]>>,
}

impl Disposal {
    /// What it brought after costs.
    pub fn proceeds(&self) -> Money {
        self.gross - self.fees
    }

    /// What it gained, unrounded.
    pub fn gain(&self) -> Money {
        self.legs.iter().map(|leg| leg.gain()).sum()
    }
}

/// Some of the shares of a disposal, and where they came from.
#[derive(Clone, Debug)]
pub struct Leg {
    /// By which rule they were identified.
    pub rule: Rule,
    /// How many, as they were on the day of the disposal.
    pub quantity: Ratio,
    /// Their part of the net proceeds.
    pub proceeds: Money,
    /// What they had cost.
    pub cost: Money,
    /// When they were acquired; `None` for a pool.
    pub acquired: Option<Date>,
    /// The pool they came from, before and after.
    pub pool: Option<PoolMove>,
    /// The acquisition's amounts before conversion, where any was foreign.
    pub originals: Option<Arc<[Original]>>,
}

impl Leg {
    /// What it gained, unrounded.
    pub fn gain(&self) -> Money {
        self.proceeds - self.cost
    }
}

/// The rules by which shares are identified, in the order they apply (HMRC CG51555).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// Acquired on the day of the disposal.
    SameDay,
    /// Acquired in the 30 days after it.
    BedAndBreakfast,
    /// From the pool.
    Section104,
    /// Acquired later still, to cover a short sale.
    LaterAcquisition,
}

impl Rule {
    /// Its name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameDay => "SameDay",
            Self::BedAndBreakfast => "BedAndBreakfast",
            Self::Section104 => "Section104",
            Self::LaterAcquisition => "LaterAcquisition",
        }
    }

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::SameDay => "Same Day",
            Self::BedAndBreakfast => "Bed & Breakfast",
            Self::Section104 => "Section 104",
            Self::LaterAcquisition => "Later Acquisition",
        }
    }

    /// The law.
    pub const fn law(self) -> &'static str {
        match self {
            Self::SameDay => "TCGA 1992 s.105(1); HMRC CG51560",
            Self::BedAndBreakfast => "TCGA 1992 s.106A(5), (5A); HMRC CG51560",
            Self::Section104 => "TCGA 1992 s.104; HMRC CG51575",
            Self::LaterAcquisition => "TCGA 1992 s.105(2); HMRC CG51555",
        }
    }
}

/// A pool before and after shares were taken out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PoolMove {
    /// Before.
    pub before: PoolState,
    /// After.
    pub after: PoolState,
}

/// A pool at one moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PoolState {
    /// How many shares, as they were on that day.
    pub quantity: Ratio,
    /// What they had cost.
    pub cost: Money,
}

/// Amounts of a day's trades in one currency at one rate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Original {
    /// The currency.
    pub currency: Currency,
    /// The rate, and who says so.
    pub rate: Rate,
    /// Price times quantity.
    pub gross: String,
    /// Fees.
    pub fees: String,
}

/// Shares given to the spouse, at what they had cost (TCGA 1992 s.58; HMRC CG22200).
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The day.
    pub date: Date,
    /// The holding.
    pub ticker: Ticker,
    /// How many shares, as they were on that day.
    pub quantity: Ratio,
    /// What they had cost: the spouse's cost from now on.
    pub cost: Money,
    /// Where they came from.
    pub legs: Vec<Leg>,
}

/// What is left in a Section 104 holding.
#[derive(Clone, Debug)]
pub struct Holding {
    /// The holding.
    pub ticker: Ticker,
    /// How many shares.
    pub quantity: Ratio,
    /// What they cost.
    pub cost: Money,
}

/// A year's dividends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Dividends {
    /// Before tax.
    pub income: Money,
    /// Tax kept back.
    pub tax: Money,
}

/// Why a list of transactions cannot be computed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// More was sold than was there.
    #[error("{ticker}, {date}: {sold} shares went out, but only {held} were held{bought_too}", bought_too = bought_too(*bought))]
    ExceedsHolding {
        /// Where it was written.
        place: Place,
        /// The day.
        date: Date,
        /// The holding.
        ticker: Ticker,
        /// How many went out.
        sold: Ratio,
        /// How many were held that morning.
        held: Ratio,
        /// How many came in on the day.
        bought: Ratio,
    },
    /// A short sale that no purchase covers.
    #[error("{ticker}, {date}: {open} shares were sold short and never bought back")]
    NeverCovered {
        /// Where it was written.
        place: Place,
        /// The day.
        date: Date,
        /// The holding.
        ticker: Ticker,
        /// How many.
        open: Ratio,
    },
    /// A split and a trade on one day.
    #[error(
        "{ticker}, {date}: a split and a trade on the same day; it is not clear which came first"
    )]
    AmbiguousSplit {
        /// Where the split was written.
        place: Place,
        /// The day.
        date: Date,
        /// The holding.
        ticker: Ticker,
    },
    /// Income was reinvested in a holding that was empty.
    #[error("{ticker}, {date}: an accumulation, but no shares were held")]
    AccumulationWithoutHolding {
        /// Where it was written.
        place: Place,
        /// The day.
        date: Date,
        /// The holding.
        ticker: Ticker,
    },
    /// More capital came back than had been paid.
    #[error(
        "{ticker}, {date}: £{returned} of capital came back, but the pool had cost only £{cost}"
    )]
    CapitalReturnExceedsCost {
        /// Where it was written.
        place: Place,
        /// The day.
        date: Date,
        /// The holding.
        ticker: Ticker,
        /// What came back, after fees.
        returned: Money,
        /// What the pool had cost.
        cost: Money,
    },
    /// A foreign amount without a rate.
    #[error("{ticker}, {date}: {error}")]
    MissingRate {
        /// Where it was written.
        place: Place,
        /// The day.
        date: Date,
        /// The holding.
        ticker: Ticker,
        /// Why.
        error: FxError,
    },
    /// A number too large or too fine to compute with exactly.
    #[error(
        "{ticker}, {date}: a number is too large or has too many decimals to compute with exactly"
    )]
    TooLarge {
        /// Where it was written.
        place: Place,
        /// The day.
        date: Date,
        /// The holding.
        ticker: Ticker,
    },
}

impl EngineError {
    /// Where the cause was written.
    pub const fn place(&self) -> &Place {
        match self {
            Self::ExceedsHolding { place, .. }
            | Self::NeverCovered { place, .. }
            | Self::AmbiguousSplit { place, .. }
            | Self::AccumulationWithoutHolding { place, .. }
            | Self::CapitalReturnExceedsCost { place, .. }
            | Self::MissingRate { place, .. }
            | Self::TooLarge { place, .. } => place,
        }
    }
}

fn bought_too(bought: Ratio) -> String {
    if bought.is_zero() { String::new() } else { format!(" and {bought} bought that day") }
}

/// Computes everything, or says everything that stands in the way.
pub fn compute(
    rows: &[Row],
    rates: &Rates,
    options: Options,
) -> Result<Computation, Vec<EngineError>> {
    let mut computation = Computation::default();
    let mut errors = Vec::new();
    for holding in normalize::holdings(rows) {
        match one_holding(&holding, rates, options, &mut computation) {
            Ok(()) => {}
            Err(mut found) => errors.append(&mut found),
        }
    }
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.place().line);
        return Err(errors);
    }
    // Holdings come by ticker, so a stable sort by date leaves each day ordered by ticker.
    computation.disposals.sort_by_key(|disposal| disposal.date);
    computation.transfers.sort_by_key(|transfer| transfer.date);
    Ok(computation)
}

fn one_holding(
    rows: &[&Row],
    rates: &Rates,
    options: Options,
    computation: &mut Computation,
) -> Result<(), Vec<EngineError>> {
    let history = normalize::history(rows, rates, options, &mut computation.dividends)?;
    let Some(history) = history else { return Ok(()) };
    let legs = plan::plan(&history, options.allow_short).map_err(|error| vec![error])?;
    value::value(&history, &legs, computation).map_err(|error| vec![error])
}

impl Original {
    fn new(currency: Currency, rate: Rate, gross: Product, fees: Product) -> Self {
        Self { currency, rate, gross: gross.to_text(), fees: fees.to_text() }
    }
}

#[cfg(test)]
mod tests;
