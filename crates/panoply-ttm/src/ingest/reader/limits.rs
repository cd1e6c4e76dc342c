//! Resource limits (`setrlimit`) of the reader process.

use std::io;

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, setrlimit};

use super::Limits;

/// Maximum file size: a page at 400 dpi in grey has 15 MB.
#[cfg(unix)]
const MAX_PICTURE_BYTES: u64 = 64 << 20;

/// Applies the limits to this process and its children.
#[cfg(unix)]
pub(super) fn apply(limits: &Limits) -> io::Result<()> {
    let at_most = |bytes: u64| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    let address_space = setrlimit(Resource::As, at_most(limits.memory_bytes));
    // macOS refuses a limit below what is mapped already; CPU and wall-clock time still end the reader.
    if cfg!(not(target_os = "macos")) {
        address_space?;
    }
    setrlimit(Resource::Fsize, at_most(MAX_PICTURE_BYTES.max(limits.file_bytes)))?;
    setrlimit(Resource::Core, at_most(0))?;
    // The soft limit sends SIGXCPU, which identifies the cause; the hard limit kills.
    let (current, maximum) = (limits.cpu_seconds, limits.cpu_seconds + 5);
    setrlimit(Resource::Cpu, Rlimit { current: Some(current), maximum: Some(maximum) })?;
    Ok(())
}

/// Refuses: a file made to exhaust memory must not be read by a process without limits.
#[cfg(not(unix))]
pub(super) fn apply(_limits: &Limits) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "documents are read on Linux and macOS only, where the memory of the reader can be limited",
    ))
}
