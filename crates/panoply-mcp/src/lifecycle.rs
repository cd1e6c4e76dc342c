//! Process lifecycle: signals, parent death and graceful shutdown, always with status 0.
//!
//! A client ends a stdio server by closing its input, by a signal, or by dying. A process that
//! misses one of them remains as an orphan, the most frequent complaint about local servers.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Cause of a shutdown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StopCause {
    /// SIGINT (Ctrl-C).
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP: the terminal was closed.
    HungUp,
    /// The parent process has exited.
    Orphaned,
}

/// Whether the server exits with its parent process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parent {
    /// It does: a stdio server belongs to the client that started it.
    Watched,
    /// It does not: an HTTP server may outlive the shell that started it.
    Ignored,
}

/// Polling interval of the parent process id.
///
/// `PR_SET_PDEATHSIG` is no alternative: it fires when the parent thread exits, and clients start
/// servers from short-lived threads.
const PARENT_CHECK: Duration = Duration::from_millis(250);

/// Grace of requests in flight after Ctrl-C.
const INTERACTIVE_GRACE: Duration = Duration::from_secs(5);

/// Runtime and signal handlers, created first.
static PREPARED: Mutex<Option<(Runtime, Signals)>> = Mutex::new(None);

/// Creates the runtime and installs the signal handlers. A server calls this first in `main`: an
/// earlier signal kills the process with a signal status.
pub fn prepare() -> io::Result<()> {
    let runtime = new_runtime()?;
    let signals = {
        let _context = runtime.enter();
        Signals::install()?
    };
    *PREPARED.lock().unwrap_or_else(PoisonError::into_inner) = Some((runtime, signals));
    Ok(())
}

/// Runs the future, then returns without waiting for blocked threads.
///
/// A read of standard input that is not a pipe blocks a thread until a line arrives. Dropping a
/// runtime waits for such threads; `shutdown_background` does not.
pub fn run<F: Future>(future: impl FnOnce(Signals) -> F) -> io::Result<F::Output> {
    let prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (runtime, signals) = match prepared {
        Some(prepared) => prepared,
        None => {
            let runtime = new_runtime()?;
            let context = runtime.enter();
            let signals = Signals::install()?;
            drop(context);
            (runtime, signals)
        }
    };
    let output = runtime.block_on(future(signals));
    runtime.shutdown_background();
    Ok(output)
}

fn new_runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// Cancels `stop` at the first signal, or when a watched parent exits.
pub fn stop_on_request(mut signals: Signals, stop: CancellationToken, parent: Parent) {
    tokio::spawn(async move {
        let cause = tokio::select! {
            cause = signals.received() => cause,
            cause = orphaned(parent) => cause,
            () = stop.cancelled() => return,
        };
        tracing::info!(?cause, "stopping");
        stop.cancel();
    });
}

/// Shutdown stages of a server behind a load balancer.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Draining: not ready, but still accepting connections.
    pub draining: CancellationToken,
    /// Stopped: accepts nothing, finishes requests in flight.
    pub stop: CancellationToken,
    /// Forced: waits for nothing.
    pub force: CancellationToken,
}

impl Shutdown {
    /// Advances the stages on signals. After SIGTERM the server keeps accepting for `lame_duck`,
    /// until the load balancer has noticed; Ctrl-C skips that stage, and each further signal
    /// advances by one stage.
    pub fn on_request(&self, mut signals: Signals, lame_duck: Duration) {
        let steps = self.clone();
        tokio::spawn(async move {
            let cause = signals.received().await;
            tracing::info!(?cause, "stopping");
            steps.draining.cancel();
            if cause == StopCause::Terminated && !lame_duck.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(lame_duck) => {}
                    _ = signals.received() => {}
                }
            }
            steps.stop.cancel();
            let grace = async {
                match cause {
                    StopCause::Terminated => std::future::pending().await,
                    _ => tokio::time::sleep(INTERACTIVE_GRACE).await,
                }
            };
            tokio::select! {
                () = grace => {}
                _ = signals.received() => {}
            }
            steps.force.cancel();
        });
    }
}

/// Signals that end a server.
#[cfg(unix)]
pub struct Signals {
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

/// Signals that end a server.
#[cfg(not(unix))]
pub struct Signals;

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
        // Orphans are reparented to process 1 or to a subreaper.
        if std::os::unix::process::parent_id() != at_start {
            return StopCause::Orphaned;
        }
    }
}

#[cfg(not(unix))]
async fn orphaned(_parent: Parent) -> StopCause {
    // Windows closes standard input with the parent, which ends the session.
    std::future::pending().await
}
