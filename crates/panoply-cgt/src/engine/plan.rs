//! Phase 2: share identification, in grains.
//!
//! The order of identification (HMRC CG51555) is the order of the three passes:
//!
//! 1. shares acquired on the same day: TCGA 1992 s.105(1)(b);
//! 2. shares acquired within 30 days after, earliest first: s.106A(5), where the same-day rule of
//!    those days takes precedence: s.106A(9), HMRC CG51560;
//! 3. the Section 104 holding: s.104; when it is exhausted, shares acquired later, earliest
//!    first: s.105(2). Shares so identified never enter the holding: s.105(3), s.106A(5ZA).
//!
//! A transfer to the spouse is a disposal and is identified in the same way (HMRC CG22200).

use std::collections::VecDeque;

use super::normalize::{Day, History};
use super::{Absence, EngineError, Options, Rule};
use crate::ratio::Ratio;

/// The window is day 1 to day 30 after the sale, both inclusive.
const WINDOW_DAYS: i32 = 30;

/// Matched shares of one disposal. Days are indices into the history.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct PlannedLeg {
    pub(super) disposal: usize,
    pub(super) rule: Rule,
    pub(super) acquisition: Option<usize>,
    pub(super) grains: u128,
}

/// Returns all legs, ordered by disposal, rule and acquisition.
pub(super) fn plan(
    history: &History<'_>,
    options: Options,
) -> Result<Vec<PlannedLeg>, EngineError> {
    if !options.allow_short {
        reject_uncovered(history)?;
    }
    let mut open: Vec<Unmatched> = history.days.iter().map(Unmatched::of).collect();
    let mut legs = Vec::with_capacity(open.len());
    same_day(&mut open, &mut legs);
    match options.absence {
        None => thirty_days(&mut open, &mut legs),
        Some(absence) => {
            let held_back = hold_back(history, absence, &mut open);
            thirty_days(&mut open, &mut legs);
            held_back.into_iter().zip(&mut open).for_each(|(kept, day)| day.bought += kept);
        }
    }
    pool_and_later(history, &open, &mut legs)?;
    legs.sort_by_key(|leg| (leg.disposal, leg.rule, leg.acquisition));
    Ok(legs)
}

/// Unmatched shares of a day.
struct Unmatched {
    number: i32,
    bought: u128,
    out: u128,
    opening: u128,
}

impl Unmatched {
    const fn of(day: &Day<'_>) -> Self {
        Self {
            number: day.number,
            bought: day.bought.grains,
            out: day.out(),
            opening: day.opening.grains,
        }
    }
}

/// Rejects disposals that exceed the holding. A purchase in the next 30 days determines the cost of
/// sold shares, not whether they were held.
fn reject_uncovered(history: &History<'_>) -> Result<(), EngineError> {
    let mut held: u128 = 0;
    for day in &history.days {
        let morning = held.saturating_add(day.opening.grains);
        let there = morning.saturating_add(day.bought.grains);
        held = match there.checked_sub(day.out()) {
            Some(_) if day.is_taken_over() => 0,
            Some(left) => left,
            None => {
                let shares = |grains| history.shares(grains, day.factor).unwrap_or(Ratio::ZERO);
                return Err(EngineError::ExceedsHolding {
                    location: day.row.location.clone(),
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

/// Pass 1: same day, s.105(1)(b).
fn same_day(open: &mut [Unmatched], legs: &mut Vec<PlannedLeg>) {
    for (index, day) in open.iter_mut().enumerate() {
        let grains = day.bought.min(day.out);
        day.bought -= grains;
        day.out -= grains;
        push(legs, index, Rule::SameDay, Some(index), grains);
    }
}

/// Pass 2: 30 days, s.106A(5). Pass 1 has already reserved purchases for their own day.
fn thirty_days(open: &mut [Unmatched], legs: &mut Vec<PlannedLeg>) {
    let mut rest = open;
    let mut index = 0;
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
            push(legs, index, Rule::BedAndBreakfast, Some(index + 1 + ahead), grains);
        }
        rest = later;
        index += 1;
    }
}

/// Takes purchases by a person who was not resident out of pass 2, s.106A(5A); returns them.
fn hold_back(history: &History<'_>, absence: Absence, open: &mut [Unmatched]) -> Vec<u128> {
    let days = history.days.iter().zip(open);
    days.map(|(day, open)| match absence.covers(day.date) {
        true => std::mem::take(&mut open.bought),
        false => 0,
    })
    .collect()
}

/// Pass 3: s.104, and s.105(2) for shares that the pool does not cover.
fn pool_and_later(
    history: &History<'_>,
    open: &[Unmatched],
    legs: &mut Vec<PlannedLeg>,
) -> Result<(), EngineError> {
    let mut pool: u128 = 0;
    let mut short: VecDeque<ShortSale<'_>> = VecDeque::new();
    for (index, (open, day)) in open.iter().zip(&history.days).enumerate() {
        pool = pool.saturating_add(open.opening);
        let from_pool = open.out.min(pool);
        pool -= from_pool;
        push(legs, index, Rule::Section104, None, from_pool);
        let mut bought = open.bought;
        while bought > 0
            && let Some(sale) = short.front_mut()
        {
            let grains = bought.min(sale.missing);
            bought -= grains;
            sale.missing -= grains;
            push(legs, sale.index, Rule::LaterAcquisition, Some(index), grains);
            if sale.missing == 0 {
                short.pop_front();
            }
        }
        pool = if day.is_taken_over() { 0 } else { pool.saturating_add(bought) };
        // After the purchases: those of the same day were matched in pass 1.
        if open.out > from_pool {
            short.push_back(ShortSale { index, day, missing: open.out - from_pool });
        }
    }
    match short.front() {
        None => Ok(()),
        Some(sale) => Err(never_covered(history, sale)),
    }
}

/// A short sale that is not yet covered.
struct ShortSale<'a> {
    index: usize,
    day: &'a Day<'a>,
    missing: u128,
}

fn never_covered(history: &History<'_>, sale: &ShortSale<'_>) -> EngineError {
    match history.shares(sale.missing, sale.day.factor) {
        Some(open) => EngineError::NeverCovered {
            location: sale.day.row.location.clone(),
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
