//! Process tests: every way in which a client ends a server leads to status 0.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{REPLY_TIMEOUT, call, initialize};

/// `examples/stdio_fixture.rs`, which cargo builds with the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built =
        tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples/stdio_fixture");
    assert!(
        built.exists(),
        "{} is missing; run the tests by `cargo test` or nextest",
        built.display()
    );
    built
}

struct Server {
    child: Child,
    output: Option<BufReader<std::process::ChildStdout>>,
}

fn start() -> Server {
    start_with(Stdio::piped())
}

fn start_with(input: Stdio) -> Server {
    let mut command = Command::new(program());
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    let output = child.stdout.take().map(BufReader::new);
    Server { child, output }
}

impl Server {
    fn send(&mut self, message: &Value) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    fn ended(&mut self) -> ExitStatus {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(waited < REPLY_TIMEOUT, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
            waited += Duration::from_millis(10);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Matters only after a failed test.
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().unwrap();
    assert!(sent.success(), "kill -{name} {pid}");
}

#[test]
fn closing_stdin_ends_the_server_before_and_after_the_first_request() {
    let mut silent = start();
    drop(silent.child.stdin.take());
    assert_eq!(silent.ended().code(), Some(0));

    let mut server = start();
    server.send(&initialize("2025-06-18"));
    assert_eq!(server.receive()["id"], 0);
    drop(server.child.stdin.take());
    assert_eq!(server.ended().code(), Some(0));

    let mut half = start();
    half.child.stdin.as_mut().unwrap().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,").unwrap();
    drop(half.child.stdin.take());
    assert_eq!(half.receive()["error"]["code"], -32700);
    assert_eq!(half.ended().code(), Some(0));
}

#[test]
fn signals_end_the_server_with_status_0() {
    for name in ["TERM", "INT", "HUP"] {
        let mut idle = start();
        idle.send(&initialize("2025-06-18"));
        idle.receive();
        idle.signal(name);
        assert_eq!(idle.ended().code(), Some(0), "SIG{name}, idle");

        let mut busy = start();
        busy.send(&call(1, "wait-long", json!({"text": "never"})));
        busy.send(&call(2, "echo-text", json!({"text": "x"})));
        assert_eq!(busy.receive()["id"], 2);
        busy.signal(name);
        assert_eq!(busy.ended().code(), Some(0), "SIG{name}, busy");
    }
}

#[test]
fn pending_replies_are_written_before_exit() {
    for end in ["TERM", "end of input"] {
        let mut server = start();
        server.send(&call(1, "wait-long", json!({"text": "20"})));
        server.send(&call(2, "echo-text", json!({"text": "x"})));
        let first = server.receive();
        match end {
            "TERM" => server.signal("TERM"),
            _ => drop(server.child.stdin.take()),
        }
        let second = server.receive();
        let mut answered = [&first["id"], &second["id"]].map(|id| id.as_u64().unwrap());
        answered.sort_unstable();
        assert_eq!(answered, [1, 2], "{end}");
        assert_eq!(server.ended().code(), Some(0), "{end}");
    }
}

#[test]
fn unread_stdout_ends_the_server() {
    let mut server = start();
    server.send(&initialize("2025-06-18"));
    server.receive();
    drop(server.output.take());
    server.send(&call(1, "echo-text", json!({"text": "x"})));
    assert_eq!(server.ended().code(), Some(0));
}

/// Input that is not a pipe is read by a blocking thread, which must not delay the exit.
#[test]
#[cfg(unix)]
fn blocking_stdin_read_does_not_delay_exit() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut server = start_with(Stdio::from(OwnedFd::from(theirs)));
    ours.write_all(format!("{}\n", initialize("2025-06-18")).as_bytes()).unwrap();
    assert_eq!(server.receive()["id"], 0);
    server.signal("TERM");
    assert_eq!(server.ended().code(), Some(0));
}

/// The client dies while another process holds the input open.
#[test]
#[cfg(target_os = "linux")]
fn server_exits_when_its_parent_dies() {
    let folder = std::env::temp_dir().join(format!("panoply-orphan-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("input");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let script = r#""$0" < "$1" & echo $!; wait"#;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script])
        .arg(program())
        .arg(&pipe)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let mut output = BufReader::new(shell.stdout.take().unwrap());
    // Opening blocks until the server has opened the other end.
    let mut held_open = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    held_open.write_all(format!("{}\n", initialize("2025-06-18")).as_bytes()).unwrap();
    let mut pid = String::new();
    output.read_line(&mut pid).unwrap();
    let mut reply = String::new();
    output.read_line(&mut reply).unwrap();
    assert!(reply.contains("serverInfo"), "{reply}");

    shell.kill().unwrap();
    shell.wait().unwrap();
    // The pipe ends when the last writer has exited.
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    drop(held_open);
    std::fs::remove_dir_all(&folder).unwrap();
}
