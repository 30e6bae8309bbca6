//! What the run loop needs from its environment: services that start, answer, are observed and stop.
//!
//! [`crate::deploy`] does this with real platforms; the tests of the run loop use a fake.

use std::time::Duration;

use loadline_agent::Driver;
use loadline_model::experiment::LoadSpec;
use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::Note;
use loadline_model::rows::{StartupRow, Surroundings};
use loadline_model::runtime::Runtime;
use loadline_model::{Machine, Observations};
use loadline_model::{PlatformId, SiteId};
use loadline_observe::TimelineWatch;

use crate::error::{BoxError, RunError};

/// Starts the services of a run.
pub trait Deployer {
    /// Creates what all deployments share; returns notes about it.
    fn prepare(&mut self) -> Result<Vec<Note>, BoxError>;

    /// Does what is to be done before each round of deployments.
    fn before_round(&self) -> Result<(), BoxError> {
        Ok(())
    }

    /// Checks that a platform's daemon or cluster answers, if it has one.
    fn reach(&self, platform: PlatformId) -> Result<(), BoxError>;

    /// What kind of daemon or cluster a platform is, if it is one and can be asked.
    fn surroundings(&self, platform: PlatformId) -> Option<Surroundings>;

    /// Starts a site's service. `progress` gets a short text about anything that takes long.
    fn start<'d>(
        &'d self,
        site: SiteId,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn StartingSite + 'd>, BoxError>;

    /// Removes everything that the run created.
    fn remove(&mut self) -> Result<(), BoxError>;
}

/// A service that is being started. Dropping it removes what was created for it.
pub trait StartingSite {
    /// Whether it takes some time until requests get through, so that other sites can start meanwhile.
    fn is_slow_to_start(&self) -> bool;

    /// Returns once the service has been started.
    fn wait(self: Box<Self>, progress: &mut dyn FnMut(&str)) -> Result<Box<dyn LiveSite>, BoxError>;
}

/// A deployed service. Dropping it stops the service and removes what was created for it.
pub trait LiveSite: Send {
    /// Probes the service once.
    ///
    /// # Errors
    /// When another probe would not help.
    fn ask_ready(&mut self) -> Result<Readiness, RunError>;

    /// An engine for a load; no connection is open yet.
    fn connect(&self, load: &LoadSpec) -> Result<Box<dyn Driver>, RunError>;

    /// The metrics that its probes declare; asked once the service is ready.
    fn metrics(&mut self) -> Vec<MetricDeclaration>;

    /// Stops what its platform does on the machine beside running services, or lets it go on; called around slices. Returns how long it must go
    /// on now before it may be stopped again; `None` if there is nothing to stop.
    fn quiesce(&mut self, stopped: bool) -> Result<Option<Duration>, RunError> {
        let _ = stopped;
        Ok(None)
    }

    /// Whether its slices are measured with all that runs on, whatever the other platforms ask for.
    fn leaves_running(&self) -> bool {
        false
    }

    /// Reads the counters; [`LiveSite::read_end`] follows.
    fn read_begin(&mut self, what: ReadOut);

    /// Reads the CPU times of service and machine while the load goes on; returns what happened since. `None` where another process reads
    /// them, because asking it would take too long. [`LiveSite::read_end`] follows.
    fn read_in_between(&mut self) -> Option<Observations>;

    /// Reads the counters again; returns what happened since the beginning.
    fn read_end(&mut self) -> Observations;

    /// What its probes find out about its language runtime, which may take seconds; called while no load runs.
    fn runtime(&mut self) -> Runtime;

    /// Begins to watch when the service is stopped or held up; `None` if it is not on this machine.
    fn watch(&self) -> Option<TimelineWatch>;

    /// The machine that the service runs on, if its counters say so.
    fn machine(&self) -> Option<MachineId>;

    /// Whether the service runs independently of loadline, perhaps on this machine, so that its CPU time cannot be distinguished from that
    /// of other programs.
    fn is_external(&self) -> bool;

    /// The processes of the service, if they are on this machine.
    fn pids(&self) -> Vec<u32>;

    /// What is not available here and how to get it, one sentence each.
    fn left_out(&self) -> Vec<String>;

    /// The phases of the start; called once the service is ready.
    fn startup(&mut self) -> StartupRow;

    /// Why the service has ended, once it has. Must return quickly.
    fn ended(&mut self) -> Option<String>;

    /// The end of the service's output.
    fn output_tail(&self) -> String;

    /// Stops the service and removes what was created for it.
    fn stop(self: Box<Self>) -> Result<(), BoxError>;
}

/// Whether a service is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It answered.
    Ready,
    /// It did not answer, with the reason.
    NotYet(String),
}

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOut {
    /// All counters.
    Everything,
    /// Only the service's CPU time, while another site is measured.
    ServiceCpu,
    /// What tells whether the service is warm: its CPU time, and that of its compiler.
    Warmth,
}

/// Identifies a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MachineId(pub String);

impl MachineId {
    /// The id of a described machine: its boot, or else its name.
    pub fn of(machine: &Machine) -> Option<MachineId> {
        machine.boot_id.clone().or(machine.hostname.clone()).map(MachineId)
    }
}
