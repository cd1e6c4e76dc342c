//! Catalog of all funds, indexed by code.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use jiff::civil::Date;

use crate::dataset::{Dataset, DatasetError, Provenance};
use crate::fund::{Flag, Fund};
use crate::lookup::{folded, suggest_similar};
use crate::search::IndexedFund;

/// Dataset bundled with the program.
pub const BUNDLED: &[u8] = include_bytes!("../../../data/rmf/rmf.tsv");

/// Age of the newest NAV in days from which the figures are called old.
pub const STALE_DAYS: i32 = 45;

/// All funds, sorted by code.
#[derive(Debug)]
pub struct FundCatalog {
    funds: Vec<Fund>,
    by_symbol: HashMap<String, usize>,
    /// Index by folded code. A folded code that belongs to several funds is absent: such a fund is
    /// found by its exact code only.
    by_folded: HashMap<String, usize>,
    /// Normalised texts of the funds, in their order, made by the first search.
    index: OnceLock<Vec<IndexedFund>>,
    /// Source of the figures.
    pub provenance: Provenance,
    /// SHA-256 of the data set.
    pub checksum: String,
}

/// No fund has this code.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("fund code `{code}` does not exist")]
pub struct UnknownFund {
    /// The requested code, trimmed.
    pub code: String,
    /// Similar codes, best first.
    pub suggestions: Vec<String>,
}

impl FundCatalog {
    /// Indexes a dataset.
    pub fn new(dataset: Dataset) -> Self {
        let Dataset { provenance, mut funds, checksum } = dataset;
        funds.sort_by(|a, b| a.symbol.cmp(&b.symbol));
        let by_symbol = funds.iter().map(|fund| fund.symbol.clone()).zip(0..).collect();
        let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, fund) in funds.iter().enumerate() {
            seen.entry(folded(&fund.symbol)).or_default().push(index);
        }
        let unambiguous = seen.into_iter().filter_map(|(code, indices)| match indices.as_slice() {
            [only] => Some((code, *only)),
            _ => None,
        });
        let by_folded = unambiguous.collect();
        Self { funds, by_symbol, by_folded, index: OnceLock::new(), provenance, checksum }
    }

    /// Reads and indexes a packed dataset.
    pub fn read(bytes: &[u8]) -> Result<Self, DatasetError> {
        Dataset::read(bytes).map(Self::new)
    }

    /// Reads the dataset bundled with the program.
    pub fn bundled() -> Result<Self, DatasetError> {
        Self::read(BUNDLED)
    }

    /// All funds, sorted by code.
    pub fn funds(&self) -> &[Fund] {
        &self.funds
    }

    /// Each fund with its normalised texts.
    pub fn indexed(&self) -> impl Iterator<Item = (&Fund, &IndexedFund)> {
        let index = self.index.get_or_init(|| self.funds.iter().map(IndexedFund::of).collect());
        self.funds.iter().zip(index)
    }

    /// Finds a fund by its exact code, else by its folded code, else by its whole name if only one
    /// fund has it.
    pub fn find(&self, code: &str) -> Result<&Fund, UnknownFund> {
        let exact = self.by_symbol.get(code.trim());
        let index = exact.or_else(|| self.by_folded.get(&folded(code)));
        if let Some(fund) = index.and_then(|index| self.funds.get(*index)) {
            return Ok(fund);
        }
        let named: Vec<&Fund> = self
            .indexed()
            .filter(|(_, index)| index.is_named(code))
            .map(|(fund, _)| fund)
            .collect();
        let suggestions = match named.as_slice() {
            [only] => return Ok(only),
            [] => self.suggest_similar(code),
            // Share classes of one fund have the same name.
            several => several.iter().map(|fund| fund.symbol.clone()).collect(),
        };
        Err(UnknownFund { code: code.trim().to_owned(), suggestions })
    }

    /// Returns the codes most similar to `code`, best first.
    pub fn suggest_similar(&self, code: &str) -> Vec<String> {
        let codes = self.funds.iter().map(|fund| fund.symbol.as_str());
        suggest_similar(code, codes).into_iter().map(str::to_owned).collect()
    }

    /// Completes a partial code: codes that start with `typed`, then codes that contain it.
    /// Compares folded codes.
    pub fn complete(&self, typed: &str) -> Vec<String> {
        let typed = folded(typed);
        let fits = |starts: bool| {
            let typed = typed.as_str();
            self.funds.iter().filter(move |fund| {
                let code = folded(&fund.symbol);
                code.starts_with(typed) == starts && code.contains(typed)
            })
        };
        fits(true).chain(fits(false)).map(|fund| fund.symbol.clone()).collect()
    }

    /// Earliest and latest date among the funds' latest NAVs.
    pub fn nav_dates(&self) -> Option<(Date, Date)> {
        nav_dates(&self.funds)
    }

    /// Earliest and latest date that returns are stated for.
    pub fn returns_dates(&self) -> Option<(Date, Date)> {
        returns_dates(&self.funds)
    }

    /// Number of funds whose latest sync kept the previous figures.
    pub fn quarantined(&self) -> usize {
        self.funds.iter().filter(|fund| fund.quarantine.is_some()).count()
    }

    /// Number of funds per data-quality flag.
    pub fn flag_counts(&self) -> BTreeMap<Flag, usize> {
        let mut counts = BTreeMap::new();
        for flag in self.funds.iter().flat_map(|fund| &fund.flags) {
            *counts.entry(*flag).or_default() += 1;
        }
        counts
    }
}

/// Earliest and latest date among these funds' latest NAVs.
pub fn nav_dates<'a>(funds: impl IntoIterator<Item = &'a Fund>) -> Option<(Date, Date)> {
    extent(funds.into_iter().filter_map(|fund| fund.nav.latest()).map(|point| point.date))
}

/// Earliest and latest date that these funds' returns are stated for.
pub fn returns_dates<'a>(funds: impl IntoIterator<Item = &'a Fund>) -> Option<(Date, Date)> {
    extent(funds.into_iter().filter_map(|fund| fund.returns_as_of))
}

fn extent(dates: impl Iterator<Item = Date>) -> Option<(Date, Date)> {
    dates.fold(None, |found, date| match found {
        None => Some((date, date)),
        Some((first, last)) => Some((date.min(first), date.max(last))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn catalog() -> FundCatalog {
        let codes = ["A-RMF", "A RMF", "KT25/75RMF", "ES-GOLDRMF-UH"];
        let funds = codes.iter().map(|code| samples::fund(code, 6)).collect();
        FundCatalog::new(Dataset::new(Provenance::default(), funds))
    }

    #[test]
    fn exact_code_match_takes_precedence() {
        for code in ["A-RMF", "A RMF", " KT25/75RMF "] {
            assert_eq!(catalog().find(code).unwrap().symbol, code.trim());
        }
        assert_eq!(catalog().find("kt25 75 rmf").unwrap().symbol, "KT25/75RMF");
    }

    #[test]
    fn ambiguous_folded_code_is_not_resolved() {
        let error = catalog().find("arm f").unwrap_err();
        assert_eq!(error.suggestions[..2], ["A RMF", "A-RMF"]);
    }

    #[test]
    fn completion_ranks_prefix_matches_first() {
        assert_eq!(catalog().complete("kt2"), ["KT25/75RMF"]);
        assert_eq!(catalog().complete("gold"), ["ES-GOLDRMF-UH"]);
        assert_eq!(catalog().complete("").len(), 4);
    }
}
