//! Peer ranking within an AIMC group. Share classes of one fund have the same portfolio and count
//! once.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::figures::{median, rounded};
use crate::fund::Fund;
use crate::period::Period;

/// Peer group: the AIMC classification, else the SEC's compare code. Where a fund has both they
/// agree; funds with a code only belong to newer AIMC groups such as technology (`TECHEQ`).
pub fn group_of(fund: &Fund) -> Option<&str> {
    fund.classification.as_deref().or(fund.compare_code.as_deref())
}

/// Rank of a fund within its peer group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PeerRank {
    /// Peer group.
    pub group: String,
    /// 1 is best. Ties share the better rank.
    pub rank: usize,
    /// Number of funds of the group with a return.
    pub peers: usize,
    /// Percentage of the other funds that did not do better; `None` for a group of one.
    pub percentile: Option<Decimal>,
    /// Quartile, 1 is best.
    pub quartile: u8,
    /// Return of the fund, in percent.
    pub performance: Decimal,
    /// Median return of the group.
    pub median: Decimal,
    /// Best return of the group.
    pub best: Decimal,
    /// Worst return of the group.
    pub worst: Decimal,
    /// Share classes excluded because their fund is already counted.
    pub classes_left_out: usize,
}

/// Why a fund cannot be ranked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RankError {
    /// The fund has no peer group.
    #[error("`{symbol}` belongs to no AIMC group")]
    NoGroup {
        /// Fund code.
        symbol: String,
    },
    /// The fund has no return over the period.
    #[error("`{symbol}` has no return over {period}")]
    NoFigure {
        /// Fund code.
        symbol: String,
        /// Period.
        period: Period,
    },
}

/// Ranks `fund` among its peers over `period`.
pub fn rank(funds: &[Fund], fund: &Fund, period: Period) -> Result<PeerRank, RankError> {
    let group = group_of(fund).ok_or_else(|| RankError::NoGroup { symbol: fund.symbol.clone() })?;
    let performance = fund
        .returns
        .get(period)
        .ok_or_else(|| RankError::NoFigure { symbol: fund.symbol.clone(), period })?;
    let in_group = funds.iter().filter(|peer| group_of(peer) == Some(group));
    let with_figure = in_group.filter_map(|peer| Some((peer, peer.returns.get(period)?)));
    let mut by_fund: BTreeMap<&str, Decimal> = BTreeMap::new();
    let mut rows = 0;
    for (peer, figure) in with_figure {
        rows += 1;
        by_fund.entry(peer.fund_id.as_str()).or_insert(figure);
    }
    // The requested class represents its own fund.
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
        assert!(matches!(rank(&funds, &funds[0], Period::Ytd), Err(RankError::NoGroup { .. })));
        assert!(matches!(rank(&funds, &funds[1], Period::Y5), Err(RankError::NoFigure { .. })));
    }
}
