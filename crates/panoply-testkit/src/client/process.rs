//! A child process under test: its log is kept, its end is timed, and it never outlives the test.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its exit status; a signal has no code.
    pub status: ExitStatus,
    /// How long we waited for it.
    pub took: Duration,
}

/// A running child whose standard error is collected.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    log: Log,
}

/// Text that a reader thread appends to.
#[derive(Clone, Debug, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

impl Process {
    /// Starts the command with all three streams piped and keeps what it logs.
    pub(super) fn spawn(command: &mut Command) -> Self {
        let mut process = Self::spawn_unread(command);
        if let Some(stderr) = process.child.stderr.take() {
            process.log.collect(stderr);
        }
        process
    }

    /// Starts the command with all three streams piped, for the caller to read.
    pub(super) fn spawn_unread(command: &mut Command) -> Self {
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        Self { child, log: Log::default() }
    }

    /// What it has written to standard error so far.
    pub(super) fn log(&self) -> String {
        self.log.text()
    }

    /// Sends a signal by its short name, such as `TERM`.
    pub(super) fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "cannot send SIG{name}");
    }

    /// Waits for the end, at most as long as `patience`.
    pub(super) fn wait(&mut self, patience: Duration) -> Ended {
        let started = now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ended { status, took: started.elapsed() },
                Ok(None) if started.elapsed() < patience => thread::sleep(Duration::from_millis(2)),
                Ok(None) => panic!("still running after {patience:?}; its log:\n{}", self.log()),
                Err(error) => panic!("cannot wait for the process: {error}"),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill and nothing to say.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Log {
    /// Reads the stream to its end on a thread of its own.
    pub(super) fn collect(&self, mut stream: impl Read + Send + 'static) {
        let log = self.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                log.append(buffer.get(..length).unwrap_or_default());
            }
        });
    }

    /// Adds one line.
    pub(super) fn append_line(&self, line: &str) {
        self.append(format!("{line}\n").as_bytes());
    }

    fn append(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
    }

    /// Everything so far.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

#[expect(clippy::disallowed_methods, reason = "a test measures the time that really passes")]
pub(super) fn now() -> Instant {
    Instant::now()
}
