use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_agent::{DriveError, Driver, RemoteObserver};
use loadline_engine::{EngineError, Record, SliceSpec};
use loadline_model::experiment::LoadSpec;
use loadline_model::metrics::{MACHINE_CPUS, MetricDeclaration, SERVICE_CPU, WALL};
use loadline_model::notes::Note;
use loadline_model::plan::Plan;
use loadline_model::rows::{StartupRow, Surroundings};
use loadline_model::runtime::Runtime;
use loadline_model::{MachineCpu, Observations};
use loadline_model::{PlatformId, SiteId, TriedRequest};
use loadline_observe::{
    AnyProbe, Observer, Snapshot, Subject, TimelineWatch, Wanted, between_remote, probes,
};
use loadline_run::{BoxError, Deployer, LiveSite, MachineId, ReadOut, Readiness, RunError, StartingSite};

use super::clock::FakeClock;
use super::random_delays::RandomDelays;
use super::recorded_node::RecordedNode;

/// Drives of a site under one load before its first slice: its warm-up.
pub const WARM_UP: usize = 8;

pub const LOCAL_MACHINE: &str = "this machine";

/// How a site's services behave. Figures count from the first time: `Some(0)` is at once.
#[derive(Clone)]
pub struct Behaviour {
    /// Why it cannot be started.
    pub start_fails: Option<&'static str>,
    /// Why it does not come up.
    pub wait_fails: Option<&'static str>,
    /// Lets no request through for some time.
    pub is_slow_to_start: bool,
    /// The number of probes for which it is not ready.
    pub ready_after: usize,
    /// Exits while it is probed.
    pub ends_before_ready: bool,
    /// Exits after this many drives, warm-up included.
    pub ends_after: Option<usize>,
    /// The engine fails at this drive, though the service lives.
    pub engine_fails_at: Option<usize>,
    /// What disturbs each drive from this one on.
    pub disturbed: Option<(usize, Disturbance)>,
    /// From this drive on it is undisturbed again.
    pub recovers_at: Option<usize>,
    /// A user presses Ctrl-C during this drive.
    pub interrupted_at: Option<usize>,
    /// A user presses Ctrl-C while it is probed.
    pub interrupted_before_ready: bool,
    /// Why it cannot be stopped.
    pub stop_fails: Option<&'static str>,
    /// Median service time, ns, by drive.
    pub service_ns: fn(usize) -> u64,
    /// Times of single requests, once it is warm.
    pub delays: Option<RandomDelays>,
    /// For how long the last responses of a drive are waited for. What disturbs it then comes after the last request was due.
    pub overruns: Duration,
    /// CPU time of the service in a drive.
    pub cpu: Duration,
    /// The CPUs of its machine.
    pub cpus: u32,
    /// Its machine.
    pub machine: Option<&'static str>,
    /// It runs independently of loadline.
    pub is_external: bool,
    /// Whether it can be seen when its service is held up.
    pub is_watched: bool,
    /// What its service's JVM collects with, if it has one.
    pub collector: Option<&'static str>,
    /// What is read of it besides.
    pub probes: fn() -> Vec<Box<dyn AnyProbe>>,
    /// The node that it is on, whose agent reads it; its figures then count in place of those above.
    pub node: Option<Arc<RecordedNode>>,
}

/// What a drive suffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disturbance {
    /// A hypervisor takes this share of its machine's CPUs.
    Stolen(f64),
    /// Other programs use this share of its machine's CPUs.
    Foreign(f64),
    /// The load's CPU stands still for so long.
    Paused(Duration),
    /// This share of the requests fail.
    Errors(f64),
    /// The service stands still for so long, and the requests that are due meanwhile leave late and are answered late.
    Stalled(Duration),
}

impl Behaviour {
    /// What disturbs a drive.
    fn disturbance_of(&self, drive: usize) -> Option<Disturbance> {
        let (from, disturbance) = self.disturbed?;
        (drive >= from && self.recovers_at.is_none_or(|end| drive < end)).then_some(disturbance)
    }
}

impl Default for Behaviour {
    fn default() -> Self {
        Behaviour {
            start_fails: None,
            wait_fails: None,
            is_slow_to_start: false,
            ready_after: 0,
            ends_before_ready: false,
            ends_after: None,
            engine_fails_at: None,
            disturbed: None,
            recovers_at: None,
            interrupted_at: None,
            interrupted_before_ready: false,
            stop_fails: None,
            service_ns: |_| 60_000,
            delays: None,
            overruns: Duration::ZERO,
            cpu: Duration::from_millis(5),
            cpus: 2,
            machine: Some(LOCAL_MACHINE),
            is_external: false,
            is_watched: false,
            collector: None,
            probes: Vec::new,
            node: None,
        }
    }
}

pub struct FakeDeployer {
    pub behaviours: Vec<Behaviour>,
    pub prepare_fails: bool,
    pub remove_fails: bool,
    /// Platforms that cannot be reached.
    pub unreachable: Vec<PlatformId>,
    /// The most sites that were alive at the same time.
    pub most_alive: Arc<AtomicUsize>,
    shared: Shared,
    removed: bool,
}

/// What all sites of a deployer share.
#[derive(Clone)]
struct Shared {
    clock: FakeClock,
    stop: Arc<AtomicBool>,
    log: Arc<Mutex<Vec<String>>>,
    alive: Arc<AtomicUsize>,
}

impl Shared {
    fn log(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
    }
}

impl FakeDeployer {
    pub fn new(
        plan: &Plan,
        clock: FakeClock,
        stop: Arc<AtomicBool>,
        log: Arc<Mutex<Vec<String>>>,
    ) -> FakeDeployer {
        FakeDeployer {
            behaviours: vec![Behaviour::default(); plan.sites.len()],
            prepare_fails: false,
            remove_fails: false,
            unreachable: Vec::new(),
            most_alive: Arc::default(),
            shared: Shared { clock, stop, log, alive: Arc::default() },
            removed: false,
        }
    }

    pub fn alive(&self) -> usize {
        self.shared.alive.load(Ordering::Relaxed)
    }

    pub fn is_removed(&self) -> bool {
        self.removed
    }
}

impl Deployer for FakeDeployer {
    fn prepare(&mut self) -> Result<Vec<Note>, BoxError> {
        if self.prepare_fails { Err("no network namespaces here".into()) } else { Ok(Vec::new()) }
    }

    fn reach(&self, platform: PlatformId) -> Result<(), BoxError> {
        if self.unreachable.contains(&platform) { Err("the daemon does not answer".into()) } else { Ok(()) }
    }

    fn surroundings(&self, _: PlatformId) -> Option<Surroundings> {
        None
    }

    fn start<'d>(
        &'d self,
        site: SiteId,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn StartingSite + 'd>, BoxError> {
        let behaviour = self.behaviours[site.0].clone();
        self.shared.log(format!("start site {site}"));
        progress("making it up");
        if let Some(why) = behaviour.start_fails {
            return Err(why.into());
        }
        let alive = self.shared.alive.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_alive.fetch_max(alive, Ordering::Relaxed);
        let life = Life { site, shared: self.shared.clone() };
        Ok(Box::new(Starting { behaviour, life }))
    }

    fn remove(&mut self) -> Result<(), BoxError> {
        self.removed = true;
        if self.remove_fails { Err("cannot remove a link".into()) } else { Ok(()) }
    }
}

/// Counts a service as alive until it is dropped.
struct Life {
    site: SiteId,
    shared: Shared,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.shared.alive.fetch_sub(1, Ordering::Relaxed);
        self.shared.log(format!("gone site {}", self.site));
    }
}

struct Starting {
    behaviour: Behaviour,
    life: Life,
}

impl StartingSite for Starting {
    fn is_slow_to_start(&self) -> bool {
        self.behaviour.is_slow_to_start
    }

    fn wait(self: Box<Self>, _: &mut dyn FnMut(&str)) -> Result<Box<dyn LiveSite>, BoxError> {
        self.life.shared.log(format!("wait site {}", self.life.site));
        if let Some(why) = self.behaviour.wait_fails {
            return Err(why.into());
        }
        let Starting { mut behaviour, life } = *self;
        // Each deployment is another one.
        let began = life.shared.clock.elapsed();
        behaviour.delays = behaviour.delays.map(|delays| delays.of_deployment(began));
        let state = Arc::new(State { drives: AtomicUsize::new(0), ended: AtomicBool::new(false) });
        let mut probes = Observer::with_probes(Subject::default(), (behaviour.probes)());
        Ok(Box::new(Live {
            life,
            state,
            asked: 0,
            read_at: Duration::ZERO,
            read_drives: 0,
            probed: probes.read(&Wanted::Everything),
            probes,
            agent: behaviour.node.as_ref().map(|node| node.observe()),
            read_there: None,
            behaviour,
        }))
    }
}

/// What a site and its engines share.
struct State {
    drives: AtomicUsize,
    ended: AtomicBool,
}

struct Live {
    behaviour: Behaviour,
    life: Life,
    state: Arc<State>,
    asked: usize,
    read_at: Duration,
    read_drives: usize,
    probes: Observer,
    probed: Snapshot,
    agent: Option<RemoteObserver>,
    read_there: Option<Snapshot>,
}

impl LiveSite for Live {
    fn ask_ready(&mut self) -> Result<Readiness, RunError> {
        self.asked += 1;
        if self.behaviour.ends_before_ready {
            self.state.ended.store(true, Ordering::Relaxed);
        }
        if self.behaviour.interrupted_before_ready {
            self.life.shared.stop.store(true, Ordering::Relaxed);
        }
        let is_ready = self.asked > self.behaviour.ready_after
            && !self.behaviour.ends_before_ready
            && !self.behaviour.interrupted_before_ready;
        Ok(if is_ready { Readiness::Ready } else { Readiness::NotYet("connection refused".to_owned()) })
    }

    fn connect(&self, _: &LoadSpec) -> Result<Box<dyn Driver>, RunError> {
        Ok(Box::new(FakeDriver {
            site: self.life.site,
            behaviour: self.behaviour.clone(),
            shared: self.life.shared.clone(),
            state: self.state.clone(),
            begun: None,
        }))
    }

    fn metrics(&mut self) -> Vec<MetricDeclaration> {
        let mut metrics = match &mut self.agent {
            Some(agent) => agent.metrics().unwrap(),
            None => probes::metrics(),
        };
        metrics.extend(self.probes.metrics());
        metrics
    }

    fn read_begin(&mut self, _: ReadOut) {
        self.read_at = self.life.shared.clock.elapsed();
        self.read_drives = self.state.drives.load(Ordering::Relaxed);
        self.probed = self.probes.read(&Wanted::Everything);
        self.read_there = self.agent.as_mut().map(|agent| agent.read(&Wanted::Everything).unwrap());
    }

    fn read_in_between(&mut self) -> Option<Observations> {
        // So far nobody has used the CPUs.
        let idle = MachineCpu { idle_ns: 1_000_000, ..MachineCpu::default() };
        let seen = Observations::default().with(WALL, 1_000_000).with(MACHINE_CPUS, 1).with(SERVICE_CPU, 0);
        Some(seen.with_machine_cpu(&idle))
    }

    fn read_end(&mut self) -> Observations {
        if let Some((agent, before)) = self.agent.as_mut().zip(self.read_there.as_ref()) {
            return between_remote(before, &agent.read(&Wanted::Everything).unwrap());
        }
        let wall = self.life.shared.clock.elapsed() - self.read_at;
        let drives = self.state.drives.load(Ordering::Relaxed) - self.read_drives;
        let service = self.behaviour.cpu * drives as u32;
        let capacity = wall.as_nanos() as f64 * f64::from(self.behaviour.cpus);
        let (stolen, foreign) = match self.behaviour.disturbance_of(self.read_drives) {
            Some(Disturbance::Stolen(share)) if drives > 0 => (share, 0.0),
            Some(Disturbance::Foreign(share)) if drives > 0 => (0.0, share),
            _ => (0.0, 0.0),
        };
        let (steal_ns, foreign_ns) = ((stolen * capacity) as u64, (foreign * capacity) as u64);
        let busy_ns = service.as_nanos() as u64 + foreign_ns;
        let machine = MachineCpu {
            user_ns: busy_ns,
            steal_ns,
            idle_ns: (capacity as u64).saturating_sub(busy_ns + steal_ns),
            ..MachineCpu::default()
        };
        let after = self.probes.read(&Wanted::Everything);
        self.probes
            .between(&self.probed, &after)
            .with(WALL, wall.as_nanos() as u64)
            .with(MACHINE_CPUS, u64::from(self.behaviour.cpus))
            .with(SERVICE_CPU, service.as_nanos() as u64)
            .with_machine_cpu(&machine)
    }

    fn machine(&self) -> Option<MachineId> {
        match &self.agent {
            Some(agent) => MachineId::of(agent.machine()),
            None => self.behaviour.machine.map(|name| MachineId(name.to_owned())),
        }
    }

    fn is_external(&self) -> bool {
        self.behaviour.is_external
    }

    fn watch(&self) -> Option<TimelineWatch> {
        let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
        self.behaviour.is_watched.then(|| TimelineWatch::start(&subject).expect("a thread"))
    }

    fn runtime(&mut self) -> Runtime {
        let mut runtime = Runtime::default();
        if let Some(collector) = self.behaviour.collector {
            runtime.set("jvm.collector", collector);
        }
        runtime
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    fn startup(&mut self) -> StartupRow {
        StartupRow::default()
    }

    fn ended(&mut self) -> Option<String> {
        let drives = self.state.drives.load(Ordering::Relaxed);
        if self.behaviour.ends_after.is_some_and(|after| drives >= after) {
            self.state.ended.store(true, Ordering::Relaxed);
        }
        let ended = self.state.ended.load(Ordering::Relaxed);
        ended.then(|| "the service exited on its own (exit status: 1)".to_owned())
    }

    fn output_tail(&self) -> String {
        "out of luck\n".to_owned()
    }

    fn stop(self: Box<Self>) -> Result<(), BoxError> {
        self.life.shared.log(format!("stop site {}", self.life.site));
        self.behaviour.stop_fails.map_or(Ok(()), |why| Err(why.into()))
    }
}

struct FakeDriver {
    site: SiteId,
    behaviour: Behaviour,
    shared: Shared,
    state: Arc<State>,
    begun: Option<SliceSpec>,
}

impl Driver for FakeDriver {
    fn prepare(&mut self) -> Result<(), DriveError> {
        if self.state.ended.load(Ordering::Relaxed) { Err(EngineError::Gone.into()) } else { Ok(()) }
    }

    fn begin(&mut self, slice: SliceSpec, _: u64) -> Result<(), DriveError> {
        self.begun = Some(slice);
        Ok(())
    }

    fn wait(&mut self, _: u64) -> bool {
        self.behaviour.overruns.is_zero()
    }

    fn finish(&mut self) -> Result<Record, DriveError> {
        let slice = self.begun.take().expect("a slice was begun");
        let drive = self.state.drives.fetch_add(1, Ordering::Relaxed);
        self.shared.log(format!("drive site {} for {:?} seed {}", self.site, slice.duration, slice.seed));
        let overruns = if drive >= WARM_UP { self.behaviour.overruns } else { Duration::ZERO };
        self.shared.clock.advance(slice.duration + overruns);
        if let Some(node) = &self.behaviour.node {
            node.advance(slice.duration);
        }
        if self.behaviour.ends_after.is_some_and(|after| drive + 1 >= after) {
            self.state.ended.store(true, Ordering::Relaxed);
            return Err(EngineError::Gone.into());
        }
        if self.behaviour.engine_fails_at == Some(drive) {
            return Err(EngineError::Gone.into());
        }
        let interrupted = self.behaviour.interrupted_at == Some(drive);
        if interrupted {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        Ok(record(&self.behaviour, drive, &slice, interrupted))
    }

    fn drive(&mut self, slice: SliceSpec) -> Result<Record, DriveError> {
        self.prepare()?;
        self.begin(slice, 0)?;
        self.finish()
    }

    fn try_out(&mut self) -> Result<Vec<TriedRequest>, DriveError> {
        if self.behaviour.ends_after == Some(0) {
            self.state.ended.store(true, Ordering::Relaxed);
        }
        self.prepare()?;
        self.shared.log(format!("try site {}", self.site));
        Ok(vec![TriedRequest {
            sent: "GET / HTTP/1.1".to_owned(),
            received: "HTTP/1.1 200 OK".to_owned(),
            left_out_bytes: 0,
            took_ns: (self.behaviour.service_ns)(0),
            status: Some(200),
            problem: None,
        }])
    }
}

fn record(behaviour: &Behaviour, drive: usize, slice: &SliceSpec, stopped: bool) -> Record {
    let rate = slice.load.rate().map_or(10_000.0, |rate| rate.as_per_second());
    let requests = ((rate * slice.duration.as_secs_f64()) as u64).max(1);
    if let Some(delays) = behaviour.delays.filter(|_| drive >= WARM_UP) {
        return delays.record(drive, slice);
    }
    let mut record = Record::empty();
    let service_ns = (behaviour.service_ns)(drive);
    record.service.record_n(service_ns, requests).unwrap();
    record.response.record_n(service_ns + 1_000, requests).unwrap();
    record.send_lag.record_n(1_000, requests).unwrap();
    (record.due, record.sent_in_time, record.answered, record.answered_in_time) =
        (requests, requests, requests, requests);
    record.duration = slice.duration;
    record.stopped = stopped;
    match behaviour.disturbance_of(drive) {
        Some(Disturbance::Errors(share)) => {
            let failed = (requests as f64 * share) as u64;
            (0..failed).for_each(|_| record.errors.count(loadline_engine::ErrorKind::Status));
        }
        Some(Disturbance::Paused(pause)) => {
            record.pauses.note(pause.as_nanos() as u64);
            record.send_lag.record_n(pause.as_nanos() as u64, requests / 10).unwrap();
        }
        Some(Disturbance::Stalled(stall)) => {
            let stall = stall.as_nanos() as u64;
            let late = requests / 10;
            for times in [&mut record.response, &mut record.service, &mut record.send_lag] {
                times.record_n(stall, late).unwrap();
            }
            (record.waited, record.sent_in_time) = (late, requests - late);
        }
        _ => {}
    }
    record
}
