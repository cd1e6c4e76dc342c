//! The `_meta` object of a result.
//!
//! Members are JSON text: each is serialised once, straight from its type. A tree of `Value`s
//! cost 20,000 instructions a call, most of them for allocating and hashing keys.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::json::Json;

/// The members of a result's `_meta`, in the order of insertion.
#[derive(Clone, Debug, Default)]
pub struct Meta(Vec<(Cow<'static, str>, Json)>);

impl Meta {
    /// Sets a member.
    pub fn insert(&mut self, key: impl Into<Cow<'static, str>>, value: &(impl Serialize + ?Sized)) {
        // Serialisation fails only for maps whose keys are not strings, which no member has.
        self.insert_json(key, Json::of(value).unwrap_or_else(|_| Json::null()));
    }

    /// Sets a member that is already serialised.
    pub fn insert_json(&mut self, key: impl Into<Cow<'static, str>>, json: Json) {
        let key = key.into();
        match self.0.iter_mut().find(|(existing, _)| *existing == key) {
            Some((_, member)) => *member = json,
            None => self.0.push((key, json)),
        }
    }

    /// A member as JSON text.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(existing, _)| existing == key).map(|(_, json)| json)
    }

    /// A member as a tree; null if it is absent.
    pub fn value(&self, key: &str) -> Value {
        self.get(key).map_or(Value::Null, Json::value)
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All members as trees.
    pub fn to_map(&self) -> Map<String, Value> {
        self.0.iter().map(|(key, json)| (key.to_string(), json.value())).collect()
    }

    /// The whole object as JSON text.
    pub fn to_json(&self) -> Json {
        Json::object(self.0.iter().map(|(key, json)| (key.as_ref(), json.text())))
    }
}

impl From<&Map<String, Value>> for Meta {
    fn from(members: &Map<String, Value>) -> Self {
        // Hints, metadata and audit follow.
        let mut meta = Self(Vec::with_capacity(members.len() + 3));
        for (key, value) in members {
            meta.insert(key.clone(), value);
        }
        meta
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn insert_replaces_the_member_of_the_same_name() {
        let mut meta = Meta::from(json!({"a": 1, "b\"": [2]}).as_object().unwrap_or(&Map::new()));
        meta.insert("a", &json!({"x": null}));
        assert_eq!(meta.to_json().text(), r#"{"a":{"x":null},"b\"":[2]}"#);
        assert_eq!(Value::Object(meta.to_map()), meta.to_json().value());
        assert_eq!(meta.value("a"), json!({"x": null}));
        assert_eq!((meta.get("c"), meta.value("c")), (None, Value::Null));
    }
}
