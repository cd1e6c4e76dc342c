//! Filtering, sorting and pagination of funds.
//!
//! Funds without the sort figure come last in both directions and ties are broken by code, so that
//! the order is total and pages are stable.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use crate::catalog::FundCatalog;
use crate::classify::in_category;
use crate::fund::{Fund, RiskLevel};
use crate::period::Period;
use crate::search::{CompanyFilter, IndexedFund, ParsedQuery};

/// Search criteria, combined with AND. `None` matches every fund.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Words in the name or code.
    pub search: Option<String>,
    /// Substring of the company name.
    pub company: Option<String>,
    /// Minimum risk level.
    pub min_risk: Option<RiskLevel>,
    /// Maximum risk level.
    pub max_risk: Option<RiskLevel>,
    /// Minimum year-to-date return, in percent.
    pub min_ytd: Option<Decimal>,
    /// Kind of asset or beginning of a class: see [`in_category`].
    pub category: Option<String>,
}

/// Result of a filter.
#[derive(Clone, Debug)]
pub struct FoundFunds<'a> {
    /// Matching funds, sorted by code.
    pub funds: Vec<&'a Fund>,
    /// Words of the search that no fund has beside the others.
    pub words_left_out: Vec<String>,
}

impl Filter {
    /// Returns the matching funds, sorted by code.
    pub fn apply<'a>(&self, catalog: &'a FundCatalog) -> Vec<&'a Fund> {
        self.find(catalog).funds
    }

    /// Returns the matching funds, sorted by code, and what the search did not use.
    pub fn find<'a>(&self, catalog: &'a FundCatalog) -> FoundFunds<'a> {
        let company = self.company.as_deref().map(CompanyFilter::new);
        let others: Vec<(&Fund, &IndexedFund)> = catalog
            .indexed()
            .filter(|(_, index)| company.as_ref().is_none_or(|company| company.fits(index)))
            .filter(|(fund, index)| self.matches_except_names(fund, index))
            .collect();
        let Some(search) = &self.search else {
            let funds = others.into_iter().map(|(fund, _)| fund).collect();
            return FoundFunds { funds, words_left_out: Vec::new() };
        };
        let all: Vec<(&Fund, &IndexedFund)> = catalog.indexed().collect();
        let query = ParsedQuery::new(search, &all);
        let funds = query.find(&others);
        if !funds.is_empty() {
            return FoundFunds { funds, words_left_out: query.dropped().to_vec() };
        }
        let wider = query.widened(&all);
        FoundFunds { funds: wider.find(&others), words_left_out: wider.dropped().to_vec() }
    }

    /// Number of funds that fit but for a year-to-date return, which they lack.
    pub fn left_out_without_ytd(&self, catalog: &FundCatalog) -> usize {
        let Some(_) = self.min_ytd else { return 0 };
        let all = Self { min_ytd: None, ..self.clone() };
        let lacks = |fund: &&Fund| fund.returns.get(Period::Ytd).is_none();
        all.apply(catalog).into_iter().filter(lacks).count()
    }

    fn matches_except_names(&self, fund: &Fund, index: &IndexedFund) -> bool {
        let ytd = self
            .min_ytd
            .is_none_or(|least| fund.returns.get(Period::Ytd).is_some_and(|ytd| ytd >= least));
        let category =
            self.category.as_deref().is_none_or(|category| in_category(fund, index, category));
        ytd && category
            && self.min_risk.is_none_or(|least| fund.risk >= least)
            && self.max_risk.is_none_or(|most| fund.risk <= most)
    }
}

/// Sort key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SortKey {
    /// Return over a period.
    Return(Period),
    /// Risk level.
    Risk,
    /// Latest NAV.
    Nav,
    /// English name.
    Name,
}

/// Sort direction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// Sorts funds by `key`, then by code.
pub fn sort(funds: &mut [&Fund], key: SortKey, direction: Direction) {
    match key {
        SortKey::Return(period) => sort_by(funds, direction, |fund| fund.returns.get(period)),
        SortKey::Risk => sort_by(funds, direction, |fund| Some(fund.risk)),
        SortKey::Nav => {
            sort_by(funds, direction, |fund| fund.nav.latest().map(|point| point.nav));
        }
        SortKey::Name => sort_by(funds, direction, |fund| Some(fund.name.to_lowercase())),
    }
}

fn sort_by<'a, K: Ord>(
    funds: &mut [&'a Fund],
    direction: Direction,
    key: impl Fn(&Fund) -> Option<K>,
) {
    let mut keyed: Vec<(Option<K>, &'a Fund)> =
        funds.iter().map(|fund| (key(fund), *fund)).collect();
    keyed.sort_by(|(a, one), (b, other)| {
        let by_key = match (a, b) {
            (Some(a), Some(b)) if direction == Direction::Ascending => a.cmp(b),
            (Some(a), Some(b)) => b.cmp(a),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        by_key.then_with(|| one.symbol.cmp(&other.symbol))
    });
    for (slot, (_, fund)) in funds.iter_mut().zip(keyed) {
        *slot = fund;
    }
}

/// One page of a result.
#[derive(Clone, Debug)]
pub struct FundPage<'a> {
    /// Funds on the page.
    pub funds: Vec<&'a Fund>,
    /// Number of funds on all pages.
    pub total: usize,
    /// Number of pages.
    pub pages: usize,
}

/// Returns page `number`, counted from 1. A page past the end is empty.
pub fn page<'a>(funds: &[&'a Fund], number: usize, size: usize) -> FundPage<'a> {
    let size = size.max(1);
    let skipped = number.saturating_sub(1).saturating_mul(size);
    FundPage {
        funds: funds.iter().copied().skip(skipped).take(size).collect(),
        total: funds.len(),
        pages: funds.len().div_ceil(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Dataset, Provenance};
    use crate::samples::{fund, series, with_returns};

    fn codes(funds: &[&Fund]) -> Vec<String> {
        funds.iter().map(|fund| fund.symbol.clone()).collect()
    }

    #[test]
    fn missing_figures_sort_last_and_ties_by_code() {
        let funds = [
            with_returns(fund("C", 1), &[(Period::Ytd, "1")]),
            fund("A", 2),
            with_returns(fund("B", 3), &[(Period::Ytd, "1")]),
            with_returns(fund("D", 4), &[(Period::Ytd, "-2")]),
        ];
        let mut found: Vec<&Fund> = funds.iter().collect();
        sort(&mut found, SortKey::Return(Period::Ytd), Direction::Descending);
        assert_eq!(codes(&found), ["B", "C", "D", "A"]);
        sort(&mut found, SortKey::Return(Period::Ytd), Direction::Ascending);
        assert_eq!(codes(&found), ["D", "B", "C", "A"]);
        sort(&mut found, SortKey::Nav, Direction::Descending);
        assert_eq!(codes(&found), ["A", "B", "C", "D"]);
        sort(&mut found, SortKey::Risk, Direction::Descending);
        assert_eq!(codes(&found), ["D", "B", "A", "C"]);
    }

    fn catalog(funds: &[Fund]) -> FundCatalog {
        FundCatalog::new(Dataset::new(Provenance::default(), funds.to_vec()))
    }

    #[test]
    fn category_is_a_kind_of_asset_or_the_beginning_of_a_class() {
        let classed = |class: &str, policy: Option<&str>| Fund {
            classification: Some(class.to_owned()),
            policy_th: policy.map(str::to_owned),
            ..fund("A", 6)
        };
        let cases = [
            (classed("EQASxJP", None), "EQAS", true),
            (classed("EQASxJP", None), "eqasXjp", true),
            (classed("EQASxJP", None), "equity", true),
            (classed("FIXMIDGEN", None), "Fixed", true),
            (classed("MIXFI", None), "FIXED", false),
            (classed("EQJP", Some("ผสม")), "EQUITY", false),
            (classed("EQJP", Some("ผสม")), "mixed", true),
            (classed("PRFOPTH", None), "PROPERTY", true),
            (classed("COMPM", None), "COMMODITY", true),
            (Fund { policy_th: Some("ตราสารทุน".to_owned()), ..fund("A", 6) }, "EQUITY", true),
        ];
        for (fund, category, expected) in cases {
            let filter = Filter { category: Some(category.to_owned()), ..Filter::default() };
            let found = !filter.apply(&catalog(std::slice::from_ref(&fund))).is_empty();
            assert_eq!(found, expected, "{:?} of {category}", fund.classification);
        }
    }

    #[test]
    fn search_matches_words_in_any_order() {
        let mut gold = fund("ES-GOLDRMF-UH", 8);
        gold.name = "Eastspring Gold Bullion RMF".to_owned();
        gold.company.name = "EASTSPRING ASSET MANAGEMENT".to_owned();
        gold.name_th = Some("กองทุนเปิดอีสท์สปริง ทองคำ".to_owned());
        let mut other = fund("KT25/75RMF", 5);
        other.name = "Krung Thai Gold and more".to_owned();
        let funds = [gold, other];
        let cases: [(&str, &[&str]); 7] = [
            ("gold", &["ES-GOLDRMF-UH", "KT25/75RMF"]),
            ("GOLD BULLION", &["ES-GOLDRMF-UH"]),
            ("bullion eastspring", &["ES-GOLDRMF-UH"]),
            ("kt25 75", &["KT25/75RMF"]),
            ("ทองคำ", &["ES-GOLDRMF-UH", "KT25/75RMF"]),
            ("silver", &[]),
            ("🦄", &[]),
        ];
        for (search, expected) in cases {
            let filter = Filter { search: Some(search.to_owned()), ..Filter::default() };
            assert_eq!(codes(&filter.apply(&catalog(&funds))), expected, "search: {search}");
        }
    }

    #[test]
    fn filters_are_combined_with_and() {
        let mut rich = with_returns(fund("RICH", 5), &[(Period::Ytd, "5.0")]);
        rich.nav = series(&["10"]);
        let funds = [rich, with_returns(fund("POOR", 5), &[(Period::Ytd, "4.99")]), fund("NEW", 5)];
        let filter = Filter {
            min_ytd: Some("5".parse().unwrap()),
            company: Some("sample".to_owned()),
            max_risk: RiskLevel::new(5),
            ..Filter::default()
        };
        assert_eq!(codes(&filter.apply(&catalog(&funds))), ["RICH"]);
        let filter = Filter { min_risk: RiskLevel::new(6), ..Filter::default() };
        assert!(filter.apply(&catalog(&funds)).is_empty());
    }

    #[test]
    fn page_past_the_end_is_empty() {
        let funds: Vec<Fund> = ["A", "B", "C"].iter().map(|code| fund(code, 1)).collect();
        let all: Vec<&Fund> = funds.iter().collect();
        let cases: [(usize, usize, &[&str]); 5] = [
            (1, 2, &["A", "B"]),
            (2, 2, &["C"]),
            (3, 2, &[]),
            (usize::MAX, 50, &[]),
            (1, 50, &["A", "B", "C"]),
        ];
        for (number, size, expected) in cases {
            let page = page(&all, number, size);
            assert_eq!(codes(&page.funds), expected, "page {number} of {size}");
            assert_eq!(page.total, 3);
        }
        assert_eq!(page(&all, 1, 2).pages, 2);
        assert_eq!(page(&[], 1, 2).pages, 0);
    }
}
