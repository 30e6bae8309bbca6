//! The engine's public entry: workers that stay connected between slices and are driven one slice at a time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::thread::CpuSet;

use crate::clock::{Nanos, nanos, now};
use crate::endpoint::Endpoint;
use crate::mix::Mix;
use crate::record::Record;
use crate::slice::SliceSpec;
use crate::worker::{Share, Worker};

/// What an engine needs to know before its first slice.
#[derive(Clone)]
pub struct Options {
    /// Where to connect.
    pub endpoint: Endpoint,
    /// What to send.
    pub mix: Mix,
    /// Connections in all, at least one per thread.
    pub connections: usize,
    /// Worker threads.
    pub threads: usize,
    /// CPUs that the workers are pinned to, in turn; empty leaves them to the scheduler.
    pub cpus: Vec<usize>,
    /// Longest wait for a response, for a handshake, and of a due request for a connection.
    pub timeout: Duration,
    /// Set to end the slice under way.
    pub stop: Arc<AtomicBool>,
    /// Runs first on every worker thread: to enter a network namespace, say.
    pub on_thread_start: Arc<dyn Fn() -> io::Result<()> + Send + Sync>,
}

/// Why an engine can't go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A worker thread could not be set up.
    #[error("can't set up a load thread: {0}")]
    Setup(#[source] io::Error),
    /// Not one connection could be opened.
    #[error("can't connect to {address}: {source}")]
    Connect {
        /// Where to.
        address: std::net::SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Waiting for sockets failed.
    #[error("the load loop failed: {0}")]
    Loop(#[source] io::Error),
    /// A worker thread is gone.
    #[error("a load thread ended unexpectedly")]
    Gone,
}

/// Worker threads, connected to one endpoint.
pub struct Engine {
    workers: Vec<Handle>,
    address: std::net::SocketAddr,
}

struct Handle {
    commands: Sender<Command>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

enum Command {
    Prepare,
    Run(SliceSpec, Nanos),
}

enum Answer {
    Prepared(io::Result<()>),
    Ran(io::Result<Box<Record>>),
}

/// Time between the start being decided and the first request, so that every worker is there.
const LEAD: Duration = Duration::from_micros(500);

impl Engine {
    /// Starts the worker threads. Nothing is connected yet.
    pub fn start(options: &Options) -> Result<Engine, EngineError> {
        let threads = options.threads.clamp(1, options.connections.max(1));
        let mut workers = Vec::with_capacity(threads);
        for index in 0..threads {
            let connections =
                options.connections / threads + usize::from(index < options.connections % threads);
            let share = Share { index, of: threads };
            workers.push(Handle::spawn(options.clone(), share, connections).map_err(EngineError::Setup)?);
        }
        Ok(Engine { workers, address: options.endpoint.address })
    }

    /// Opens the connections that are not open.
    ///
    /// # Errors
    /// When a worker could open none at all; the service is not there.
    pub fn prepare(&mut self) -> Result<(), EngineError> {
        self.command(|| Command::Prepare)?;
        let mut result = Ok(());
        // Every worker is heard, so that none of their answers is left for the next command.
        for worker in &self.workers {
            match worker.answers.recv() {
                Ok(Answer::Prepared(Ok(()))) => {}
                Ok(Answer::Prepared(Err(source))) => {
                    result = Err(EngineError::Connect { address: self.address, source });
                }
                _ => result = Err(EngineError::Gone),
            }
        }
        result
    }

    /// A start for [`Engine::begin`] that every worker of every engine will be there for.
    pub fn next_start() -> Nanos {
        now() + nanos(LEAD)
    }

    /// Begins a slice at `start`; [`Engine::finish`] must follow.
    pub fn begin(&mut self, slice: SliceSpec, start: Nanos) -> Result<(), EngineError> {
        self.command(|| Command::Run(slice, start))
    }

    /// Waits for the slice to end and returns its record.
    pub fn finish(&mut self) -> Result<Record, EngineError> {
        let mut whole: Option<Record> = None;
        let mut failure = None;
        // As above: every worker is heard.
        for worker in &self.workers {
            match worker.answers.recv() {
                Ok(Answer::Ran(Ok(part))) => match &mut whole {
                    Some(whole) => whole.merge(&part),
                    None => whole = Some(*part),
                },
                Ok(Answer::Ran(Err(error))) => failure = Some(EngineError::Loop(error)),
                _ => failure = Some(EngineError::Gone),
            }
        }
        match (failure, whole) {
            (Some(failure), _) => Err(failure),
            (None, whole) => whole.ok_or(EngineError::Gone),
        }
    }

    /// Connects where needed and drives one slice.
    pub fn drive(&mut self, slice: SliceSpec) -> Result<Record, EngineError> {
        self.prepare()?;
        self.begin(slice, Engine::next_start())?;
        self.finish()
    }

    fn command(&self, command: impl Fn() -> Command) -> Result<(), EngineError> {
        for worker in &self.workers {
            worker.commands.send(command()).map_err(|_| EngineError::Gone)?;
        }
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            // A closed channel ends the worker's loop.
            worker.commands = channel().0;
            if let Some(thread) = worker.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

impl Handle {
    fn spawn(options: Options, share: Share, connections: usize) -> io::Result<Handle> {
        let (commands, inbox) = channel();
        let (outbox, answers) = channel();
        let (report, ready) = channel();
        let thread = std::thread::Builder::new().name(format!("load-{}", share.index)).spawn(move || {
            let worker = set_up_thread(&options, share).and_then(|()| {
                Worker::new(options.endpoint, options.mix, share, connections, options.timeout, options.stop)
            });
            match worker {
                Ok(worker) => {
                    let _ = report.send(Ok(()));
                    serve(worker, &inbox, &outbox);
                }
                Err(error) => {
                    let _ = report.send(Err(error));
                }
            }
        })?;
        ready.recv().map_err(io::Error::other)??;
        Ok(Handle { commands, answers, thread: Some(thread) })
    }
}

fn set_up_thread(options: &Options, share: Share) -> io::Result<()> {
    (options.on_thread_start)()?;
    if !options.cpus.is_empty() {
        let mut set = CpuSet::new();
        set.set(options.cpus[share.index % options.cpus.len()]);
        rustix::thread::sched_setaffinity(None, &set)?;
    }
    // The default slack of 50 µs would be added to every wait (prctl(2), PR_SET_TIMERSLACK).
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    Ok(())
}

fn serve(mut worker: Worker, inbox: &Receiver<Command>, outbox: &Sender<Answer>) {
    while let Ok(command) = inbox.recv() {
        let answer = match command {
            Command::Prepare => Answer::Prepared(worker.prepare()),
            Command::Run(slice, start) => Answer::Ran(worker.run(&slice, start).map(Box::new)),
        };
        if outbox.send(answer).is_err() {
            return;
        }
    }
}
