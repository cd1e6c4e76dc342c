//! Serialised JSON. A result is serialised once: the same bytes are hashed, cached and sent. Cached
//! text takes about a sixth of the memory of a `Value` tree.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::error::ToolError;

/// Immutable serialised JSON; cloning is cheap (reference-counted).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Json(Arc<str>);

impl Json {
    /// Serialises a value compactly, members in the order of the type.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Result<Self, ToolError> {
        serde_json::to_string(value).map(|text| Self(text.into())).map_err(|error| {
            ToolError::system("the reply could not be serialised as JSON").cause(error)
        })
    }

    /// `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Parses stored JSON text.
    pub fn parse(text: String) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<serde::de::IgnoredAny>(&text)?;
        Ok(Self(text.into()))
    }

    /// Builds an object from serialised members.
    pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let write = |writer: ObjectWriter, (name, json)| writer.json(name, json);
        members.into_iter().fold(ObjectWriter::with_capacity(256), write).finish()
    }

    /// Concatenates fragments; the caller guarantees that the result is valid JSON.
    pub fn spliced<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let text: String = pieces.into_iter().collect();
        debug_assert!(
            serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(),
            "not JSON: {text}"
        );
        Self(text.into())
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Parses into a `Value`.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// Appends a member to an object; other values are returned unchanged.
    #[must_use]
    pub fn with_member(&self, name: &str, json: &str) -> Self {
        let object = self.0.strip_suffix('}').filter(|object| object.starts_with('{'));
        let Some(object) = object else { return self.clone() };
        let name = Value::from(name).to_string();
        let comma = if object.len() > 1 { "," } else { "" };
        Self::spliced([object, comma, &name, ":", json, "}"])
    }
}

/// Writes an object member by member, for the parts that every reply contains: serde's generic
/// escaping costs five times as much for short texts.
#[derive(Debug)]
pub(crate) struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    /// Starts an object of about `bytes` bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        let mut text = Vec::with_capacity(bytes);
        text.push(b'{');
        Self(text)
    }

    /// Writes a string member. Name and value are printable ASCII without `"` and `\`.
    pub(crate) fn ascii(mut self, name: &'static str, value: &str) -> Self {
        self.ascii_name(name);
        self.0.push(b'"');
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(b'"');
        self
    }

    /// Writes a number or Boolean member.
    pub(crate) fn scalar(mut self, name: &'static str, value: impl Serialize) -> Self {
        self.ascii_name(name);
        // Writing a scalar into memory cannot fail.
        let _ = serde_json::to_writer(&mut self.0, &value);
        self
    }

    /// Writes a member that is already serialised.
    pub(crate) fn json(mut self, name: &str, json: &str) -> Self {
        self.comma();
        push_string(&mut self.0, name);
        self.0.push(b':');
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    /// Ends the object.
    pub(crate) fn finish(mut self) -> Json {
        self.0.push(b'}');
        debug_assert!(
            serde_json::from_slice::<serde::de::IgnoredAny>(&self.0).is_ok(),
            "not JSON: {}",
            String::from_utf8_lossy(&self.0)
        );
        String::from_utf8(self.0).map_or_else(|_| Json::null(), |text| Json(text.into()))
    }

    fn ascii_name(&mut self, name: &'static str) {
        self.comma();
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    fn comma(&mut self) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
    }
}

/// Writes a JSON string. Fast path for strings without escapes, such as member names.
fn push_string(out: &mut Vec<u8>, text: &str) {
    // Without an early exit, so that the loop is vectorised.
    let plain = |all, byte: u8| all & (byte >= 0x20) & (byte != b'"') & (byte != b'\\');
    if text.bytes().fold(true, plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(Value::from(text).to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn with_member_changes_objects_only() {
        let cases = [
            (json!({}), r#"{"a\"":[1]}"#),
            (json!({"b": {"c": "}"}}), r#"{"b":{"c":"}"},"a\"":[1]}"#),
            (json!([1]), "[1]"),
            (json!("}"), r#""}""#),
        ];
        for (value, expected) in cases {
            let with = Json::of(&value).unwrap().with_member("a\"", "[1]");
            assert_eq!(with.text(), expected, "{value}");
        }
    }

    #[test]
    fn nested_json_is_serialised_verbatim() {
        let inner = Json::of(&json!({"b": 1.0, "a": null})).unwrap();
        let outer = Json::object([("x", inner.text()), ("y", "2")]);
        assert_eq!(outer.text(), r#"{"x":{"b":1.0,"a":null},"y":2}"#);
        assert_eq!(outer.value()["x"], inner.value());
        assert_eq!(Json::object([]).text(), "{}");
    }
}
