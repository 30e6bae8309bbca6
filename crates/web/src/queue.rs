//! Runs that were asked for: one is measured at a time, because two would disturb each other; the others wait in the order in which they came.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use loadline_model::Event;
use loadline_store::Store;
use rustix::process::Pid;
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::live::{Follower, Live, Slice};
use crate::process::{Process, interrupt};
use crate::program::Program;

/// Watchers are told of news so often at most: making and drawing it must not take time from what is measured.
const BETWEEN: Duration = Duration::from_millis(1000);
/// Runs that have ended and are remembered; they are in the store for as long as it is kept.
const MOST_ENDED: usize = 100;
/// Runs that wait at once.
const MOST_WAITING: usize = 100;

/// Where a run is.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum State {
    /// Until those before it have ended.
    Waiting,
    /// It is started or measured.
    Running,
    /// It was stopped, and removes what it created.
    Stopping,
    /// It has ended.
    Ended {
        /// The exit code of `loadline run`; absent if it was killed, or never began.
        code: Option<i32>,
        /// The end of what it said on stderr.
        said: String,
    },
}

/// A run that was asked for.
pub(crate) struct Job {
    pub id: u64,
    pub name: String,
    pub yaml: String,
    told: Mutex<Told>,
    news: watch::Sender<()>,
}

struct Told {
    state: State,
    live: Live,
    slices: Vec<Slice>,
    process: Option<Pid>,
}

/// A run that was asked for, as the API shows it.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct Status {
    /// Its number in the queue.
    pub job: u64,
    /// What it is called.
    pub name: String,
    /// How many are before it.
    pub before: usize,
    /// Where it is.
    #[serde(flatten)]
    pub state: State,
    /// What is known of it.
    pub live: Live,
}

impl Job {
    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.told().state, State::Ended { .. })
    }

    /// The slices from a number on.
    pub(crate) fn slices_from(&self, first: usize, at_most: usize) -> Vec<Slice> {
        self.told().slices.iter().skip(first).take(at_most).copied().collect()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.told());
        self.news.send_replace(());
    }
}

/// The queue.
pub(crate) struct Queue {
    store: PathBuf,
    program: Arc<dyn Program>,
    list: Mutex<List>,
    changed: Condvar,
    measuring: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct List {
    next_id: u64,
    waiting: VecDeque<Arc<Job>>,
    running: Option<Arc<Job>>,
    ended: VecDeque<Arc<Job>>,
    is_over: bool,
}

impl List {
    fn all(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.ended.iter().chain(&self.running).chain(&self.waiting)
    }

    /// Keeps one that has ended, among the latest.
    fn remember(&mut self, job: Arc<Job>) {
        self.ended.push_back(job);
        if self.ended.len() > MOST_ENDED {
            self.ended.pop_front();
        }
    }
}

impl Queue {
    /// A queue, and the thread that measures.
    pub(crate) fn start(store: PathBuf, program: Arc<dyn Program>) -> Arc<Queue> {
        let queue = Arc::new(Queue {
            store,
            program,
            list: Mutex::default(),
            changed: Condvar::new(),
            measuring: Mutex::default(),
        });
        let of_thread = queue.clone();
        let thread = thread::spawn(move || of_thread.measure_all());
        *queue.measuring.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        queue
    }

    /// Stops what runs, forgets what waits, and waits until all is tidied up.
    pub(crate) fn end(&self) {
        let running = {
            let mut list = self.list();
            list.is_over = true;
            list.waiting.clear();
            list.running.clone()
        };
        self.changed.notify_all();
        if let Some(job) = running {
            self.stop_running(&job, false);
        }
        let thread = self.measuring.lock().unwrap_or_else(PoisonError::into_inner).take();
        // One that panicked has said so.
        thread.map(JoinHandle::join);
    }

    /// Adds a run at the end; `None` if too many wait.
    pub(crate) fn add(&self, name: String, yaml: String) -> Option<Status> {
        let mut list = self.list();
        if list.waiting.len() >= MOST_WAITING {
            return None;
        }
        list.next_id += 1;
        let told = Told { state: State::Waiting, live: Live::default(), slices: Vec::new(), process: None };
        let (news, _) = watch::channel(());
        let job = Arc::new(Job { id: list.next_id, name, yaml, told: Mutex::new(told), news });
        list.waiting.push_back(job.clone());
        self.changed.notify_all();
        Some(status(&list, &job))
    }

    /// All runs that are remembered, oldest first.
    pub(crate) fn all(&self) -> Vec<Status> {
        let list = self.list();
        list.all().map(|job| status(&list, job)).collect()
    }

    pub(crate) fn job(&self, id: u64) -> Option<Arc<Job>> {
        self.list().all().find(|job| job.id == id).cloned()
    }

    pub(crate) fn status(&self, job: &Job) -> Status {
        status(&self.list(), job)
    }

    /// Whether the run of this number is being measured.
    pub(crate) fn measures(&self, run: i64) -> bool {
        self.list().running.as_ref().is_some_and(|job| job.told().live.run == Some(run))
    }

    /// Whether a run is being measured.
    pub(crate) fn is_measuring(&self) -> bool {
        self.list().running.is_some()
    }

    /// Ends a run: one that waits never begins, one that runs keeps what was measured. One that was stopped and hangs can be ended `at_once`:
    /// it leaves what it made to the next start of the server.
    pub(crate) fn stop(&self, job: &Arc<Job>, at_once: bool) {
        let is_waiting = {
            let mut list = self.list();
            let place = list.waiting.iter().position(|other| other.id == job.id);
            let found = place.and_then(|place| list.waiting.remove(place));
            found.is_some_and(|job| {
                list.remember(job);
                true
            })
        };
        match is_waiting {
            true => job.tell(|told| {
                told.state = State::Ended { code: None, said: "It was stopped before it began.".to_owned() }
            }),
            false => self.stop_running(job, at_once),
        }
    }

    fn stop_running(&self, job: &Job, at_once: bool) {
        let mut pid = None;
        job.tell(|told| {
            // A second signal would end its tidying up.
            if told.state == State::Running || at_once && told.state == State::Stopping {
                told.state = State::Stopping;
                pid = told.process;
            }
        });
        if let Some(pid) = pid {
            interrupt(pid);
        }
    }

    fn measure_all(&self) {
        while let Some(job) = self.next() {
            let (code, said) = self.measure(&job);
            let mut list = self.list();
            list.running = None;
            list.remember(job.clone());
            drop(list);
            job.tell(|told| {
                told.process = None;
                told.live.doing.clear();
                told.live.seconds_left = None;
                told.state = State::Ended { code, said };
            });
        }
    }

    /// Waits for a run; `None` once the queue is at its end.
    fn next(&self) -> Option<Arc<Job>> {
        let mut list = self.list();
        while !list.is_over {
            if let Some(job) = list.waiting.pop_front() {
                list.running = Some(job.clone());
                // From here on a stop is for what runs, whether its process is there yet or not.
                job.tell(|told| told.state = State::Running);
                return Some(job);
            }
            list = self.changed.wait(list).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn measure(&self, job: &Job) -> (Option<i32>, String) {
        let process = match Process::start(self.program.run(&self.store), &job.yaml) {
            Ok(process) => process,
            Err(error) => return (None, format!("cannot start loadline: {error}")),
        };
        // A stop that came before there was a process to stop.
        let mut is_stopped = false;
        job.tell(|told| {
            told.process = process.pid();
            is_stopped = told.state == State::Stopping;
        });
        if let Some(pid) = process.pid().filter(|_| is_stopped) {
            interrupt(pid);
        }
        let row = OnceCell::new();
        let (mut follower, mut last) = (None, None::<Instant>);
        let ended = process.follow(|event| {
            if let Event::Begun { run } = event
                && let Ok(found) = Store::open(&self.store).and_then(|store| store.run(Some(*run)))
            {
                let row = row.get_or_init(|| found);
                follower = Some(Follower::new(*run, &row.experiment, &row.plan));
            }
            let Some(follower) = &mut follower else { return };
            follower.take(event);
            // The first says which run it is, which nobody may delete from then on.
            if last.is_none_or(|last| last.elapsed() >= BETWEEN) {
                last = Some(Instant::now());
                show(job, follower);
            }
        });
        if let Some(follower) = &mut follower {
            show(job, follower);
        }
        (ended.code, ended.said)
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn show(job: &Job, follower: &mut Follower<'_>) {
    let (live, slices) = follower.news();
    job.tell(|told| {
        told.live = live;
        told.slices.extend(slices);
    });
}

fn status(list: &List, job: &Job) -> Status {
    let told = job.told();
    let before = list.waiting.iter().position(|other| other.id == job.id);
    let before = before.map_or(0, |place| place + usize::from(list.running.is_some()));
    Status { job: job.id, name: job.name.clone(), before, state: told.state.clone(), live: told.live.clone() }
}
