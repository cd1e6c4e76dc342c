//! Return ranking over a period, with statistics.

use rust_decimal::Decimal;

use crate::figures::{mean, median, rounded};
use crate::fund::{Fund, RiskLevel};
use crate::period::Period;
use crate::query::{Direction, SortKey, sort};

/// Funds with a return over a period, sorted, and their statistics.
#[derive(Debug)]
pub struct Leaderboard<'a> {
    /// All funds with a return.
    pub standings: Vec<Standing<'a>>,
    /// Statistics over all of them; `None` when there is none.
    pub stats: Option<Stats>,
}

/// A fund and its return over the period.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// Fund.
    pub fund: &'a Fund,
    /// Return, in percent.
    pub performance: Decimal,
    /// Return of the benchmark, in percent; `None` unless it is stated for the same date.
    pub benchmark: Option<Decimal>,
}

impl Standing<'_> {
    /// Return minus the benchmark's, in percentage points.
    pub fn outperformance(&self) -> Option<Decimal> {
        self.benchmark.map(|benchmark| rounded(self.performance - benchmark))
    }
}

/// Statistics of returns, in percent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stats {
    /// Mean.
    pub average: Decimal,
    /// Median.
    pub median: Decimal,
    /// Minimum.
    pub min: Decimal,
    /// Maximum.
    pub max: Decimal,
    /// Number of funds.
    pub counted: usize,
}

/// Ranks the funds with a return over `period`, optionally of one risk level.
pub fn leaderboard(
    funds: &[Fund],
    period: Period,
    risk: Option<RiskLevel>,
    direction: Direction,
) -> Leaderboard<'_> {
    let mut chosen: Vec<&Fund> =
        funds.iter().filter(|fund| risk.is_none_or(|risk| fund.risk == risk)).collect();
    sort(&mut chosen, SortKey::Return(period), direction);
    let standings: Vec<Standing<'_>> = chosen
        .into_iter()
        .filter_map(|fund| {
            let performance = fund.returns.get(period)?;
            Some(Standing { fund, performance, benchmark: fund.benchmark_return(period) })
        })
        .collect();
    let returns: Vec<Decimal> = standings.iter().map(|standing| standing.performance).collect();
    Leaderboard { stats: stats(&returns), standings }
}

/// Computes the statistics of these returns.
pub fn stats(returns: &[Decimal]) -> Option<Stats> {
    Some(Stats {
        average: rounded(mean(returns)?),
        median: rounded(median(returns)?),
        min: *returns.iter().min()?,
        max: *returns.iter().max()?,
        counted: returns.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{fund, with_returns};

    #[test]
    fn period_stats_cover_funds_of_the_requested_risk_level() {
        let funds = [
            with_returns(fund("A", 6), &[(Period::Y1, "10")]),
            with_returns(fund("B", 6), &[(Period::Y1, "-3")]),
            with_returns(fund("C", 5), &[(Period::Y1, "2")]),
            fund("D", 6),
        ];
        let board = leaderboard(&funds, Period::Y1, None, Direction::Descending);
        let stats = board.stats.unwrap();
        assert_eq!((stats.counted, stats.average, stats.median), (3, 3.into(), 2.into()));
        let board = leaderboard(&funds, Period::Y1, RiskLevel::new(6), Direction::Ascending);
        let codes: Vec<&str> = board.standings.iter().map(|at| at.fund.symbol.as_str()).collect();
        assert_eq!(codes, ["B", "A"]);
        assert_eq!(board.stats.unwrap().counted, 2);
        assert!(leaderboard(&funds, Period::Y10, None, Direction::Descending).stats.is_none());
    }

    #[test]
    fn outperformance_is_exact() {
        let mut gold = with_returns(fund("ES-GOLDRMF-UH", 8), &[(Period::Y1, "42.61")]);
        gold.benchmark.returns.set(Period::Y1, Some("44.39".parse().unwrap()));
        let funds = [gold, with_returns(fund("X", 8), &[(Period::Y1, "1")])];
        let board = leaderboard(&funds, Period::Y1, None, Direction::Descending);
        assert_eq!(board.standings[0].outperformance().unwrap().to_string(), "-1.78");
        assert_eq!(board.standings[1].outperformance(), None);
    }
}
