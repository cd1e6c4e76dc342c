//! The size of a GraphQL document after its fragments are expanded.
//!
//! async-graphql bounds depth and complexity while it walks the expanded document, so a document
//! of 900 bytes whose fragments spread each other twice keeps it walking for ever. Here each
//! fragment is counted once and the counts are added up: the work is linear in the document.

use std::collections::HashMap;

use async_graphql::parser::types::{ExecutableDocument, Selection, SelectionSet};

/// Fields a document may have once its fragments are expanded.
pub const MOST_FIELDS: usize = 2_000;
/// Brackets of any kind inside each other. The parser is recursive, and is not asked to read more.
pub const MOST_NESTING: usize = 200;

/// Why a document is not executed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum TooCostly {
    #[error(
        "the query has {0} fields or more once its fragments are expanded, at most {MOST_FIELDS} are allowed; ask for less, or in several requests"
    )]
    Fields(usize),
    #[error("the fragment `{0}` contains itself; remove the circle")]
    Circle(String),
    #[error("the query is nested deeper than {MOST_NESTING} levels; ask for less at a time")]
    Nesting,
}

/// Checks the text before it is parsed. Brackets in strings count too, which harms nobody.
pub(crate) fn check_nesting(text: &str) -> Result<(), TooCostly> {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_NESTING {
            return Err(TooCostly::Nesting);
        }
    }
    Ok(())
}

/// Checks the parsed document.
pub(crate) fn check_fields(document: &ExecutableDocument) -> Result<(), TooCostly> {
    let mut counter = Counter { document, known: HashMap::new() };
    let mut total = 0_usize;
    for (_, operation) in document.operations.iter() {
        total = total.saturating_add(counter.fields(&operation.node.selection_set.node)?);
    }
    // Fragments that nothing spreads are checked by nobody else.
    for name in document.fragments.keys() {
        counter.fragment(name.as_str())?;
    }
    if total > MOST_FIELDS { Err(TooCostly::Fields(total)) } else { Ok(()) }
}

struct Counter<'a> {
    document: &'a ExecutableDocument,
    /// `None` while a fragment is being counted.
    known: HashMap<&'a str, Option<usize>>,
}

impl<'a> Counter<'a> {
    fn fields(&mut self, set: &'a SelectionSet) -> Result<usize, TooCostly> {
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

    fn fragment(&mut self, name: &'a str) -> Result<usize, TooCostly> {
        match self.known.get(name) {
            Some(Some(fields)) => return Ok(*fields),
            Some(None) => return Err(TooCostly::Circle(name.to_owned())),
            None => {}
        }
        // A fragment that does not exist is the validation's to refuse.
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
        assert_eq!(found, TooCostly::Circle("A".to_owned()));
        let unused = "{__typename} fragment A on Query{...A}";
        assert!(check_fields(&parse_query(unused).unwrap()).is_err());
    }

    #[test]
    fn nesting_is_checked_before_parsing() {
        assert!(check_nesting(&"{a".repeat(MOST_NESTING)).is_ok());
        assert_eq!(check_nesting(&"{a".repeat(MOST_NESTING + 1)), Err(TooCostly::Nesting));
        assert!(check_nesting(&"{a}".repeat(10_000)).is_ok());
    }
}
