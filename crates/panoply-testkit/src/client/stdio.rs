//! An MCP client on the standard streams of a process it starts.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::PATIENCE;
use super::process::{Ended, Process};

/// Talks line by line to a server it started; the server is killed when this is dropped.
///
/// ```no_run
/// # use std::process::Command;
/// # use panoply_testkit::client::StdioClient;
/// # use serde_json::json;
/// let mut server = StdioClient::spawn(Command::new("panoply").arg("stdio"));
/// server.initialize("2025-11-25");
/// let reply = server.call_tool("search-tools", json!({"query": "fund"}));
/// assert_eq!(reply["isError"], json!(false));
/// assert!(server.end().status.success());
/// ```
#[derive(Debug)]
pub struct StdioClient {
    process: Process,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    next_id: u64,
    /// What the server said on its own account while we waited for a reply.
    pub unasked: Vec<Value>,
}

impl StdioClient {
    /// Starts the server. The streams of `command` are replaced.
    pub fn spawn(command: &mut Command) -> Self {
        let mut process = Process::spawn(command);
        let input = process.child.stdin.take();
        let (sender, lines) = channel();
        if let Some(stdout) = process.child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Self { process, input, lines, next_id: 1, unasked: Vec::new() }
    }

    /// Shakes hands for the versions before 2026-07-28 and gives the server's answer.
    pub fn initialize(&mut self, protocol_version: &str) -> Value {
        let result = self.result(
            "initialize",
            json!({
                "protocolVersion": protocol_version,
                "capabilities": {},
                "clientInfo": {"name": "panoply-testkit", "version": "1.0.0"},
            }),
        );
        self.notify("notifications/initialized", json!({}));
        result
    }

    /// Calls a tool and gives its result; a JSON-RPC error fails the test.
    pub fn call_tool(&mut self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Sends a request and gives the `result` of its reply; a JSON-RPC error fails the test.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut reply = self.request(method, params);
        match reply.get_mut("result") {
            Some(result) => result.take(),
            None => panic!("`{method}` was answered with {reply}"),
        }
    }

    /// Sends a request and gives the whole reply, `result` or `error`.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.next();
            if message.get("id") == Some(&json!(id)) && message.get("method").is_none() {
                return message;
            }
            self.unasked.push(message);
        }
    }

    /// Sends a notification, which has no reply.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends one message as one line.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    /// Sends bytes as they are; the line feed is yours to add.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is closed already");
        let sent = input.write_all(bytes).and_then(|()| input.flush());
        if let Err(error) = sent {
            panic!("the server does not read: {error}; its log:\n{}", self.log());
        }
    }

    /// The next message. A line that is not JSON fails the test: standard output is the protocol's.
    #[expect(clippy::should_implement_trait, reason = "it never ends with None")]
    pub fn next(&mut self) -> Value {
        match self.next_within(PATIENCE) {
            Some(message) => message,
            None => panic!("no message within {PATIENCE:?}; the log:\n{}", self.log()),
        }
    }

    /// The next message, or `None` when the server stays silent for that long or has ended.
    pub fn next_within(&mut self, patience: Duration) -> Option<Value> {
        let line = match self.lines.recv_timeout(patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        match serde_json::from_slice(&line) {
            Ok(message) => Some(message),
            Err(error) => panic!(
                "a line on standard output is not JSON ({error}): {}",
                String::from_utf8_lossy(&line)
            ),
        }
    }

    /// What the server has logged so far.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// The server's process id.
    pub fn id(&self) -> u32 {
        self.process.child.id()
    }

    /// Sends a signal by its short name, such as `TERM`.
    pub fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// Closes the server's standard input, as a client does that goes away.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the server to end by itself.
    pub fn wait(&mut self) -> Ended {
        self.process.wait(PATIENCE)
    }

    /// Closes the input and waits for the end.
    pub fn end(&mut self) -> Ended {
        self.close_input();
        self.wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cat` echoes requests, so it looks like a server that only asks.
    fn echo() -> StdioClient {
        StdioClient::spawn(&mut Command::new("cat"))
    }

    #[test]
    fn what_is_sent_comes_back_line_by_line() {
        let mut client = echo();
        client.notify("one", json!({}));
        client.send_raw(b"{\"two\":2}\n");
        assert_eq!(client.next()["method"], "one");
        assert_eq!(client.next(), json!({"two": 2}));
        assert_eq!(client.next_within(Duration::from_millis(20)), None);
        assert!(client.end().status.success());
    }

    #[test]
    fn a_reply_is_told_from_a_request_with_the_same_id() {
        let mut client = echo();
        // The echo of our own request comes first, then this reply, sent ahead of time.
        client.next_id = 7;
        client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"ok\":true}}\n");
        assert_eq!(client.result("ping", json!({})), json!({"ok": true}));
    }

    #[test]
    #[should_panic(expected = "is not JSON")]
    fn a_stray_line_on_standard_output_fails_the_test() {
        let mut client = echo();
        client.send_raw(b"starting up...\n");
        client.next();
    }

    #[test]
    fn a_signal_ends_it_and_the_end_is_timed() {
        let mut client = echo();
        client.signal("TERM");
        let ended = client.wait();
        assert_eq!(ended.status.code(), None, "cat has no handler, so it dies of the signal");
        assert!(ended.took < PATIENCE);
    }

    #[test]
    fn the_log_is_what_went_to_standard_error() {
        let mut client = StdioClient::spawn(Command::new("sh").args(["-c", "echo hello >&2"]));
        client.end();
        for _ in 0..500 {
            if client.log() == "hello\n" {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the log is {:?}", client.log());
    }
}
