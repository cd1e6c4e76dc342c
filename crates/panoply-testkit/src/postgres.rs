//! A throw-away PostgreSQL server for tests: a fresh cluster in a temporary folder, on a free port
//! of the loopback interface, with trust instead of passwords. It ends with the test.
//!
//! The server refuses to run as root, so a root user runs it as `postgres`. A Debian machine
//! without PostgreSQL gets it installed.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "helpers of tests may fail the test, say what they start and measure real time"
)]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The application role of the tests.
pub const APP: &str = "panoply_app";
/// The database of the tests.
pub const DATABASE: &str = "panoply";

/// A running server.
#[derive(Debug)]
pub struct PostgresServer {
    folder: PathBuf,
    port: u16,
    postmaster: Option<Child>,
}

static STARTED: AtomicU32 = AtomicU32::new(0);

impl PostgresServer {
    /// Creates a cluster and starts its server.
    pub fn start() -> Self {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("panoply-postgres-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let made = unprivileged(&programs().join("initdb"))
            .arg("--pgdata")
            .arg(&folder)
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8"])
            .args(["--locale=C.UTF-8", "--lc-collate=C", "--no-sync"])
            .output()
            .expect("initdb starts");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut server = Self { folder, port: free_port(), postmaster: None };
        server.restart();
        eprintln!("a throw-away PostgreSQL runs on port {}", server.port);
        server
    }

    /// The URL for a role and a database.
    pub fn url(&self, role: &str, database: &str) -> String {
        format!("postgres://{role}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// The URL of the servers under test.
    pub fn app_url(&self) -> String {
        self.url(APP, DATABASE)
    }

    /// The URL of the superuser.
    pub fn admin_url(&self) -> String {
        self.url("postgres", "postgres")
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Starts the server, also after [`kill`](Self::kill).
    pub fn restart(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let log = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(std::env::temp_dir().join(format!("panoply-postgres-{}.log", self.port)))
                .unwrap();
            let postmaster = unprivileged(&programs().join("postgres"))
                .arg("-D")
                .arg(&self.folder)
                .args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"])
                .args(["-c", "unix_socket_directories=", "-c", "shared_buffers=16MB"])
                .args(["-c", "max_connections=80", "-c", "log_min_messages=warning"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn();
            self.postmaster = Some(postmaster.expect("postgres starts"));
            while Instant::now() < deadline {
                if self.answers() {
                    return;
                }
                // Backends of a killed postmaster hold its shared memory until they exit.
                if self.has_ended() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(Instant::now() < deadline, "postgres does not answer on port {}", self.port);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn has_ended(&mut self) -> bool {
        self.postmaster.as_mut().is_none_or(|own| own.try_wait().unwrap().is_some())
    }

    /// Kills the postmaster without warning (SIGKILL), as a crash of the machine would.
    pub fn kill(&mut self) {
        if let Some(mut postmaster) = self.postmaster.take() {
            postmaster.kill().unwrap();
            postmaster.wait().unwrap();
        }
    }

    /// Switches TLS on, with a certificate for `localhost`. Returns the PEM file of its authority.
    pub fn encrypt(&self) -> PathBuf {
        let script = "cd \"$1\" && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority \
             -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.crt && \
             openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr && \
             printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE' > server.ext && \
             openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
             -extfile server.ext -out server.crt && chmod 600 server.key";
        let made = unprivileged(Path::new("sh"))
            .args(["-c", script, "sh"])
            .arg(&self.folder)
            .output()
            .expect("sh starts");
        assert!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
        for sql in ["ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"] {
            self.psql("postgres", "postgres", sql).unwrap();
        }
        self.folder.join("ca.crt")
    }

    /// Runs SQL in psql; returns its output, or the message of the error.
    pub fn psql(&self, role: &str, database: &str, sql: &str) -> Result<String, String> {
        let ran = Command::new(programs().join("psql"))
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
            .args(["--set", "ON_ERROR_STOP=1", "--command", sql])
            .arg(self.url(role, database))
            .output()
            .expect("psql starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
    }

    fn answers(&self) -> bool {
        let ready = Command::new(programs().join("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .status();
        ready.is_ok_and(|status| status.success())
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.kill();
        // Backends write until they notice.
        for _ in 0..50 {
            if fs::remove_dir_all(&self.folder).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let log = std::env::temp_dir().join(format!("panoply-postgres-{}.log", self.port));
        // It is of use only while the server runs.
        let _ = fs::remove_file(log);
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A command that does not run as root, and ends when the test does.
fn unprivileged(program: &Path) -> Command {
    if fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0) {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
        command.args(["--pdeathsig=KILL", "--"]).arg(program).current_dir("/tmp");
        command
    } else {
        Command::new(program)
    }
}

/// The folder of PostgreSQL's programs; installs them on Debian.
fn programs() -> PathBuf {
    installed().unwrap_or_else(|| {
        eprintln!("PostgreSQL is not installed; installing it from Debian");
        let install =
            "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y postgresql";
        let ran = Command::new("sh").args(["-c", install]).status();
        assert!(ran.is_ok_and(|status| status.success()), "install PostgreSQL 15 or later");
        installed().expect("PostgreSQL is installed under /usr/lib/postgresql")
    })
}

fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    folders.filter(|folder| folder.join("postgres").is_file()).max()
}
