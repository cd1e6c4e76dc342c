//! Parent side of the reader process: starts it, collects pages, and kills it at the limits.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::worker::too_large;
use super::{Line, Options, ReadError};
use crate::ingest::plan::ReadFile;

/// Command line of the reader: this program with a subcommand.
#[derive(Clone, Debug)]
pub struct ReaderCommand {
    /// Executable.
    pub program: PathBuf,
    /// Arguments before the options and the scratch directory.
    pub arguments: Vec<String>,
}

/// Interval between checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Capacity of the line queue.
const LINE_QUEUE_LENGTH: usize = 16;

impl ReaderCommand {
    /// Reads a file. `watch` receives the page count and the total, and returns whether to
    /// continue.
    pub fn read(
        &self,
        file: File,
        options: &Options,
        scratch: &Path,
        watch: &mut dyn FnMut(u32, u32) -> bool,
    ) -> Result<ReadFile, ReadError> {
        let limits = &options.limits;
        if file.metadata().is_ok_and(|found| found.len() > limits.file_bytes) {
            return Err(too_large(limits.file_bytes));
        }
        let mut child = self.start(file, options, scratch)?;
        let lines = read_output(&mut child, limits.text_bytes);
        let taken = take(&lines, Duration::from_secs(limits.wall_seconds), watch);
        end(&mut child);
        let status = child.wait().ok();
        match taken {
            Ok(Some(read)) => Ok(read),
            Ok(None) => Err(exit_error(status)),
            Err(error) => Err(error),
        }
    }

    fn start(&self, file: File, options: &Options, scratch: &Path) -> Result<Child, ReadError> {
        let not_started = |_| {
            ReadError::new(
                "NO_READER",
                "the reader could not be started",
                "check the available memory",
            )
        };
        let options = serde_json::to_string(options).unwrap_or_default();
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg(options)
            .arg(scratch)
            .stdin(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // Own process group, so that child processes can be killed together.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(not_started)
    }
}

/// Reads the child's output until it ends, is silent, or exceeds the limit.
fn read_output(child: &mut Child, most: u64) -> Receiver<Option<Line>> {
    let (sender, receiver) = sync_channel(LINE_QUEUE_LENGTH);
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            // One byte more than allowed reveals truncation.
            let mut output = BufReader::new(output.take(most + 1));
            let mut line = Vec::new();
            loop {
                line.clear();
                match output.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => break,
                    // Libraries may print warnings: skip lines that do not parse.
                    Ok(_) => {
                        if let Ok(line) = serde_json::from_slice::<Line>(&line)
                            && sender.send(Some(line)).is_err()
                        {
                            return;
                        }
                    }
                }
            }
            if output.get_ref().limit() == 0 {
                let _ = sender.send(None);
            }
        });
    }
    receiver
}

/// Collects pages until the end or the deadline; `None` if the child exited early.
#[expect(clippy::disallowed_methods, reason = "a child process is limited by wall-clock time")]
fn take(
    lines: &Receiver<Option<Line>>,
    wall: Duration,
    watch: &mut dyn FnMut(u32, u32) -> bool,
) -> Result<Option<ReadFile>, ReadError> {
    let until = Instant::now() + wall;
    let mut read = ReadFile::default();
    let mut done = 0;
    loop {
        if Instant::now() >= until {
            let message = format!("reading took longer than {} s", wall.as_secs());
            return Err(ReadError::new("TOO_SLOW", message, "split the file"));
        }
        if !watch(done, read.pages) {
            return Err(ReadError::new("CANCELLED", "the job was cancelled", "run it again"));
        }
        match lines.recv_timeout(POLL_INTERVAL) {
            Ok(Some(Line::Head { sha256, pages, title })) => {
                (read.sha256, read.pages, read.title) = (sha256, pages, title);
            }
            Ok(Some(Line::Page(page))) => {
                done += 1;
                read.texts.push(page);
            }
            Ok(Some(Line::Unreadable { page, why })) => {
                done += 1;
                read.unreadable.push((page, why));
            }
            Ok(Some(Line::End)) => return Ok(Some(read)),
            Ok(Some(Line::Failed(error))) => return Err(error),
            Ok(None) => {
                let message = "the extracted text exceeds the limit";
                return Err(ReadError::new("TOO_MUCH_TEXT", message, "split the file"));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Kills the process group. Errors are ignored: the process may have exited.
#[cfg(unix)]
fn end(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kills the process. Errors are ignored: it may have exited.
#[cfg(not(unix))]
fn end(child: &mut Child) {
    let _ = child.kill();
}

/// Returns the signal that ended a process.
#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

/// Describes an exit without a final line: out of memory, out of time, or a crash.
fn exit_error(status: Option<ExitStatus>) -> ReadError {
    let why = match status.and_then(signal_of) {
        // SIGXCPU and the SIGKILL that follows.
        Some(24) => "the CPU time limit was exceeded",
        Some(6 | 11) => "the memory limit was exceeded or the reader crashed",
        _ => "the reader exited early",
    };
    ReadError::new(
        "READER_DIED",
        format!("the file cannot be read: {why}"),
        "open it in a viewer and print it to a new PDF",
    )
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::reader::Limits;

    /// Describes a timeout or cancellation.
    fn timeout_error(limits: Limits, go_on: bool) -> ReadError {
        let arguments = ["-c", "sleep 600"].map(str::to_owned).to_vec();
        let reader = ReaderCommand { program: PathBuf::from("/bin/sh"), arguments };
        let scratch = tempfile::tempdir().unwrap();
        let options = Options { limits, ..Options::default() };
        let file = tempfile::tempfile().unwrap();
        reader.read(file, &options, scratch.path(), &mut |_, _| go_on).unwrap_err()
    }

    #[test]
    fn reader_process_is_killed_at_its_time_limit() {
        let short = Limits { wall_seconds: 1, ..Limits::default() };
        assert_eq!(timeout_error(short, true).code, "TOO_SLOW");
        assert_eq!(timeout_error(Limits::default(), false).code, "CANCELLED");
    }
}
