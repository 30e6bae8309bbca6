//! The engine's public entry: workers that stay connected between slices and are driven one slice at a time.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use loadline_model::{Record, TriedRequest};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::CpuSet;

use crate::clock::{Nanos, nanos, now};
use crate::options::Options;
use crate::overflow::Overflow;
use crate::slice::SliceSpec;
use crate::sys;
use crate::try_out::{self, TryOutError};
use crate::worker::{Answer, Handing, Share, Worker};

/// Why an engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A worker thread could not be set up.
    #[error("cannot set up a load thread: {0}")]
    Setup(#[source] io::Error),
    /// Not all connections could be opened.
    #[error("cannot connect to {target}: {source}")]
    Connect {
        /// Where to.
        target: String,
        /// Why not.
        source: io::Error,
    },
    /// There are fewer local ports than connections.
    #[error(
        "cannot open another connection to {target}: no local port is left ({source}): ask for fewer connections, or widen \
        net.ipv4.ip_local_port_range"
    )]
    NoPort {
        /// Where to.
        target: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// Every connection is an open file.
    #[error(
        "cannot open {connections} connections: they need {needed} open files and the limit is {limit}: raise the limit \
        (ulimit -Hn {needed}) or ask for fewer connections"
    )]
    TooManyFiles {
        /// How many were asked for.
        connections: usize,
        /// How many files that takes.
        needed: u64,
        /// The hard limit.
        limit: u64,
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
    overflow: Arc<Overflow>,
    options: Options,
}

struct Handle {
    commands: Sender<Command>,
    answers: Receiver<Answer>,
    /// An answer that came while [`Engine::wait`] waited for it.
    early: Option<Answer>,
    /// Records of intervals, emptied, for the worker to fill again.
    emptied: Sender<Box<Record>>,
    thread: Option<JoinHandle<()>>,
}

enum Command {
    Prepare,
    Run(SliceSpec, Nanos),
}

/// Above programs and below the kernel's threads for interrupts, which have 50 where they are threads (sched(7), `threadirqs`).
const REAL_TIME_PRIORITY: i32 = 49;

/// Whether this process may let its threads run before all other programs: root, or who has CAP_SYS_NICE or a limit
/// (`RLIMIT_RTPRIO`) of 49 at least.
pub fn real_time_permitted() -> bool {
    // Tried on a thread of its own, which takes the priority with it.
    std::thread::spawn(|| sys::run_first(REAL_TIME_PRIORITY).is_ok()).join().unwrap_or(false)
}

/// Time between the start being decided and the first request, so that every worker is there.
const LEAD: Duration = Duration::from_micros(500);

impl Engine {
    /// Starts the worker threads. Nothing is connected yet.
    ///
    /// # Errors
    /// When this process may not open so many files, or a thread can't be set up.
    pub fn start(options: &Options) -> Result<Engine, EngineError> {
        allow_files(options.connections)?;
        let threads = options.threads.clamp(1, options.connections.max(1));
        let overflow = Arc::new(Overflow::new(threads).map_err(EngineError::Setup)?);
        let mut workers = Vec::with_capacity(threads);
        for index in 0..threads {
            let connections =
                options.connections / threads + usize::from(index < options.connections % threads);
            let share = Share { index, of: threads };
            let handle = Handle::spawn(options.clone(), share, connections, overflow.clone());
            workers.push(handle.map_err(EngineError::Setup)?);
        }
        Ok(Engine { workers, overflow, options: options.clone() })
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
                    result = Err(self.connect_error(source));
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
        self.overflow.clear();
        self.command(|| Command::Run(slice.clone(), start))
    }

    /// Waits for the slice to end, but not beyond `until`; returns whether it has. [`Engine::finish`] must follow. Only of an engine without
    /// intervals.
    pub fn wait(&mut self, until: Nanos) -> bool {
        self.workers.iter_mut().all(|worker| worker.wait(until))
    }

    /// Waits for the slice to end and returns its record.
    pub fn finish(&mut self) -> Result<Record, EngineError> {
        self.finish_with(|_| {})
    }

    /// Waits for the slice to end and returns its record; until then `on_interval` is given the record of each interval, the last
    /// one, which may be shorter or longer, included.
    pub fn finish_with(&mut self, mut on_interval: impl FnMut(&Record)) -> Result<Record, EngineError> {
        let mut whole: Option<Record> = None;
        let mut failure = None;
        let mut running: Vec<bool> = vec![true; self.workers.len()];
        // Every worker is heard to its end, so that none of their answers is left for the next command.
        while running.contains(&true) {
            let mut interval: Option<Box<Record>> = None;
            for (worker, running) in
                self.workers.iter_mut().zip(&mut running).filter(|(_, running)| **running)
            {
                let part = match worker.answer() {
                    Some(Answer::Interval(part)) => part,
                    Some(Answer::Ran(Ok(part))) => {
                        *running = false;
                        part
                    }
                    Some(Answer::Ran(Err(error))) => {
                        *running = false;
                        failure = Some(EngineError::Loop(error));
                        continue;
                    }
                    _ => {
                        *running = false;
                        failure = Some(EngineError::Gone);
                        continue;
                    }
                };
                match &mut interval {
                    None => interval = Some(part),
                    Some(interval) => {
                        interval.merge(&part);
                        worker.return_record(part);
                    }
                }
            }
            let Some(interval) = interval else { continue };
            on_interval(&interval);
            match &mut whole {
                None => whole = Some(*interval),
                Some(whole) => {
                    whole.append(&interval);
                    self.workers[0].return_record(interval);
                }
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

    /// Sends each request of the mix once, each on a connection of its own, and keeps all that comes back.
    ///
    /// # Errors
    /// When the service cannot be reached. What it says, and what it does not, is no error.
    pub fn try_out(&self) -> Result<Vec<TriedRequest>, EngineError> {
        let options = self.options.clone();
        let trying = std::thread::spawn(move || try_out::all(&options));
        trying.join().map_err(|_| EngineError::Gone)?.map_err(|error| match error {
            TryOutError::Setup(source) => EngineError::Setup(source),
            TryOutError::Connect(source) => self.connect_error(source),
        })
    }

    fn connect_error(&self, source: io::Error) -> EngineError {
        let target = self.options.endpoint.target.to_string();
        match Errno::from_io_error(&source) {
            Some(Errno::ADDRNOTAVAIL) => EngineError::NoPort { target, source },
            _ => EngineError::Connect { target, source },
        }
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
    fn spawn(
        options: Options,
        share: Share,
        connections: usize,
        overflow: Arc<Overflow>,
    ) -> io::Result<Handle> {
        let (commands, inbox) = channel();
        let (filled, answers) = channel();
        let (emptied, empty) = channel();
        let (report, ready) = channel();
        let thread = std::thread::Builder::new().name(format!("load-{}", share.index)).spawn(move || {
            let worker = set_up_thread(&options, share)
                .and_then(|()| Worker::new(&options, share, connections, overflow));
            match worker {
                Ok(worker) => {
                    let _ = report.send(Ok(()));
                    serve(worker, &inbox, &Handing { every: options.interval.map(nanos), filled, empty });
                }
                Err(error) => {
                    let _ = report.send(Err(error));
                }
            }
        })?;
        ready.recv().map_err(io::Error::other)??;
        Ok(Handle { commands, answers, early: None, emptied, thread: Some(thread) })
    }

    /// Waits for an answer until then; returns whether there is one, or never will be.
    fn wait(&mut self, until: Nanos) -> bool {
        if self.early.is_none() {
            match self.answers.recv_timeout(Duration::from_nanos(until.saturating_sub(now()))) {
                Ok(answer) => self.early = Some(answer),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
        true
    }

    /// The next answer; none if the worker is gone.
    fn answer(&mut self) -> Option<Answer> {
        self.early.take().or_else(|| self.answers.recv().ok())
    }

    /// Gives a record back to be filled again; emptied here, because that takes longer than a request may wait.
    fn return_record(&self, mut record: Box<Record>) {
        record.clear();
        // A worker that is gone needs no record.
        let _ = self.emptied.send(record);
    }
}

/// Lets this process open a file for each connection, and some more for itself.
fn allow_files(connections: usize) -> Result<(), EngineError> {
    const OWN: u64 = 100;
    let needed = connections as u64 + OWN;
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    match limits.maximum {
        Some(limit) if limit < needed => Err(EngineError::TooManyFiles { connections, needed, limit }),
        maximum => {
            let raised = Rlimit { current: Some(needed), maximum };
            setrlimit(Resource::Nofile, raised).map_err(|error| EngineError::Setup(error.into()))
        }
    }
}

fn set_up_thread(options: &Options, share: Share) -> io::Result<()> {
    (options.on_thread_start)()?;
    if !options.cpus.is_empty() {
        let mut set = CpuSet::new();
        set.set(options.cpus[share.index % options.cpus.len()]);
        rustix::thread::sched_setaffinity(None, &set)?;
    }
    if options.real_time {
        // Without permission the worker keeps its normal priority; `real_time_permitted` tells callers in advance.
        let _ = sys::run_first(REAL_TIME_PRIORITY);
    }
    // The default slack of 50 µs would be added to every wait (prctl(2), PR_SET_TIMERSLACK).
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    Ok(())
}

fn serve(mut worker: Worker, inbox: &Receiver<Command>, handing: &Handing) {
    while let Ok(command) = inbox.recv() {
        let answer = match command {
            Command::Prepare => Answer::Prepared(worker.prepare()),
            Command::Run(slice, start) => Answer::Ran(worker.run(&slice, start, handing).map(Box::new)),
        };
        if handing.filled.send(answer).is_err() {
            return;
        }
    }
}
