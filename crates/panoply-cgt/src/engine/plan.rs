//! Phase 2: which shares were sold. Quantities only, and only whole grains.
//!
//! The order of identification (HMRC CG51555) is the order of the three sweeps:
//!
//! 1. shares acquired on the same day: TCGA 1992 s.105(1)(b);
//! 2. shares acquired in the 30 days after, earliest first: s.106A(5), with the same-day rule
//!    of those later days going before: s.106A(9), HMRC CG51560;
//! 3. the Section 104 holding: s.104; and when that runs out, shares acquired later, earliest
//!    first: s.105(2). Shares so identified never enter the holding: s.105(3), s.106A(5ZA).
//!
//! A transfer to the spouse is a disposal too and is identified in the same way (HMRC CG22200).

use std::collections::VecDeque;

use super::normalize::{Day, History};
use super::{EngineError, Rule};
use crate::ratio::Ratio;

/// Purchases count from the day after the sale to the thirtieth, both included.
const WINDOW_DAYS: i32 = 30;

/// Some of a day's outgoing shares and the day they came in. Days are places in the history.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct PlannedLeg {
    pub(super) disposal: usize,
    pub(super) rule: Rule,
    pub(super) acquisition: Option<usize>,
    pub(super) grains: u128,
}

/// Every leg, in order of disposal, rule and acquisition.
pub(super) fn plan(
    history: &History<'_>,
    allow_short: bool,
) -> Result<Vec<PlannedLeg>, EngineError> {
    if !allow_short {
        refuse_uncovered(history)?;
    }
    let mut open: Vec<Open> = history.days.iter().map(Open::of).collect();
    let mut legs = Vec::with_capacity(open.len());
    same_day(&mut open, &mut legs);
    thirty_days(&mut open, &mut legs);
    pool_and_later(history, &open, &mut legs)?;
    legs.sort_by_key(|leg| (leg.disposal, leg.rule, leg.acquisition));
    Ok(legs)
}

/// What of a day is not yet identified.
struct Open {
    number: i32,
    bought: u128,
    out: u128,
    opening: u128,
}

impl Open {
    const fn of(day: &Day<'_>) -> Self {
        Self {
            number: day.number,
            bought: day.bought.grains,
            out: day.out(),
            opening: day.opening.grains,
        }
    }
}

/// Nothing can be sold that is not there. A purchase in the next 30 days decides what sold
/// shares cost, not whether there were any.
fn refuse_uncovered(history: &History<'_>) -> Result<(), EngineError> {
    let mut held: u128 = 0;
    for day in &history.days {
        let morning = held.saturating_add(day.opening.grains);
        let there = morning.saturating_add(day.bought.grains);
        held = match there.checked_sub(day.out()) {
            Some(left) => left,
            None => {
                let shares = |grains| history.shares(grains, day.factor).unwrap_or(Ratio::ZERO);
                return Err(EngineError::ExceedsHolding {
                    place: day.row.place.clone(),
                    date: day.date,
                    ticker: history.ticker.clone(),
                    sold: shares(day.out()),
                    held: shares(morning),
                    bought: shares(day.bought.grains),
                });
            }
        };
    }
    Ok(())
}

/// First sweep: s.105(1)(b).
fn same_day(open: &mut [Open], legs: &mut Vec<PlannedLeg>) {
    for (place, day) in open.iter_mut().enumerate() {
        let grains = day.bought.min(day.out);
        day.bought -= grains;
        day.out -= grains;
        push(legs, place, Rule::SameDay, Some(place), grains);
    }
}

/// Second sweep: s.106A(5). Purchases still open have kept back what their own day needs.
fn thirty_days(open: &mut [Open], legs: &mut Vec<PlannedLeg>) {
    let mut rest = open;
    let mut place = 0;
    while let Some((day, later)) = rest.split_first_mut() {
        let in_window = later
            .iter_mut()
            .take_while(|purchase| purchase.number <= day.number + WINDOW_DAYS)
            .enumerate();
        for (ahead, purchase) in in_window {
            if day.out == 0 {
                break;
            }
            let grains = purchase.bought.min(day.out);
            purchase.bought -= grains;
            day.out -= grains;
            push(legs, place, Rule::BedAndBreakfast, Some(place + 1 + ahead), grains);
        }
        rest = later;
        place += 1;
    }
}

/// Third sweep: s.104, and s.105(2) for what the pool cannot give.
fn pool_and_later(
    history: &History<'_>,
    open: &[Open],
    legs: &mut Vec<PlannedLeg>,
) -> Result<(), EngineError> {
    let mut pool: u128 = 0;
    let mut short: VecDeque<Short<'_>> = VecDeque::new();
    for (place, (open, day)) in open.iter().zip(&history.days).enumerate() {
        pool = pool.saturating_add(open.opening);
        let from_pool = open.out.min(pool);
        pool -= from_pool;
        push(legs, place, Rule::Section104, None, from_pool);
        let mut bought = open.bought;
        while bought > 0
            && let Some(sale) = short.front_mut()
        {
            let grains = bought.min(sale.missing);
            bought -= grains;
            sale.missing -= grains;
            push(legs, sale.place, Rule::LaterAcquisition, Some(place), grains);
            if sale.missing == 0 {
                short.pop_front();
            }
        }
        pool = pool.saturating_add(bought);
        // Only now: a purchase of the same day was spent by the first sweep.
        if open.out > from_pool {
            short.push_back(Short { place, day, missing: open.out - from_pool });
        }
    }
    match short.front() {
        None => Ok(()),
        Some(sale) => Err(never_covered(history, sale)),
    }
}

/// A sale of shares that were not there yet.
struct Short<'a> {
    place: usize,
    day: &'a Day<'a>,
    missing: u128,
}

fn never_covered(history: &History<'_>, sale: &Short<'_>) -> EngineError {
    match history.shares(sale.missing, sale.day.factor) {
        Some(open) => EngineError::NeverCovered {
            place: sale.day.row.place.clone(),
            date: sale.day.date,
            ticker: history.ticker.clone(),
            open,
        },
        None => sale.day.too_large(),
    }
}

fn push(
    legs: &mut Vec<PlannedLeg>,
    disposal: usize,
    rule: Rule,
    acquisition: Option<usize>,
    grains: u128,
) {
    if grains > 0 {
        legs.push(PlannedLeg { disposal, rule, acquisition, grains });
    }
}
