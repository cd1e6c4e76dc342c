//! Bringing runs in and sealing them goes behind the answers of a server on the same machine:
//! who asks waits, who imports comes back later. On a machine with nothing else to do it is as
//! fast as ever.

use std::io;

use rustix::process::nice;
use tokio::sync::oneshot;

/// How far behind, as `nice` counts. A process that has as much to do gets nine times as much time.
const NICE_INCREMENT: i32 = 10;

/// From now on this process goes behind others, if it may: it does the same work in any case.
pub(super) fn lower() {
    let _ = nice(NICE_INCREMENT);
}

/// Work of a server on a thread of its own that goes behind its answers. Linux counts each thread
/// for itself; where the whole process would go behind, none does.
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
