//! The size of a GraphQL document after fragment expansion.
//!
//! async-graphql checks depth and complexity on the expanded document, so a 900-byte document whose
//! fragments spread each other twice takes exponential time. Here each fragment is counted once and
//! the counts are summed: linear in the document.

use std::collections::HashMap;

use async_graphql::parser::types::{ExecutableDocument, Selection, SelectionSet};

/// Most fields after fragment expansion.
pub const MAX_FIELDS: usize = 2_000;
/// Deepest bracket nesting. The parser is recursive, so the text is checked before parsing.
pub const MAX_NESTING: usize = 200;

/// Why a document is rejected.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum QueryTooCostly {
    #[error(
        "the query has {0} fields or more once its fragments are expanded, at most {MAX_FIELDS} are allowed; ask for less, or in several requests"
    )]
    Fields(usize),
    #[error("the fragment `{0}` contains itself; remove the circle")]
    FragmentCycle(String),
    #[error("the query is nested deeper than {MAX_NESTING} levels; ask for less at a time")]
    Nesting,
}

/// Checks bracket nesting before parsing. Brackets in strings count too; that only rejects more.
pub(crate) fn check_nesting(text: &str) -> Result<(), QueryTooCostly> {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(QueryTooCostly::Nesting);
        }
    }
    Ok(())
}

/// Checks the number of fields of the parsed document.
pub(crate) fn check_fields(document: &ExecutableDocument) -> Result<(), QueryTooCostly> {
    let mut counter = Counter { document, known: HashMap::new() };
    let mut total = 0_usize;
    for (_, operation) in document.operations.iter() {
        total = total.saturating_add(counter.fields(&operation.node.selection_set.node)?);
    }
    // Unused fragments are checked too: a cycle in one would still recurse in the validator.
    for name in document.fragments.keys() {
        counter.fragment(name.as_str())?;
    }
    if total > MAX_FIELDS { Err(QueryTooCostly::Fields(total)) } else { Ok(()) }
}

struct Counter<'a> {
    document: &'a ExecutableDocument,
    /// `None` while the fragment is being counted, which detects cycles.
    known: HashMap<&'a str, Option<usize>>,
}

impl<'a> Counter<'a> {
    fn fields(&mut self, set: &'a SelectionSet) -> Result<usize, QueryTooCostly> {
        let mut total = 0_usize;
        for item in &set.items {
            let fields = match &item.node {
                Selection::Field(field) => {
                    self.fields(&field.node.selection_set.node)?.saturating_add(1)
                }
                Selection::InlineFragment(inline) => {
                    self.fields(&inline.node.selection_set.node)?
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(spread.node.fragment_name.node.as_str())?
                }
            };
            total = total.saturating_add(fields);
        }
        Ok(total)
    }

    fn fragment(&mut self, name: &'a str) -> Result<usize, QueryTooCostly> {
        match self.known.get(name) {
            Some(Some(fields)) => return Ok(*fields),
            Some(None) => return Err(QueryTooCostly::FragmentCycle(name.to_owned())),
            None => {}
        }
        // The validator reports unknown fragments.
        let Some((name, fragment)) = self.document.fragments.get_key_value(name) else {
            return Ok(0);
        };
        self.known.insert(name.as_str(), None);
        let fields = self.fields(&fragment.node.selection_set.node)?;
        self.known.insert(name.as_str(), Some(fields));
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;

    fn fan_out(levels: usize) -> String {
        let spreads =
            (0..levels).map(|n| format!("fragment F{n} on Query{{...F{0} ...F{0}}}", n + 1));
        let spreads: Vec<String> = spreads.collect();
        format!("query{{...F0}} {} fragment F{levels} on Query{{__typename}}", spreads.join(" "))
    }

    #[test]
    fn exponential_fragments_are_counted_in_linear_time() {
        for (levels, allowed) in [(1, true), (10, true), (11, false), (30, false), (500, false)] {
            let document = parse_query(fan_out(levels)).unwrap();
            assert_eq!(check_fields(&document).is_ok(), allowed, "levels: {levels}");
        }
    }

    #[test]
    fn cyclic_fragments_are_rejected_by_name() {
        let text = "{...A} fragment A on Query{...B} fragment B on Query{...A}";
        let found = check_fields(&parse_query(text).unwrap()).unwrap_err();
        assert_eq!(found, QueryTooCostly::FragmentCycle("A".to_owned()));
        let unused = "{__typename} fragment A on Query{...A}";
        assert!(check_fields(&parse_query(unused).unwrap()).is_err());
    }

    #[test]
    fn nesting_is_checked_before_parsing() {
        assert!(check_nesting(&"{a".repeat(MAX_NESTING)).is_ok());
        assert_eq!(check_nesting(&"{a".repeat(MAX_NESTING + 1)), Err(QueryTooCostly::Nesting));
        assert!(check_nesting(&"{a}".repeat(10_000)).is_ok());
    }
}
