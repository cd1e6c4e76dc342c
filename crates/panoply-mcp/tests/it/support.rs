//! Test clients for stdio and for HTTP over a plain socket.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use panoply_contract::clock::Clock;
use panoply_contract::testing::{FixedClock, noon};
use panoply_mcp::McpServer;
use panoply_mcp::auth::LocalOwner;
use panoply_mcp::observe::metrics;
use panoply_mcp::transport::LineLimits;
use panoply_mcp::transport::http::{HttpError, HttpOptions};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf,
    WriteHalf,
};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::fixture;

/// Generous: only a broken server reaches it.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn clock() -> Arc<FixedClock> {
    FixedClock::at(noon())
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(crate) fn call(id: u64, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

pub(crate) fn initialize(version: &str) -> Value {
    let client = json!({"name": "tester", "version": "7"});
    request(
        0,
        "initialize",
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}),
    )
}

/// A request of 2026-07-28, with the client information in `_meta`.
pub(crate) fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "7"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(id, method, params)
}

/// Client of a stdio session.
pub(crate) struct Session {
    pub(crate) input: Option<WriteHalf<DuplexStream>>,
    pub(crate) output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<()>,
}

pub(crate) fn session() -> Session {
    session_with(LineLimits::default())
}

pub(crate) fn session_with(limits: LineLimits) -> Session {
    let (ours, theirs) = tokio::io::duplex(1 << 18);
    let (input, output) = tokio::io::split(theirs);
    let stop = CancellationToken::new();
    let server = McpServer::new(fixture::kernel(clock()), "fixture");
    let stopping = stop.clone();
    let served =
        tokio::spawn(async move { server.serve_lines(input, output, limits, stopping).await });
    let (read, write) = tokio::io::split(ours);
    Session { input: Some(write), output: BufReader::new(read).lines(), stop, served }
}

impl Session {
    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &[u8]) {
        self.input.as_mut().unwrap().write_all(line).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(REPLY_TIMEOUT, self.output.next_line()).await;
        serde_json::from_str(&line.expect("a reply in time").unwrap().expect("a reply")).unwrap()
    }

    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.receive().await
    }

    pub(crate) async fn ended(self) {
        tokio::time::timeout(REPLY_TIMEOUT, self.served).await.expect("an end in time").unwrap();
    }
}

/// A server on a free port.
pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<()>,
}

pub(crate) async fn http(change: impl FnOnce(&mut HttpOptions)) -> Http {
    try_http(change).await.unwrap()
}

pub(crate) async fn try_http(change: impl FnOnce(&mut HttpOptions)) -> Result<Http, HttpError> {
    let clock: Arc<dyn Clock> = clock();
    let kernel = fixture::kernel(clock);
    let stop = CancellationToken::new();
    let mut options = HttpOptions::new("127.0.0.1:0".parse().unwrap(), Arc::new(LocalOwner));
    let counted = Arc::clone(&kernel);
    options.metrics = Arc::new(move || metrics::render(&counted));
    change(&mut options);
    let server = McpServer::new(kernel, "fixture").bind_http(options, stop.clone()).await?;
    let address = server.address();
    Ok(Http { address, stop, served: tokio::spawn(server.serve()) })
}

/// A complete reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter(|data| !data.trim().is_empty())
            .map(|data| serde_json::from_str(data.trim()).unwrap())
            .collect()
    }
}

impl Http {
    /// Sends a raw request and reads the reply until the server closes.
    pub(crate) async fn send_raw(&self, head_and_body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(head_and_body).await.unwrap();
        let mut reply = Vec::new();
        tokio::time::timeout(REPLY_TIMEOUT, stream.read_to_end(&mut reply))
            .await
            .expect("a reply in time")
            .unwrap();
        parse_reply(&reply)
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str("Host: localhost\r\n");
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.send_raw(&bytes).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"").await
    }

    pub(crate) async fn post(&self, path: &str, extra: &[(&str, &str)], message: &Value) -> Reply {
        let mut headers = vec![("Content-Type", "application/json")];
        if !extra.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept")) {
            headers.push(("Accept", "application/json, text/event-stream"));
        }
        headers.extend_from_slice(extra);
        self.send("POST", path, &headers, message.to_string().as_bytes()).await
    }
}

fn parse_reply(bytes: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no reply: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let chunked = headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked");
    let body = if chunked { unchunk(body) } else { body.to_owned() };
    Reply { status, headers, body }
}

fn unchunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    whole
}
