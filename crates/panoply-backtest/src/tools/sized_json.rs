//! Serialized parts of a reply. The size of a part decides whether it fits the budget, so it is
//! serialized once and inserted verbatim.

use std::borrow::Cow;
use std::marker::PhantomData;

use panoply_contract::prelude::*;
use schemars::{Schema, SchemaGenerator};
use serde::Serializer;
use serde_json::value::{RawValue, to_raw_value};

/// A serialized `T`, with the schema of `T`.
#[derive(Debug)]
pub(crate) struct SizedJson<T> {
    json: Box<RawValue>,
    shape: PhantomData<fn() -> T>,
}

impl<T> SizedJson<T> {
    /// Serializes a part that has the shape of `T`.
    pub(crate) fn of(part: &impl Serialize) -> Result<Self, ToolError> {
        let json = to_raw_value(part).map_err(|error| {
            ToolError::system("a part of the reply could not be serialized").cause(error)
        })?;
        Ok(Self { json, shape: PhantomData })
    }

    /// Size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.json.get().len()
    }
}

impl<T> Serialize for SizedJson<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for SizedJson<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
