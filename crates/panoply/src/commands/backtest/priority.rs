//! Process and thread priority: imports and seals run at a lower priority than a server on the same
//! machine, because its users wait for replies. Without other load they run at full speed.

use std::io;

use tokio::sync::oneshot;

/// Increment of `nice`. A busy process at nice 0 gets nine times as much CPU time.
#[cfg(unix)]
const NICE_INCREMENT: i32 = 10;

/// Lowers the priority of the calling thread on Linux, of the process on other Unix systems.
/// Best effort.
#[cfg(unix)]
pub(super) fn lower() {
    let _ = rustix::process::nice(NICE_INCREMENT);
}

/// Windows keeps the priority: changing it needs a call that safe Rust does not have.
#[cfg(not(unix))]
pub(super) fn lower() {}

/// Runs work on a new low-priority thread. Only Linux has a nice value per thread; elsewhere the
/// priority stays, because lowering it would slow the whole server.
pub(super) fn spawn_low<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<oneshot::Receiver<T>> {
    let (sender, receiver) = oneshot::channel();
    std::thread::Builder::new().name("seal".to_owned()).spawn(move || {
        if cfg!(target_os = "linux") {
            lower();
        }
        let _ = sender.send(work());
    })?;
    Ok(receiver)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[tokio::test]
    async fn spawn_low_lowers_the_thread_not_the_process() {
        let before = getpriority_process(None).unwrap();
        let on_thread = spawn_low(|| getpriority_process(None).unwrap()).unwrap().await.unwrap();
        assert_eq!(getpriority_process(None).unwrap(), before);
        let expected =
            if cfg!(target_os = "linux") { (before + NICE_INCREMENT).min(19) } else { before };
        assert_eq!(on_thread, expected);
    }
}
