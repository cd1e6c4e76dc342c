//! Reads `tools/call`, which is nearly every message, without a detour.
//!
//! rmcp's untagged enums try each of twenty other requests first and write an error message for
//! every miss: three quarters of the time it takes to read a call. What is not plainly a call is
//! left to them, so that nothing is judged here.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, JsonObject,
    JsonRpcMessage, RequestId, RequestMetaObject,
};
use serde::Deserialize;

const METHOD: &str = "tools/call";

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

/// The call, if this is one and nothing else.
pub(super) fn parse(text: &[u8]) -> Option<ClientJsonRpcMessage> {
    let Call { jsonrpc, id, method, params } = serde_json::from_slice(text).ok()?;
    if jsonrpc != "2.0" || method != METHOD {
        return None;
    }
    let mut call = CallToolRequestParams::new(params.name);
    call.arguments = params.arguments;
    let mut request = CallToolRequest::new(call);
    if let Some(meta) = params.meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }
    Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let ours = parse(text.as_bytes()).unwrap();
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
            assert!(parse(text.as_bytes()).is_none(), "{text}");
        }
    }
}
