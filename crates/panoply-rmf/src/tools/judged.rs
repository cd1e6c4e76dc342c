//! Judged searches that confidence was not fitted on, for `panoply contract calibration`.

use std::collections::BTreeSet;

use serde_json::Value;

const HELD_OUT_3: &str = include_str!("../../tests/search/held_out_3.tsv");
const HELD_OUT_4: &str = include_str!("../../tests/search/held_out_4.tsv");

/// A search with the funds that it should find.
#[derive(Clone, Debug)]
pub struct JudgedSearch {
    /// Arguments of `search_rmf_funds`.
    pub arguments: Value,
    relevant: BTreeSet<&'static str>,
    acceptable: BTreeSet<&'static str>,
}

impl JudgedSearch {
    /// All searches of both sets.
    pub fn all() -> Vec<Self> {
        HELD_OUT_3.lines().chain(HELD_OUT_4.lines()).filter_map(Self::parse).collect()
    }

    fn parse(line: &'static str) -> Option<Self> {
        let cells: Vec<&str> = line.split('\t').collect();
        let [_, _, arguments, relevant, acceptable] = cells.as_slice() else { return None };
        let codes = |cell: &'static str| cell.split('|').filter(|code| !code.is_empty()).collect();
        let arguments = serde_json::from_str(arguments).ok()?;
        Some(Self { arguments, relevant: codes(relevant), acceptable: codes(acceptable) })
    }

    /// Whether the codes are all relevant ones and no other, on a page of at most `limit`.
    pub fn is_right(&self, found: &BTreeSet<&str>, limit: usize) -> bool {
        let fits = |code: &&str| self.relevant.contains(code) || self.acceptable.contains(code);
        found.iter().all(fits) && (found.len() >= limit || self.relevant.is_subset(found))
    }
}
