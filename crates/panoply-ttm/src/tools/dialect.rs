//! Reply dialect of the ttm contract: results with `audit` inside, errors as `{error: {code,
//! message}, audit}`.
//!
//! `seed` is a 64-bit integer, which JavaScript rounds; `seed_hex` has the exact value. `seed_hex`
//! and `error.details` are additions that the contract allows.

use panoply_contract::audit::Audit;
use panoply_contract::dialect::{Answered, Dialect, Envelope, Failed, error_result};
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::json::Json;
use panoply_contract::schema;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// Dialect of the ttm contract.
#[derive(Clone, Copy, Debug, Default)]
pub struct TtmDialect;

/// Audit inside a reply.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditInside {
    #[serde(flatten)]
    audit: Audit,
    /// `seed` as sixteen hexadecimal digits, exact beyond 2^53.
    seed_hex: String,
}

impl From<&Audit> for AuditInside {
    fn from(audit: &Audit) -> Self {
        Self { audit: audit.clone(), seed_hex: format!("{:016x}", audit.seed) }
    }
}

/// Audit as JSON.
pub(crate) fn audit_json(audit: &Audit) -> Value {
    serde_json::to_value(AuditInside::from(audit)).unwrap_or_default()
}

impl Dialect for TtmDialect {
    fn output_schema(&self, data: Value) -> Value {
        let mut schema = data;
        let audit = schema::of::<AuditInside>();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert("audit".to_owned(), audit);
        }
        if let Some(object) = schema.as_object_mut()
            && let Value::Array(required) = object.entry("required").or_insert_with(|| json!([]))
        {
            required.push("audit".into());
        }
        schema
    }

    fn structured(&self, answer: &Answered<'_>) -> Json {
        answer.data.with_member("audit", &audit_json(answer.audit).to_string())
    }

    fn failure(&self, failed: &Failed<'_>) -> Envelope {
        let body = with_audit(self.error_body(failed.error), failed.audit);
        error_result(&body, failed, true)
    }

    fn error_body(&self, error: &ToolError) -> Value {
        // The contract's error has no hint, and some clients show only the message: append it.
        let message = match &error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message.clone(),
        };
        let mut body = json!({"code": code_of(error), "message": message});
        if let (Some(object), Some(details)) = (body.as_object_mut(), error.wire_details()) {
            object.insert("details".to_owned(), details);
        }
        json!({"error": body})
    }
}

fn with_audit(mut body: Value, audit: &Audit) -> Value {
    if let Some(object) = body.as_object_mut() {
        object.insert("audit".to_owned(), audit_json(audit));
    }
    body
}

/// Argument errors map to the contract's `INVALID_ARG`; other codes are the kernel's.
fn code_of(error: &ToolError) -> &str {
    match error.kind {
        ErrorKind::Validation => "INVALID_ARG",
        ErrorKind::Business
        | ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::Forbidden
        | ErrorKind::RateLimited
        | ErrorKind::Removed
        | ErrorKind::Timeout
        | ErrorKind::Cancelled
        | ErrorKind::System
        | ErrorKind::Storage => &error.code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_argument_maps_to_invalid_arg_with_a_hint() {
        let error =
            ToolError::validation("INVALID_INPUT", "top_k must be >0").hint("give 1 to 100");
        assert_eq!(
            TtmDialect.error_body(&error),
            json!({"error": {"code": "INVALID_ARG", "message": "top_k must be >0; give 1 to 100"}})
        );
    }

    #[test]
    fn system_errors_do_not_expose_their_cause() {
        let body = TtmDialect.error_body(&ToolError::system("the disk is full"));
        assert_eq!(body["error"]["code"], "INTERNAL_ERROR");
        assert!(!body.to_string().contains("disk"));
    }
}
