//! Reply format of this pack: structured content at the top level, `_meta` with the widget, and
//! errors as `{error: {code, message, actionableHint, details?}}`.

use panoply_contract::dialect::{CallSuccess, Dialect, contract_meta};
use panoply_contract::error::{ErrorKind, ToolError};
use panoply_contract::meta::Meta;
use serde_json::{Map, Value, json};

/// The dialect of the rmf contract.
#[derive(Clone, Copy, Debug, Default)]
pub struct RmfDialect;

impl Dialect for RmfDialect {
    fn meta(&self, answer: &CallSuccess<'_>) -> Meta {
        let mut meta = contract_meta(answer);
        meta.insert("timestamp", &answer.metadata.timestamp);
        if let Some(widget) = &answer.spec.widget {
            meta.insert("ui", &json!({"resourceUri": widget.resource_uri}));
        }
        meta
    }

    fn error_body(&self, error: &ToolError) -> Value {
        let code = code_of(error.kind);
        let mut details = match error.wire_details() {
            Some(Value::Object(details)) => details,
            _ => Map::new(),
        };
        // The contract has three codes; the kernel's own code goes to `details.reason`.
        if *error.code != *code {
            details.insert("reason".to_owned(), error.code.clone().into());
        }
        let hint = error.hint.as_deref().unwrap_or("correct the call and try again");
        let mut body = json!({"code": code, "message": error.message, "actionableHint": hint});
        if let (Some(object), false) = (body.as_object_mut(), details.is_empty()) {
            object.insert("details".to_owned(), Value::Object(details));
        }
        json!({"error": body})
    }
}

/// Maps an error kind to one of the contract's three codes.
const fn code_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound | ErrorKind::Removed => "NOT_FOUND",
        ErrorKind::Validation
        | ErrorKind::Business
        | ErrorKind::Conflict
        | ErrorKind::Forbidden
        | ErrorKind::RateLimited
        | ErrorKind::Cancelled => "BAD_REQUEST",
        ErrorKind::Timeout | ErrorKind::System | ErrorKind::Storage => "INTERNAL_ERROR",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_body_has_code_message_hint_and_optional_details() {
        let plain = ToolError::not_found("NOT_FOUND", "fund code `X` does not exist")
            .hint("find valid fund codes with `search_rmf_funds`");
        assert_eq!(
            RmfDialect.error_body(&plain),
            json!({"error": {
                "code": "NOT_FOUND",
                "message": "fund code `X` does not exist",
                "actionableHint": "find valid fund codes with `search_rmf_funds`",
            }})
        );
    }

    #[test]
    fn every_error_kind_maps_to_one_of_three_codes() {
        let cases = [
            (ToolError::validation("INVALID_INPUT", "…"), "BAD_REQUEST", "INVALID_INPUT"),
            (
                ToolError::new(ErrorKind::RateLimited, "RATE_LIMITED", "…"),
                "BAD_REQUEST",
                "RATE_LIMITED",
            ),
            (ToolError::new(ErrorKind::Timeout, "TIMEOUT", "…"), "INTERNAL_ERROR", "TIMEOUT"),
        ];
        for (error, code, reason) in cases {
            let body = RmfDialect.error_body(&error);
            assert_eq!(body["error"]["code"], code);
            assert_eq!(body["error"]["details"]["reason"], reason);
            assert!(!body["error"]["actionableHint"].as_str().unwrap().is_empty());
        }
        let ours = RmfDialect.error_body(&ToolError::system("the disk is full"));
        assert_eq!(ours["error"]["code"], "INTERNAL_ERROR");
        assert!(!ours.to_string().contains("disk"), "the cause stays in the log");
    }
}
