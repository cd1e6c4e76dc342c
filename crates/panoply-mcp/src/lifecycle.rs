//! When a server ends, and how it leaves: always with status 0, and never hanging.
//!
//! A client ends a stdio server by closing its input, by a signal, or by dying. A
//! process that overlooks one of them stays behind as an orphan, which is the
//! complaint people make most about local servers.

use std::io;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// What asked the server to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StopCause {
    /// SIGINT, or control-C.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP: the terminal went away.
    HungUp,
    /// The process that started us is gone.
    Orphaned,
}

/// Whether the death of the parent ends the server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parent {
    /// It does: a stdio server belongs to the client that started it.
    Matters,
    /// It does not: an HTTP server may outlive the shell it was started from.
    Ignored,
}

/// How often we look whether the parent still lives.
///
/// The kernel could tell us (`PR_SET_PDEATHSIG`), but it means the thread that
/// started us, not the process, and clients start servers from threads.
const PARENT_CHECK: Duration = Duration::from_millis(250);

/// Listens for the signals from now on, and cancels `stop` at the first one.
///
/// Must be called inside the runtime, and before the server says that it is ready:
/// a signal that comes earlier kills the process with a signal status.
pub fn stop_on_request(stop: CancellationToken, parent: Parent) -> io::Result<()> {
    let mut signals = Signals::install()?;
    tokio::spawn(async move {
        let cause = tokio::select! {
            cause = signals.received() => cause,
            cause = orphaned(parent) => cause,
            () = stop.cancelled() => return,
        };
        tracing::info!(?cause, "stopping");
        stop.cancel();
    });
    Ok(())
}

/// Runs the program's future, then leaves without waiting for threads that cannot end.
///
/// A read of standard input that is not a pipe blocks a thread until a line comes.
/// Dropping a runtime waits for such threads; this does not.
pub fn run<F: Future>(future: F) -> io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let output = runtime.block_on(future);
    runtime.shutdown_background();
    Ok(output)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn received(&mut self) -> StopCause {
        tokio::select! {
            _ = self.interrupt.recv() => StopCause::Interrupted,
            _ = self.terminate.recv() => StopCause::Terminated,
            _ = self.hang_up.recv() => StopCause::HungUp,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn install() -> io::Result<Self> {
        Ok(Self)
    }

    async fn received(&mut self) -> StopCause {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        StopCause::Interrupted
    }
}

#[cfg(unix)]
async fn orphaned(parent: Parent) -> StopCause {
    if parent == Parent::Ignored {
        std::future::pending::<()>().await;
    }
    let at_start = std::os::unix::process::parent_id();
    let mut checks = tokio::time::interval(PARENT_CHECK);
    loop {
        checks.tick().await;
        // Orphans are adopted, by process 1 or by a subreaper.
        if std::os::unix::process::parent_id() != at_start {
            return StopCause::Orphaned;
        }
    }
}

#[cfg(not(unix))]
async fn orphaned(_parent: Parent) -> StopCause {
    // Windows closes our standard input with the parent, and that ends us.
    std::future::pending().await
}
