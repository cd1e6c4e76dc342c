//! Phase 3: allowable cost and gain of each leg.
//!
//! Costs are those of TCGA 1992 s.38: the price and the incidental costs of acquisition and
//! disposal. Part of a purchase or pool carries its proportion of the cost, by number of shares
//! (s.104, s.42 in effect). Order within a day: opening pool, capital returns (s.122, reduce the
//! cost), accumulations (add to the cost), disposals, and finally unmatched purchases join the
//! pool. A later event never changes an earlier disposal.

use super::normalize::{Day, History};
use super::plan::PlannedLeg;
use super::{Computation, Disposal, EngineError, Holding, Leg, PoolChange, PoolState, Transfer};
use crate::money::{Money, Parcel};
use crate::ratio::Ratio;

/// Adds the holding's disposals, transfers and remaining pool to `computation`.
pub(super) fn value(
    history: &History<'_>,
    planned: &[PlannedLeg],
    computation: &mut Computation,
) -> Result<(), EngineError> {
    let mut purchases: Vec<Parcel> = history.days.iter().map(|day| day.bought).collect();
    let mut pool = Parcel::default();
    let mut ever_pooled = false;
    let mut rest = planned;
    for (index, day) in history.days.iter().enumerate() {
        pool.put(day.opening);
        change_cost(history, day, &mut pool)?;
        let (of_day, later) = rest.split_at(rest.partition_point(|leg| leg.disposal == index));
        rest = later;
        if !of_day.is_empty() {
            let valued = of_day
                .iter()
                .map(|leg| take(history, day, leg, &mut purchases, &mut pool))
                .collect::<Option<Vec<CostedLeg>>>()
                .ok_or_else(|| day.too_large())?;
            dispose(history, day, valued, computation).ok_or_else(|| day.too_large())?;
        }
        if let Some(left) = purchases.get_mut(index) {
            pool.put(std::mem::take(left));
        }
        ever_pooled |= pool.grains > 0;
    }
    if ever_pooled {
        let quantity =
            history.shares(pool.grains, history.last_factor).ok_or_else(|| history.too_large())?;
        computation.holdings.push(Holding {
            ticker: history.ticker.clone(),
            quantity,
            cost: pool.value,
        });
    }
    Ok(())
}

/// Applies capital returns and accumulations to the pooled cost.
fn change_cost(history: &History<'_>, day: &Day<'_>, pool: &mut Parcel) -> Result<(), EngineError> {
    let (location, date, ticker) =
        (|| day.row.location.clone(), day.date, || history.ticker.clone());
    if (pool.value - day.returned).is_negative() {
        return Err(EngineError::CapitalReturnExceedsCost {
            location: location(),
            date,
            ticker: ticker(),
            returned: day.returned,
            cost: pool.value,
        });
    }
    pool.value -= day.returned;
    if !day.accumulated.is_zero() && pool.grains == 0 {
        return Err(EngineError::AccumulationWithoutHolding {
            location: location(),
            date,
            ticker: ticker(),
        });
    }
    pool.value += day.accumulated;
    Ok(())
}

/// A leg with its cost, before it is split between sale and transfer.
struct CostedLeg {
    planned: PlannedLeg,
    cost: Money,
    acquired: Option<jiff::civil::Date>,
    pool: Option<PoolChange>,
    originals: Option<std::sync::Arc<[super::Original]>>,
}

fn take(
    history: &History<'_>,
    day: &Day<'_>,
    leg: &PlannedLeg,
    purchases: &mut [Parcel],
    pool: &mut Parcel,
) -> Option<CostedLeg> {
    let Some(acquisition) = leg.acquisition else {
        let state = |pool: &Parcel| {
            let quantity = history.shares(pool.grains, day.factor)?;
            Some(PoolState { quantity, cost: pool.value })
        };
        let before = state(pool)?;
        let cost = pool.take(leg.grains)?;
        let moved = PoolChange { before, after: state(pool)? };
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
    if day.sold > 0 {
        computation.disposals.push(Disposal {
            date: day.date,
            ticker: history.ticker.clone(),
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
            ticker: history.ticker.clone(),
            quantity: history.shares(day.given, day.factor)?,
            cost: given.iter().map(|leg| leg.cost).sum(),
            legs: given,
        });
    }
    Some(())
}
