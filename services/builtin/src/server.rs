//! The process around a service: a runtime with a thread for each CPU it may use, a port, and shutdown on SIGTERM or SIGINT.
//! One port accepts HTTP/1.1 and HTTP/2; the first bytes of a connection show which one it uses.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::{Builtin, Options};

/// How long to wait for descriptors to become free when there is none left for a new connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Serves `service` at `listen` until SIGTERM or SIGINT, and then returns without waiting for open requests.
///
/// Once the port is open it prints `listening on ADDR` to standard output; with port 0 that names the port the
/// kernel chose. There are as many worker threads as the process may use CPUs
/// ([`std::thread::available_parallelism`], which knows of affinity and of cgroup quotas). Must not be called from
/// within a tokio runtime. Fails if the address is not available or the runtime cannot start.
pub fn serve(listen: SocketAddr, service: Builtin, options: Options) -> io::Result<()> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        // Before the port opens, so that who sees it open can already stop the service.
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|e| io::Error::new(e.kind(), format!("cannot listen on {listen}: {e}")))?;
        print_address(listener.local_addr()?);
        tokio::select! {
            result = run(listener, service, options) => result,
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    });
    // A long computation on a blocking thread must not hold up the exit.
    runtime.shutdown_background();
    result
}

/// Serves `service` on an open `listener` for as long as it is polled. Fails only if the listener breaks.
pub async fn run(listener: TcpListener, service: Builtin, options: Options) -> io::Result<()> {
    let app = Arc::new(App::start(service, options));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause_or_fail(error).await?;
                continue;
            }
        };
        // Without it a small answer may wait for the acknowledgement of the one before (RFC 896).
        // A client that is gone already makes it fail, and is noticed below.
        let _ = stream.set_nodelay(true);
        let app = Arc::clone(&app);
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let app = Arc::clone(&app);
                async move { Ok::<_, Infallible>(app.answer(request).await) }
            });
            // How a connection ends is the client's business: it may leave at any time.
            let _ = auto::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// Waits where accept(2) describes the error as transient, and returns it otherwise.
async fn pause_or_fail(error: io::Error) -> io::Result<()> {
    use rustix::io::Errno;
    match Errno::from_io_error(&error) {
        Some(Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => Ok(()),
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            Ok(())
        }
        _ => Err(error),
    }
}

fn runtime() -> io::Result<Runtime> {
    let threads = std::thread::available_parallelism()?.get();
    let mut builder = match threads {
        1 => {
            precise_timers();
            Builder::new_current_thread()
        }
        _ => Builder::new_multi_thread(),
    };
    if threads > 1 {
        builder.worker_threads(threads);
    }
    // Blocking threads only compute here, so more of them than CPUs would only take turns.
    builder.max_blocking_threads(threads).on_thread_start(precise_timers).enable_all().build()
}

/// Disables the kernel's timer slack for this thread; by default each timer may be 50 µs late (prctl(2)).
fn precise_timers() {
    // Where it is refused the timers are late, and nothing else is wrong.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

fn print_address(address: SocketAddr) {
    let mut stdout = io::stdout().lock();
    // The parent may have closed the service's output, which is no reason not to serve.
    let _ = writeln!(stdout, "listening on {address}").and_then(|()| stdout.flush());
}
