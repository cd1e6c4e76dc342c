//! Isolated environment of the program: temporary folders, nothing of the real user.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use panoply_testkit::client::{HttpServer, StdioClient};
use serde_json::Value;

/// Temporary home directory of a user.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// Result of a command.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A path below the user's folder.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// The program's own folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Writes a file below the user's folder.
    pub(crate) fn file(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// `panoply` with an environment that has only what we put there.
    pub(crate) fn panoply(&self, arguments: &[&str]) -> Command {
        self.program(env!("CARGO_BIN_EXE_panoply"), arguments)
    }

    /// Runs `panoply` in a terminal, provided by `script`, and returns the output.
    pub(crate) fn seen(&self, arguments: &[&str]) -> String {
        let quoted = arguments.iter().map(|word| format!("'{word}'"));
        let command =
            format!("'{}' {}", env!("CARGO_BIN_EXE_panoply"), quoted.collect::<Vec<_>>().join(" "));
        let done = self.program("script", &["-qec", &command, "/dev/null"]).output().unwrap();
        let seen = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success(), "{seen}");
        seen
    }

    /// `cgt-mcp`, likewise.
    pub(crate) fn cgt_mcp(&self) -> Command {
        self.program(env!("CARGO_BIN_EXE_cgt-mcp"), &[])
    }

    fn program(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().current_dir(self.folder.path());
        command.env("HOME", self.folder.path()).env("PANOPLY_HOME", self.home());
        // Variables that coverage tools and the system need.
        #[expect(
            clippy::disallowed_methods,
            reason = "what the machine needs is not a setting of ours"
        )]
        for name in ["PATH", "LLVM_PROFILE_FILE", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    }

    pub(crate) fn stdio(&self, arguments: &[&str]) -> StdioClient {
        let all: Vec<&str> = ["stdio"].into_iter().chain(arguments.iter().copied()).collect();
        StdioClient::spawn(&mut self.panoply(&all))
    }

    /// A server on a free loopback port.
    pub(crate) fn http(&self, arguments: &[&str]) -> HttpServer {
        let start = ["http", "--listen", "127.0.0.1:0"];
        let all: Vec<&str> = start.into_iter().chain(arguments.iter().copied()).collect();
        HttpServer::spawn(&mut self.panoply(&all))
    }

    /// Runs `panoply`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.said(&mut self.panoply(arguments))
    }

    /// Runs `panoply` with this standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.panoply(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        self.tidied(&child.wait_with_output().unwrap())
    }

    /// Runs a command to its end.
    pub(crate) fn said(&self, command: &mut Command) -> Said {
        self.tidied(&command.stdin(Stdio::null()).output().unwrap())
    }

    /// Replaces values that differ between machines and runs by placeholders.
    fn tidied(&self, output: &std::process::Output) -> Said {
        let tidy = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let text = text.replace(&self.folder.path().display().to_string(), "[USER]");
            text.replace(&program_folder(), "[BIN]")
        };
        Said { status: output.status.code(), out: tidy(&output.stdout), err: tidy(&output.stderr) }
    }
}

impl Said {
    /// Standard output, of a command that succeeded.
    pub(crate) fn good(self) -> String {
        assert_eq!(self.status, Some(0), "{}{}", self.out, self.err);
        self.out
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Status and standard error, of a command that failed.
    pub(crate) fn failed(&self) -> String {
        format!("{}\n{}", self.status.unwrap_or(-1), self.err.trim_end())
    }
}

fn program_folder() -> String {
    Path::new(env!("CARGO_BIN_EXE_panoply")).parent().unwrap().display().to_string()
}
