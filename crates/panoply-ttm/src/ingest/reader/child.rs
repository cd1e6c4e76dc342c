//! The parent: starts a reader, takes its pages, and ends it when time or text run out.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::worker::too_large;
use super::{Line, Options, ReadError};
use crate::ingest::plan::ReadFile;

/// How to start a reader: this program again, with a word that makes it one.
#[derive(Clone, Debug)]
pub struct ReaderCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, before the options and the scratch folder.
    pub arguments: Vec<String>,
}

/// How often the parent looks whether it should stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Lines that wait for the parent.
const LINE_QUEUE_LENGTH: usize = 16;

impl ReaderCommand {
    /// Reads a file. `watch` hears of each page (how many of how many) and says whether to go on.
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
        let lines = listen(&mut child, limits.text_bytes);
        let taken = take(&lines, Duration::from_secs(limits.wall_seconds), watch);
        end(&mut child);
        let status = child.wait().ok();
        match taken {
            Ok(Some(read)) => Ok(read),
            Ok(None) => Err(died(status)),
            Err(error) => Err(error),
        }
    }

    fn start(&self, file: File, options: &Options, scratch: &Path) -> Result<Child, ReadError> {
        use std::os::unix::process::CommandExt as _;
        let not_started = |_| {
            ReadError::new(
                "NO_READER",
                "the reader could not be started",
                "see that there is memory",
            )
        };
        let options = serde_json::to_string(options).unwrap_or_default();
        Command::new(&self.program)
            .args(&self.arguments)
            .arg(options)
            .arg(scratch)
            .stdin(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A group of its own, so that what it started can be ended with it.
            .process_group(0)
            .spawn()
            .map_err(not_started)
    }
}

/// What the child says, until it is silent, says too much or ends.
fn listen(child: &mut Child, most: u64) -> Receiver<Option<Line>> {
    let (sender, receiver) = sync_channel(LINE_QUEUE_LENGTH);
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            // One byte more than allowed shows that there was more.
            let mut output = BufReader::new(output.take(most + 1));
            let mut line = Vec::new();
            loop {
                line.clear();
                match output.read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => break,
                    // A library may print a warning: what is no line of ours is passed over.
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

/// Pages until the end, or until the time is up; `None` when the child ended before.
#[expect(clippy::disallowed_methods, reason = "another process runs by the clock on the wall")]
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
            return Err(ReadError::new("TOO_SLOW", message, "cut the file into parts"));
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
                let message = "more text came out of the file than it may hold";
                return Err(ReadError::new("TOO_MUCH_TEXT", message, "cut the file into parts"));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Ends the child and all below it. What has ended already cannot be ended again, and that is fine.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A reader that ended without a word ran out of memory or time, or broke on the file.
fn died(status: Option<ExitStatus>) -> ReadError {
    use std::os::unix::process::ExitStatusExt as _;
    let why = match status.and_then(|status| status.signal()) {
        // SIGXCPU, and the kill that follows it.
        Some(24) => "it needs more time than it may have",
        Some(6 | 11) => "it needs more memory than it may have, or is made to break its reader",
        _ => "its reader gave up",
    };
    ReadError::new(
        "READER_DIED",
        format!("the file cannot be read: {why}"),
        "open it in a viewer and print it to a new PDF",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::reader::Limits;

    /// What a reader that says nothing and does not end comes to.
    fn silent(limits: Limits, go_on: bool) -> ReadError {
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
        assert_eq!(silent(short, true).code, "TOO_SLOW");
        assert_eq!(silent(Limits::default(), false).code, "CANCELLED");
    }
}
