//! Gates before a fund's figures are replaced: coverage, NAV jumps, dates, units and totals.
//!
//! A fund that fails keeps its previous figures and their dates. `--accept CODE` of `panoply rmf
//! sync` takes the fetched figures of a named fund nevertheless.

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::compare::total_expense;
use crate::fund::{Fund, is_unbalanced};
use crate::nav::NavPoint;
use crate::period::{ByPeriod, Period};

/// Largest plausible change between NAVs at most [`NEAR_DAYS`] apart, as a factor. The largest
/// daily moves in the bundled data are about 10 %; limits of exchanges end near 30 %.
const MAX_FACTOR: Decimal = Decimal::from_parts(15, 0, 0, false, 1);
/// Largest plausible change over a longer gap, as a factor.
const MAX_FACTOR_FAR: Decimal = Decimal::from_parts(4, 0, 0, false, 0);
const NEAR_DAYS: i32 = 10;
/// Change of scale from which figures are taken to have another unit.
const SCALE: Decimal = Decimal::from_parts(20, 0, 0, false, 0);

/// Reasons to reject the fetched figures; empty when they pass.
pub(super) fn failures(old: Option<&Fund>, new: &Fund, today: Date) -> Vec<String> {
    let mut failures = Vec::new();
    let dated = [("returns", new.returns_as_of), ("benchmark returns", new.benchmark.as_of)];
    for (what, date) in dated {
        if let Some(date) = date.filter(|date| *date > today) {
            failures.push(format!("{what} are dated {date}, in the future"));
        }
    }
    failures.extend(jump(old, new));
    if let Some(old) = old {
        failures.extend(coverage(old, new));
        failures.extend(dates(old, new));
        failures.extend(units(old, new));
        let balanced = |fund: &Fund| !fund.allocation.as_deref().is_some_and(is_unbalanced);
        if balanced(old) && !balanced(new) {
            failures.push("the allocation no longer adds up to 100 %".to_owned());
        }
    }
    failures
}

/// Figures that the fund had and the fetched ones lack.
fn coverage(old: &Fund, new: &Fund) -> Vec<String> {
    let mut lost = Vec::new();
    if old.nav.latest().is_some() && new.nav.latest().is_none() {
        lost.push("NAV".to_owned());
    }
    let missing = |name: &str, old: &ByPeriod<Decimal>, new: &ByPeriod<Decimal>| {
        let gone = |period: &Period| old.get(*period).is_some() && new.get(*period).is_none();
        let periods: Vec<&str> = Period::ALL.into_iter().filter(gone).map(Period::as_str).collect();
        (!periods.is_empty()).then(|| format!("{name} {}", periods.join(", ")))
    };
    // The periods of another share class say nothing about those of this one.
    if old.shares_figures() {
        let any =
            |fund: &Fund| Period::ALL.iter().any(|period| fund.returns.get(*period).is_some());
        if any(old) && !any(new) {
            lost.push("returns".to_owned());
        }
    } else {
        lost.extend(missing("return", &old.returns, &new.returns));
        lost.extend(missing("benchmark return", &old.benchmark.returns, &new.benchmark.returns));
        if old.volatility_1y.is_some() && new.volatility_1y.is_none() {
            lost.push("volatility".to_owned());
        }
        if total_expense(old).is_some() && total_expense(new).is_none() {
            lost.push("total expense".to_owned());
        }
    }
    if lost.is_empty() {
        return Vec::new();
    }
    vec![format!("figures are missing: {}", lost.join("; "))]
}

/// A day whose NAV differs from the day before by more than is plausible.
fn jump(old: Option<&Fund>, new: &Fund) -> Option<String> {
    // The old series passed when it was fetched. The bundled one is taken as it is.
    let known = |point: &NavPoint| {
        old.is_some_and(|old| {
            old.nav
                .points()
                .binary_search_by_key(&point.date, |at| at.date)
                .is_ok_and(|at| old.nav.points().get(at).is_some_and(|old| old.nav == point.nav))
        })
    };
    let points = new.nav.points();
    points.iter().zip(points.iter().skip(1)).find_map(|(before, after)| {
        if known(before) && known(after) {
            return None;
        }
        let near = (after.date - before.date).get_days() <= NEAR_DAYS;
        let limit = if near { MAX_FACTOR } else { MAX_FACTOR_FAR };
        let (low, high) = (before.nav.min(after.nav), before.nav.max(after.nav));
        (high > low * limit).then(|| {
            format!(
                "NAV jumps from {} on {} to {} on {}",
                before.nav, before.date, after.nav, after.date
            )
        })
    })
}

/// Dates must not move backwards.
fn dates(old: &Fund, new: &Fund) -> Option<String> {
    let (before, after) = (old.returns_as_of?, new.returns_as_of?);
    (after < before && !old.shares_figures())
        .then(|| format!("returns are dated {after}, before the known ones of {before}"))
}

/// Figures that are all much larger or smaller than before have another unit.
fn units(old: &Fund, new: &Fund) -> Vec<String> {
    let mut failures = Vec::new();
    let both: Vec<(Decimal, Decimal)> = Period::ALL
        .into_iter()
        .filter_map(|period| Some((old.returns.get(period)?.abs(), new.returns.get(period)?.abs())))
        .collect();
    let sums =
        both.iter().fold((Decimal::ZERO, Decimal::ZERO), |(a, b), (old, new)| (a + old, b + new));
    if both.len() > 2 && other_scale(sums.0, sums.1) {
        failures.push("returns are on another scale than before".to_owned());
    }
    if let (Some(before), Some(after)) = (old.net_assets, new.net_assets)
        && other_scale(before, after)
    {
        failures.push(format!("net assets change from {before} to {after} baht"));
    }
    failures
}

fn other_scale(before: Decimal, after: Decimal) -> bool {
    let (low, high) = (before.min(after), before.max(after));
    !low.is_zero() && high > low * SCALE
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::samples::{fund, series, with_returns};

    const TODAY: Date = Date::constant(2025, 11, 14);

    fn known() -> Fund {
        let returns = [(Period::Ytd, "8.8"), (Period::Y1, "6.65"), (Period::Y3, "2.1")];
        let mut fund = with_returns(fund("A", 6), &returns);
        fund.nav = series(&["10", "10.1", "10.2"]);
        fund.returns_as_of = Some(date(2025, 9, 30));
        fund.net_assets = Some(600_000_000.into());
        fund
    }

    #[test]
    fn plausible_changes_pass() {
        let mut new = known();
        new.nav = series(&["10", "10.1", "10.2", "9.2", "13.7"]);
        new.returns_as_of = Some(date(2025, 10, 31));
        new.returns.set(Period::Ytd, Some("-3".parse().unwrap()));
        new.net_assets = Some(200_000_000.into());
        assert_eq!(failures(Some(&known()), &new, TODAY), [""; 0]);
    }

    #[test]
    fn each_gate_rejects_its_fault() {
        type Change = fn(&mut Fund);
        let cases: [(Change, &str); 7] = [
            (|new| new.nav = series(&["10", "10.1", "10.2", "1020"]), "NAV jumps from 10.2"),
            (|new| new.nav = series(&[]), "missing: NAV"),
            (|new| new.returns.set(Period::Y3, None), "return 3y"),
            (|new| new.returns_as_of = Some(date(2025, 8, 31)), "before the known ones"),
            (|new| new.returns_as_of = Some(date(2025, 12, 31)), "in the future"),
            (
                |new| {
                    for period in Period::ALL {
                        let value =
                            new.returns.get(period).map(|value| value / Decimal::ONE_HUNDRED);
                        new.returns.set(period, value);
                    }
                },
                "another scale",
            ),
            (|new| new.net_assets = Some(600.into()), "net assets"),
        ];
        for (change, expected) in cases {
            let mut new = known();
            change(&mut new);
            let told = failures(Some(&known()), &new, TODAY).join(" ");
            assert!(told.contains(expected), "expected {expected:?}: {told:?}");
        }
    }
}
