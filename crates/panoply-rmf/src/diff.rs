//! Differences between two datasets: figures gained, lost and changed.

use std::collections::BTreeMap;

use crate::fund::Fund;
use crate::period::Period;

/// Differences from one dataset to another.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DatasetDiff {
    /// Codes of funds that only the second has.
    pub added: Vec<String>,
    /// Codes of funds that only the first has.
    pub removed: Vec<String>,
    /// Differences by kind of figure: `nav`, `perf_1y`, `fee`.
    pub by_kind: BTreeMap<&'static str, Counts>,
    /// Figures of common funds that only the first has: code and figure.
    pub lost: Vec<(String, String)>,
}

/// Numbers of figures.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Only in the second.
    pub gained: usize,
    /// Only in the first.
    pub lost: usize,
    /// In both, with different values.
    pub changed: usize,
}

impl DatasetDiff {
    /// Sums over all kinds.
    pub fn total(&self) -> Counts {
        self.by_kind.values().fold(Counts::default(), |sum, counts| Counts {
            gained: sum.gained + counts.gained,
            lost: sum.lost + counts.lost,
            changed: sum.changed + counts.changed,
        })
    }
}

/// Compares two sets of funds.
pub fn diff(before: &[Fund], after: &[Fund]) -> DatasetDiff {
    let by_code = |funds: &'_ [Fund]| -> BTreeMap<String, usize> {
        funds.iter().map(|fund| fund.symbol.clone()).zip(0..).collect()
    };
    let (old, new) = (by_code(before), by_code(after));
    let only = |these: &BTreeMap<String, usize>, those: &BTreeMap<String, usize>| {
        these.keys().filter(|code| !those.contains_key(*code)).cloned().collect()
    };
    let mut found = DatasetDiff {
        added: only(&new, &old),
        removed: only(&old, &new),
        ..DatasetDiff::default()
    };
    for (code, at) in &old {
        let pair = new.get(code).and_then(|other| Some((before.get(*at)?, after.get(*other)?)));
        if let Some((one, other)) = pair {
            compare(&mut found, one, other);
        }
    }
    found
}

fn compare(found: &mut DatasetDiff, before: &Fund, after: &Fund) {
    let (old, new) = (figures(before), figures(after));
    for (key, value) in &old {
        let counts = found.by_kind.entry(key.0).or_default();
        match new.get(key) {
            None => {
                counts.lost += 1;
                let name = format!("{} {}", key.0, key.1).trim().to_owned();
                found.lost.push((before.symbol.clone(), name));
            }
            Some(other) if other != value => counts.changed += 1,
            Some(_) => {}
        }
    }
    for key in new.keys().filter(|key| !old.contains_key(*key)) {
        found.by_kind.entry(key.0).or_default().gained += 1;
    }
}

/// All figures of a fund by kind and detail.
fn figures(fund: &Fund) -> BTreeMap<(&'static str, String), String> {
    let mut all = BTreeMap::new();
    let mut put = |kind, detail: &str, value: Option<String>| {
        if let Some(value) = value {
            all.insert((kind, detail.to_owned()), value);
        }
    };
    for point in fund.nav.points() {
        put("nav", &point.date.to_string(), Some(point.nav.normalize().to_string()));
    }
    for period in Period::ALL {
        let value =
            |value: Option<rust_decimal::Decimal>| value.map(|value| value.normalize().to_string());
        put("return", period.as_str(), value(fund.returns.get(period)));
        put("benchmark return", period.as_str(), value(fund.benchmark.returns.get(period)));
    }
    for (name, value) in [
        ("buy price", fund.buy_price),
        ("sell price", fund.sell_price),
        ("net assets", fund.net_assets),
        ("volatility", fund.volatility_1y),
        ("tracking error", fund.tracking_error),
        ("deviation", fund.deviation.as_ref().map(|deviation| deviation.percent)),
        ("minimum", fund.minimums.initial),
        ("further minimum", fund.minimums.additional),
        ("redemption minimum", fund.minimums.redemption),
        ("balance minimum", fund.minimums.balance),
    ] {
        put(name, "", value.map(|value| value.normalize().to_string()));
    }
    put("risk level", "", Some(fund.risk.to_string()));
    for (at, fee) in fund.fees.iter().enumerate() {
        let detail = format!("{} {at}", fee.kind);
        put("fee", &detail, fee.value.map(|value| value.normalize().to_string()));
    }
    for (at, part) in fund.allocation.iter().flatten().enumerate() {
        put("allocation", &format!("{at}"), Some(part.percent.normalize().to_string()));
    }
    for (statistic, value) in &fund.statistics.values {
        put("statistic", statistic.as_str(), Some(value.normalize().to_string()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{fund, series, with_returns};

    #[test]
    fn figures_gained_lost_and_changed_are_counted_per_kind() {
        let mut old = with_returns(fund("A", 6), &[(Period::Ytd, "1"), (Period::Y1, "2")]);
        old.nav = series(&["10", "11"]);
        let mut new = with_returns(fund("A", 6), &[(Period::Ytd, "1.0"), (Period::Y3, "2")]);
        new.nav = series(&["10", "12", "13"]);
        let found = diff(&[old, fund("B", 1)], &[new, fund("C", 1)]);
        assert_eq!(
            (found.added.join(" "), found.removed.join(" ")),
            ("C".to_owned(), "B".to_owned())
        );
        assert_eq!(found.by_kind["nav"], Counts { gained: 1, lost: 0, changed: 1 });
        assert_eq!(found.by_kind["return"], Counts { gained: 1, lost: 1, changed: 0 });
        assert_eq!(found.lost, [("A".to_owned(), "return 1y".to_owned())]);
        assert_eq!(found.total(), Counts { gained: 2, lost: 1, changed: 1 });
    }
}
