//! Reads `fixture.json`: definitions with their fixed results.

use std::sync::OnceLock;

use rmcp::model::ErrorData;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The parsed file.
pub(super) struct Data(Value);

impl Data {
    pub(super) fn get() -> &'static Self {
        static DATA: OnceLock<Data> = OnceLock::new();
        DATA.get_or_init(|| {
            Self(serde_json::from_str(include_str!("fixture.json")).unwrap_or_default())
        })
    }

    /// A section as it is, in the type the caller wants.
    pub(super) fn section<T: DeserializeOwned>(&self, section: &str) -> Vec<T> {
        let entries = self.0.get(section).cloned().unwrap_or_default();
        serde_json::from_value(entries).unwrap_or_default()
    }

    /// One field of each entry of a section.
    pub(super) fn list<T: DeserializeOwned>(&self, section: &str, field: &str) -> Vec<T> {
        let values = self.entries(section).filter_map(|entry| entry.get(field));
        values.filter_map(|value| serde_json::from_value(value.clone()).ok()).collect()
    }

    /// The entry of a section with this text at this JSON pointer.
    pub(super) fn find(&self, section: &str, pointer: &str, text: &str) -> Option<&Value> {
        self.entries(section)
            .find(|entry| entry.pointer(pointer).and_then(Value::as_str) == Some(text))
    }

    /// Returns the entry of a section by name.
    pub(super) fn named(&self, section: &str, name: &str) -> Option<&Value> {
        self.0.get(section)?.get(name)
    }

    fn entries(&self, section: &str) -> impl Iterator<Item = &Value> {
        self.0.get(section).and_then(Value::as_array).into_iter().flatten()
    }
}

/// A value as an rmcp type.
pub(super) fn from_json<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(broken)
}

/// Converts a complete result to an rmcp type; 2026-07-28 requires `resultType`.
pub(super) fn complete<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("resultType".to_owned(), Value::from("complete"));
    }
    from_json(value)
}

/// Error for an invalid fixture.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(super) fn broken(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the fixture does not fit rmcp's types: {error}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_fixture_fits_its_type() {
        let count = |section| Data::get().entries(section).count();
        assert!(count("tools") > 20);
        assert_eq!(super::super::tools().len(), count("tools"));
        assert_eq!(super::super::prompts().len(), count("prompts"));
        assert_eq!(super::super::resources().len(), count("resources"));
        assert_eq!(super::super::templates().len(), count("templates"));
    }
}
