//! Starts fake services, and is what is seen of them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_agent::{Driver, RemoteObserver};
use loadline_model::experiment::LoadSpec;
use loadline_model::metrics::{JIT, MACHINE_CPUS, MetricDeclaration, SERVICE_CPU, WALL};
use loadline_model::notes::Note;
use loadline_model::plan::Plan;
use loadline_model::rows::{StartupRow, Surroundings};
use loadline_model::runtime::Runtime;
use loadline_model::{MachineCpu, Observations};
use loadline_model::{PlatformId, SiteId};
use loadline_observe::{Observer, Snapshot, Subject, TimelineWatch, Wanted, between_remote, probes};
use loadline_run::{BoxError, Deployer, LiveSite, MachineId, ReadOut, Readiness, RunError, StartingSite};

use super::behaviour::{Behaviour, Disturbance};
use super::clock::FakeClock;
use super::driver::FakeDriver;

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
pub struct Shared {
    pub clock: FakeClock,
    pub stop: Arc<AtomicBool>,
    log: Arc<Mutex<Vec<String>>>,
    alive: Arc<AtomicUsize>,
}

impl Shared {
    pub fn log(&self, line: impl Into<String>) {
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
pub struct State {
    pub drives: AtomicUsize,
    pub ended: AtomicBool,
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

    fn quiesce(&mut self, stopped: bool) -> Result<Option<Duration>, RunError> {
        if self.behaviour.can_be_quiet {
            let word = if stopped { "quiet" } else { "loud" };
            self.life.shared.log(format!("{word} site {}", self.life.site));
        }
        Ok(self.behaviour.can_be_quiet.then_some(Duration::ZERO))
    }

    fn leaves_running(&self) -> bool {
        self.behaviour.leaves_running
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
            .with(
                JIT,
                if self.read_drives < self.behaviour.compiles_for {
                    service.as_nanos() as u64 / 10
                } else {
                    0
                },
            )
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
