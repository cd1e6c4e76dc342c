//! Filter on search hits.

use std::collections::BTreeMap;

use super::document::{Facet, Kind};

/// Conditions on hits. Empty lists match everything; one of several values is sufficient.
#[derive(Clone, Debug, Default)]
pub struct SearchFilter {
    /// Document kinds.
    pub kinds: Vec<Kind>,
    /// Properties; `*` at the end matches a prefix.
    pub facets: BTreeMap<Facet, Vec<String>>,
    /// First publication year.
    pub from_year: Option<u16>,
    /// Last publication year.
    pub to_year: Option<u16>,
}

impl SearchFilter {
    /// Returns whether a document matches.
    pub(super) fn accepts(&self, kind: Kind, facets: &[(Facet, String)]) -> bool {
        let of_kind = self.kinds.is_empty() || self.kinds.contains(&kind);
        of_kind && self.accepts_facets(facets) && self.accepts_year(facets)
    }

    fn accepts_facets(&self, facets: &[(Facet, String)]) -> bool {
        self.facets.iter().all(|(facet, filter)| {
            facets.iter().any(|(own, value)| {
                own == facet && filter.iter().any(|filter| matches_value(value, filter))
            })
        })
    }

    /// A document without a year does not match a year condition.
    fn accepts_year(&self, facets: &[(Facet, String)]) -> bool {
        if self.from_year.is_none() && self.to_year.is_none() {
            return true;
        }
        let years = facets.iter().filter(|(facet, _)| *facet == Facet::Year);
        years.filter_map(|(_, year)| year.parse::<u16>().ok()).any(|year| {
            self.from_year.is_none_or(|from| year >= from)
                && self.to_year.is_none_or(|to| year <= to)
        })
    }
}

fn matches_value(value: &str, filter: &str) -> bool {
    let (value, filter) = (value.to_lowercase(), filter.to_lowercase());
    match filter.strip_suffix('*') {
        Some(beginning) => value.starts_with(beginning),
        None => value == filter,
    }
}
