//! Resource limits (`setrlimit`) of the reader process.

use rustix::process::{Resource, Rlimit, setrlimit};

use super::Limits;

/// Maximum file size: a page at 400 dpi in grey has 15 MB.
const MAX_PICTURE_BYTES: u64 = 64 << 20;

/// Applies the limits to this process and its children.
pub(super) fn apply(limits: &Limits) -> std::io::Result<()> {
    let at_most = |bytes: u64| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::As, at_most(limits.memory_bytes))?;
    setrlimit(Resource::Fsize, at_most(MAX_PICTURE_BYTES.max(limits.file_bytes)))?;
    setrlimit(Resource::Core, at_most(0))?;
    // The soft limit sends SIGXCPU, which identifies the cause; the hard limit kills.
    let (current, maximum) = (limits.cpu_seconds, limits.cpu_seconds + 5);
    setrlimit(Resource::Cpu, Rlimit { current: Some(current), maximum: Some(maximum) })?;
    Ok(())
}
