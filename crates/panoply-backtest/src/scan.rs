//! The JSON scanner of this crate: members, scalars and paths of a text, without building a tree.
//!
//! The text has been accepted by `serde_json` before, so the scanner only tokenizes; on unexpected
//! input it ends instead of failing. A tree of `serde_json::Value` would lose the digits of
//! numbers and allocate for every member, and sealing scans every event of a run.

pub(crate) mod outline;

use std::borrow::Cow;

/// A JSON value as a slice of the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Token<'a> {
    /// Including its braces.
    Object(&'a str),
    /// Including its brackets.
    Array(&'a str),
    /// Without quotes, escapes not decoded.
    Text(&'a str),
    /// As written.
    Number(&'a str),
    Bool(bool),
    Null,
}

impl<'a> Token<'a> {
    /// The first value of `json`.
    pub(crate) fn of(json: &'a str) -> Option<Self> {
        token(json.trim_ascii_start()).map(|(token, _)| token)
    }

    /// The decoded content of a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(raw) => Some(unescape(raw)),
            _ => None,
        }
    }

    /// The decoded content of a string, or a number as written: accepted forms of an id.
    pub(crate) fn id_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(raw) => Some(unescape(raw)),
            Self::Number(text) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    /// The text of a number, or of a string that may contain one.
    pub(crate) fn number_text(self) -> Option<&'a str> {
        match self {
            Self::Number(text) => Some(text),
            Self::Text(raw) => Some(raw.trim()),
            _ => None,
        }
    }

    /// The JSON of this value, except for a string, whose quotes are not part of the slice.
    pub(crate) const fn json(self) -> Option<&'a str> {
        match self {
            Self::Object(json) | Self::Array(json) | Self::Number(json) => Some(json),
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Null => Some("null"),
            Self::Text(_) => None,
        }
    }
}

/// The members of an object, in order: name (escapes not decoded) and value.
pub(crate) fn members(json: &str) -> Members<'_> {
    let inside = json.trim_ascii_start().strip_prefix('{').unwrap_or_default();
    Members { rest: inside }
}

/// Iterator of [`members`].
#[derive(Clone, Debug)]
pub(crate) struct Members<'a> {
    rest: &'a str,
}

impl<'a> Members<'a> {
    /// Consumes the next name and its colon; a value follows. `None` at the end of the object.
    fn next_name(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_ascii_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim_ascii_start();
        let (name, rest) = string(rest)?;
        self.rest = rest.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
        Some(name)
    }

    fn next_value(&mut self) -> Option<Token<'a>> {
        let (token, rest) = token(self.rest)?;
        self.rest = rest;
        Some(token)
    }

    /// Consumes the closing brace.
    fn end(&mut self) -> Option<()> {
        self.rest = self.rest.trim_ascii_start().strip_prefix('}')?;
        Some(())
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.next_name()?;
        Some((name, self.next_value()?))
    }
}

/// The elements of an array, in order.
pub(crate) fn elements(json: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = json.trim_ascii_start().strip_prefix('[').unwrap_or_default();
    std::iter::from_fn(move || {
        let next = rest.trim_ascii_start();
        let (found, after) = token(next.strip_prefix(',').unwrap_or(next).trim_ascii_start())?;
        rest = after;
        Some(found)
    })
}

/// The first member with this name.
pub(crate) fn member<'a>(json: &'a str, name: &str) -> Option<Token<'a>> {
    // An encoder may have escaped the letters of a name.
    let is_same = |raw: &str| raw == name || raw.contains('\\') && unescape(raw) == name;
    members(json).find(|(found, _)| is_same(found)).map(|(_, token)| token)
}

/// The first member with this name as text: the content of a string, or a number as written.
pub(crate) fn member_text(json: &str, name: &str) -> Option<String> {
    member(json, name)?.id_text().map(Cow::into_owned)
}

/// The value at a dotted path through nested objects; `\\.` is a dot within a name.
pub(crate) fn at_path<'a>(json: &'a str, path: &str) -> Option<Token<'a>> {
    let mut token = Token::of(json)?;
    let mut rest = path;
    loop {
        let Token::Object(json) = token else { return None };
        let (name, after) = first_name(rest);
        token = member(json, &name)?;
        match after {
            None => return Some(token),
            Some(after) => rest = after,
        }
    }
}

/// The first name of a dotted path without its escapes, and the rest.
fn first_name(path: &str) -> (Cow<'_, str>, Option<&str>) {
    if !path.contains('\\') {
        return match path.split_once('.') {
            None => (Cow::Borrowed(path), None),
            Some((name, rest)) => (Cow::Borrowed(name), Some(rest)),
        };
    }
    let (mut name, mut is_escaped) = (String::new(), false);
    for (place, character) in path.char_indices() {
        match character {
            '\\' if !is_escaped => is_escaped = true,
            '.' if !is_escaped => return (Cow::Owned(name), path.get(place + 1..)),
            other => {
                name.push(other);
                is_escaped = false;
            }
        }
    }
    (Cow::Owned(name), None)
}

/// The value at the start of `json`, and the rest.
pub(crate) fn token(json: &str) -> Option<(Token<'_>, &str)> {
    match json.as_bytes().first()? {
        b'"' => string(json).map(|(text, rest)| (Token::Text(text), rest)),
        b'{' => nested(json).map(|(text, rest)| (Token::Object(text), rest)),
        b'[' => nested(json).map(|(text, rest)| (Token::Array(text), rest)),
        b't' => json.strip_prefix("true").map(|rest| (Token::Bool(true), rest)),
        b'f' => json.strip_prefix("false").map(|rest| (Token::Bool(false), rest)),
        b'n' => json.strip_prefix("null").map(|rest| (Token::Null, rest)),
        _ => {
            let length = json
                .bytes()
                .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
                .count();
            let (number, rest) = json.split_at_checked(length)?;
            (length > 0).then_some((Token::Number(number), rest))
        }
    }
}

/// The string at the start of `json` without its quotes, and the rest.
fn string(json: &str) -> Option<(&str, &str)> {
    let inside = json.strip_prefix('"')?;
    let bytes = inside.as_bytes();
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if bytes.get(at) == Some(&b'"') {
            return Some((inside.get(..at)?, inside.get(at + 1..)?));
        }
        at += 2;
    }
}

/// The object or array at the start of `json`, and the rest.
fn nested(json: &str) -> Option<(&str, &str)> {
    let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
    for (place, byte) in json.bytes().enumerate() {
        if in_string {
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == b'"' {
                in_string = false;
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return json.split_at_checked(place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let quoted = format!("\"{raw}\"");
    serde_json::from_str(&quoted).map_or(Cow::Borrowed(raw), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn members_are_yielded_in_order_with_raw_text() {
        let json =
            r#" { "a" : 1.50 , "b":{"c":["}",{"d":"\"]"}]},"e":"x\u0041\"y" ,"f":null,"g":true} "#;
        let found: Vec<(&str, Token<'_>)> = members(json).collect();
        assert_eq!(found.len(), 5);
        assert_eq!(found[0], ("a", Token::Number("1.50")));
        assert_eq!(found[1], ("b", Token::Object(r#"{"c":["}",{"d":"\"]"}]}"#)));
        assert_eq!(found[2].1.text().as_deref(), Some("xA\"y"));
        assert_eq!(found[3].1, Token::Null);
        assert_eq!(at_path(json, "b.c"), Some(Token::Array(r#"["}",{"d":"\"]"}]"#)));
        assert_eq!(at_path(json, "b.x"), None);
        assert_eq!(at_path(json, "a.x"), None);
        let dotted = r#"{"X.Y":1,"X":{"Y":2,"a\b":3}}"#;
        assert_eq!(at_path(dotted, r"X\.Y"), Some(Token::Number("1")));
        assert_eq!(at_path(dotted, "X.Y"), Some(Token::Number("2")));
    }

    #[test]
    fn elements_are_yielded_in_order() {
        let found: Vec<Token<'_>> = elements(r#" [1 , "a]" ,[2],{"b":3}, null ] "#).collect();
        let expected = [
            Token::Number("1"),
            Token::Text("a]"),
            Token::Array("[2]"),
            Token::Object(r#"{"b":3}"#),
            Token::Null,
        ];
        assert_eq!(found, expected);
        for json in ["", "[]", "[ ]", "{}", "[", "7"] {
            assert_eq!(elements(json).count(), 0, "{json}");
        }
    }

    #[test]
    fn non_objects_have_no_members() {
        for json in ["", "[1]", "7", "null", "\"{\"", "{", "{\"a\"", "{\"a\":", "{\"a\":\"x"] {
            assert_eq!(members(json).count(), 0, "{json}");
        }
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\{}]{1,4}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn scanner_agrees_with_serde_json(value in prop::collection::btree_map("[a-z]{1,4}", tree(), 0..6)) {
            let object = Value::Object(value.into_iter().collect());
            let json = object.to_string();
            for (name, token) in members(&json) {
                let expected = &object[name];
                match token.json() {
                    Some(json) => prop_assert_eq!(&serde_json::from_str::<Value>(json).unwrap(), expected),
                    None => {
                        let text = token.text().map(Cow::into_owned);
                        prop_assert_eq!(text.as_deref(), expected.as_str());
                    }
                }
            }
            prop_assert_eq!(members(&json).count(), object.as_object().unwrap().len());
        }
    }
}
