//! Identifiers with a rule: trace ids, and ids branded by a prefix such as `card_…`.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id that ties together everything one request caused, shown as a UUID.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TraceId(Uuid);

impl TraceId {
    /// Takes a UUID, or the 32 hexadecimal digits of a W3C trace id; all zeros is not an id.
    pub fn parse(text: &str) -> Option<Self> {
        let uuid = Uuid::try_parse(text).ok()?;
        (!uuid.is_nil()).then_some(Self(uuid))
    }

    /// The trace id inside a W3C `traceparent` (`00-<trace>-<span>-<flags>`).
    pub fn from_traceparent(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
        let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let shaped = version.len() == 2 && version != "ff" && trace.len() == 32 && span.len() == 16;
        (shaped && hexadecimal(version) && hexadecimal(span)).then(|| Self::parse(trace)).flatten()
    }

    /// Made by the edge, which owns the randomness.
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of one call, made by the server: a client may send a trace id twice, never this.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
pub struct CallId([u8; 16]);

impl CallId {
    /// The `number`th call of a process that drew `incarnation` at random when it started.
    pub fn new(incarnation: Uuid, number: u64) -> Self {
        Self(Uuid::new_v5(&incarnation, &number.to_be_bytes()).into_bytes())
    }

    /// Its bytes, for stores.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The id that has these bytes.
    pub const fn of_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Uuid::from_bytes(self.0).fmt(f)
    }
}

/// The id that links related requests.
pub type CorrelationId = TraceId;

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, Eq, PartialEq, thiserror::Error)]
#[error(
    "expected an id that starts with `{prefix}` and has 1 to 64 letters, digits, `-` or `_` after it, got `{seen}`"
)]
pub struct BadId {
    /// What the id should start with.
    pub prefix: &'static str,
    /// What came instead, shortened.
    pub seen: String,
}

/// Checks the part after the prefix; used by [`branded_id!`](crate::branded_id).
pub fn parse_branded(prefix: &'static str, text: &str) -> Result<String, BadId> {
    let fits = text.strip_prefix(prefix).is_some_and(|rest| {
        (1..=64).contains(&rest.len())
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    });
    if fits {
        Ok(text.to_owned())
    } else {
        Err(BadId { prefix, seen: text.chars().take(80).collect() })
    }
}

/// Declares an id type branded by its prefix: parsed in one place, with a schema that says so.
///
/// ```
/// panoply_contract::branded_id!(CardId, "card_", "The id of a card.");
/// assert!(CardId::parse("card_123").is_ok());
/// assert!(CardId::parse("deck_123").is_err());
/// ```
#[macro_export]
macro_rules! branded_id {
    ($name:ident, $prefix:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(String);

        impl $name {
            /// What every id of this kind starts with.
            pub const PREFIX: &'static str = $prefix;

            /// Takes an id of this kind and no other.
            pub fn parse(text: &str) -> Result<Self, $crate::ids::BadId> {
                $crate::ids::parse_branded($prefix, text).map(Self)
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).map_err($crate::serde::de::Error::custom)
            }
        }

        impl $crate::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars::json_schema!({
                    "type": "string",
                    "description": $doc,
                    "pattern": concat!("^", $prefix, "[0-9A-Za-z_-]{1,64}$"),
                })
            }
        }
    };
}

branded_id!(UserId, "user_", "The id of a user.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_gives_its_trace_id_or_nothing() {
        let cases = [
            (
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                Some("4bf92f35-77b3-4da6-a3ce-929d0e0e4736"),
            ),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", None),
            ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", None),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736", None),
            ("00-short-00f067aa0ba902b7-01", None),
            ("", None),
        ];
        for (header, expected) in cases {
            let parsed = TraceId::from_traceparent(header).map(|id| id.to_string());
            assert_eq!(parsed.as_deref(), expected, "header: {header:?}");
        }
    }

    #[test]
    fn a_branded_id_takes_its_own_prefix_only() {
        for (text, fits) in [
            ("user_1", true),
            ("user_01J9Z-x_y", true),
            ("user_", false),
            ("card_1", false),
            ("user_ไทย", false),
            ("user_1 2", false),
        ] {
            assert_eq!(UserId::parse(text).is_ok(), fits, "id: {text:?}");
        }
        assert!(UserId::parse(&format!("user_{}", "x".repeat(65))).is_err());
    }
}
