//! Where a fund stands among funds of its AIMC group. Share classes of one fund count once,
//! because they hold the same things.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::figures::{median, rounded};
use crate::fund::Fund;
use crate::period::Period;

/// The group a fund is compared in: its AIMC class, else the SEC's code of comparable funds.
/// Where a fund has both they say the same; the funds that have only the code are those of
/// AIMC's younger groups, such as technology (`TECHEQ`).
pub fn group_of(fund: &Fund) -> Option<&str> {
    fund.classification.as_deref().or(fund.compare_code.as_deref())
}

/// Where a fund stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PeerRank {
    /// The group.
    pub group: String,
    /// 1 is best. Equals share the better rank.
    pub rank: usize,
    /// How many funds of the group have a figure.
    pub peers: usize,
    /// Share of the other funds that did not do better, in percent; `None` when alone.
    pub percentile: Option<Decimal>,
    /// Quarter of the group, 1 is best.
    pub quartile: u8,
    /// The fund's return, in percent.
    pub performance: Decimal,
    /// The middle of the group.
    pub median: Decimal,
    /// The best of the group.
    pub best: Decimal,
    /// The worst of the group.
    pub worst: Decimal,
    /// How many rows were left out because they are share classes of a fund that is counted.
    pub classes_left_out: usize,
}

/// Why a fund cannot be ranked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NoRank {
    /// It belongs to no group.
    #[error("`{symbol}` belongs to no AIMC group")]
    NoGroup {
        /// The fund.
        symbol: String,
    },
    /// It has no figure.
    #[error("`{symbol}` has no return over {period}")]
    NoFigure {
        /// The fund.
        symbol: String,
        /// The period.
        period: Period,
    },
}

/// Where `fund` stands among its peers over `period`.
pub fn rank(funds: &[Fund], fund: &Fund, period: Period) -> Result<PeerRank, NoRank> {
    let group = group_of(fund).ok_or_else(|| NoRank::NoGroup { symbol: fund.symbol.clone() })?;
    let performance = fund
        .returns
        .get(period)
        .ok_or_else(|| NoRank::NoFigure { symbol: fund.symbol.clone(), period })?;
    let in_group = funds.iter().filter(|peer| group_of(peer) == Some(group));
    let with_figure = in_group.filter_map(|peer| Some((peer, peer.returns.get(period)?)));
    let mut by_fund: BTreeMap<&str, Decimal> = BTreeMap::new();
    let mut rows = 0;
    for (peer, figure) in with_figure {
        rows += 1;
        by_fund.entry(peer.fund_id.as_str()).or_insert(figure);
    }
    // Of the classes of the fund itself, the one that was asked for counts.
    by_fund.insert(&fund.fund_id, performance);
    let returns: Vec<Decimal> = by_fund.into_values().collect();
    let better = returns.iter().filter(|other| **other > performance).count();
    let peers = returns.len();
    let others = peers.saturating_sub(1);
    let beaten = Decimal::from(others.saturating_sub(better)) * Decimal::ONE_HUNDRED;
    let quartile = (better * 4 / peers.max(1) + 1).min(4);
    Ok(PeerRank {
        group: group.to_owned(),
        rank: better + 1,
        peers,
        percentile: beaten.checked_div(Decimal::from(others)).map(rounded),
        quartile: u8::try_from(quartile).unwrap_or(4),
        performance,
        median: median(&returns).map_or(performance, rounded),
        best: returns.iter().max().copied().unwrap_or(performance),
        worst: returns.iter().min().copied().unwrap_or(performance),
        classes_left_out: rows - peers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn fund(symbol: &str, id: &str, ytd: &str) -> Fund {
        let fund = samples::with_returns(samples::fund(symbol, 8), &[(Period::Ytd, ytd)]);
        Fund { fund_id: id.to_owned(), classification: Some("COMPM".to_owned()), ..fund }
    }

    #[test]
    fn peer_rank_counts_share_classes_once() {
        let funds =
            [fund("A", "1", "5"), fund("B", "2", "9"), fund("B-P", "2", "9"), fund("C", "3", "5")];
        let rank = rank(&funds, &funds[0], Period::Ytd).unwrap();
        assert_eq!((rank.rank, rank.peers, rank.classes_left_out), (2, 3, 1));
        assert_eq!(rank.percentile, Some("50".parse().unwrap()), "equal counts as not better");
        assert_eq!((rank.median, rank.quartile), (5.into(), 2));
    }

    #[test]
    fn fund_without_classification_is_grouped_by_compare_code() {
        let young = |symbol: &str, ytd: &str| Fund {
            classification: None,
            compare_code: Some("TECHEQ".to_owned()),
            ..fund(symbol, symbol, ytd)
        };
        let funds = [young("A", "2"), young("B", "1"), fund("C", "3", "0")];
        let rank = rank(&funds, &funds[1], Period::Ytd).unwrap();
        assert_eq!((rank.group.as_str(), rank.rank, rank.peers), ("TECHEQ", 2, 2));
    }

    #[test]
    fn sole_fund_of_a_group_has_no_percentile() {
        let funds = [fund("A", "1", "2")];
        let rank = rank(&funds, &funds[0], Period::Ytd).unwrap();
        assert_eq!((rank.rank, rank.peers, rank.percentile, rank.quartile), (1, 1, None, 1));
    }

    #[test]
    fn fund_without_group_or_return_is_not_ranked() {
        let funds = [samples::fund("X", 1), fund("A", "1", "2")];
        assert!(matches!(rank(&funds, &funds[0], Period::Ytd), Err(NoRank::NoGroup { .. })));
        assert!(matches!(rank(&funds, &funds[1], Period::Y5), Err(NoRank::NoFigure { .. })));
    }
}
