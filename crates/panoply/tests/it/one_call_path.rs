//! Every tool with a widget returns the same result over every transport and protocol version.
//!
//! The tools run over the sample data. stdio and HTTP are served in this process, because only an
//! in-memory home has that data.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply::app::App;
use panoply::config::Config;
use panoply::env_vars::Environment;
use panoply_contract::kernel::Kernel;
use panoply_contract::spec::Expect;
use panoply_mcp::McpServer;
use panoply_mcp::auth::LocalOwner;
use panoply_mcp::transport::LineLimits;
use panoply_mcp::transport::http::HttpOptions;
use panoply_testkit::client::HttpClient;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Fixed, because the trace id is part of a reply.
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const MODERN: &str = "2026-07-28";

/// A tool with a widget, the widget URI, and valid arguments.
struct Sample {
    tool: &'static str,
    page: &'static str,
    arguments: Value,
}

fn samples(kernel: &Kernel) -> Vec<Sample> {
    let entries = kernel.registry().get_all().iter();
    entries
        .filter_map(|entry| {
            let page = entry.spec.widget?.resource_uri;
            let mut examples = entry.spec.examples.iter();
            let good = examples.find(|example| matches!(example.expect, Expect::Data(_)));
            let good = good.unwrap_or_else(|| panic!("{} shows no success", entry.spec.name));
            let arguments = serde_json::from_str(good.params).unwrap();
            Some(Sample { tool: entry.spec.name, page, arguments })
        })
        .collect()
}

/// Transport and metadata of a call.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Carrier {
    Lines,
    LinesWithProgress,
    LinesModern,
    Http,
    HttpWithProgress,
    HttpAsEvents,
    HttpModern,
}

const CARRIERS: [Carrier; 7] = [
    Carrier::Lines,
    Carrier::LinesWithProgress,
    Carrier::LinesModern,
    Carrier::Http,
    Carrier::HttpWithProgress,
    Carrier::HttpAsEvents,
    Carrier::HttpModern,
];

impl Carrier {
    fn is_modern(self) -> bool {
        matches!(self, Self::LinesModern | Self::HttpModern)
    }

    fn request(self, id: usize, sample: &Sample) -> Value {
        let mut meta = json!({"traceparent": TRACE});
        match self {
            Self::Lines | Self::Http => {}
            Self::LinesWithProgress | Self::HttpWithProgress => meta["progressToken"] = json!(id),
            Self::HttpAsEvents => meta["io.modelcontextprotocol/logLevel"] = json!("debug"),
            Self::LinesModern | Self::HttpModern => {
                meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
                meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "t", "version": "1"});
                meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            }
        }
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": sample.tool, "arguments": sample.arguments, "_meta": meta,
        }})
    }

    /// Calls every sample on a new server, so that all calls see the same data.
    fn results(self) -> BTreeMap<&'static str, Value> {
        let config = Config::load(&Environment::default(), None).unwrap();
        let app = App::in_memory(&config).unwrap();
        let server = McpServer::new(app.kernel.clone(), "panoply");
        let samples = samples(&app.kernel);
        let runtime = Runtime::new().unwrap();
        let messages = match self {
            Self::Lines | Self::LinesWithProgress | Self::LinesModern => {
                runtime.block_on(self.over_lines(&server, &samples))
            }
            Self::Http | Self::HttpWithProgress | Self::HttpAsEvents | Self::HttpModern => {
                self.over_http(&runtime, &server, &samples)
            }
        };
        let tools = samples.iter().map(|sample| sample.tool);
        tools.zip(messages.into_iter().map(|message| self.comparable(message))).collect()
    }

    async fn over_lines(self, server: &McpServer, samples: &[Sample]) -> Vec<Value> {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let server = server.clone();
        tokio::spawn(async move {
            let limits = LineLimits::default();
            server.serve_lines(input, output, limits, CancellationToken::new()).await;
        });
        let (read, mut write) = tokio::io::split(ours);
        let mut lines = BufReader::new(read).lines();
        if !self.is_modern() {
            let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            }});
            write.write_all(format!("{hello}\n").as_bytes()).await.unwrap();
            lines.next_line().await.unwrap().unwrap();
        }
        let mut replies = Vec::new();
        for (id, sample) in samples.iter().enumerate() {
            let request = format!("{}\n", self.request(id, sample));
            write.write_all(request.as_bytes()).await.unwrap();
            replies.push(loop {
                let line = lines.next_line().await.unwrap().unwrap();
                let message: Value = serde_json::from_str(&line).unwrap();
                if message.get("id") == Some(&json!(id)) {
                    break message;
                }
            });
        }
        replies
    }

    fn over_http(self, runtime: &Runtime, server: &McpServer, samples: &[Sample]) -> Vec<Value> {
        let options = HttpOptions::new("127.0.0.1:0".parse().unwrap(), Arc::new(LocalOwner));
        let bound = runtime.block_on(server.bind_http(options, CancellationToken::new())).unwrap();
        let client = HttpClient::new(&bound.address().to_string());
        runtime.spawn(bound.serve());
        let version = if self.is_modern() { MODERN } else { "2025-11-25" };
        let client =
            client.with_header("mcp-protocol-version", version).with_header("user-agent", "t/1");
        let reply = |(id, sample): (usize, &Sample)| {
            let client = client.clone();
            let client =
                client.with_header("mcp-method", "tools/call").with_header("mcp-name", sample.tool);
            let reply = client.post("/mcp", &self.request(id, sample));
            let is_stream = reply.header("content-type") == Some("text/event-stream");
            assert_eq!(is_stream, self == Self::HttpAsEvents, "{self:?} {}", sample.tool);
            let last = reply.messages().pop();
            last.unwrap_or_else(|| panic!("{self:?} {}: {}", sample.tool, reply.text()))
        };
        samples.iter().enumerate().map(reply).collect()
    }

    /// The result without values that differ between calls or protocol versions.
    fn comparable(self, mut message: Value) -> Value {
        let mut result = message["result"].take();
        assert_eq!(result["isError"], json!(false), "{self:?}: {message} {result}");
        if self.is_modern() {
            let kind = result.as_object_mut().unwrap().shift_remove("resultType");
            assert_eq!(kind, Some(json!("complete")));
        }
        // The second block repeats the structured content, which is compared below.
        let repeated = result["content"].as_array_mut().unwrap().remove(1);
        let repeated: Value = serde_json::from_str(repeated["text"].as_str().unwrap()).unwrap();
        assert_eq!(repeated, result["structuredContent"], "{self:?}");
        without_times(&mut result);
        result
    }
}

/// Removes durations and values derived from the time of the call: tokens, mutation ids, hashes.
const VOLATILE: [&str; 7] = [
    "latency_ms",
    "executionTime",
    "queryTimeMs",
    "estimatedImpact",
    "token",
    "actionId",
    "out_hash",
];

fn without_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if VOLATILE.contains(&name.as_str()) {
                    *member = Value::Null;
                }
                without_times(member);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        Value::String(text) => {
            let is_time = |word: &str| word.trim_matches(['.', ',']).parse::<jiff::Timestamp>();
            let words = text.split(' ').map(|word| is_time(word).map_or(word, |_| "TIME"));
            *text = words.collect::<Vec<_>>().join(" ");
        }
        _ => {}
    }
}

#[test]
fn widget_tools_return_the_same_result_over_every_transport() {
    let expected = CARRIERS[0].results();
    let config = Config::load(&Environment::default(), None).unwrap();
    let kernel = App::in_memory(&config).unwrap().kernel;
    for Sample { tool, page, .. } in samples(&kernel) {
        let meta = &expected[tool]["_meta"];
        assert_eq!(meta["ui"]["resourceUri"], page, "{tool}");
        assert!(meta["openai/outputTemplate"].is_string(), "{tool}: {meta}");
    }
    let packs: std::collections::BTreeSet<&str> = kernel
        .registry()
        .get_all()
        .iter()
        .filter(|e| e.spec.widget.is_some())
        .map(|e| e.pack)
        .collect();
    assert_eq!(packs.len(), 5, "every pack has pages: {packs:?}");
    let mut differences = Vec::new();
    for carrier in &CARRIERS[1..] {
        let results = carrier.results();
        for (tool, expected) in &expected {
            let text = |value: &Value| serde_json::to_string_pretty(value).unwrap();
            let (found, expected) = (text(&results[tool]), text(expected));
            let mut lines = found.lines().zip(expected.lines());
            if found != expected {
                let line = lines.find(|(found, expected)| found != expected);
                differences.push(format!("{tool} over {carrier:?}: {line:?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
