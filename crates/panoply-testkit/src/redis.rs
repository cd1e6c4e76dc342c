//! A throw-away Redis server for tests: in memory only, on a free port of the loopback interface. It
//! ends with the test. A Debian machine without Redis gets it installed.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "helpers of tests may fail the test, say what they start and measure real time"
)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server.
#[derive(Debug)]
pub struct RedisServer {
    port: u16,
    process: Option<Child>,
}

impl RedisServer {
    /// Starts a server.
    pub fn start() -> Self {
        let mut server = Self { port: free_port(), process: None };
        server.restart();
        eprintln!("a throw-away Redis runs on port {}", server.port);
        server
    }

    /// A port on which no server runs, until [`restart`](Self::restart).
    pub fn stopped() -> Self {
        Self { port: free_port(), process: None }
    }

    /// The URL of its first database.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    /// Starts the server with no data, also after [`kill`](Self::kill).
    pub fn restart(&mut self) {
        let child = Command::new("setpriv")
            .args(["--pdeathsig=KILL", "--", &program()])
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--dir", "/tmp"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(child.expect("redis-server starts"));
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.send("PING").as_deref() != Some("+PONG") {
            assert!(Instant::now() < deadline, "redis does not answer on port {}", self.port);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the server (SIGKILL); what it held is gone.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // A stopped process is killed too.
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Sends a signal by its short name: `STOP` freezes the server, `CONT` wakes it.
    pub fn signal(&self, name: &str) {
        let process = self.process.as_ref().expect("the server runs");
        let sent =
            Command::new("kill").args([format!("-{name}"), process.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "cannot send SIG{name}");
    }

    /// Sends an inline command; returns the first line of the reply.
    pub fn send(&self, command: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
        stream.write_all(format!("{command}\r\n").as_bytes()).ok()?;
        let mut reply = [0; 512];
        let length = stream.read(&mut reply).ok()?;
        let text = String::from_utf8_lossy(reply.get(..length)?).into_owned();
        text.lines().next().map(str::to_owned)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The server's program; installs it on Debian.
fn program() -> String {
    const NAMES: [&str; 2] = ["/usr/bin/redis-server", "/usr/bin/valkey-server"];
    let installed = || NAMES.into_iter().find(|name| std::path::Path::new(name).is_file());
    let found = installed().or_else(|| {
        eprintln!("Redis is not installed; installing it from Debian");
        let install = "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends redis-server";
        let ran = Command::new("sh").args(["-c", install]).status();
        assert!(ran.is_ok_and(|status| status.success()), "install redis-server or valkey");
        installed()
    });
    found.expect("redis-server is under /usr/bin").to_owned()
}
