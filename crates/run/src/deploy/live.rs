//! A service that a real platform deployed: asked whether it is ready, loaded, read, stopped.

use std::time::Duration;

use loadline_agent::Driver;
use loadline_model::Observations;
use loadline_model::experiment::{LoadSpec, Ready};
use loadline_model::metrics::{CGROUP_MEMORY, MetricDeclaration, RESIDENT_MEMORY};
use loadline_model::rows::{PhaseRow, StartupRow};
use loadline_model::runtime::Runtime;
use loadline_observe::TimelineWatch;
use loadline_platform::Deployment;

use super::gc_trace::GcTrace;
use super::generator::Generator;
use super::needs::Needs;
use super::readiness::ReadyProbe;
use super::watch::Watch;
use crate::deployer::{LiveSite, MachineId, ReadOut, Readiness};
use crate::error::{BoxError, RunError};

/// What a deployed site needs to know about its environment.
pub struct SiteContext {
    /// The machine of this process.
    pub here: Option<MachineId>,
    /// Those of its CPUs on which services and load run; none: on any.
    pub cpus: Vec<usize>,
    /// Whether the service runs independently of loadline.
    pub is_external: bool,
    /// When it counts as ready.
    pub ready: Ready,
    /// A path with metrics of the service.
    pub metrics: Option<String>,
    /// Whether the service prints its collections, if it is a Go program.
    pub gc_trace: bool,
}

/// A deployed service, its load and its observers.
pub struct DeployedSite {
    deployment: Box<dyn Deployment>,
    generator: Generator,
    watch: Watch,
    gc_trace: Option<GcTrace>,
    context: SiteContext,
    /// What is not available, a sentence each.
    left_out: Vec<String>,
    /// What the service needs.
    needs: Needs,
    ready_probe: ReadyProbe,
}

impl DeployedSite {
    /// Starts observing a deployment.
    pub fn new(
        deployment: Box<dyn Deployment>,
        generator: Generator,
        context: SiteContext,
        needs: Needs,
    ) -> Result<DeployedSite, BoxError> {
        let mut watch = Watch::of(deployment.as_ref(), context.here.clone(), &context.cpus)?;
        let mut left_out = deployment.left_out().to_vec();
        left_out.extend(needs.left_out(&left_out));
        if let Some(path) = &context.metrics {
            match generator.endpoint(path) {
                Ok(endpoint) => watch = watch.with_endpoint(endpoint),
                Err(sentence) => left_out.push(sentence.to_owned()),
            }
        }
        let gc_trace = context.gc_trace.then(GcTrace::default);
        let ready_probe = ReadyProbe::default();
        Ok(DeployedSite { deployment, generator, watch, gc_trace, context, left_out, needs, ready_probe })
    }
}

impl LiveSite for DeployedSite {
    fn ask_ready(&mut self) -> Result<Readiness, RunError> {
        self.ready_probe.ask(&self.generator, &self.context.ready)
    }

    fn connect(&self, load: &LoadSpec) -> Result<Box<dyn Driver>, RunError> {
        self.generator.engine(load)
    }

    fn metrics(&mut self) -> Vec<MetricDeclaration> {
        let mut metrics = self.watch.metrics();
        metrics.extend(self.needs.metrics());
        if self.gc_trace.is_some() {
            metrics.extend(GcTrace::metrics());
        }
        metrics
    }

    fn quiesce(&mut self, stopped: bool) -> Result<Option<Duration>, RunError> {
        self.deployment.quiesce(stopped).map_err(|error| RunError::Environment(error.into()))
    }

    fn leaves_running(&self) -> bool {
        self.deployment.leaves_running()
    }

    fn read_begin(&mut self, what: ReadOut) {
        if let (Some(trace), ReadOut::Everything) = (&mut self.gc_trace, what) {
            trace.begin(&self.deployment.output_tail());
        }
        self.needs.read_begin();
        self.watch.begin(what);
    }

    fn read_in_between(&mut self) -> Option<Observations> {
        let mut seen = self.watch.cpu_so_far()?;
        self.needs.read_in_between(&mut seen);
        Some(seen)
    }

    fn read_end(&mut self) -> Observations {
        let mut seen = self.watch.end();
        self.needs.read_end(&mut seen);
        // On some platforms reading the output is a request to a daemon, which a warm-up need not make.
        if let Some(trace) = self.gc_trace.as_mut().filter(|trace| trace.has_begun()) {
            // What the program's memory tells takes precedence over what it printed, which is rounded.
            let mut printed = trace.end(&self.deployment.output_tail());
            printed.extend(seen);
            seen = printed;
        }
        seen
    }

    fn runtime(&mut self) -> Runtime {
        let mut runtime = self.watch.runtime();
        if let Some(trace) = &mut self.gc_trace {
            trace.read(&self.deployment.output_tail());
            trace.complete(&mut runtime);
        }
        runtime
    }

    fn watch(&self) -> Option<TimelineWatch> {
        self.watch.timeline()
    }

    fn machine(&self) -> Option<MachineId> {
        self.watch.machine()
    }

    fn is_external(&self) -> bool {
        self.context.is_external
    }

    fn pids(&self) -> Vec<u32> {
        self.watch.pids()
    }

    fn left_out(&self) -> Vec<String> {
        self.left_out.clone()
    }

    fn startup(&mut self) -> StartupRow {
        let idle = self.watch.now();
        let startup = self.deployment.startup();
        let phase = |phase: loadline_platform::Phase| PhaseRow {
            name: phase.name.to_owned(),
            after_ms: phase.after.as_secs_f64() * 1e3,
        };
        StartupRow {
            phases: startup.phases.into_iter().map(phase).collect(),
            image_bytes: startup.image_bytes,
            idle_memory_bytes: idle.count(RESIDENT_MEMORY).or(idle.count(CGROUP_MEMORY)),
        }
    }

    fn ended(&mut self) -> Option<String> {
        self.deployment.ended().or_else(|| self.needs.ended())
    }

    fn output_tail(&self) -> String {
        self.deployment.output_tail()
    }

    fn stop(self: Box<Self>) -> Result<(), BoxError> {
        let stopped = self.deployment.stop();
        let needs = self.needs.stop();
        stopped?;
        needs
    }
}
