//! Look-through: what funds have in common, and what changed in a fund's largest holdings.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::fund::{Fund, HoldingsReport};
use crate::search::normalised;

/// What two funds have in common, strongest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Relation {
    /// Share classes of one fund: the same portfolio.
    SameFund,
    /// Feeders of one master fund: the same portfolio.
    SameMaster,
    /// The same benchmark.
    SameBenchmark,
    /// The same class of investment.
    SameClass,
    /// Nothing known.
    None,
}

impl Relation {
    /// Name in replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameFund => "same_fund",
            Self::SameMaster => "same_master_fund",
            Self::SameBenchmark => "same_benchmark",
            Self::SameClass => "same_class",
            Self::None => "none",
        }
    }
}

/// Overlap of two funds.
#[derive(Clone, Debug, PartialEq)]
pub struct PairOverlap {
    /// What they have in common.
    pub relation: Relation,
    /// Sum of the smaller shares of common holdings, in percent; `None` when a fund publishes none.
    pub percent: Option<Decimal>,
    /// Names of common holdings.
    pub common: Vec<String>,
}

/// Compares two funds. `same_class` is whether their classes are equal.
pub fn overlap(a: &Fund, b: &Fund, same_class: bool) -> PairOverlap {
    let same_text = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) => normalised(a).trim() == normalised(b).trim(),
        _ => false,
    };
    // "The master fund's performance" is a phrase of many factsheets, not a benchmark.
    let named = a
        .benchmark
        .name
        .as_deref()
        .is_some_and(|name| !name.contains("กองทุนรวมหลัก") && name != "ไม่มี");
    let relation = if a.fund_id == b.fund_id {
        Relation::SameFund
    } else if same_text(&a.master_fund, &b.master_fund) {
        Relation::SameMaster
    } else if named && same_text(&a.benchmark.name, &b.benchmark.name) {
        Relation::SameBenchmark
    } else if same_class {
        Relation::SameClass
    } else {
        Relation::None
    };
    let (percent, common) = match (&a.holdings, &b.holdings) {
        (Some(a), Some(b)) => common_holdings(a, b),
        _ => (None, Vec::new()),
    };
    PairOverlap { relation, percent, common }
}

fn by_name(report: &HoldingsReport) -> BTreeMap<String, (&str, Decimal)> {
    let key = |name: &str| normalised(name).trim().to_owned();
    report
        .holdings
        .iter()
        .map(|part| (key(&part.asset_class), (part.asset_class.as_str(), part.percent)))
        .collect()
}

fn common_holdings(a: &HoldingsReport, b: &HoldingsReport) -> (Option<Decimal>, Vec<String>) {
    let (a, b) = (by_name(a), by_name(b));
    let mut sum = Decimal::ZERO;
    let mut names = Vec::new();
    for (key, (name, share)) in &a {
        if let Some((_, other)) = b.get(key) {
            sum += *share.min(other);
            names.push((*name).to_owned());
        }
    }
    (Some(sum), names)
}

/// A change of the largest holdings between two reports.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldingChange {
    /// Holding.
    pub name: String,
    /// Share in the report before, in percent; `None` when it is new.
    pub before: Option<Decimal>,
    /// Share in the latest report; `None` when it left the list.
    pub after: Option<Decimal>,
}

/// Changes since the report before, by name.
pub fn changes(fund: &Fund) -> Vec<HoldingChange> {
    let (Some(before), Some(after)) = (&fund.previous_holdings, &fund.holdings) else {
        return Vec::new();
    };
    let (old, new) = (by_name(before), by_name(after));
    let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    keys.into_iter()
        .filter_map(|key| {
            let (before, after) = (old.get(key), new.get(key));
            let name = after.or(before).map(|(name, _)| (*name).to_owned())?;
            let (before, after) = (before.map(|(_, share)| *share), after.map(|(_, share)| *share));
            (before != after).then_some(HoldingChange { name, before, after })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fund::Allocation;
    use crate::samples::fund;

    fn holding(parts: &[(&str, &str)]) -> Option<HoldingsReport> {
        let part = |(name, percent): &(&str, &str)| Allocation {
            asset_class: (*name).to_owned(),
            percent: percent.parse().unwrap(),
        };
        Some(HoldingsReport { as_of: None, holdings: parts.iter().map(part).collect() })
    }

    #[test]
    fn overlap_is_the_sum_of_the_smaller_shares() {
        let mut a = fund("A", 6);
        let mut b = fund("B", 6);
        a.holdings = holding(&[("Apple Inc.", "6.1"), ("Nvidia", "5"), ("Shell", "3")]);
        b.holdings = holding(&[("APPLE INC", "4"), ("Nvidia", "7.5")]);
        let found = overlap(&a, &b, true);
        assert_eq!((found.percent, found.relation), (Some(9.into()), Relation::SameClass));
        assert_eq!(found.common, ["Apple Inc.", "Nvidia"]);
        b.holdings = None;
        assert_eq!(overlap(&a, &b, false).percent, None, "unknown is not zero");
    }

    #[test]
    fn relation_names_the_strongest_bond() {
        let mut a = fund("A", 6);
        let mut b = fund("B", 6);
        a.benchmark.name = Some("ผลการดำเนินงานของกองทุนรวมหลัก".to_owned());
        b.benchmark.name = a.benchmark.name.clone();
        assert_eq!(overlap(&a, &b, false).relation, Relation::None, "the phrase is no benchmark");
        a.benchmark.name = Some("MSCI World".to_owned());
        b.benchmark.name = Some("msci  world".to_owned());
        assert_eq!(overlap(&a, &b, true).relation, Relation::SameBenchmark);
        a.master_fund = Some("Baillie Gifford".to_owned());
        b.master_fund = Some("BAILLIE GIFFORD".to_owned());
        assert_eq!(overlap(&a, &b, true).relation, Relation::SameMaster);
        b.fund_id = a.fund_id.clone();
        assert_eq!(overlap(&a, &b, true).relation, Relation::SameFund);
    }

    #[test]
    fn changes_name_new_gone_and_changed_holdings() {
        let mut a = fund("A", 6);
        a.previous_holdings = holding(&[("Apple", "6"), ("Shell", "3"), ("BP", "2")]);
        a.holdings = holding(&[("Apple", "7"), ("Nvidia", "5"), ("BP", "2")]);
        let names: Vec<String> = changes(&a).into_iter().map(|change| change.name).collect();
        assert_eq!(names, ["Apple", "Nvidia", "Shell"]);
    }
}
