//! Recovers the id of a message that is valid JSON (RFC 8259) but cannot be represented.
//!
//! serde_json refuses lone surrogates (`"\ud83d"`, which JavaScript clients send for a cut
//! emoji), numbers beyond a double, and more than 127 levels. The sender of such a message still
//! waits for a reply to its id. The scanner is not recursive, so depth is unlimited.

use serde_json::Value;

/// Top level of a JSON object.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TopLevel {
    /// The `id`, if it is a string or a number; the last one of duplicates.
    pub(super) id: Option<Value>,
    pub(super) has_method: bool,
    pub(super) has_result_or_error: bool,
}

/// Scans `text`; `None` unless it is exactly one JSON object.
pub(super) fn top_level(text: &str) -> Option<TopLevel> {
    let mut scanner = Scanner { text, at: 0 };
    let mut found = TopLevel::default();
    scanner.space();
    scanner.expect(b'{')?;
    scanner.space();
    let mut is_first = true;
    while scanner.peek()? != b'}' {
        if !is_first {
            scanner.expect(b',')?;
            scanner.space();
        }
        is_first = false;
        let key = scanner.key()?;
        scanner.space();
        let start = scanner.at;
        scanner.value()?;
        let value = text.get(start..scanner.at)?;
        match key {
            "id" => {
                let id = serde_json::from_str(value).ok();
                found.id = id.filter(|id: &Value| id.is_string() || id.is_number());
            }
            "method" => found.has_method = true,
            "result" | "error" => found.has_result_or_error = true,
            _ => {}
        }
        scanner.space();
    }
    scanner.expect(b'}')?;
    scanner.space();
    (scanner.at == text.len()).then_some(found)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
        self.at - start
    }

    fn space(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Scans a member name as written, and the colon.
    fn key(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        self.string()?;
        let key = self.text.get(start..self.at - 1)?;
        self.space();
        self.expect(b':')?;
        Some(key)
    }

    /// Scans one value of any type.
    fn value(&mut self) -> Option<()> {
        // Stack of open containers; true for an object.
        let mut open: Vec<bool> = Vec::new();
        loop {
            self.space();
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    self.space();
                    if self.peek()? != b'}' {
                        self.key()?;
                        open.push(true);
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    self.space();
                    if self.peek()? != b']' {
                        open.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                _ => self.scalar()?,
            }
            // The end of a value may also end enclosing containers.
            loop {
                let Some(is_object) = open.last() else { return Some(()) };
                self.space();
                match (self.peek()?, *is_object) {
                    (b',', is_object) => {
                        self.at += 1;
                        if is_object {
                            self.space();
                            self.key()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return None,
                }
            }
        }
    }

    fn scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => {
                let rest = self.text.get(self.at..)?;
                let word =
                    ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
                word.map(|word| self.at += word.len())
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        loop {
            self.skip(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
            match self.peek()? {
                b'"' => return self.expect(b'"'),
                b'\\' => {
                    self.at += 1;
                    let escaped = self.peek()?;
                    self.at += 1;
                    if escaped == b'u' {
                        let digits = self.text.get(self.at..self.at + 4)?;
                        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                            return None;
                        }
                        self.at += 4;
                    } else if !br#""\/bfnrt"#.contains(&escaped) {
                        return None;
                    }
                }
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        let digits =
            |scanner: &mut Self| (scanner.skip(|byte| byte.is_ascii_digit()) > 0).then_some(());
        self.skip_one(b"-");
        let leads_with_zero = self.peek()? == b'0';
        let start = self.at;
        digits(self)?;
        if leads_with_zero && self.at - start > 1 {
            return None;
        }
        if self.skip_one(b".") {
            digits(self)?;
        }
        if self.skip_one(b"eE") {
            self.skip_one(b"+-");
            digits(self)?;
        }
        Some(())
    }

    fn skip_one(&mut self, of: &[u8]) -> bool {
        let found = self.peek().is_some_and(|byte| of.contains(&byte));
        self.at += usize::from(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn id_is_recovered_from_unrepresentable_json() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let long = "9".repeat(400);
        for odd in [r#""\ud83d""#, "1e999", "-1E+999", &long, &deep, r#"{"a":{"b":[1e999,{}]}}"#] {
            let text = format!(r#" {{"x":{odd}, "id" : 7,"method":"ping","y":[]}} "#);
            let found = top_level(&text).unwrap();
            assert_eq!(found.id, Some(json!(7)), "{}", &text[..60.min(text.len())]);
            assert!(found.has_method && !found.has_result_or_error);
        }
    }

    #[test]
    fn an_id_that_cannot_be_represented_is_none() {
        for id in [r#""\udc00""#, "1e999", "null", "{}", "[1]", "true"] {
            let text = format!(r#"{{"id":{id},"result":1}}"#);
            let found = top_level(&text).unwrap();
            assert_eq!((found.id, found.has_result_or_error), (None, true), "{text}");
        }
    }

    #[test]
    fn invalid_json_has_no_top_level() {
        let bad = [
            "",
            "{",
            "[]",
            "1",
            r#"{"id":1"#,
            r#"{"id":01}"#,
            r#"{"id":1,}"#,
            r#"{"id":NaN}"#,
            r#"{"id":1}x"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12"}"#,
            r#"{"a" 1}"#,
            r#"{"a":[1}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":1e}"#,
            r#"{,"id":1}"#,
            "{\"a\":\"\n\"}",
        ];
        for text in bad {
            assert_eq!(top_level(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn scanner_accepts_the_grammar_of_serde_json(text in r#"\{("[a-z\\u0-9"]{0,6}"|[\[\]{}:,0-9eE.+-]|true|null| ){0,12}\}"#) {
            let theirs = serde_json::from_str::<serde_json::Map<String, Value>>(&text);
            if theirs.is_ok() {
                prop_assert!(top_level(&text).is_some(), "{}", text);
            } else if top_level(&text).is_some() {
                // Only values that serde_json cannot represent may differ.
                let reason = theirs.unwrap_err().to_string();
                let known = ["number out of range", "surrogate", "recursion", "unicode code point"];
                prop_assert!(known.iter().any(|known| reason.contains(known)), "{}: {}", text, reason);
            }
        }
    }
}
