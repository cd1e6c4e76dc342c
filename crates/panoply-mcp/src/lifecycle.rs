//! When a server ends, and how it leaves: always with status 0, and never hanging.
//!
//! A client ends a stdio server by closing its input, by a signal, or by dying. A
//! process that overlooks one of them stays behind as an orphan, which is the
//! complaint people make most about local servers.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Runtime;
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
    Watched,
    /// It does not: an HTTP server may outlive the shell it was started from.
    Ignored,
}

/// How often we look whether the parent still lives.
///
/// The kernel could tell us (`PR_SET_PDEATHSIG`), but it means the thread that
/// started us, not the process, and clients start servers from threads.
const PARENT_CHECK: Duration = Duration::from_millis(250);

/// How long requests in flight may take after control-C.
const INTERACTIVE_GRACE: Duration = Duration::from_secs(5);

/// The runtime and the signal handlers, made before anything else.
static PREPARED: Mutex<Option<(Runtime, Signals)>> = Mutex::new(None);

/// Makes the runtime and installs the signal handlers now. A server calls this first in `main`:
/// a signal that comes before it kills the process with a signal status.
pub fn prepare() -> io::Result<()> {
    let runtime = new_runtime()?;
    let signals = {
        let _context = runtime.enter();
        Signals::install()?
    };
    *PREPARED.lock().unwrap_or_else(PoisonError::into_inner) = Some((runtime, signals));
    Ok(())
}

/// Runs the program's future, then leaves without waiting for threads that cannot end.
///
/// A read of standard input that is not a pipe blocks a thread until a line comes.
/// Dropping a runtime waits for such threads; this does not.
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

/// Cancels `stop` at the first signal, or when the parent dies and matters.
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

/// The steps in which a server behind a balancer ends.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Asked to end: not ready any more, but still accepting.
    pub draining: CancellationToken,
    /// Accepts nothing more, and finishes what is in flight.
    pub stop: CancellationToken,
    /// Waits for nothing more.
    pub force: CancellationToken,
}

impl Shutdown {
    /// Takes the steps when signals come. After SIGTERM the server goes on accepting for
    /// `lame_duck`, until the balancer has noticed; control-C skips that, and each further signal
    /// skips to the next step.
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

/// The signals that end a server.
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

/// The signals that end a server.
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
