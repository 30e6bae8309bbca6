//! How a fake service behaves, and what disturbs it.

use std::sync::Arc;
use std::time::Duration;

use loadline_observe::AnyProbe;

use super::random_delays::RandomDelays;
use super::recorded_node::RecordedNode;

/// The machine that services are on unless a test says otherwise.
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
    /// Its platform does something beside running it, which can be stopped.
    pub can_be_quiet: bool,
    /// It is measured with whatever the platforms do.
    pub leaves_running: bool,
    /// Whether it can be seen when its service is held up.
    pub is_watched: bool,
    /// For so many drives its compiler takes a tenth of its CPU time.
    pub compiles_for: usize,
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
    pub fn disturbance_of(&self, drive: usize) -> Option<Disturbance> {
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
            can_be_quiet: false,
            leaves_running: false,
            is_watched: false,
            compiles_for: 0,
            collector: None,
            probes: Vec::new,
            node: None,
        }
    }
}
