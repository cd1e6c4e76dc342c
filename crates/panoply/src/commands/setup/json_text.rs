//! Edits one entry of a JSON text and preserves every other byte.
//!
//! A client's configuration belongs to its user: comments, order, indentation and the way
//! numbers are written stay. The text is therefore not reserialised; the entry is spliced in at its
//! position. JSON with comments and trailing commas (JSONC, as in VS Code) is supported.
//! The result is verified: parsed again, it must equal the old document with only this entry
//! changed. An unparsable document is refused.

use serde_json::{Map, Value};

const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Reason why the text was not changed.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Refused {
    /// Not in the syntax of the file, with the position.
    NotParsed(String),
    /// The document or the section is not an object.
    NotAnObject,
    /// The edit changed something else, for example because of a duplicate key.
    Ambiguous,
    /// Some lines end with CRLF and some with LF, which the TOML library cannot preserve.
    MixedLineEnds,
}

/// Parses the document; an empty text is an empty object.
pub(super) fn read(text: &str) -> Result<Value, Refused> {
    if plain(text).trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_str(&plain(text)).map_err(|error| Refused::NotParsed(error.to_string()))
}

/// Sets `section.name` to `entry`.
pub(super) fn set(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, Refused> {
    let before = read(text)?;
    let mut wanted = before.clone();
    let sections = wanted.as_object_mut().ok_or(Refused::NotAnObject)?;
    let entries = sections.entry(section).or_insert_with(|| Value::Object(Map::new()));
    entries.as_object_mut().ok_or(Refused::NotAnObject)?.insert(name.to_owned(), entry.clone());

    let indent = indent_of(text);
    let changed = if plain(text).trim().is_empty() {
        let document = pretty(&wanted, &indent, 0) + "\n";
        if text.contains("\r\n") { document.replace('\n', "\r\n") } else { document }
    } else {
        let root = Object::find(text, 0).ok_or(Refused::NotAnObject)?;
        match root.member(section) {
            Some(member) => {
                let entries = Object::find(text, member.value.0).ok_or(Refused::NotAnObject)?;
                put(text, &entries, name, entry, &indent, 2)
            }
            None => {
                let only: Map<String, Value> =
                    [(name.to_owned(), entry.clone())].into_iter().collect();
                put(text, &root, section, &Value::Object(only), &indent, 1)
            }
        }
    };
    proved(changed, &wanted)
}

/// Removes `section.name`; `None` when it does not exist.
pub(super) fn remove(text: &str, section: &str, name: &str) -> Result<Option<String>, Refused> {
    let mut wanted = read(text)?;
    let entries = wanted.get_mut(section).and_then(Value::as_object_mut);
    if entries.and_then(|entries| entries.shift_remove(name)).is_none() {
        return Ok(None);
    }
    let found = Object::find(text, 0).and_then(|root| {
        let start = root.member(section)?.value.0;
        let entries = Object::find(text, start)?;
        let cuts = entries.cuts(text, name)?;
        Some(
            cuts.iter()
                .rev()
                .fold(text.to_owned(), |text, (from, to)| splice(&text, *from, *to, "")),
        )
    });
    proved(found.ok_or(Refused::Ambiguous)?, &wanted).map(Some)
}

fn proved(text: String, wanted: &Value) -> Result<String, Refused> {
    if read(&text).as_ref() == Ok(wanted) { Ok(text) } else { Err(Refused::Ambiguous) }
}

/// Replaces the member's value, or adds the member at the end.
fn put(
    text: &str,
    object: &Object,
    name: &str,
    value: &Value,
    indent: &str,
    depth: usize,
) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    // A line end inside a string is escaped, so these are only those of the layout.
    let written = pretty(value, indent, depth).replace('\n', newline);
    if let Some(member) = object.member(name) {
        return splice(text, member.value.0, member.value.1, &written);
    }
    let key = Value::String(name.to_owned());
    let line = format!("{newline}{}{key}: {written}", indent.repeat(depth));
    match object.members.last() {
        Some(last) => {
            let (after, own_comma) = match object.after_last {
                Some(after_comma) => (after_comma, ","),
                None => (last.value.1, ""),
            };
            // A comment on the line of the last member stays with it.
            let at = end_of_line_comments(text, after);
            let changed = splice(text, at, at, &format!("{line}{own_comma}"));
            if own_comma.is_empty() { splice(&changed, after, after, ",") } else { changed }
        }
        None => {
            let close = format!("{line}{newline}{}", indent.repeat(depth.saturating_sub(1)));
            let inside = text.get(object.open + 1..object.close).unwrap_or_default();
            // A comment inside an empty object is preserved; white space is not.
            let from = if inside.trim().is_empty() { object.open + 1 } else { object.close };
            splice(text, from, object.close, &close)
        }
    }
}

/// The end of the comments that follow on the same line; `at` when there is none.
fn end_of_line_comments(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line_end = rest.find('\n').map_or(text.len(), |end| at + end);
    let mut end = at;
    while let Some(token) = Token::next(text, end) {
        if token.kind != Kind::Comment || token.to > line_end {
            break;
        }
        end = token.to;
    }
    text.get(..end).unwrap_or_default().trim_end_matches('\r').len().max(at)
}

fn splice(text: &str, from: usize, to: usize, new: &str) -> String {
    let (before, after) =
        (text.get(..from).unwrap_or_default(), text.get(to..).unwrap_or_default());
    format!("{before}{new}{after}")
}

/// Indented JSON whose lines after the first start `depth` levels in.
fn pretty(value: &Value, indent: &str, depth: usize) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    if serde::Serialize::serialize(value, &mut serializer).is_err() {
        return value.to_string();
    }
    String::from_utf8_lossy(&bytes).replace('\n', &format!("\n{}", indent.repeat(depth)))
}

/// The indentation of the first indented line; two spaces where there is none.
fn indent_of(text: &str) -> String {
    let indented =
        text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    match indented {
        Some(line) => line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect(),
        None => "  ".to_owned(),
    }
}

/// Replaces comments and trailing commas by spaces, byte for byte, so that offsets are the same as
/// in the original.
fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut blank = |from: usize, to: usize| {
        for byte in bytes.iter_mut().take(to).skip(from) {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    };
    let mut comma = None;
    let mut at = 0;
    while let Some(token) = Token::next(text, at) {
        match token.kind {
            Kind::Comment | Kind::Mark => blank(token.from, token.to),
            Kind::Punctuation(b',') => comma = Some(token.from),
            Kind::Punctuation(b'}' | b']') => {
                if let Some(comma) = comma.take() {
                    blank(comma, comma + 1);
                }
            }
            Kind::Punctuation(_) | Kind::Text | Kind::Word => comma = None,
        }
        at = token.to;
    }
    // Only whole characters were replaced, so this is still UTF-8.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Byte ranges of an object.
struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
    /// After the trailing comma, if any.
    after_last: Option<usize>,
}

struct Member {
    name: String,
    key_from: usize,
    value: (usize, usize),
}

impl Object {
    /// The object that starts at or after `from`, comments and space aside.
    fn find(text: &str, from: usize) -> Option<Self> {
        let mut tokens = Tokens { text, at: from };
        let open = tokens.next().filter(|token| token.kind == Kind::Punctuation(b'{'))?;
        let mut object =
            Self { open: open.from, close: open.from, members: Vec::new(), after_last: None };
        loop {
            let token = tokens.next()?;
            match token.kind {
                Kind::Punctuation(b'}') => {
                    object.close = token.from;
                    return Some(object);
                }
                Kind::Punctuation(b',') => {
                    object.after_last = Some(token.to);
                }
                Kind::Text => {
                    let name = serde_json::from_str(text.get(token.from..token.to)?).ok()?;
                    tokens.next().filter(|token| token.kind == Kind::Punctuation(b':'))?;
                    let value = tokens.value()?;
                    object.members.push(Member { name, key_from: token.from, value });
                    object.after_last = None;
                }
                Kind::Punctuation(_) | Kind::Word | Kind::Comment | Kind::Mark => return None,
            }
        }
    }

    /// The last member of that name, which takes effect in JSON parsers.
    fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().rev().find(|member| member.name == name)
    }

    /// Range to cut for removing the member and one comma; comments are preserved.
    fn cuts(&self, text: &str, name: &str) -> Option<Vec<(usize, usize)>> {
        let place = self.members.iter().position(|member| member.name == name)?;
        let member = self.members.get(place)?;
        let space_from = text.get(..member.key_from)?.trim_end_matches(SPACE).len();
        let comma_after = Tokens { text, at: member.value.1 }.comma();
        let end = comma_after.map_or(member.value.1, |(_, to)| to);
        let rest = text.get(end..)?;
        let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let own_line = rest.get(spaces..)?.starts_with(['\n', '\r']);
        let before = place.checked_sub(1).and_then(|place| self.members.get(place));
        let alone = space_from == self.open + 1;
        Some(match (comma_after, before) {
            (Some(_), _) if own_line => vec![(space_from, end)],
            (Some(_), _) => vec![(member.key_from, end + spaces)],
            (None, None) if alone && rest.trim_start_matches(SPACE).starts_with('}') => {
                vec![(space_from, self.close)]
            }
            (None, None) => vec![(member.key_from, end)],
            (None, Some(before)) => {
                let comma = Tokens { text, at: before.value.1 }.comma()?;
                let from =
                    if own_line || space_from == comma.1 { space_from } else { member.key_from };
                vec![comma, (from, end)]
            }
        })
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Punctuation(u8),
    /// A string with its quotes.
    Text,
    /// A number, `true`, `false`, `null`, or anything else that is not punctuation.
    Word,
    Comment,
    /// The byte order mark some editors put first.
    Mark,
}

struct Token {
    kind: Kind,
    from: usize,
    to: usize,
}

impl Token {
    /// Returns the next token at or after `at`, including comments, skipping white space.
    fn next(text: &str, at: usize) -> Option<Self> {
        let rest = text.get(at..)?;
        let from = at + (rest.len() - rest.trim_start_matches(SPACE).len());
        let rest = text.get(from..)?;
        let first = *rest.as_bytes().first()?;
        let (kind, length) = match first {
            b'{' | b'}' | b'[' | b']' | b':' | b',' => (Kind::Punctuation(first), 1),
            b'"' => (Kind::Text, string_length(rest)),
            _ if rest.starts_with("//") => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => {
                (Kind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2))
            }
            _ if rest.starts_with('\u{feff}') && from == 0 => (Kind::Mark, '\u{feff}'.len_utf8()),
            _ => (Kind::Word, word_length(rest)),
        };
        Some(Self { kind, from, to: from + length })
    }
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (place, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return place + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    rest.len()
}

fn word_length(rest: &str) -> usize {
    let ends =
        |c: char| matches!(c, '{' | '}' | '[' | ']' | ':' | ',' | '"' | '/') || c.is_whitespace();
    let first = rest.chars().next().map_or(1, char::len_utf8);
    rest.get(first..).and_then(|after| after.find(ends)).map_or(rest.len(), |end| first + end)
}

/// Iterates over tokens other than comments.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl Tokens<'_> {
    fn next(&mut self) -> Option<Token> {
        loop {
            let token = Token::next(self.text, self.at)?;
            self.at = token.to;
            if !matches!(token.kind, Kind::Comment | Kind::Mark) {
                return Some(token);
            }
        }
    }

    /// Position of the next token if it is a comma.
    fn comma(&mut self) -> Option<(usize, usize)> {
        let token = self.next().filter(|token| token.kind == Kind::Punctuation(b','))?;
        Some((token.from, token.to))
    }

    /// Skips one value and returns its range.
    fn value(&mut self) -> Option<(usize, usize)> {
        let first = self.next()?;
        let mut depth = 0_usize;
        let mut token = Token { kind: first.kind, from: first.from, to: first.to };
        loop {
            match token.kind {
                Kind::Punctuation(b'{' | b'[') => depth += 1,
                Kind::Punctuation(b'}' | b']') => depth = depth.checked_sub(1)?,
                Kind::Punctuation(_) | Kind::Text | Kind::Word | Kind::Comment | Kind::Mark => {}
            }
            if depth == 0 {
                return Some((first.from, token.to));
            }
            token = self.next()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check_set(text: &str, expected: &Expect) {
        let entry = json!({"command": "/bin/panoply", "args": ["stdio"]});
        expected.assert_eq(&set(text, "mcpServers", "panoply", &entry).unwrap());
    }

    #[test]
    fn empty_file_becomes_a_valid_document() {
        check_set(
            "",
            &expect![[r#"
            {
              "mcpServers": {
                "panoply": {
                  "command": "/bin/panoply",
                  "args": [
                    "stdio"
                  ]
                }
              }
            }
        "#]],
        );
    }

    #[test]
    fn comments_order_and_number_formats_are_preserved() {
        let text = "\
// my settings
{
    \"zeta\": 1.50, /* keep */
    \"mcpServers\": {
        // the first
        \"other\": {\"command\": \"x\"},
    },
    \"alpha\": [1, 2,],
}
";
        check_set(
            text,
            &expect![[r#"
            // my settings
            {
                "zeta": 1.50, /* keep */
                "mcpServers": {
                    // the first
                    "other": {"command": "x"},
                    "panoply": {
                        "command": "/bin/panoply",
                        "args": [
                            "stdio"
                        ]
                    },
                },
                "alpha": [1, 2,],
            }
        "#]],
        );
    }

    #[test]
    fn a_missing_section_is_added_at_the_end() {
        check_set(
            "{\n\t\"theme\": \"dark\"\n}",
            &expect![[r#"
            {
            	"theme": "dark",
            	"mcpServers": {
            		"panoply": {
            			"command": "/bin/panoply",
            			"args": [
            				"stdio"
            			]
            		}
            	}
            }"#]],
        );
    }

    #[test]
    fn existing_entry_is_replaced_in_place() {
        let text = r#"{"mcpServers": {"panoply": {"command": "old"}, "b": 1}}"#;
        let changed = set(text, "mcpServers", "panoply", &json!(7)).unwrap();
        assert_eq!(changed, r#"{"mcpServers": {"panoply": 7, "b": 1}}"#);
    }

    #[test]
    fn entry_is_removed_with_its_comma() {
        let cases = [
            (r#"{"s": {"a": 1, "p": 2, "b": 3}}"#, r#"{"s": {"a": 1, "b": 3}}"#),
            (r#"{"s": {"a": 1, "p": 2}}"#, r#"{"s": {"a": 1}}"#),
            (r#"{"s": {"p": 2, "b": 3}}"#, r#"{"s": {"b": 3}}"#),
            (r#"{"s": {"p": 2}}"#, r#"{"s": {}}"#),
            ("{\"s\": {\n  \"p\": 2\n}}", "{\"s\": {}}"),
            ("{\"s\": {\n  \"p\": 2,\n  \"b\": 1\n}}", "{\"s\": {\n  \"b\": 1\n}}"),
            ("{\"s\": {\n  \"a\": 1, // one\n  \"p\": 2\n}}", "{\"s\": {\n  \"a\": 1 // one\n}}"),
            (
                "{\"s\": {\n  // ours\n  \"p\": 2, \"b\": 1\n}}",
                "{\"s\": {\n  // ours\n  \"b\": 1\n}}",
            ),
            ("{\"s\": { // ours\n  \"p\": 2 }}", "{\"s\": { // ours\n   }}"),
        ];
        for (text, expected) in cases {
            assert_eq!(remove(text, "s", "p").unwrap().as_deref(), Some(expected), "text: {text}");
        }
        assert_eq!(remove(r#"{"s": {}}"#, "s", "p"), Ok(None));
        assert_eq!(remove("", "s", "p"), Ok(None));
    }

    #[test]
    fn non_object_json_is_refused() {
        for text in ["{", "{\"a\": }", "nonsense", "{'a': 1}", "{} {}", "{\"s\": \"", "\u{feff}x"] {
            let refused = set(text, "s", "p", &json!(1));
            assert!(matches!(refused, Err(Refused::NotParsed(_))), "{text}: {refused:?}");
        }
        for text in ["[]", "7", r#"{"s": []}"#, r#"{"s": null}"#] {
            assert_eq!(set(text, "s", "p", &json!(1)), Err(Refused::NotAnObject), "text: {text}");
        }
    }

    #[test]
    fn duplicate_key_is_changed_at_its_last_occurrence() {
        let changed = set(r#"{"s": {"p": 1}, "s": {"p": 2}}"#, "s", "p", &json!(3)).unwrap();
        assert_eq!(changed, r#"{"s": {"p": 1}, "s": {"p": 3}}"#);
        assert_eq!(remove(r#"{"s": {"p": 1, "p": 2}}"#, "s", "p"), Err(Refused::Ambiguous));
    }

    #[test]
    fn comments_commas_and_line_ends_survive_a_round_trip() {
        let cases = [
            "{\"s\": {\n  \"a\": 1, // one\n}}",
            "{\"s\": {\n  \"a\": 1 // one\n}}",
            "{\"s\": {\n  \"a\": 1, /* one */ // two\n  // below\n}}",
            "{\r\n  \"s\": {\r\n    \"a\": 1 // one\r\n  }\r\n}\r\n",
            "{\n\t\"s\": {\n\t\t\"a\": 1,\n\t},\n}\n",
        ];
        for text in cases {
            let with = set(text, "s", "p", &json!({"x": [1]})).unwrap();
            for line in text.lines().filter(|line| line.contains('/')) {
                assert!(with.contains(line.split_once('/').unwrap().1), "{text}\n{with}");
            }
            assert_eq!(
                with.matches("\r\n").count() == with.matches('\n').count(),
                text.contains("\r\n"),
                "{with:?}"
            );
            assert_eq!(remove(&with, "s", "p").unwrap().as_deref(), Some(text), "{with}");
        }
    }

    #[test]
    fn byte_order_mark_is_preserved() {
        let changed = set("\u{feff}{}", "s", "p", &json!(1)).unwrap();
        assert!(changed.starts_with("\u{feff}{"), "{changed:?}");
    }

    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\/*,{}\\[\\]: \u{e01}]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"/]{0,4}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Setting and removing an entry restores the document.
        #[test]
        fn setting_and_removing_leaves_the_rest_alone(
            others in prop::collection::btree_map("[a-z\"/]{0,4}", document(), 0..5),
            servers in prop::collection::btree_map("[a-z\"/]{0,4}", document(), 0..4),
            indented in any::<bool>(),
        ) {
            let mut before: Map<String, Value> = others.into_iter().collect();
            before.insert("servers".to_owned(), Value::Object(servers.into_iter().collect()));
            let before = Value::Object(before);
            let text = if indented { format!("{before:#}") } else { before.to_string() };
            let with = set(&text, "servers", "panoply", &json!({"a": [1]})).unwrap();
            prop_assert_eq!(&read(&with).unwrap()["servers"]["panoply"], &json!({"a": [1]}));
            let without = remove(&with, "servers", "panoply").unwrap().unwrap();
            prop_assert_eq!(read(&without).unwrap(), before);
        }

        /// Arbitrary input is edited correctly or refused, without a panic.
        #[test]
        fn no_text_is_too_odd(text in "[{}\\[\\]:,\"a1/* \n\\\\\u{e01}\u{feff}-]{0,40}") {
            let _ = set(&text, "a", "p", &json!(1));
            let _ = remove(&text, "a", "p");
        }
    }
}
