//! Errors as `google.rpc.Status` in `grpc-status-details-bin`, the form that gRPC clients decode.

use std::collections::HashMap;

use prost::Message;
use tonic::{Code, Status};

use crate::calls::CallFailure;

/// `google.rpc.Status` (google/rpc/status.proto).
#[derive(Clone, PartialEq, Message)]
pub struct RpcStatus {
    /// gRPC status code.
    #[prost(int32, tag = "1")]
    pub code: i32,
    /// Message for developers.
    #[prost(string, tag = "2")]
    pub message: String,
    /// Details; here one [`ErrorInfo`].
    #[prost(message, repeated, tag = "3")]
    pub details: Vec<prost_types::Any>,
}

/// `google.rpc.ErrorInfo` (google/rpc/error_details.proto).
#[derive(Clone, PartialEq, Message)]
pub struct ErrorInfo {
    /// Error code of the contract, such as `INVALID_ARG`.
    #[prost(string, tag = "1")]
    pub reason: String,
    /// Service that defines the reason.
    #[prost(string, tag = "2")]
    pub domain: String,
    /// `contract`: the error document as JSON.
    #[prost(map = "string, string", tag = "3")]
    pub metadata: HashMap<String, String>,
}

/// Type URL of [`ErrorInfo`].
pub const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
/// Domain of the reasons.
const DOMAIN: &str = "ttm.core.v1";

/// Converts a failed call.
pub(super) fn grpc_status(failure: CallFailure) -> Status {
    let code = match failure.code.as_str() {
        "INVALID_ARG" | "INPUT_TOO_LARGE" => Code::InvalidArgument,
        "NOT_FOUND" | "RESOURCE_NOT_FOUND" => Code::NotFound,
        "UNKNOWN_TOOL" | "TOOL_REMOVED" => Code::Unimplemented,
        "FORBIDDEN" | "READ_ONLY" => Code::PermissionDenied,
        "RATE_LIMITED" => Code::ResourceExhausted,
        "TIMEOUT" => Code::DeadlineExceeded,
        "CANCELLED" => Code::Cancelled,
        "INTERNAL_ERROR" => Code::Internal,
        _ => Code::FailedPrecondition,
    };
    let message = format!("{}: {}", failure.code, failure.message);
    let info = ErrorInfo {
        reason: failure.code,
        domain: DOMAIN.to_owned(),
        metadata: HashMap::from([("contract".to_owned(), failure.body.to_string())]),
    };
    let detail = prost_types::Any { type_url: ERROR_INFO.to_owned(), value: info.encode_to_vec() };
    let status = RpcStatus { code: code.into(), message: message.clone(), details: vec![detail] };
    Status::with_details(code, message, status.encode_to_vec().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn error_details_decode_as_google_rpc_status() {
        let body = json!({"error": {"code": "INVALID_ARG", "message": "top_k must be >0"}});
        let status = grpc_status(CallFailure {
            code: "INVALID_ARG".to_owned(),
            message: "top_k must be >0".to_owned(),
            body: body.clone(),
        });
        // Wire format of google/rpc/status.proto: field 1 is the varint 3, field 2 a string.
        assert_eq!(status.details().get(..3), Some([0x08, 0x03, 0x12].as_slice()));
        let decoded = RpcStatus::decode(status.details()).unwrap();
        assert_eq!(decoded.message, status.message());
        let [detail] = decoded.details.as_slice() else { panic!("{decoded:?}") };
        assert_eq!(detail.type_url, ERROR_INFO);
        let info = ErrorInfo::decode(detail.value.as_slice()).unwrap();
        assert_eq!(info.reason, "INVALID_ARG");
        assert_eq!(info.metadata.get("contract"), Some(&body.to_string()));
    }
}
