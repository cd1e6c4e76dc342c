//! JSON Schemas generated and compiled on first use.
//!
//! A server has ninety tools and a session calls a few of them. Generating all schemas eagerly took
//! two thirds of the instructions before the first reply, and compiling them a third of the time.

use std::sync::OnceLock;

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::error::ToolError;

/// A schema with its lazily compiled validator.
pub(crate) struct LazySchema {
    generate: Box<dyn Fn() -> Value + Send + Sync>,
    schema: OnceLock<Value>,
    validator: OnceLock<Result<Validator, String>>,
}

impl LazySchema {
    pub(crate) fn new(generate: impl Fn() -> Value + Send + Sync + 'static) -> Self {
        Self { generate: Box::new(generate), schema: OnceLock::new(), validator: OnceLock::new() }
    }

    pub(crate) fn schema(&self) -> &Value {
        self.schema.get_or_init(&self.generate)
    }

    pub(crate) fn is_valid(&self, value: &Value) -> Result<bool, ToolError> {
        Ok(self.validator()?.is_valid(value))
    }

    pub(crate) fn validator(&self) -> Result<&Validator, ToolError> {
        self.compile()
            .map_err(|error| ToolError::system(format!("a schema does not compile: {error}")))
    }

    /// Returns the validator or the compile error.
    pub(crate) fn compile(&self) -> Result<&Validator, &String> {
        let compile = || {
            jsonschema::validator_for(self.schema())
                .map_err(|error: ValidationError| error.to_string())
        };
        self.validator.get_or_init(compile).as_ref()
    }
}
