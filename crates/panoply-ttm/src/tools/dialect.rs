//! Reply dialect of the ttm contract: results with `audit` inside, errors as `{error: {code,
//! message}, audit}`.
//!
//! `seed` is a 64-bit integer, which JavaScript rounds; `seed_hex` has the exact value. `seed_hex`,
//! `error.message_th` and `error.details` are additions that the contract allows. Every error has
//! its Thai sentence, so that its hash does not depend on the caller's language.

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
        let thai = in_thai(error);
        let mut body = json!({"code": code_of(error), "message": message, "message_th": thai});
        if let (Some(object), Some(details)) = (body.as_object_mut(), error.wire_details()) {
            object.insert("details".to_owned(), details);
        }
        json!({"error": body})
    }
}

/// Says in Thai what is wrong, with the values that the message names, and what to do.
fn in_thai(error: &ToolError) -> String {
    let what = match error.code.as_ref() {
        "EMPTY_QUESTION" => "คำถามว่างเปล่า ใส่คำถามใน `question`",
        "EMPTY_QUERY" => "คำค้นว่างเปล่า ใส่คำค้นใน `query`",
        "UNKNOWN_ID" => "ไม่รู้จักรหัสหรือชื่อนี้ ดูชื่อที่ใกล้เคียงใน `details` หรือค้นด้วย `hybrid_search`",
        "UNKNOWN_START" => "ไม่รู้จักจุดเริ่มต้นนี้ ใช้รหัสของชนิดนั้น หรือค้นด้วย `hybrid_search`",
        "UNKNOWN_END" => "ไม่รู้จักจุดปลายทางนี้ ใช้รหัสของชนิดนั้น หรือค้นด้วย `hybrid_search`",
        "UNKNOWN_SOURCE" => "ไม่มีแหล่งข้อมูลนี้",
        "BAD_PATTERN" => "รูปแบบเส้นทางไม่ถูกต้อง เขียนแบบ `herb->constituent->indication`",
        "BAD_YEARS" => "ช่วงปีไม่ถูกต้อง ปีเริ่มต้นต้องไม่มากกว่าปีสิ้นสุด",
        "BAD_INGEST" => "คำสั่งนำเข้าเอกสารไม่ถูกต้อง แก้ไขแล้วเริ่มด้วย `dry_run`",
        "NOT_ALLOWED" => "ไม่อนุญาตให้อ่านไฟล์นี้",
        _ => match error.kind {
            ErrorKind::Validation => "อาร์กิวเมนต์ไม่ถูกต้อง",
            ErrorKind::NotFound => "ไม่พบสิ่งที่ขอ",
            ErrorKind::Business | ErrorKind::Conflict => "ทำไม่ได้ในตอนนี้",
            ErrorKind::Forbidden => "ไม่มีสิทธิ์ใช้คำสั่งนี้",
            ErrorKind::RateLimited => "เรียกถี่เกินไป โปรดรอแล้วลองใหม่",
            ErrorKind::Removed => "คำสั่งนี้ถูกยกเลิกแล้ว",
            ErrorKind::Timeout => "ใช้เวลานานเกินกำหนด",
            ErrorKind::Cancelled => "ถูกยกเลิก",
            ErrorKind::System | ErrorKind::Storage => "ระบบขัดข้อง โปรดลองใหม่",
        },
    };
    // The kernel's messages start with the member: `top_k must be >0`.
    let limit = error.message.strip_suffix(" must be >0");
    if let Some(member) = limit.filter(|member| !member.contains(' ')) {
        return format!("{member} ต้องมากกว่า 0");
    }
    let values: Vec<&str> = error.message.split('`').skip(1).step_by(2).take(MAX_VALUES).collect();
    if values.is_empty() || matches!(error.kind, ErrorKind::System | ErrorKind::Storage) {
        return what.to_owned();
    }
    let values = values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    format!("{what} ({values})")
}

/// Maximum number of values named in Thai.
const MAX_VALUES: usize = 5;

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
            json!({"error": {
                "code": "INVALID_ARG",
                "message": "top_k must be >0; give 1 to 100",
                "message_th": "top_k ต้องมากกว่า 0",
            }})
        );
    }

    #[test]
    fn thai_message_names_the_offending_values() {
        let error =
            ToolError::validation("UNKNOWN_ID", "there is no `H:turmric`; nearest `H:turmeric`");
        let body = TtmDialect.error_body(&error);
        let thai = body["error"]["message_th"].as_str().unwrap();
        assert!(thai.contains("ไม่รู้จักรหัส") && thai.contains("`H:turmric`"), "{thai}");
    }

    #[test]
    fn system_errors_do_not_expose_their_cause() {
        let body = TtmDialect.error_body(&ToolError::system("the disk is full"));
        assert_eq!(body["error"]["code"], "INTERNAL_ERROR");
        assert!(!body.to_string().contains("disk"));
    }
}
