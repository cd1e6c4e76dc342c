//! A schema that is compiled when it is first needed.
//!
//! A server has a hundred tools and a session calls a few of them; compiling all schemas took a
//! third of the time to the first reply.

use std::sync::OnceLock;

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::error::ToolError;

/// A schema and, from its first use on, its validator.
pub(crate) struct Compiled {
    schema: Value,
    validator: OnceLock<Result<Validator, String>>,
}

impl Compiled {
    /// Nothing is compiled yet, except where tests run: there a schema that cannot be is an error
    /// at once. Schemas come from types, so a build that passes its tests has none.
    pub(crate) fn new(schema: Value) -> Result<Self, String> {
        let compiled = Self { schema, validator: OnceLock::new() };
        if cfg!(debug_assertions) {
            compiled.get().map_err(Clone::clone)?;
        }
        Ok(compiled)
    }

    pub(crate) fn is_valid(&self, value: &Value) -> Result<bool, ToolError> {
        Ok(self.validator()?.is_valid(value))
    }

    pub(crate) fn validator(&self) -> Result<&Validator, ToolError> {
        self.get().map_err(|error| ToolError::system(format!("a schema does not compile: {error}")))
    }

    fn get(&self) -> Result<&Validator, &String> {
        let compile = || {
            jsonschema::validator_for(&self.schema)
                .map_err(|error: ValidationError| error.to_string())
        };
        self.validator.get_or_init(compile).as_ref()
    }
}
