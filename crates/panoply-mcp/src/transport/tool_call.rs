//! Parsing of `tools/call`, and the fast path without rmcp.
//!
//! rmcp reads a message through untagged enums, which try each of twenty other requests first, and
//! answers it through three tasks and two queues, which notifications and requests to the client
//! need. A call that needs neither is parsed directly into its type and answered where it was
//! read. Any other message is left to rmcp, so that this module rejects nothing.
//! Both paths call [`crate::dispatch::dispatch`]; docs/adr/0005 has the measurements.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use http::request::Parts;
use panoply_contract::consent::Elicitor;
use panoply_contract::context::Caller;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, JsonObject,
    JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject,
};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::elicit;

const METHOD: &str = "tools/call";
/// Since 2026-07-28 a request states protocol version and client capabilities under keys of this
/// prefix. rmcp validates them.
const PROTOCOL_KEYS: &str = "io.modelcontextprotocol/";

/// One `tools/call`.
#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) id: RequestId,
    pub(crate) name: String,
    pub(crate) arguments: Option<JsonObject>,
    pub(crate) meta: Option<JsonObject>,
}

/// The fast path: answers calls without rmcp.
pub(crate) trait AnswerToolCalls {
    /// Whether the fast path can answer this call. `parts` is the head of its HTTP request.
    fn accepts(&self, call: &ToolCall, parts: Option<&Parts>) -> bool;

    /// Whether this call may elicit and the client supports it.
    fn may_elicit(&self, _call: &ToolCall, _parts: Option<&Parts>) -> bool {
        false
    }

    /// Whether elicitation is enabled.
    fn can_elicit(&self) -> bool {
        false
    }

    /// Answers an accepted call. `elicitor` is the transport's channel to the user.
    fn answer(
        &self,
        call: ToolCall,
        parts: Option<Parts>,
        cancel: CancellationToken,
        elicitor: Option<Arc<dyn Elicitor>>,
    ) -> Answer;

    /// Permissions of the tool that the caller lacks; none for a tool that is not in scope.
    fn missing_scopes(&self, tool: &str, caller: &Caller) -> Vec<&'static str>;
}

/// Future of an encoded reply.
pub(crate) type Answer = BoxFuture<'static, serde_json::Result<Vec<u8>>>;

/// Polls once: most handlers never wait, so the reply is ready.
pub(crate) fn poll_once(answer: &mut Answer) -> Option<serde_json::Result<Vec<u8>>> {
    answer.now_or_never()
}

/// Returns the protocol version that an HTTP request states, if it is a version with handshake.
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

impl ToolCall {
    /// Parses a plain `tools/call`; `None` for anything else.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let Call { jsonrpc, id, method, params } = serde_json::from_slice(text).ok()?;
        if jsonrpc != "2.0" || method != METHOD {
            return None;
        }
        let Params { name, arguments, meta } = params;
        Some(Self { id, name, arguments, meta })
    }

    /// Whether the call needs only a reply, without notifications, in a version with handshake.
    pub(crate) fn wants_only_a_reply(&self) -> bool {
        self.meta
            .iter()
            .flat_map(JsonObject::keys)
            .all(|key| key != "progressToken" && !key.starts_with(PROTOCOL_KEYS))
    }

    /// Whether the request states a version without handshake.
    pub(crate) fn is_stateless(&self) -> bool {
        self.meta.iter().flat_map(JsonObject::keys).any(|key| key.starts_with(PROTOCOL_KEYS))
    }

    /// Whether the request itself announces form support.
    pub(crate) fn announces_forms(&self) -> bool {
        let meta = self.meta.as_ref().filter(|_| self.is_stateless());
        let capabilities = meta.cloned().map(RequestMetaObject::from);
        let capabilities = capabilities.and_then(|meta| meta.client_capabilities());
        capabilities.as_ref().is_some_and(elicit::supports_forms)
    }

    /// Converts to the rmcp message.
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
    use super::*;

    /// The whole content of a message, including the metadata in its extensions.
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
            let ours = ToolCall::parse(text.as_bytes()).unwrap().into_message();
            assert_eq!(content(&ours), content(&theirs), "{text}");
        }
    }

    #[test]
    fn anything_but_a_plain_call_is_left_to_rmcp() {
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
            assert!(ToolCall::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn call_that_needs_notifications_is_left_to_rmcp() {
        let of = |meta: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","_meta":{meta}}}}}"#
            );
            ToolCall::parse(text.as_bytes()).unwrap().wants_only_a_reply()
        };
        assert!(of("null") && of("{}") && of(r#"{"openai/locale":"th"}"#));
        assert!(!of(r#"{"progressToken":0}"#));
        assert!(!of(r#"{"a":1,"io.modelcontextprotocol/logLevel":"info"}"#));
    }
}
