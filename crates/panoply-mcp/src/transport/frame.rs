//! Parses one JSON-RPC message; finds the exact error of a malformed one.
//!
//! rmcp parses through untagged enums, whose only error is "did not match". A valid message is
//! parsed once by rmcp's types; only a message that failed is parsed again, as plain JSON, to
//! find its JSON-RPC 2.0 §5.1 error code.

use bytes::Bytes;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomRequest, ErrorCode, ErrorData, JsonRpcMessage,
    RequestId, RequestMetaObject,
};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};

use super::methods::unmatched_request;
use super::recover;
use super::tool_call::ToolCall;

/// Result of parsing a line or the body of a POST.
#[derive(Debug)]
pub(crate) enum Frame {
    /// A `tools/call`, the most frequent message.
    Call(ToolCall),
    /// Any other message.
    Message(Box<ClientJsonRpcMessage>),
    /// A malformed message, answered with an error.
    Rejected(Rejection),
    /// A reply without a request. Answering it could start an endless exchange of errors.
    UnsolicitedReply,
}

/// A JSON-RPC error for a malformed message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rejection {
    /// The id, if readable.
    pub(crate) id: Option<Value>,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

/// Representation of an unreadable id in an error reply.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum MissingId {
    /// `"id": null`, as JSON-RPC 2.0 specifies.
    #[default]
    Null,
    /// No `id` member: since 2025-11-25 the MCP schema does not allow null.
    Omitted,
}

impl MissingId {
    /// Returns the representation for a protocol version.
    pub(crate) fn for_version(version: &str) -> Self {
        // Versions are ISO dates, so they compare as text.
        if version >= "2025-11-25" { Self::Omitted } else { Self::Null }
    }
}

/// Parses one trimmed message.
pub(crate) fn parse(text: &[u8]) -> Frame {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if let Some(call) = ToolCall::parse(text) {
        return Frame::Call(call);
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
        Ok(JsonRpcMessage::Request(request)) => match request.request {
            ClientRequest::CustomRequest(custom) => {
                let meta = custom.extensions.get::<RequestMetaObject>();
                let version = meta.and_then(RequestMetaObject::protocol_version);
                let error = unmatched_request(&custom, version.as_ref());
                Frame::Rejected(Rejection::of_error(Some(id_value(&request.id)), error))
            }
            known if has_invalid_cursor(&known, text) => Frame::Rejected(Rejection {
                id: Some(id_value(&request.id)),
                code: ErrorCode::INVALID_PARAMS,
                message: format!(
                    "invalid params for `{}`: `cursor` must be a string",
                    known.method()
                ),
            }),
            known => Frame::Message(Box::new(JsonRpcMessage::request(known, request.id))),
        },
        Ok(message) => Frame::Message(Box::new(message)),
        Err(_) => diagnose(text),
    }
}

/// rmcp parses a cursor of the wrong type as none, and the client would loop on the first page.
fn has_invalid_cursor(request: &ClientRequest, text: &[u8]) -> bool {
    let without_params = match request {
        ClientRequest::ListToolsRequest(list) => list.params.is_none(),
        ClientRequest::ListPromptsRequest(list) => list.params.is_none(),
        ClientRequest::ListResourcesRequest(list) => list.params.is_none(),
        ClientRequest::ListResourceTemplatesRequest(list) => list.params.is_none(),
        _ => false,
    };
    without_params
        && text.windows(8).any(|window| window == b"\"cursor\"")
        && serde_json::from_slice::<Value>(text).is_ok_and(|request| {
            request.pointer("/params/cursor").is_some_and(|cursor| !cursor.is_null())
        })
}

/// Error for an overlong message, of which only the head was read.
pub(crate) fn too_long(head: &[u8], cap: usize) -> Rejection {
    let message = format!("message is longer than {cap} bytes; send less, or in several calls");
    Rejection { id: id_in_head(head), code: ErrorCode::INVALID_REQUEST, message }
}

/// Error for an id that is in flight.
pub(crate) fn duplicate_id(id: &RequestId) -> Rejection {
    Rejection {
        id: Some(id_value(id)),
        code: ErrorCode::INVALID_REQUEST,
        message: format!("id `{id}` is already in flight; use a new id for each request"),
    }
}

/// Error that replaces a reply beyond the limit of unsent bytes.
pub(crate) fn backlog_full(id: &RequestId) -> Rejection {
    Rejection {
        id: Some(id_value(id)),
        code: ErrorCode::INTERNAL_ERROR,
        message: "reply was dropped: too many replies are unread; read them, then ask again"
            .to_owned(),
    }
}

/// JSON-RPC error sent when a reply cannot be encoded.
pub(crate) fn encoding_failed(id: &RequestId) -> Rejection {
    Rejection {
        id: Some(id_value(id)),
        code: ErrorCode::INTERNAL_ERROR,
        message: "the server failed to answer this request".to_owned(),
    }
}

impl Rejection {
    fn parse_error(message: String) -> Self {
        Self { id: None, code: ErrorCode::PARSE_ERROR, message }
    }

    fn of_error(id: Option<Value>, error: ErrorData) -> Self {
        Self { id, code: error.code, message: error.message.into_owned() }
    }

    /// Encodes the reply as JSON.
    pub(crate) fn to_json(&self, missing_id: MissingId) -> Value {
        let mut reply = Map::new();
        reply.insert("jsonrpc".to_owned(), json!("2.0"));
        match (&self.id, missing_id) {
            (Some(id), _) => reply.insert("id".to_owned(), id.clone()),
            (None, MissingId::Null) => reply.insert("id".to_owned(), Value::Null),
            (None, MissingId::Omitted) => None,
        };
        let error = json!({ "code": self.code.0, "message": self.message });
        reply.insert("error".to_owned(), error);
        Value::Object(reply)
    }

    /// Encodes the reply as one line.
    pub(crate) fn to_line(&self, missing_id: MissingId) -> Bytes {
        let mut line = self.to_json(missing_id).to_string();
        line.push('\n');
        Bytes::from(line)
    }
}

fn diagnose(text: &[u8]) -> Frame {
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            let message =
                format!("message is not UTF-8: bad byte at offset {}", error.valid_up_to());
            return Frame::Rejected(Rejection::parse_error(message));
        }
    };
    match serde_json::from_str::<Value>(text) {
        Err(error) => match recover::top_level(text) {
            Some(top) if top.has_result_or_error && !top.has_method => Frame::UnsolicitedReply,
            Some(top) => Frame::Rejected(Rejection {
                id: top.id,
                code: ErrorCode::PARSE_ERROR,
                message: format!("message cannot be represented: {error}"),
            }),
            None => {
                let message = format!("message is not valid JSON: {error}");
                Frame::Rejected(Rejection::parse_error(message))
            }
        },
        Ok(Value::Object(object)) => diagnose_object(&object),
        Ok(Value::Array(_)) => Frame::Rejected(Rejection {
            id: None,
            code: ErrorCode::INVALID_REQUEST,
            message: "batches are not supported; send one message at a time".to_owned(),
        }),
        Ok(_) => Frame::Rejected(Rejection {
            id: None,
            code: ErrorCode::INVALID_REQUEST,
            message: "a request is a JSON object".to_owned(),
        }),
    }
}

fn diagnose_object(object: &Map<String, Value>) -> Frame {
    let is_reply = object.contains_key("result") || object.contains_key("error");
    if is_reply && !object.contains_key("method") {
        return Frame::UnsolicitedReply;
    }
    let mut problems = Vec::new();
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        problems.push("`jsonrpc` must be \"2.0\"");
    }
    match object.get("method") {
        Some(Value::String(_)) => {}
        Some(_) => problems.push("`method` must be a string"),
        None => problems.push("`method` is missing"),
    }
    let id = object.get("id").filter(|id| is_readable_id(id)).cloned();
    let id_fits = object.get("id").is_none_or(|id| id.is_string() || id.as_i64().is_some());
    if !id_fits {
        problems.push("`id` must be a string or an integer of 64 bits");
    }
    if is_reply {
        problems.push("a request has neither `result` nor `error`");
    }
    if !object.get("params").is_none_or(|params| params.is_object() || params.is_array()) {
        problems.push("`params` must be an object");
    }
    if problems.is_empty() {
        if let (Some(Value::Array(params)), Some(Value::String(method))) =
            (object.get("params"), object.get("method"))
        {
            // JSON-RPC allows an array here; no MCP method takes one.
            let request = CustomRequest::new(method, Some(Value::Array(params.clone())));
            return Frame::Rejected(Rejection::of_error(id, unmatched_request(&request, None)));
        }
        // All checks above passed, so the remaining cause is a duplicate key.
        problems.push("each key may appear only once");
    }
    let message = format!("invalid request: {}", problems.join("; "));
    Frame::Rejected(Rejection { id, code: ErrorCode::INVALID_REQUEST, message })
}

/// Whether an id can be echoed, even if requests with it are refused.
fn is_readable_id(id: &Value) -> bool {
    id.is_string() || id.is_number()
}

fn id_value(id: &RequestId) -> Value {
    match id {
        RequestId::Number(number) => Value::from(*number),
        RequestId::String(text) => Value::from(text.as_ref()),
    }
}

/// Finds the id in the head of a truncated message.
fn id_in_head(head: &[u8]) -> Option<Value> {
    struct FindId<'a>(&'a mut Option<Value>);

    impl<'de> DeserializeSeed<'de> for FindId<'_> {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_map(self)
        }
    }

    impl<'de> Visitor<'de> for FindId<'_> {
        type Value = ();

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("the head of a request")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if key == "id" {
                    *self.0 = Some(map.next_value::<Value>()?).filter(is_readable_id);
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }

    let mut id = None;
    // Always fails, because the text is truncated; only the id is needed.
    let _cut_off = FindId(&mut id).deserialize(&mut serde_json::Deserializer::from_slice(head));
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_malformed_message_gets_the_code_that_json_rpc_gives_it() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let deep_params = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{{"a":{}1{}}}}}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        let long_name = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(10_000));
        let cases: &[(&[u8], i32, Value)] = &[
            (b"{", -32700, Value::Null),
            (b"not json", -32700, Value::Null),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32700, Value::Null),
            (b"\xff\xfe", -32700, Value::Null),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\x28\",\"method\":\"ping\"}", -32700, Value::Null),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\0", -32700, Value::Null),
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}"#, -32700, json!(1)),
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}"#, -32700, Value::Null),
            (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}"#, -32700, json!(1)),
            (deep.as_bytes(), -32700, Value::Null),
            (deep_params.as_bytes(), -32700, json!(1)),
            (b"[]", -32600, Value::Null),
            (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null),
            (b"1", -32600, Value::Null),
            (b"null", -32600, Value::Null),
            (b"{}", -32600, Value::Null),
            (br#"{"id":7,"method":"ping"}"#, -32600, json!(7)),
            (br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a")),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(1.5)),
            (br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, Value::Null),
            (br#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#, -32600, json!(18446744073709551615_u64)),
            (br#"{"jsonrpc":"2.0","id":3,"method":5}"#, -32600, json!(3)),
            (br#"{"jsonrpc":"2.0","id":3}"#, -32600, json!(3)),
            (br#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#, -32600, json!(3)),
            (br#"{"jsonrpc":"2.0","id":3,"id":4,"method":"ping"}"#, -32600, json!(4)),
            (br#"{"jsonrpc":"2.0","id":4,"method":"no/such"}"#, -32601, json!(4)),
            (br#"{"jsonrpc":"2.0","id":4,"method":""}"#, -32601, json!(4)),
            (long_name.as_bytes(), -32601, json!(1)),
            (br#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#, -32602, json!(5)),
            (br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":5}}"#, -32602, json!(5)),
            (br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","arguments":[]}}"#, -32602, json!(5)),
            (br#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":5}}"#, -32602, json!(5)),
            (br#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#, -32602, json!(5)),
            (br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}"#, -32602, json!(5)),
        ];
        for (text, code, id) in cases {
            let shown = String::from_utf8_lossy(text).chars().take(90).collect::<String>();
            let Frame::Rejected(rejection) = parse(text) else { panic!("accepted: {shown}") };
            assert_eq!(rejection.code.0, *code, "input: {shown}: {}", rejection.message);
            assert_eq!(rejection.id.clone().unwrap_or_default(), *id, "input: {shown}");
            assert!(rejection.message.len() < 400, "input: {shown}: {}", rejection.message);
        }
    }

    #[test]
    fn retired_method_does_not_exist_in_newer_versions() {
        let meta = |version: &str| {
            json!({"_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            }})
        };
        for method in ["initialize", "logging/setLevel", "resources/subscribe"] {
            for (version, expected) in [("2025-11-25", -32602), ("2026-07-28", -32601)] {
                let request =
                    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": meta(version)});
                match parse(request.to_string().as_bytes()) {
                    Frame::Rejected(rejection) => {
                        assert_eq!(rejection.code.0, expected, "{method} in {version}");
                    }
                    other => panic!("{method} in {version}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn valid_messages_pass_and_unsolicited_replies_are_ignored() {
        let good = [
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":-0,"method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#,
        ];
        for text in good {
            assert!(matches!(parse(text.as_bytes()), Frame::Message(_)), "input: {text}");
        }
        let stray = r#"{"jsonrpc":"2.0","id":{},"error":{"code":"x"}}"#;
        assert!(matches!(parse(stray.as_bytes()), Frame::UnsolicitedReply));
    }

    #[test]
    fn the_id_of_an_overlong_message_is_found_in_its_head() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"a":"xxx"#,
                Some(json!(12)),
            ),
            (r#"{"params":{"id":3},"id":"k","me"#, Some(json!("k"))),
            (r#"{"params":{"a":"xxx"#, None),
            ("xxxxx", None),
        ];
        for (head, id) in cases {
            assert_eq!(too_long(head.as_bytes(), 16).id, id, "head: {head}");
        }
    }

    #[test]
    fn an_unreadable_id_is_null_for_old_peers_and_absent_for_new_ones() {
        let rejection = Rejection::parse_error("x".to_owned());
        let cases = [
            ("2024-11-05", true),
            ("2025-06-18", true),
            ("2025-11-25", false),
            ("2026-07-28", false),
        ];
        for (version, has_id) in cases {
            let reply = rejection.to_json(MissingId::for_version(version));
            assert_eq!(reply.get("id").is_some(), has_id, "version: {version}");
        }
    }
}
