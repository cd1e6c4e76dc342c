//! A small blocking HTTP/1.1 client and a server process to talk to.
//!
//! One connection a request, so that a test controls every byte and no pool hides a fault.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;

use serde_json::{Value, json};

use super::PATIENCE;
use super::process::{Ended, Log, Process};

/// Talks to one address.
#[derive(Clone, Debug)]
pub struct HttpClient {
    address: String,
    headers: Vec<(String, String)>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct HttpReply {
    /// The status code.
    pub status: u16,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// The body without its transfer coding.
    pub body: Vec<u8>,
}

/// A server process that says its URL when it is ready.
#[derive(Debug)]
pub struct HttpServer {
    process: Process,
    output: Log,
    /// `host:port`, as the server said it.
    pub address: String,
}

impl HttpServer {
    /// Starts the server and waits until a line on standard output or error names its URL.
    pub fn spawn(command: &mut Command) -> Self {
        let mut process = Process::spawn_unread(command);
        let (sender, lines) = channel();
        let output = Log::default();
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            process.child.stdout.take().map(|stream| Box::new(stream) as _),
            process.child.stderr.take().map(|stream| Box::new(stream) as _),
        ];
        for stream in streams.into_iter().flatten() {
            let (sender, output) = (sender.clone(), output.clone());
            thread::spawn(move || {
                for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                    let line = String::from_utf8_lossy(&line).into_owned();
                    output.append_line(&line);
                    // Nobody listens any more once the address is known; we go on to drain.
                    let _ = sender.send(line);
                }
            });
        }
        drop(sender);
        loop {
            let Ok(line) = lines.recv_timeout(PATIENCE) else {
                panic!("the server named no URL; it said:\n{}", output.text());
            };
            if let Some(address) = address_in(&line) {
                return Self { process, output, address };
            }
        }
    }

    /// A client for this server.
    pub fn client(&self) -> HttpClient {
        HttpClient::new(&self.address)
    }

    /// What the server has said so far on both streams.
    pub fn log(&self) -> String {
        self.output.text()
    }

    /// The server's process id.
    pub fn id(&self) -> u32 {
        self.process.child.id()
    }

    /// Sends a signal by its short name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// Waits for the server to end by itself.
    pub fn wait(&mut self) -> Ended {
        self.process.wait(PATIENCE)
    }
}

impl HttpClient {
    /// For `host:port`.
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned(), headers: Vec::new() }
    }

    /// Sends this header with every request from now on.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Gets a page.
    pub fn get(&self, path: &str) -> HttpReply {
        self.request("GET", path, &[], b"")
    }

    /// Gets a page of a server that may not run; `None` if it does not answer.
    pub fn try_get(&self, path: &str) -> Option<HttpReply> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        HttpReply::parse(&answer)
    }

    /// Posts one JSON-RPC request of the versions before 2026-07-28 and gives the reply to it.
    pub fn rpc(&self, path: &str, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let reply = self.post(path, &request);
        let found = reply.messages().into_iter().find(|message| message["id"] == json!(1));
        found
            .unwrap_or_else(|| panic!("`{method}` was answered {}: {}", reply.status, reply.text()))
    }

    /// Posts JSON as an MCP client does.
    pub fn post(&self, path: &str, body: &Value) -> HttpReply {
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        self.request("POST", path, &headers, body.to_string().as_bytes())
    }

    /// Sends any request. A header given here replaces the one of the same name that we would send.
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> HttpReply {
        let length = body.len().to_string();
        let defaults = [
            ("host", self.address.as_str()),
            ("connection", "close"),
            ("content-length", length.as_str()),
        ];
        let kept = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut all: Vec<(&str, &str)> = Vec::new();
        for (name, value) in headers.iter().copied().chain(kept).chain(defaults) {
            if !all.iter().any(|(taken, _)| taken.eq_ignore_ascii_case(name)) {
                all.push((name, value));
            }
        }
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in all {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let raw = self.exchange(&[head.as_bytes(), body].concat());
        HttpReply::parse(&raw)
            .unwrap_or_else(|| panic!("not HTTP: {}", String::from_utf8_lossy(&raw)))
    }

    /// Sends bytes as they are and gives everything the server says until it closes.
    pub fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address)
            .unwrap_or_else(|error| panic!("cannot connect to {}: {error}", self.address));
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out can be set");
        // A server that refuses a large body may stop reading: its answer is what matters.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            assert!(!answer.is_empty(), "no answer from {}: {error}", self.address);
        }
        answer
    }
}

impl HttpReply {
    /// The value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; anything else fails the test.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}), {}: {}", self.status, self.text()))
    }

    /// The JSON-RPC messages of the body, whether it is one JSON document or a stream of events.
    pub fn messages(&self) -> Vec<Value> {
        if !self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return vec![self.json()];
        }
        let text = self.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }

    pub(crate) fn parse(raw: &[u8]) -> Option<Self> {
        let end = raw.windows(4).position(|window| window == b"\r\n\r\n")?;
        let (head, body) = raw.split_at_checked(end + 4)?;
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let chunked =
            headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if chunked { unchunk(body)? } else { body.to_vec() };
        Some(Self { status, headers, body })
    }
}

/// Takes the chunk sizes out of a chunked body (RFC 9112 §7.1).
fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n")?;
        let (size, after) = rest.split_at_checked(end)?;
        let size = std::str::from_utf8(size).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        let (chunk, after) = after.get(2..)?.split_at_checked(size)?;
        body.extend_from_slice(chunk);
        rest = after.get(2..)?;
    }
}

/// `host:port` of the first `http://` URL of a line.
fn address_in(line: &str) -> Option<String> {
    let (_, after) = line.split_once("http://")?;
    let address: String =
        after.chars().take_while(|c| !matches!(c, '/' | ' ' | '"' | '\'' | '`' | ',')).collect();
    address.contains(':').then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunked_body_is_put_together() {
        let raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            5\r\nhello\r\n6;x=1\r\n world\r\n0\r\n\r\n";
        let reply = HttpReply::parse(raw).unwrap();
        assert_eq!((reply.status, reply.text().as_str()), (200, "hello world"));
        assert_eq!(reply.header("TRANSFER-encoding"), Some("chunked"));
    }

    #[test]
    fn events_and_documents_give_the_same_messages() {
        let document = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"id\":1}";
        let events =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hi\n\ndata: {\"id\":1}\n\n";
        for raw in [&document[..], &events[..]] {
            assert_eq!(HttpReply::parse(raw).unwrap().messages(), [json!({"id": 1})]);
        }
    }

    #[test]
    fn what_is_not_http_is_not_taken_for_it() {
        for raw in ["", "HTTP/1.1 200 OK\r\n", "SSH-2.0\r\n\r\n"] {
            assert!(HttpReply::parse(raw.as_bytes()).is_none(), "input: {raw:?}");
        }
    }

    #[test]
    fn the_address_is_found_in_what_a_server_prints() {
        let cases = [
            ("listening on http://127.0.0.1:8642/mcp", Some("127.0.0.1:8642")),
            (r#"{"url":"http://[::1]:80"}"#, Some("[::1]:80")),
            ("see http://example.com", None),
            ("nothing", None),
        ];
        for (line, expected) in cases {
            assert_eq!(address_in(line).as_deref(), expected, "line: {line}");
        }
    }

    #[test]
    fn a_request_reaches_a_server_with_the_headers_of_the_caller() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut seen = [0; 2048];
            let length = stream.read(&mut seen).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            String::from_utf8_lossy(&seen[..length]).into_owned()
        });
        let client = HttpClient::new(&address).with_header("x-key", "k");
        let reply = client.request("PUT", "/x", &[("host", "evil.example")], b"");
        assert_eq!(reply.status, 204);
        let seen = server.join().unwrap();
        assert!(
            seen.starts_with("PUT /x HTTP/1.1\r\nhost: evil.example\r\nx-key: k\r\n"),
            "{seen}"
        );
        assert_eq!(seen.matches("host:").count(), 1);
    }

    #[test]
    fn a_server_is_ready_when_it_names_its_url() {
        let script = "echo starting; echo 'on http://127.0.0.1:9/mcp' >&2; cat";
        let mut server = HttpServer::spawn(Command::new("sh").args(["-c", script]));
        assert_eq!(server.address, "127.0.0.1:9");
        server.signal("TERM");
        assert!(!server.wait().status.success());
    }
}
