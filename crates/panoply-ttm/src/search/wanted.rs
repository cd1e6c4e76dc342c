//! Which documents a caller wants to see at all.

use std::collections::BTreeMap;

use super::document::{Facet, Kind};

/// What hits must be. Empty lists ask for nothing; of several values one is enough.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Kinds.
    pub kinds: Vec<Kind>,
    /// Properties; a value that ends in `*` stands for everything that begins with the rest.
    pub facets: BTreeMap<Facet, Vec<String>>,
    /// The first year.
    pub from_year: Option<u16>,
    /// The last year.
    pub to_year: Option<u16>,
}

impl Wanted {
    /// Whether something of this kind with these properties is wanted.
    pub(super) fn takes(&self, kind: Kind, facets: &[(Facet, String)]) -> bool {
        let of_kind = self.kinds.is_empty() || self.kinds.contains(&kind);
        of_kind && self.takes_facets(facets) && self.takes_year(facets)
    }

    fn takes_facets(&self, facets: &[(Facet, String)]) -> bool {
        self.facets.iter().all(|(facet, wanted)| {
            facets.iter().any(|(own, value)| {
                own == facet && wanted.iter().any(|wanted| is_like(value, wanted))
            })
        })
    }

    /// A document without a year is not from any year.
    fn takes_year(&self, facets: &[(Facet, String)]) -> bool {
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

fn is_like(value: &str, wanted: &str) -> bool {
    let (value, wanted) = (value.to_lowercase(), wanted.to_lowercase());
    match wanted.strip_suffix('*') {
        Some(beginning) => value.starts_with(beginning),
        None => value == wanted,
    }
}
