//! A `tools/call` that wants nothing but its reply: nearly every message there is.
//!
//! rmcp reads a message through untagged enums, which try each of twenty other requests first, and
//! answers it through three tasks and two queues, which progress, sampling and the like need. A
//! plain call needs neither: it is read straight into its type and answered where it was read.
//! Whatever is not plainly such a call is left to rmcp, so that nothing is judged here.

use futures::FutureExt;
use futures::future::BoxFuture;
use http::request::Parts;
use panoply_contract::json::Json;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientJsonRpcMessage, ClientRequest,
    JsonObject, JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject,
};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

const METHOD: &str = "tools/call";
/// Since 2026-07-28 a request says under keys of this prefix which version it speaks and what its
/// sender can do. rmcp judges that.
const PROTOCOL_KEYS: &str = "io.modelcontextprotocol/";

/// A call of a tool, as it was read.
#[derive(Debug)]
pub(crate) struct PlainCall {
    pub(crate) id: RequestId,
    pub(crate) name: String,
    pub(crate) arguments: Option<JsonObject>,
    pub(crate) meta: Option<JsonObject>,
}

/// Who answers plain calls.
pub(crate) trait AnswerPlainCalls {
    /// Whether this one can be answered here; otherwise it has to take rmcp's way. `parts` is the
    /// head of the HTTP request that brought it.
    fn takes(&self, call: &PlainCall, parts: Option<&Parts>) -> bool;

    /// The reply to a call that is taken.
    fn answer(&self, call: PlainCall, parts: Option<Parts>, cancel: CancellationToken) -> Answer;
}

/// A reply to come, as it is sent.
pub(crate) type Answer = BoxFuture<'static, serde_json::Result<Vec<u8>>>;

/// The reply, if it can be had without waiting. Most can: their handlers never wait.
pub(crate) fn at_once(answer: &mut Answer) -> Option<serde_json::Result<Vec<u8>>> {
    answer.now_or_never()
}

/// A result with its structured content, which is JSON already, as the versions write it that had
/// handshakes: without the type that results have since.
pub(crate) fn written(
    id: &RequestId,
    result: &CallToolResult,
    structured: Option<&Json>,
) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(structured.map_or(0, |json| json.text().len()) + 4096);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    serde_json::to_writer(&mut out, id)?;
    out.extend_from_slice(br#","result":{"content":"#);
    serde_json::to_writer(&mut out, &result.content)?;
    if let Some(structured) = structured {
        out.extend_from_slice(br#","structuredContent":"#);
        out.extend_from_slice(structured.text().as_bytes());
    }
    if let Some(is_error) = result.is_error {
        out.extend_from_slice(br#","isError":"#);
        serde_json::to_writer(&mut out, &is_error)?;
    }
    if let Some(meta) = &result.meta {
        out.extend_from_slice(br#","_meta":"#);
        serde_json::to_writer(&mut out, meta)?;
    }
    out.extend_from_slice(b"}}");
    Ok(out)
}

/// The version a request without a handshake of its own is taken to speak, if it is one of those
/// that had handshakes.
pub(crate) fn stated_version(parts: &Parts) -> Option<ProtocolVersion> {
    let mut stated = parts.headers.get_all("mcp-protocol-version").iter();
    let Some(version) = stated.next() else { return Some(ProtocolVersion::V_2025_03_26) };
    ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25)
        .iter()
        .find(|known| version == known.as_str() && stated.next().is_none())
        .cloned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call<'a> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    params: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    name: String,
    arguments: Option<JsonObject>,
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
}

impl PlainCall {
    /// The call, if this is one and nothing else.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let Call { jsonrpc, id, method, params } = serde_json::from_slice(text).ok()?;
        if jsonrpc != "2.0" || method != METHOD {
            return None;
        }
        let Params { name, arguments, meta } = params;
        Some(Self { id, name, arguments, meta })
    }

    /// Whether the caller waits for the reply and for nothing before it, in a version of the
    /// protocol that says all else in its handshake.
    pub(crate) fn wants_only_a_reply(&self) -> bool {
        self.meta
            .iter()
            .flat_map(JsonObject::keys)
            .all(|key| key != "progressToken" && !key.starts_with(PROTOCOL_KEYS))
    }

    /// The same call for rmcp.
    pub(crate) fn into_message(self) -> ClientJsonRpcMessage {
        let mut call = CallToolRequestParams::new(self.name);
        call.arguments = self.arguments;
        let mut request = CallToolRequest::new(call);
        if let Some(meta) = self.meta {
            request.extensions.insert(RequestMetaObject::from(meta));
        }
        JsonRpcMessage::request(ClientRequest::CallToolRequest(request), self.id)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ContentBlock, MetaObject, ServerJsonRpcMessage, ServerResult};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reply_is_written_exactly_as_rmcp_writes_it() {
        let meta = json!({"panoply/audit": {"status": "ok"}}).as_object().cloned();
        let content = || vec![ContentBlock::text("one\n\"two\"")];
        let mut good = CallToolResult::success(content());
        good.meta = meta.map(MetaObject);
        let structured = Json::of(&json!({"b": [1.0, null], "a": "ก"})).unwrap();
        let cases = [
            (RequestId::Number(7), good, Some(structured)),
            (RequestId::String("q".into()), CallToolResult::success(content()), None),
            (RequestId::Number(-1), CallToolResult::error(content()), None),
        ];
        for (id, result, structured) in cases {
            let ours = written(&id, &result, structured.as_ref()).unwrap();
            let mut theirs = result;
            theirs.structured_content = structured.map(|structured| structured.value());
            let mut theirs = ServerResult::CallToolResult(theirs);
            theirs.strip_result_type_for_legacy_peer();
            let theirs: ServerJsonRpcMessage = JsonRpcMessage::response(theirs, id);
            assert_eq!(String::from_utf8(ours).unwrap(), serde_json::to_string(&theirs).unwrap());
        }
    }

    /// All there is in a message, the metadata in its extensions included.
    fn content(message: &ClientJsonRpcMessage) -> String {
        let JsonRpcMessage::Request(request) = message else { panic!("{message:?}") };
        let ClientRequest::CallToolRequest(call) = &request.request else { panic!("{message:?}") };
        let meta = call.extensions.get::<RequestMetaObject>();
        format!("{:?} {:?} {meta:?}", request.id, call.params)
    }

    #[test]
    fn a_call_is_read_exactly_as_rmcp_reads_it() {
        let cases = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"method":"tools/call","params":{"arguments":{"x":[1,2.5,null]},"name":"a"},"id":"q","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":-5,"method":"tools/call","params":{"name":"ก\n","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":null,"_meta":null}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":7,"traceparent":"00"}}}"#,
            r#"{"jsonrpc":"2.0","id":9223372036854775807,"method":"tools/call","params":{"name":"a","arguments":{"d":1,"d":2}}}"#,
        ];
        for text in cases {
            let theirs: ClientJsonRpcMessage = serde_json::from_str(text).unwrap();
            let ours = PlainCall::parse(text.as_bytes()).unwrap().into_message();
            assert_eq!(content(&ours), content(&theirs), "{text}");
        }
    }

    #[test]
    fn whatever_is_not_plainly_a_call_is_left_to_rmcp() {
        let cases = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","requestState":"s"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}} x"#,
        ];
        for text in cases {
            assert!(PlainCall::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_call_that_wants_more_than_a_reply_takes_the_long_way() {
        let of = |meta: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","_meta":{meta}}}}}"#
            );
            PlainCall::parse(text.as_bytes()).unwrap().wants_only_a_reply()
        };
        assert!(of("null") && of("{}") && of(r#"{"openai/locale":"th"}"#));
        assert!(!of(r#"{"progressToken":0}"#));
        assert!(!of(r#"{"a":1,"io.modelcontextprotocol/logLevel":"info"}"#));
    }
}
