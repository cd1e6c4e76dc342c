//! All members of an event's properties at every depth, listed in one scan.
//!
//! Sealing validates an event, tracks its order and indexes its entities and numbers. With the
//! outline each of these is a lookup instead of another scan of the text.

use super::{Members, Token};
use crate::scan;

/// Members of objects nested deeper than this are not listed.
pub(crate) const MAX_DEPTH: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Member<'a> {
    /// Number of enclosing objects, not counting the outermost.
    pub(crate) depth: usize,
    /// Escapes not decoded.
    pub(crate) name: &'a str,
    /// The members of an object value follow it in the list.
    pub(crate) value: Token<'a>,
}

#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) is_object: bool,
    /// Length of the text.
    pub(crate) bytes: usize,
    /// In text order, depth first.
    pub(crate) members: Vec<Member<'a>>,
    /// False if an object exceeded [`MAX_DEPTH`].
    pub(crate) complete: bool,
}

impl<'a> Outline<'a> {
    /// Lists the members of `json`, which is valid JSON.
    pub(crate) fn of(json: &'a str) -> Self {
        let is_object = json.trim_ascii_start().starts_with('{');
        let mut outline = Self {
            is_object,
            bytes: json.len(),
            members: Vec::with_capacity(if is_object { 16 } else { 0 }),
            complete: true,
        };
        if is_object {
            outline.walk(&mut scan::members(json), 0);
        }
        outline
    }

    /// The first top-level member with this name.
    pub(crate) fn member(&self, name: &str) -> Option<Token<'a>> {
        let own = |member: &&Member<'a>| member.depth == 0 && member.name == name;
        self.members.iter().find(own).map(|member| member.value)
    }

    /// The first member with this name in the first top-level object named `parent`.
    pub(crate) fn member_of(&self, parent: &str, name: &str) -> Option<Token<'a>> {
        let is_parent = |member: &Member<'a>| member.depth == 0 && member.name == parent;
        let first = self.members.iter().position(is_parent)? + 1;
        let inner = self.members.get(first..)?.iter().take_while(|member| member.depth > 0);
        inner
            .filter(|member| member.depth == 1)
            .find(|member| member.name == name)
            .map(|member| member.value)
    }

    /// Lists the remaining members of an object, including its closing brace.
    fn walk(&mut self, members: &mut Members<'a>, depth: usize) -> Option<()> {
        while let Some(name) = members.next_name() {
            let object = members.rest;
            if object.starts_with('{') && depth + 1 < MAX_DEPTH {
                let index = self.members.len();
                self.members.push(Member { depth, name, value: Token::Null });
                let mut inner = scan::members(object);
                self.walk(&mut inner, depth + 1)?;
                let end = object.len() - inner.rest.len();
                self.members.get_mut(index)?.value = Token::Object(object.get(..end)?);
                *members = inner;
                continue;
            }
            let value = members.next_value()?;
            self.complete &= !matches!(value, Token::Object(_));
            self.members.push(Member { depth, name, value });
        }
        members.end()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn outline_lists_nested_members_after_their_parent() {
        let json = r#" {"a":1 , "b" : {"c":{"d":"x"},"e":[{"f":2}]}, "a":null}"#;
        let outline = Outline::of(json);
        let listed: Vec<(usize, &str)> =
            outline.members.iter().map(|member| (member.depth, member.name)).collect();
        assert_eq!(listed, [(0, "a"), (0, "b"), (1, "c"), (2, "d"), (1, "e"), (0, "a")]);
        assert_eq!(outline.member("a"), Some(Token::Number("1")), "the first of a name");
        let inside = Some(Token::Object(r#"{"c":{"d":"x"},"e":[{"f":2}]}"#));
        assert_eq!(outline.member("b"), inside);
        assert_eq!(outline.member("c"), None, "not looking into objects");
        assert_eq!(outline.member_of("b", "e"), Some(Token::Array(r#"[{"f":2}]"#)));
        assert_eq!(outline.member_of("b", "d"), None, "only direct members");
        assert!(outline.complete && outline.is_object);
    }

    #[test]
    fn outline_flags_non_objects_and_excess_depth() {
        for json in ["null", "[1]", "\"{\"", "7", ""] {
            let outline = Outline::of(json);
            assert!(!outline.is_object && outline.members.is_empty(), "{json}");
        }
        let deep = "{\"a\":".repeat(20) + "1" + &"}".repeat(20);
        let outline = Outline::of(&deep);
        assert_eq!(outline.members.len(), MAX_DEPTH);
        assert!(!outline.complete);
    }

    proptest! {
        #[test]
        fn outline_agrees_with_the_member_iterator(
            values in prop::collection::btree_map("[a-z\"\\\\{}]{1,4}", "\\PC{0,6}", 0..5),
            inner in prop::collection::btree_map("[a-z]{1,3}", any::<i32>(), 0..4),
        ) {
            let mut object: serde_json::Map<String, serde_json::Value> =
                values.into_iter().map(|(name, text)| (name, text.into())).collect();
            object.insert("inner".to_owned(), serde_json::json!(inner));
            let json = serde_json::Value::Object(object).to_string();
            let outline = Outline::of(&json);
            let top: Vec<(&str, Token<'_>)> = outline
                .members
                .iter()
                .filter(|member| member.depth == 0)
                .map(|member| (member.name, member.value))
                .collect();
            prop_assert_eq!(top, scan::members(&json).collect::<Vec<_>>());
        }
    }
}
