//! Capital distributions, claims of negligible value, demergers and takeovers.
//!
//! A capital distribution is a disposal of an interest in the shares (TCGA 1992 s.122(1)): the cost
//! of A ÷ (A + B) of the pool is allowed, A being the distribution and B the value of what remains
//! (s.42). A small one, at most 5 % of the value just before it or £3,000, comes off the cost
//! instead (s.122(2); HMRC CG57835); if it exceeds the whole cost, an election sets that cost
//! against it (s.122(4); HMRC CG57847). Cash in a takeover is treated likewise (s.128(3); HMRC
//! CG52587).

use std::collections::HashMap;
use std::ptr;

use super::amounts::{Event, EventKind, Originals};
use super::normalize::{Day, History};
use super::value::state;
use super::{Computation, Disposal, EngineError, Leg, Occasion, PoolChange, Rule};
use crate::money::{Money, Parcel};
use crate::ratio::Ratio;
use crate::transaction::Row;

/// Cost on its way to another holding, by the row of its demerger or takeover.
#[derive(Default)]
pub(super) struct Transfers(HashMap<*const Row, Money>);

impl Transfers {
    /// Whether the cost of every demerger and takeover into this day is known.
    pub(super) fn are_ready(&self, day: &Day<'_>) -> bool {
        let mut incoming = day.events.iter().filter(|event| is_incoming(event));
        incoming.all(|event| self.0.contains_key(&ptr::from_ref(event.row)))
    }
}

const fn is_incoming(event: &Event<'_>) -> bool {
    matches!(event.kind, EventKind::Incoming)
}

/// HMRC's practice, CG57835.
const SMALL_POUNDS: Money = Money::pounds(3_000);
const SMALL_PERCENT: u32 = 5;

/// Applies what happens to the pool before the day's trades.
pub(super) fn before_trades(
    history: &History<'_>,
    day: &Day<'_>,
    held_before: bool,
    pool: &mut Parcel,
    transfers: &mut Transfers,
    computation: &mut Computation,
) -> Result<(), EngineError> {
    reduce_cost(history, day, pool, day.returned)?;
    let mut held = held_before;
    for event in &day.events {
        match &event.kind {
            EventKind::Incoming => {
                let cost = transfers.0.remove(&ptr::from_ref(event.row));
                pool.value += cost.unwrap_or(Money::ZERO);
                held = true;
            }
            EventKind::Rights if held => {}
            EventKind::Rights => return Err(without_holding(event, "a rights issue")),
            EventKind::Distribution { amount, fees, value, originals } => {
                let distribution = Distribution {
                    amount: *amount,
                    fees: *fees,
                    value: *value,
                    originals: originals.clone(),
                    occasion: Occasion::CapitalDistribution,
                };
                distribution.apply(history, day, event, pool, computation)?;
            }
            EventKind::Negligible { .. }
            | EventKind::Demerger { .. }
            | EventKind::Takeover { .. } => {}
        }
    }
    if !day.accumulated.is_zero() && pool.grains == 0 {
        return Err(EngineError::AccumulationWithoutHolding {
            location: day.row.location.clone(),
            date: day.date,
            ticker: history.ticker.clone(),
        });
    }
    pool.value += day.accumulated;
    for event in &day.events {
        if let EventKind::Negligible { value } = event.kind {
            claim_negligible(history, day, event, value, pool, computation)?;
        }
    }
    Ok(())
}

/// Applies what happens to the pool after the day's trades.
pub(super) fn after_trades(
    history: &History<'_>,
    day: &Day<'_>,
    pool: &mut Parcel,
    transfers: &mut Transfers,
    computation: &mut Computation,
) -> Result<(), EngineError> {
    for event in &day.events {
        let cost = match &event.kind {
            EventKind::Demerger { .. } if pool.grains == 0 => {
                return Err(without_holding(event, "a demerger"));
            }
            EventKind::Takeover { .. } if pool.grains == 0 => {
                return Err(without_holding(event, "a takeover"));
            }
            EventKind::Demerger { value, remaining } => {
                let share = apportion(pool.value, *value, *remaining);
                let cost = share.ok_or_else(|| day.too_large())?;
                pool.value -= cost;
                cost
            }
            EventKind::Takeover { cash, value, originals } => {
                if !cash.is_zero() {
                    let distribution = Distribution {
                        amount: *cash,
                        fees: Money::ZERO,
                        value: *value,
                        originals: originals.clone(),
                        occasion: Occasion::TakeoverCash,
                    };
                    distribution.apply(history, day, event, pool, computation)?;
                }
                std::mem::take(pool).value
            }
            EventKind::Incoming
            | EventKind::Rights
            | EventKind::Distribution { .. }
            | EventKind::Negligible { .. } => continue,
        };
        transfers.0.insert(ptr::from_ref(event.row), cost);
    }
    Ok(())
}

/// `part ÷ (part + rest)` of a cost.
fn apportion(cost: Money, part: Money, rest: Money) -> Option<Money> {
    let (part, rest) = (part.attopounds()?, rest.attopounds()?);
    cost.share(part, part.checked_add(rest)?)
}

fn reduce_cost(
    history: &History<'_>,
    day: &Day<'_>,
    pool: &mut Parcel,
    by: Money,
) -> Result<(), EngineError> {
    if (pool.value - by).is_negative() {
        return Err(EngineError::CapitalReturnExceedsCost {
            location: day.row.location.clone(),
            date: day.date,
            ticker: history.ticker.clone(),
            returned: by,
            cost: pool.value,
        });
    }
    pool.value -= by;
    Ok(())
}

/// A capital distribution, in pounds.
struct Distribution {
    amount: Money,
    fees: Money,
    /// Value of what remains.
    value: Option<Money>,
    originals: Originals,
    occasion: Occasion,
}

impl Distribution {
    fn apply(
        self,
        history: &History<'_>,
        day: &Day<'_>,
        event: &Event<'_>,
        pool: &mut Parcel,
        computation: &mut Computation,
    ) -> Result<(), EngineError> {
        let by_amount = self.amount <= SMALL_POUNDS;
        let Some(value) = self.value else {
            if by_amount {
                return reduce_cost(history, day, pool, self.amount - self.fees);
            }
            return Err(EngineError::ValueRequired {
                location: event.row.location.clone(),
                date: day.date,
                ticker: event.row.transaction.ticker.clone(),
                amount: self.amount,
            });
        };
        if pool.grains == 0 {
            return Err(without_holding(event, "a capital distribution"));
        }
        let small = by_amount || self.amount <= (self.amount + value).percent(SMALL_PERCENT);
        let reduction = self.amount - self.fees;
        if small && !(pool.value - reduction).is_negative() {
            pool.value -= reduction;
            return Ok(());
        }
        let (rule, cost) = if small {
            (Rule::CostElection, Some(pool.value))
        } else {
            (Rule::PartDisposal, apportion(pool.value, self.amount, value))
        };
        let cost = cost.ok_or_else(|| day.too_large())?;
        self.dispose(history, day, rule, cost, pool, computation).ok_or_else(|| day.too_large())
    }

    fn dispose(
        self,
        history: &History<'_>,
        day: &Day<'_>,
        rule: Rule,
        cost: Money,
        pool: &mut Parcel,
        computation: &mut Computation,
    ) -> Option<()> {
        let before = state(history, day, pool)?;
        pool.value -= cost;
        let moved = PoolChange { before, after: state(history, day, pool)? };
        let leg = Leg {
            rule,
            quantity: Ratio::ZERO,
            proceeds: self.amount - self.fees,
            cost,
            acquired: None,
            pool: Some(moved),
            originals: None,
        };
        computation.disposals.push(Disposal {
            date: day.date,
            ticker: day.row.transaction.ticker.clone(),
            occasion: self.occasion,
            quantity: Ratio::ZERO,
            gross: self.amount,
            fees: self.fees,
            legs: vec![leg],
            originals: self.originals,
        });
        Some(())
    }
}

/// Deemed sale and reacquisition of the whole pool at the value claimed (s.24(2)).
fn claim_negligible(
    history: &History<'_>,
    day: &Day<'_>,
    event: &Event<'_>,
    value: Money,
    pool: &mut Parcel,
    computation: &mut Computation,
) -> Result<(), EngineError> {
    if pool.grains == 0 {
        return Err(without_holding(event, "a claim of negligible value"));
    }
    let before = state(history, day, pool).ok_or_else(|| day.too_large())?;
    let cost = std::mem::replace(&mut pool.value, value);
    let after = state(history, day, pool).ok_or_else(|| day.too_large())?;
    let leg = Leg {
        rule: Rule::NegligibleValue,
        quantity: before.quantity,
        proceeds: value,
        cost,
        acquired: None,
        pool: Some(PoolChange { before, after }),
        originals: None,
    };
    computation.disposals.push(Disposal {
        date: day.date,
        ticker: event.row.transaction.ticker.clone(),
        occasion: Occasion::NegligibleValue,
        quantity: before.quantity,
        gross: value,
        fees: Money::ZERO,
        legs: vec![leg],
        originals: None,
    });
    Ok(())
}

fn without_holding(event: &Event<'_>, what: &'static str) -> EngineError {
    let transaction = &event.row.transaction;
    EngineError::EventWithoutHolding {
        location: event.row.location.clone(),
        date: transaction.date,
        ticker: transaction.ticker.clone(),
        event: what,
    }
}
