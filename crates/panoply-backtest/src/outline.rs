//! The members of an event's properties, at every depth, found in one walk over the text.
//!
//! Sealing asks many things of an event: is it valid, what does it do to an order, which entities
//! and numbers has it. Asked of the text, each would walk it again.

use crate::scan::{self, Token};

/// Objects nested deeper than this are not looked into.
pub(crate) const MAX_DEPTH: usize = 8;

/// A member of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Member<'a> {
    /// In how many objects its own object lies.
    pub(crate) depth: usize,
    /// Its name, with its escapes.
    pub(crate) name: &'a str,
    /// Its value. The members of an object follow it.
    pub(crate) value: Token<'a>,
}

/// What there is in an event's properties.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    /// Whether the properties are an object at all.
    pub(crate) is_object: bool,
    /// How long the text is.
    pub(crate) bytes: usize,
    /// In the order of the text.
    pub(crate) members: Vec<Member<'a>>,
    /// Whether nothing was too deep.
    pub(crate) complete: bool,
}

impl<'a> Outline<'a> {
    /// Of a text that is JSON.
    pub(crate) fn of(json: &'a str) -> Self {
        let start = json.len() - json.trim_ascii_start().len();
        let is_object = json.as_bytes().get(start) == Some(&b'{');
        let mut outline = Self {
            is_object,
            bytes: json.len(),
            members: Vec::with_capacity(if is_object { 16 } else { 0 }),
            complete: true,
        };
        if is_object {
            outline.walk(json, start + 1, 0);
        }
        outline
    }

    /// The first member of this name, not looking into objects.
    pub(crate) fn member(&self, name: &str) -> Option<Token<'a>> {
        let own = |member: &&Member<'a>| member.depth == 0 && member.name == name;
        self.members.iter().find(own).map(|member| member.value)
    }

    /// Lists the members of the object whose brace ends at `at`; gives where it ends.
    fn walk(&mut self, json: &'a str, mut at: usize, depth: usize) -> Option<usize> {
        let bytes = json.as_bytes();
        loop {
            while matches!(bytes.get(at)?, b' ' | b'\t' | b'\n' | b'\r' | b',') {
                at += 1;
            }
            if bytes.get(at) == Some(&b'}') {
                return Some(at + 1);
            }
            let (name, rest) = scan::string(json.get(at..)?)?;
            let rest = rest.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
            at = json.len() - rest.len();
            if bytes.get(at) == Some(&b'{') && depth + 1 < MAX_DEPTH {
                let place = self.members.len();
                self.members.push(Member { depth, name, value: Token::Null });
                let end = self.walk(json, at + 1, depth + 1)?;
                let value = Token::Object(json.get(at..end)?);
                self.members.get_mut(place)?.value = value;
                at = end;
                continue;
            }
            let (value, rest) = scan::token(rest)?;
            self.complete &= !matches!(value, Token::Object(_));
            self.members.push(Member { depth, name, value });
            at = json.len() - rest.len();
        }
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
