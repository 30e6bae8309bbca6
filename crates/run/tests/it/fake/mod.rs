//! Fakes of everything that the run loop uses: services that behave as a test says, a journal that remembers, and a clock that moves only
//! when the run loop waits or drives load.

mod behaviour;
mod clock;
mod deployer;
mod driver;
mod experiment;
mod journal;
mod random_delays;
mod recorded_node;
mod stored;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_model::experiment::Experiment;
use loadline_model::plan::Plan;
use loadline_model::{Machine, Tried};
use loadline_run::placement::place;
use loadline_run::strategy::{FixedPlan, Until};
use loadline_run::{Event, Outcome, Run, RunError, Strategy, TaskTimes, execute, try_out};

pub use behaviour::{Behaviour, Disturbance, LOCAL_MACHINE};
pub use clock::FakeClock;
pub use deployer::FakeDeployer;
pub use driver::WARM_UP;
pub use experiment::{experiment, with, with_candidates};
pub use journal::FakeJournal;
pub use random_delays::RandomDelays;
pub use recorded_node::{RecordedNode, Use};

/// A kernel that does not tell what ran: the fake services are no processes that could be told from others.
struct UntoldTasks;

impl TaskTimes for UntoldTasks {
    fn read(&self) -> Option<Duration> {
        None
    }
}

/// Lets the C library keep what is freed, for what it gives back to the kernel and takes again is zeroed, page by page: each drive makes three
/// histograms of 300 kB, and a test of a thousand drives spent two thirds of its time there.
fn keep_freed_memory() {
    const MOST: libc::c_int = 1 << 30;
    // SAFETY: it changes no memory, and only how later allocations are made.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MOST);
        libc::mallopt(libc::M_TRIM_THRESHOLD, MOST);
    }
}

/// One run and everything that it left behind.
pub struct World {
    pub experiment: Experiment,
    pub plan: Plan,
    pub deployer: FakeDeployer,
    pub journal: FakeJournal,
    pub clock: FakeClock,
    pub stop: Arc<AtomicBool>,
    pub allow_missing: bool,
    /// The calls of the fake services, in order, such as `drive cell 2`.
    pub log: Arc<Mutex<Vec<String>>>,
    pub events: Vec<Event>,
}

impl World {
    /// A world in which nothing goes wrong.
    pub fn new(experiment: Experiment) -> World {
        keep_freed_memory();
        let clock = FakeClock::default();
        let stop = Arc::new(AtomicBool::new(false));
        let log = Arc::new(Mutex::new(Vec::new()));
        let plan = Plan::new(&experiment);
        World {
            deployer: FakeDeployer::new(&plan, clock.clone(), stop.clone(), log.clone()),
            experiment,
            plan,
            journal: FakeJournal::default(),
            clock,
            stop,
            allow_missing: false,
            log,
            events: Vec::new(),
        }
    }

    /// Changes how the services of a site behave.
    pub fn site(mut self, site: usize, change: impl FnOnce(&mut Behaviour)) -> World {
        change(&mut self.deployer.behaviours[site]);
        self
    }

    /// Runs the experiment's own plan.
    pub fn run(&mut self) -> Result<Outcome, RunError> {
        let (experiment, plan) = (self.experiment.clone(), self.plan.clone());
        self.run_by(&mut FixedPlan::new(&experiment, &plan))
    }

    /// Runs until `is_settled`.
    pub fn run_until(&mut self, is_settled: &mut dyn FnMut(u32) -> bool) -> Result<Outcome, RunError> {
        let (experiment, plan) = (self.experiment.clone(), self.plan.clone());
        self.run_by(&mut Until::new(FixedPlan::new(&experiment, &plan), is_settled))
    }

    /// Runs a strategy. Whatever happens, nothing that was started may remain.
    pub fn run_by(&mut self, strategy: &mut dyn Strategy) -> Result<Outcome, RunError> {
        let outcome = self.act(|run| execute(run, strategy));
        assert_eq!(self.deployer.alive(), 0, "services are left: {:?}", self.log());
        assert!(self.deployer.is_removed(), "the environment is left");
        outcome
    }

    /// Runs the experiment's own plan where the run ends before its environment is prepared.
    pub fn run_unprepared(&mut self) -> Result<Outcome, RunError> {
        let (experiment, plan) = (self.experiment.clone(), self.plan.clone());
        let outcome = self.act(|run| execute(run, &mut FixedPlan::new(&experiment, &plan)));
        assert!(!self.deployer.is_removed());
        outcome
    }

    /// Tries the requests of the experiment's own plan out.
    pub fn try_out(&mut self) -> Result<(Outcome, Vec<Tried>), RunError> {
        let (experiment, plan) = (self.experiment.clone(), self.plan.clone());
        let tried = self.act(|run| try_out(run, &mut FixedPlan::new(&experiment, &plan)));
        assert_eq!(self.deployer.alive(), 0, "services are left: {:?}", self.log());
        tried
    }

    fn act<T>(&mut self, act: impl FnOnce(Run<'_>) -> T) -> T {
        let cpus = place(&self.experiment, &[0, 1], &|| false);
        let machine =
            Machine { cpus: Some(2), boot_id: Some(LOCAL_MACHINE.to_owned()), ..Machine::default() };
        let events = &mut self.events;
        let run = Run {
            experiment: &self.experiment,
            plan: &self.plan,
            cpus: &cpus,
            machine: &machine,
            label: "made up".to_owned(),
            command_line: vec!["loadline".to_owned()],
            version: "0".to_owned(),
            stop: self.stop.clone(),
            allow_missing: self.allow_missing,
            notes: Vec::new(),
            deployer: &mut self.deployer,
            journal: &self.journal,
            clock: &self.clock,
            tasks: &UntoldTasks,
            events: &mut |event| events.push(event),
        };
        act(run)
    }

    /// The calls, in order.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// The number of matching calls.
    pub fn count(&self, what: &str) -> usize {
        self.log().iter().filter(|line| line.starts_with(what)).count()
    }

    /// How much time has passed.
    pub fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }
}
