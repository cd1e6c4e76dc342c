//! Phase 3: allowable cost and gain of each leg.
//!
//! Costs are those of TCGA 1992 s.38: the price and the incidental costs of acquisition and
//! disposal. Part of a purchase or pool carries its proportion of the cost, by number of shares
//! (s.104, s.42 in effect). Order within a day: opening pool and shares from other holdings, capital
//! distributions (s.122), accumulations (add to the cost), claims of negligible value, disposals;
//! then unmatched purchases join the pool, and finally cost leaves it in a demerger or takeover. A
//! later event never changes an earlier disposal.

use super::amounts::Originals;
use super::events::{self, Transfers};
use super::normalize::{Day, History};
use super::plan::PlannedLeg;
use super::{
    Computation, Disposal, EngineError, Holding, Leg, Occasion, Options, PoolChange, PoolEntry,
    PoolState, Transfer,
};
use crate::money::{Money, Parcel};
use crate::ratio::Ratio;

/// Valuation of one holding, day by day.
pub(super) struct Valuer<'a> {
    pub(super) history: History<'a>,
    planned: Vec<PlannedLeg>,
    options: Options,
    purchases: Vec<Parcel>,
    pool: Parcel,
    /// Index of the next day, and of the first leg that is not yet valued.
    next_day: usize,
    next_leg: usize,
    ever_pooled: bool,
    /// Pool on the day of `Options::holdings_at`.
    snapshot: Option<Parcel>,
}

impl<'a> Valuer<'a> {
    pub(super) fn new(history: History<'a>, planned: Vec<PlannedLeg>, options: Options) -> Self {
        let purchases = history.days.iter().map(|day| day.bought).collect();
        Self {
            history,
            planned,
            options,
            purchases,
            pool: Parcel::default(),
            next_day: 0,
            next_leg: 0,
            ever_pooled: false,
            snapshot: None,
        }
    }

    /// The next day to value.
    pub(super) fn next(&self) -> Option<&Day<'a>> {
        self.history.days.get(self.next_day)
    }

    /// Values all days of a holding without links to others.
    pub(super) fn run(mut self, computation: &mut Computation) -> Result<(), EngineError> {
        let mut transfers = Transfers::default();
        while self.next().is_some() {
            self.step(&mut transfers, computation)?;
        }
        self.finish(computation)
    }

    /// Values the next day. Cost that arrives from other holdings is in `transfers`.
    pub(super) fn step(
        &mut self,
        transfers: &mut Transfers,
        computation: &mut Computation,
    ) -> Result<(), EngineError> {
        let index = self.next_day;
        let Some(day) = self.history.days.get(index) else { return Ok(()) };
        self.next_day += 1;
        let pool = &mut self.pool;
        let held_before = pool.grains > 0;
        pool.put(day.opening);
        events::before_trades(&self.history, day, held_before, pool, transfers, computation)?;
        let rest = self.planned.get(self.next_leg..).unwrap_or_default();
        let of_day = rest.get(..rest.partition_point(|leg| leg.disposal == index));
        let of_day = of_day.unwrap_or_default();
        self.next_leg += of_day.len();
        if !of_day.is_empty() {
            let valued = of_day
                .iter()
                .map(|leg| take(&self.history, day, leg, &mut self.purchases, pool))
                .collect::<Option<Vec<CostedLeg>>>()
                .ok_or_else(|| day.too_large())?;
            dispose(&self.history, day, valued, computation).ok_or_else(|| day.too_large())?;
        }
        if let Some(left) = self.purchases.get_mut(index) {
            let left = std::mem::take(left);
            if self.options.pool_entries && left.grains > 0 {
                let entry = pool_entry(&self.history, day, left);
                computation.pool_entries.push(entry.ok_or_else(|| day.too_large())?);
            }
            pool.put(left);
        }
        self.ever_pooled |= pool.grains > 0;
        events::after_trades(&self.history, day, pool, transfers, computation)?;
        if self.options.holdings_at.is_some_and(|at| day.date <= at) {
            self.snapshot = Some(*pool).filter(|_| self.ever_pooled);
        }
        Ok(())
    }

    /// Adds the remaining pool to `computation`.
    pub(super) fn finish(self, computation: &mut Computation) -> Result<(), EngineError> {
        let (pool, factor) = match self.options.holdings_at {
            Some(_) => (self.snapshot, self.history.factor_at),
            None => (self.ever_pooled.then_some(self.pool), self.history.last_factor),
        };
        let Some(pool) = pool else { return Ok(()) };
        let quantity = self.history.shares(pool.grains, factor);
        computation.holdings.push(Holding {
            ticker: self.history.ticker.clone(),
            quantity: quantity.ok_or_else(|| self.history.too_large())?,
            cost: pool.value,
        });
        Ok(())
    }
}

fn pool_entry(history: &History<'_>, day: &Day<'_>, left: Parcel) -> Option<PoolEntry> {
    Some(PoolEntry {
        date: day.date,
        ticker: history.ticker.clone(),
        quantity: history.shares(left.grains, day.factor)?,
        cost: left.value,
        originals: day.bought_originals.clone(),
    })
}

/// State of the pool on a day.
pub(super) fn state(history: &History<'_>, day: &Day<'_>, pool: &Parcel) -> Option<PoolState> {
    Some(PoolState { quantity: history.shares(pool.grains, day.factor)?, cost: pool.value })
}

/// A leg with its cost, before it is split between sale and transfer.
struct CostedLeg {
    planned: PlannedLeg,
    cost: Money,
    acquired: Option<jiff::civil::Date>,
    pool: Option<PoolChange>,
    originals: Originals,
}

fn take(
    history: &History<'_>,
    day: &Day<'_>,
    leg: &PlannedLeg,
    purchases: &mut [Parcel],
    pool: &mut Parcel,
) -> Option<CostedLeg> {
    let Some(acquisition) = leg.acquisition else {
        let before = state(history, day, pool)?;
        let cost = pool.take(leg.grains)?;
        let moved = PoolChange { before, after: state(history, day, pool)? };
        return Some(CostedLeg {
            planned: *leg,
            cost,
            acquired: None,
            pool: Some(moved),
            originals: None,
        });
    };
    let bought = history.days.get(acquisition)?;
    let cost = purchases.get_mut(acquisition)?.take(leg.grains)?;
    Some(CostedLeg {
        planned: *leg,
        cost,
        acquired: Some(bought.date),
        pool: None,
        originals: bought.bought_originals.clone(),
    })
}

/// All disposals of a day are one disposal in law. When some shares were sold and some transferred
/// to the spouse, each gets its proportion of every leg.
fn dispose(
    history: &History<'_>,
    day: &Day<'_>,
    legs: Vec<CostedLeg>,
    computation: &mut Computation,
) -> Option<()> {
    // Exact capacity: legs of all disposals stay in memory.
    let room = |shares: u128| Vec::with_capacity(if shares > 0 { legs.len() } else { 0 });
    let (mut sold, mut given) = (room(day.sold), room(day.given));
    let mut proceeds = Parcel { grains: day.out(), value: day.gross - day.fees };
    for taken in legs {
        let proceeds = proceeds.take(taken.planned.grains)?;
        let cost_of_sale = taken.cost.share(day.sold, day.out())?;
        let part = |out: u128, proceeds: Money, cost: Money| {
            let share = Ratio::new(out, day.out())?;
            Some(Leg {
                rule: taken.planned.rule,
                quantity: history.shares(taken.planned.grains, day.factor)?.times(share)?,
                proceeds,
                cost,
                acquired: taken.acquired,
                pool: taken.pool,
                originals: taken.originals.clone(),
            })
        };
        if day.sold > 0 {
            sold.push(part(day.sold, proceeds, cost_of_sale)?);
        }
        if day.given > 0 {
            let cost = taken.cost - cost_of_sale;
            given.push(part(day.given, cost, cost)?);
        }
    }
    let ticker = || day.row.transaction.ticker.clone();
    if day.sold > 0 {
        computation.disposals.push(Disposal {
            date: day.date,
            ticker: ticker(),
            occasion: Occasion::Sale,
            quantity: history.shares(day.sold, day.factor)?,
            gross: day.gross,
            fees: day.fees,
            legs: sold,
            originals: day.sold_originals.clone(),
        });
    }
    if day.given > 0 {
        computation.transfers.push(Transfer {
            date: day.date,
            ticker: ticker(),
            quantity: history.shares(day.given, day.factor)?,
            cost: given.iter().map(|leg| leg.cost).sum(),
            legs: given,
        });
    }
    Some(())
}
