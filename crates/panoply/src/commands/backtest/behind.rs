//! Bringing runs in and sealing them goes behind the answers of a server on the same machine:
//! who asks waits, who imports comes back later. On a machine with nothing else to do it is as
//! fast as ever.

use std::io;

use rustix::process::nice;
use tokio::sync::oneshot;

/// How far behind, as `nice` counts. A process that has as much to do gets nine times as much time.
const BEHIND: i32 = 10;

/// From now on this process goes behind others, if it may: it does the same work in any case.
pub(super) fn the_others() {
    let _ = nice(BEHIND);
}

/// Work of a server on a thread of its own that goes behind its answers. Linux counts each thread
/// for itself; where the whole process would go behind, none does.
pub(super) fn answers<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<oneshot::Receiver<T>> {
    let (tell, told) = oneshot::channel();
    std::thread::Builder::new().name("seal".to_owned()).spawn(move || {
        if cfg!(target_os = "linux") {
            the_others();
        }
        let _ = tell.send(work());
    })?;
    Ok(told)
}

#[cfg(test)]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[tokio::test]
    async fn a_thread_goes_behind_and_its_process_does_not() {
        let before = getpriority_process(None).unwrap();
        let on_thread = answers(|| getpriority_process(None).unwrap()).unwrap().await.unwrap();
        assert_eq!(getpriority_process(None).unwrap(), before);
        let expected = if cfg!(target_os = "linux") { (before + BEHIND).min(19) } else { before };
        assert_eq!(on_thread, expected);
    }
}
