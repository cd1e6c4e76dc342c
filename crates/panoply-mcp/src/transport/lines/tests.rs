//! Tests of the line transport, with and without rmcp in the path of a call.

use super::*;
use crate::dispatch::{Completed, Dispatched};
use http::request::Parts;
use panoply_contract::consent::Elicitor;
use panoply_contract::context::Caller;
use panoply_contract::meta::Meta;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
};
use rmcp::service::{RequestContext, serve_directly};
use serde_json::{Value, json};
use std::collections::HashSet;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::Notify;

/// Answers `echo` at once, and `wait` when `go` is notified.
#[derive(Clone, Default)]
struct Fixture {
    go: Arc<Notify>,
}

impl ServerHandler for Fixture {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "wait" {
            self.go.notified().await;
        }
        let text = request.arguments.map(|arguments| Value::Object(arguments).to_string());
        Ok(CallToolResult::success(vec![ContentBlock::text(text.unwrap_or_default())]).into())
    }
}

/// The same tools on the fast path, if enabled.
struct FastPath {
    taken: bool,
    go: Arc<Notify>,
}

impl AnswerToolCalls for FastPath {
    fn accepts(&self, _call: &ToolCall, _parts: Option<&Parts>) -> bool {
        self.taken
    }

    fn answer(
        &self,
        call: ToolCall,
        _: Option<Parts>,
        cancel: CancellationToken,
        _: Option<Arc<dyn Elicitor>>,
    ) -> Answer {
        let go = Arc::clone(&self.go);
        Box::pin(async move {
            if call.name == "wait" {
                tokio::select! {
                    () = go.notified() => {}
                    () = cancel.cancelled() => {}
                }
            }
            let text = call.arguments.map(|arguments| Value::Object(arguments).to_string());
            let content = vec![ContentBlock::text(text.unwrap_or_default())];
            let result = CallToolResult::success(content);
            let meta = Meta::default();
            let completed = Completed { result, structured: None, meta };
            Dispatched::Complete(completed).to_message(&call.id)
        })
    }

    fn missing_scopes(&self, _tool: &str, _caller: &Caller) -> Vec<&'static str> {
        Vec::new()
    }
}

struct Peer {
    input: Option<WriteHalf<DuplexStream>>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    go: Arc<Notify>,
    served: JoinHandle<()>,
}

/// Both paths must be indistinguishable for the peer.
fn with_and_without_rmcp(limits: LineLimits) -> [Peer; 2] {
    [connect(limits, false), connect(limits, true)]
}

fn connect(limits: LineLimits, taken: bool) -> Peer {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(theirs);
    let (stop, ending) = (CancellationToken::new(), CancellationToken::new());
    let fixture = Fixture::default();
    let go = Arc::clone(&fixture.go);
    let fast_path = Arc::new(FastPath { taken, go: Arc::clone(&go) });
    let transport = LineTransport::new(read, write, limits, fast_path, stop, ending);
    let served = tokio::spawn(async move {
        serve_directly(fixture, transport, None).waiting().await.unwrap();
    });
    let (read, write) = tokio::io::split(ours);
    Peer { input: Some(write), output: BufReader::new(read).lines(), go, served }
}

impl Peer {
    async fn send(&mut self, text: impl AsRef<[u8]>) {
        self.input.as_mut().unwrap().write_all(text.as_ref()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(30), self.output.next_line());
        serde_json::from_str(&line.await.unwrap().unwrap().unwrap()).unwrap()
    }
}

fn call(id: u32, tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"n": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string() + "\n"
}

fn code_and_id(reply: &Value) -> (i64, Value) {
    (reply["error"]["code"].as_i64().unwrap_or_default(), reply["id"].clone())
}

#[tokio::test]
async fn overlong_line_is_refused_with_its_id_and_skipped() {
    for mut peer in with_and_without_rmcp(LineLimits { line: 1000, in_flight: 4 }) {
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"a":"{}"}}}}"#,
            "x".repeat(50_000)
        );
        peer.send(&long).await;
        peer.send("\n").await;
        peer.send(call(6, "echo")).await;
        assert_eq!(code_and_id(&peer.receive().await), (-32600, json!(5)));
        assert_eq!(peer.receive().await["id"], 6);
    }
}

#[tokio::test]
async fn an_id_in_flight_is_refused_until_it_is_answered() {
    for mut peer in with_and_without_rmcp(LineLimits::default()) {
        peer.send(call(1, "wait") + &call(1, "echo")).await;
        assert_eq!(code_and_id(&peer.receive().await), (-32600, json!(1)));
        peer.go.notify_one();
        assert_eq!(peer.receive().await["id"], 1);
        peer.send(call(1, "echo")).await;
        assert_eq!(peer.receive().await["id"], 1);
    }
}

#[tokio::test]
async fn a_cancelled_id_may_be_used_again() {
    for mut peer in with_and_without_rmcp(LineLimits::default()) {
        peer.send(call(1, "wait")).await;
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        peer.send(format!("{cancel}\n")).await;
        peer.send(call(1, "wait")).await;
        peer.send(call(2, "echo")).await;
        assert_eq!(peer.receive().await["id"], 2);
        peer.go.notify_waiters();
        assert_eq!(peer.receive().await["id"], 1);
        peer.send(call(1, "echo")).await;
        assert_eq!(peer.receive().await["result"]["content"][0]["text"], r#"{"n":1}"#);
    }
}

#[tokio::test]
async fn requests_over_the_in_flight_limit_are_all_answered() {
    for mut peer in with_and_without_rmcp(LineLimits { line: 1000, in_flight: 2 }) {
        let mut input = peer.input.take().unwrap();
        tokio::spawn(async move {
            for id in 0..500 {
                input.write_all(call(id, "echo").as_bytes()).await.unwrap();
            }
        });
        let mut answered = HashSet::new();
        for _ in 0..500 {
            answered.insert(peer.receive().await["id"].as_u64().unwrap());
        }
        assert_eq!(answered.len(), 500);
    }
}

#[tokio::test]
async fn last_line_without_line_feed_is_answered_before_the_session_ends() {
    for mut peer in with_and_without_rmcp(LineLimits::default()) {
        peer.send(call(1, "wait") + call(2, "echo").trim_end()).await;
        peer.input.take().unwrap().shutdown().await.unwrap();
        assert_eq!(peer.receive().await["id"], 2);
        peer.go.notify_one();
        assert_eq!(peer.receive().await["id"], 1);
        peer.served.await.unwrap();
    }
}

#[tokio::test]
async fn a_closed_output_ends_the_session() {
    for mut peer in with_and_without_rmcp(LineLimits::default()) {
        let mut input = peer.input.take().unwrap();
        drop(peer.output);
        // Both halves share the pipe: a write fails only when both are closed.
        input.write_all(call(1, "echo").as_bytes()).await.unwrap();
        drop(input);
        tokio::time::timeout(Duration::from_secs(30), peer.served).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn errors_omit_the_id_once_a_new_protocol_version_is_agreed() {
    for mut peer in with_and_without_rmcp(LineLimits::default()) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        peer.send(format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        ))
        .await;
        assert_eq!(peer.receive().await["result"]["protocolVersion"], "2025-11-25");
        peer.send("{\n").await;
        assert_eq!(peer.receive().await.get("id"), None);
    }
}
