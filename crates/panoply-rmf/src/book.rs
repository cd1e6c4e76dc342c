//! All funds, ready to be asked: found by code, and with the dates the figures are of.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;

use crate::dataset::{About, BadDataset, Dataset};
use crate::fund::{Flag, Fund};
use crate::lookup::{folded, nearest};

/// The figures that ship with the program.
pub const BUNDLED: &[u8] = include_bytes!("../../../data/rmf/rmf.tsv");

/// All funds in the order of their codes.
#[derive(Debug)]
pub struct Book {
    funds: Vec<Fund>,
    by_symbol: HashMap<String, usize>,
    /// By code without case, blanks and punctuation. Codes that only differ in those are not
    /// in here: such a code must be written out.
    by_folded: HashMap<String, usize>,
    /// Where the figures come from.
    pub about: About,
    /// SHA-256 of the data set.
    pub checksum: String,
}

/// A code that no fund has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("fund code `{code}` does not exist")]
pub struct UnknownFund {
    /// The code.
    pub code: String,
    /// The codes most like it.
    pub nearest: Vec<String>,
}

impl Book {
    /// The book of a data set.
    pub fn new(dataset: Dataset) -> Self {
        let Dataset { about, mut funds, checksum } = dataset;
        funds.sort_by(|a, b| a.symbol.cmp(&b.symbol));
        let by_symbol = funds.iter().map(|fund| fund.symbol.clone()).zip(0..).collect();
        let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, fund) in funds.iter().enumerate() {
            seen.entry(folded(&fund.symbol)).or_default().push(place);
        }
        let unambiguous = seen.into_iter().filter_map(|(code, places)| match places.as_slice() {
            [only] => Some((code, *only)),
            _ => None,
        });
        let by_folded = unambiguous.collect();
        Self { funds, by_symbol, by_folded, about, checksum }
    }

    /// The book of a packed file.
    pub fn read(bytes: &[u8]) -> Result<Self, BadDataset> {
        Dataset::read(bytes).map(Self::new)
    }

    /// The book that ships with the program.
    pub fn bundled() -> Result<Self, BadDataset> {
        Self::read(BUNDLED)
    }

    /// Every fund, by symbol.
    pub fn funds(&self) -> &[Fund] {
        &self.funds
    }

    /// The fund that `code` means.
    pub fn find(&self, code: &str) -> Result<&Fund, UnknownFund> {
        let exact = self.by_symbol.get(code.trim());
        let place = exact.or_else(|| self.by_folded.get(&folded(code)));
        place.and_then(|place| self.funds.get(*place)).ok_or_else(|| UnknownFund {
            code: code.trim().to_owned(),
            nearest: self.nearest(code),
        })
    }

    /// The codes most like `code`.
    pub fn nearest(&self, code: &str) -> Vec<String> {
        let codes = self.funds.iter().map(|fund| fund.symbol.as_str());
        nearest(code, codes).into_iter().map(str::to_owned).collect()
    }

    /// The codes that start with `typed`, forgiving case, blanks and punctuation; then those
    /// that contain it.
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

    /// The first and the last day that latest NAVs are of.
    pub fn nav_dates(&self) -> Option<(Date, Date)> {
        let latest = || self.funds.iter().filter_map(|fund| fund.nav.latest());
        let first = latest().map(|point| point.date).min()?;
        let last = latest().map(|point| point.date).max()?;
        Some((first, last))
    }

    /// The last day that returns run up to.
    pub fn returns_as_of(&self) -> Option<Date> {
        self.funds.iter().filter_map(|fund| fund.returns_as_of).max()
    }

    /// How many funds carry each flag.
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

    fn book() -> Book {
        let codes = ["A-RMF", "A RMF", "KT25/75RMF", "ES-GOLDRMF-UH"];
        let funds = codes.iter().map(|code| samples::fund(code, 6)).collect();
        Book::new(Dataset::new(About::default(), funds))
    }

    #[test]
    fn exact_code_match_takes_precedence() {
        for code in ["A-RMF", "A RMF", " KT25/75RMF "] {
            assert_eq!(book().find(code).unwrap().symbol, code.trim());
        }
        assert_eq!(book().find("kt25 75 rmf").unwrap().symbol, "KT25/75RMF");
    }

    #[test]
    fn ambiguous_folded_code_is_not_resolved() {
        let error = book().find("arm f").unwrap_err();
        assert_eq!(error.nearest[..2], ["A RMF", "A-RMF"]);
    }

    #[test]
    fn completion_ranks_prefix_matches_first() {
        assert_eq!(book().complete("kt2"), ["KT25/75RMF"]);
        assert_eq!(book().complete("gold"), ["ES-GOLDRMF-UH"]);
        assert_eq!(book().complete("").len(), 4);
    }
}
