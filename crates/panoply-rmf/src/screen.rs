//! Screener: funds by fee, size, age, minimum, hedging, dividends, risk and return, with the share
//! classes of one fund folded into one row.

use std::collections::BTreeMap;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::catalog::FundCatalog;
use crate::classify::{FundClass, classify};
use crate::compare::total_expense;
use crate::concepts::concepts;
use crate::fund::{Fund, Statistic};
use crate::period::Period;
use crate::query::{Direction, Filter, FoundFunds};
use crate::search::IndexedFund;

/// Currency hedging of a fund.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hedging {
    /// Most of the exposure is hedged.
    Hedged,
    /// Hardly any of it is.
    Unhedged,
    /// In between, at the manager's discretion.
    Partial,
}

impl Hedging {
    /// Name in arguments and replies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hedged => "hedged",
            Self::Unhedged => "unhedged",
            Self::Partial => "partial",
        }
    }

    /// Hedging by the SEC's figure, else by the name; `None` when neither says.
    pub fn of(fund: &Fund, index: &IndexedFund) -> Option<Self> {
        if let Some(percent) = fund.statistics.values.get(&Statistic::FxHedging) {
            return Some(match percent {
                percent if *percent >= Decimal::from(90) => Self::Hedged,
                percent if *percent <= Decimal::from(10) => Self::Unhedged,
                _ => Self::Partial,
            });
        }
        let named =
            |name: &str| concepts().any(|concept| concept.name == name && index.has(fund, concept));
        match (named("unhedged"), named("hedged")) {
            (true, _) => Some(Self::Unhedged),
            (false, true) => Some(Self::Hedged),
            (false, false) => None,
        }
    }
}

/// Conditions, combined with AND.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    /// Topic, company, category, risk.
    pub filter: Filter,
    /// Maximum total expense, in percent a year.
    pub max_fee: Option<Decimal>,
    /// Minimum net assets, in baht.
    pub min_net_assets: Option<Decimal>,
    /// Minimum age, in years.
    pub min_age_years: Option<i16>,
    /// Maximum first purchase, in baht.
    pub max_minimum: Option<Decimal>,
    /// Hedging.
    pub hedging: Option<Hedging>,
    /// Whether dividends are paid.
    pub dividend: Option<bool>,
    /// Minimum return over a period, in percent.
    pub min_return: Option<(Period, Decimal)>,
}

/// Sort key of the screener.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ScreenSort {
    /// Return over a period.
    Return(Period),
    /// Total expense.
    Fee,
    /// Net assets.
    Size,
    /// Registration date, oldest first in ascending order.
    Age,
    /// First purchase.
    Minimum,
    /// Risk level.
    Risk,
    /// Published one-year volatility, else the SEC's deviation.
    Volatility,
    /// Code.
    Code,
}

/// A fund with the share classes that pass.
#[derive(Clone, Debug)]
pub struct FoldedFund<'a> {
    /// The class whose figures are shown: the first by the sort order.
    pub fund: &'a Fund,
    /// All classes that pass, sorted by code.
    pub classes: Vec<&'a Fund>,
    /// Class of investment.
    pub class: FundClass,
    /// Hedging, where known.
    pub hedging: Option<Hedging>,
}

/// Result of the screener.
#[derive(Clone, Debug)]
pub struct Screened<'a> {
    /// Funds, sorted.
    pub funds: Vec<FoldedFund<'a>>,
    /// Funds left out because a figure is not known, by condition.
    pub left_out: BTreeMap<&'static str, usize>,
    /// Words of the search that no fund has beside the others.
    pub words_left_out: Vec<String>,
}

/// Result of one condition.
enum Verdict {
    Pass,
    Fail,
    /// The figure is not known.
    Unknown(&'static str),
}

impl Screen {
    /// Applies the conditions, folds share classes and sorts.
    pub fn apply<'a>(
        &self,
        catalog: &'a FundCatalog,
        sort: ScreenSort,
        direction: Direction,
        today: Date,
    ) -> Screened<'a> {
        let FoundFunds { funds, words_left_out } = self.filter.find(catalog);
        let codes: std::collections::HashSet<&str> =
            funds.into_iter().map(|fund| fund.symbol.as_str()).collect();
        let mut by_fund: BTreeMap<&str, FoldedFund<'a>> = BTreeMap::new();
        let mut left_out: BTreeMap<&'static str, std::collections::BTreeSet<&str>> =
            BTreeMap::new();
        let fits = |(fund, _): &(&Fund, &IndexedFund)| codes.contains(fund.symbol.as_str());
        for (fund, index) in catalog.indexed().filter(fits) {
            let hedging = Hedging::of(fund, index);
            match self.verdict(fund, hedging, today) {
                Verdict::Pass => {
                    let folded = || FoldedFund {
                        fund,
                        classes: Vec::new(),
                        class: classify(fund, index),
                        hedging,
                    };
                    let entry = by_fund.entry(&fund.fund_id).or_insert_with(folded);
                    entry.classes.push(fund);
                    let better = compare(fund, entry.fund, sort, direction, today).is_lt();
                    if better {
                        entry.fund = fund;
                    }
                }
                Verdict::Fail => {}
                Verdict::Unknown(figure) => {
                    left_out.entry(figure).or_default().insert(&fund.fund_id);
                }
            }
        }
        let mut funds: Vec<FoldedFund<'a>> = by_fund.into_values().collect();
        funds.sort_by(|a, b| compare(a.fund, b.fund, sort, direction, today));
        Screened {
            words_left_out,
            funds,
            left_out: left_out.into_iter().map(|(figure, ids)| (figure, ids.len())).collect(),
        }
    }

    fn verdict(&self, fund: &Fund, hedging: Option<Hedging>, today: Date) -> Verdict {
        let dividend = fund.dividend_policy.as_deref().map(|policy| policy == "Yes");
        let checks = [
            at_most(total_expense(fund), self.max_fee, "fee"),
            at_least(fund.net_assets, self.min_net_assets, "net_assets"),
            at_least(age_years(fund, today), self.min_age_years, "age"),
            at_most(fund.minimums.initial, self.max_minimum, "minimum"),
            equal(hedging, self.hedging, "hedging"),
            equal(dividend, self.dividend, "dividend"),
            self.min_return.map_or(Verdict::Pass, |(period, least)| {
                at_least(fund.returns.get(period), Some(least), "return")
            }),
        ];
        // A condition that is known to fail settles it; else what is not known does.
        let mut unknown = None;
        for check in checks {
            match check {
                Verdict::Pass => {}
                Verdict::Fail => return Verdict::Fail,
                Verdict::Unknown(figure) => unknown = unknown.or(Some(figure)),
            }
        }
        unknown.map_or(Verdict::Pass, Verdict::Unknown)
    }
}

fn at_least<T: PartialOrd>(value: Option<T>, least: Option<T>, name: &'static str) -> Verdict {
    match (value, least) {
        (_, None) => Verdict::Pass,
        (None, Some(_)) => Verdict::Unknown(name),
        (Some(value), Some(least)) if value >= least => Verdict::Pass,
        _ => Verdict::Fail,
    }
}

fn at_most<T: PartialOrd>(value: Option<T>, most: Option<T>, name: &'static str) -> Verdict {
    match (value, most) {
        (_, None) => Verdict::Pass,
        (None, Some(_)) => Verdict::Unknown(name),
        (Some(value), Some(most)) if value <= most => Verdict::Pass,
        _ => Verdict::Fail,
    }
}

fn equal<T: PartialEq>(value: Option<T>, wanted: Option<T>, name: &'static str) -> Verdict {
    match (value, wanted) {
        (_, None) => Verdict::Pass,
        (None, Some(_)) => Verdict::Unknown(name),
        (Some(value), Some(wanted)) if value == wanted => Verdict::Pass,
        _ => Verdict::Fail,
    }
}

/// Completed years since the registration.
pub fn age_years(fund: &Fund, today: Date) -> Option<i16> {
    let registered = fund.registered?;
    let had_birthday = (today.month(), today.day()) >= (registered.month(), registered.day());
    Some(today.year() - registered.year() - i16::from(!had_birthday))
}

/// Published volatility of a fund, in percent.
pub fn volatility(fund: &Fund) -> Option<Decimal> {
    fund.volatility_1y.or_else(|| fund.deviation.as_ref().map(|deviation| deviation.percent))
}

fn compare(
    a: &Fund,
    b: &Fund,
    sort: ScreenSort,
    direction: Direction,
    today: Date,
) -> std::cmp::Ordering {
    let key = |fund: &Fund| -> Option<Decimal> {
        match sort {
            ScreenSort::Return(period) => fund.returns.get(period),
            ScreenSort::Fee => total_expense(fund),
            ScreenSort::Size => fund.net_assets,
            ScreenSort::Age => age_years(fund, today).map(Decimal::from),
            ScreenSort::Minimum => fund.minimums.initial,
            ScreenSort::Risk => Some(fund.risk.get().into()),
            ScreenSort::Volatility => volatility(fund),
            ScreenSort::Code => None,
        }
    };
    let by_key = match (key(a), key(b)) {
        (Some(a), Some(b)) if direction == Direction::Ascending => a.cmp(&b),
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => std::cmp::Ordering::Equal,
    };
    by_key.then_with(|| a.symbol.cmp(&b.symbol))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::dataset::{Dataset, Provenance};
    use crate::fund::Fee;
    use crate::samples::{fund, with_returns};

    const TODAY: Date = Date::constant(2025, 11, 16);

    fn priced(code: &str, id: &str, fee: Option<&str>, ytd: &str) -> Fund {
        let mut fund = with_returns(fund(code, 6), &[(Period::Ytd, ytd)]);
        fund.fund_id = id.to_owned();
        fund.registered = Some(date(2020, 11, 17));
        fund.fees = vec![Fee {
            kind: Fee::TOTAL.to_owned(),
            description: "…".to_owned(),
            value: fee.map(|fee| fee.parse().unwrap()),
            remark: None,
        }];
        fund
    }

    fn catalog() -> FundCatalog {
        let funds = vec![
            priced("A-A", "1", Some("1.2"), "5"),
            priced("A-P", "1", Some("0.9"), "6"),
            priced("B", "2", Some("0.5"), "1"),
            priced("C", "3", None, "9"),
        ];
        FundCatalog::new(Dataset::new(Provenance::default(), funds))
    }

    #[test]
    fn share_classes_fold_into_one_fund_with_the_best_class_first() {
        let catalog = catalog();
        let screened =
            Screen::default().apply(&catalog, ScreenSort::Fee, Direction::Ascending, TODAY);
        let codes: Vec<&str> = screened.funds.iter().map(|row| row.fund.symbol.as_str()).collect();
        assert_eq!(codes, ["B", "A-P", "C"], "without a fee last");
        assert_eq!(screened.funds[1].classes.len(), 2);
    }

    #[test]
    fn unknown_figures_are_counted_not_silently_dropped() {
        let screen = Screen { max_fee: Some(1.into()), ..Screen::default() };
        let catalog = catalog();
        let screened =
            screen.apply(&catalog, ScreenSort::Return(Period::Ytd), Direction::Descending, TODAY);
        let codes: Vec<&str> = screened.funds.iter().map(|row| row.fund.symbol.as_str()).collect();
        assert_eq!(codes, ["A-P", "B"]);
        assert_eq!(screened.left_out, BTreeMap::from([("fee", 1)]));
        let young = Screen { min_age_years: Some(5), ..Screen::default() };
        assert!(
            young.apply(&catalog, ScreenSort::Code, Direction::Ascending, TODAY).funds.is_empty()
        );
    }
}
