//! Highlights of a fund comparison. Ties go to the fund listed first.

use rust_decimal::Decimal;

use crate::fund::{Fee, Fund};
use crate::period::Period;

/// Funds with the best or worst value of each criterion.
#[derive(Clone, Copy, Debug)]
pub struct Highlights<'a> {
    /// Highest year-to-date return; `None` when no fund has one.
    pub best_ytd: Option<&'a Fund>,
    /// Lowest year-to-date return; `None` when fewer than two funds have one.
    pub worst_ytd: Option<&'a Fund>,
    /// Lowest risk level.
    pub lowest_risk: Option<&'a Fund>,
    /// Highest risk level.
    pub highest_risk: Option<&'a Fund>,
    /// Lowest total expense; `None` when fewer than two funds publish it.
    pub lowest_fees: Option<&'a Fund>,
}

/// Computes the highlights of these funds.
pub fn highlights<'a>(funds: &[&'a Fund]) -> Highlights<'a> {
    let ytd = |fund: &Fund| fund.returns.get(Period::Ytd);
    let with_ytd = funds.iter().filter(|fund| ytd(fund).is_some()).count();
    let with_fees = funds.iter().filter(|fund| total_expense(fund).is_some()).count();
    Highlights {
        best_ytd: first_min_by_key(funds, |fund| ytd(fund).map(|ytd| -ytd)),
        worst_ytd: first_min_by_key(funds, ytd).filter(|_| with_ytd > 1),
        lowest_risk: first_min_by_key(funds, |fund| Some(fund.risk)),
        highest_risk: first_min_by_key(funds, |fund| Some(std::cmp::Reverse(fund.risk))),
        lowest_fees: first_min_by_key(funds, total_expense).filter(|_| with_fees > 1),
    }
}

/// Published total expense in percent a year.
pub fn total_expense(fund: &Fund) -> Option<Decimal> {
    fund.fees.iter().filter(|fee| fee.kind == Fee::TOTAL).find_map(|fee| fee.value)
}

/// Relies on `min_by_key` returning the first of several minima: that is the tie rule.
fn first_min_by_key<'a, K: Ord>(
    funds: &[&'a Fund],
    key: impl Fn(&Fund) -> Option<K>,
) -> Option<&'a Fund> {
    let keyed = funds.iter().copied().filter_map(|fund| key(fund).map(|key| (key, fund)));
    keyed.min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, fund)| fund)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{fund, with_returns};

    fn code(fund: Option<&Fund>) -> Option<&str> {
        fund.map(|fund| fund.symbol.as_str())
    }

    #[test]
    fn ties_go_to_the_first_listed_fund() {
        let a = with_returns(fund("A", 6), &[(Period::Ytd, "3")]);
        let b = with_returns(fund("B", 6), &[(Period::Ytd, "3")]);
        let found = highlights(&[&b, &a]);
        assert_eq!(code(found.best_ytd), Some("B"));
        assert_eq!(code(found.worst_ytd), Some("B"));
        assert_eq!(code(found.lowest_risk), Some("B"));
        assert_eq!(code(found.highest_risk), Some("B"));
        assert_eq!(code(found.lowest_fees), None);
    }

    #[test]
    fn fund_without_ytd_return_is_neither_best_nor_worst() {
        let a = with_returns(fund("A", 8), &[(Period::Ytd, "-3")]);
        let b = with_returns(fund("B", 2), &[(Period::Ytd, "1")]);
        let new = fund("NEW", 5);
        let found = highlights(&[&new, &a, &b]);
        assert_eq!((code(found.best_ytd), code(found.worst_ytd)), (Some("B"), Some("A")));
        assert_eq!((code(found.lowest_risk), code(found.highest_risk)), (Some("B"), Some("A")));
        let alone = highlights(&[&new, &a]);
        assert_eq!((code(alone.best_ytd), code(alone.worst_ytd)), (Some("A"), None));
    }

    #[test]
    fn fees_are_compared_by_the_total_expense() {
        let with_fee = |name: &str, value: Option<&str>| {
            let mut fund = fund(name, 6);
            fund.fees.push(Fee {
                kind: Fee::TOTAL.to_owned(),
                description: "…".to_owned(),
                value: value.map(|value| value.parse().unwrap()),
                remark: None,
            });
            fund
        };
        let (a, b, c) =
            (with_fee("A", Some("1.9")), with_fee("B", Some("0.7")), with_fee("C", None));
        assert_eq!(code(highlights(&[&a, &b, &c]).lowest_fees), Some("B"));
        assert_eq!(code(highlights(&[&a, &c]).lowest_fees), None);
    }
}
