//! Catalog of all funds, indexed by code.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;

use crate::dataset::{Dataset, DatasetError, Provenance};
use crate::fund::{Flag, Fund};
use crate::lookup::{folded, suggest_similar};

/// Dataset bundled with the program.
pub const BUNDLED: &[u8] = include_bytes!("../../../data/rmf/rmf.tsv");

/// All funds, sorted by code.
#[derive(Debug)]
pub struct FundCatalog {
    funds: Vec<Fund>,
    by_symbol: HashMap<String, usize>,
    /// Index by folded code. A folded code that belongs to several funds is absent: such a fund is
    /// found by its exact code only.
    by_folded: HashMap<String, usize>,
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
        Self { funds, by_symbol, by_folded, provenance, checksum }
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

    /// Finds a fund by its exact code, else by its folded code.
    pub fn find(&self, code: &str) -> Result<&Fund, UnknownFund> {
        let exact = self.by_symbol.get(code.trim());
        let index = exact.or_else(|| self.by_folded.get(&folded(code)));
        index.and_then(|index| self.funds.get(*index)).ok_or_else(|| UnknownFund {
            code: code.trim().to_owned(),
            suggestions: self.suggest_similar(code),
        })
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
        let latest = || self.funds.iter().filter_map(|fund| fund.nav.latest());
        let first = latest().map(|point| point.date).min()?;
        let last = latest().map(|point| point.date).max()?;
        Some((first, last))
    }

    /// Latest date that returns are stated for.
    pub fn returns_as_of(&self) -> Option<Date> {
        self.funds.iter().filter_map(|fund| fund.returns_as_of).max()
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
