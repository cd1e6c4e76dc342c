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
        let mut text = String::from("{");
        for (name, json) in members {
            if text.len() > 1 {
                text.push(',');
            }
            push_string(&mut text, name);
            text.push(':');
            text.push_str(json);
        }
        text.push('}');
        debug_assert!(
            serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(),
            "not JSON: {text}"
        );
        Self(text.into())
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

/// Writes a JSON string. Fast path for strings without escapes, such as member names.
fn push_string(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string());
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
