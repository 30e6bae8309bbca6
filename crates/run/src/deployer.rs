//! What the run loop needs of the world: services that start, answer, are read and stop.
//!
//! [`crate::deploy`] does this with real platforms; the tests of the run loop do it with a made-up one.

use loadline_agent::Driver;
use loadline_model::experiment::LoadSpec;
use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::Note;
use loadline_model::rows::{StartupRow, Surroundings};
use loadline_model::{Machine, Observations};
use loadline_model::{PlatformId, SiteId};

use crate::error::{BoxError, RunError};

/// Starts the services of a run.
pub trait Deployer {
    /// Makes what all deployments share; returns what a reader must know of it.
    fn prepare(&mut self) -> Result<Vec<Note>, BoxError>;

    /// What kind of daemon or cluster a platform is, if it is one and can be asked.
    fn surroundings(&self, platform: PlatformId) -> Option<Surroundings>;

    /// Asks for a site's service. `progress` is told, in half a sentence, what takes long.
    fn start<'d>(
        &'d self,
        site: SiteId,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn StartingSite + 'd>, BoxError>;

    /// Removes everything that the run made.
    fn remove(&mut self) -> Result<(), BoxError>;
}

/// A service that was asked for. Dropping it removes what was made for it.
pub trait StartingSite {
    /// Whether no request gets through for some time, so that other sites may as well start meanwhile.
    fn holds_back(&self) -> bool;

    /// Returns once the service has been started.
    fn wait(self: Box<Self>, progress: &mut dyn FnMut(&str)) -> Result<Box<dyn LiveSite>, BoxError>;
}

/// A deployed service. Dropping it stops the service and removes what was made for it.
pub trait LiveSite {
    /// Asks once whether the service is ready.
    ///
    /// # Errors
    /// When asking again would not help.
    fn ask_ready(&mut self) -> Result<Readiness, RunError>;

    /// An engine for a load; no connection is open yet.
    fn connect(&self, load: &LoadSpec) -> Result<Box<dyn Driver>, RunError>;

    /// The metrics that its probes declare; asked once the service is ready.
    fn metrics(&mut self) -> Vec<MetricDeclaration>;

    /// Reads the counters; [`LiveSite::read_end`] follows.
    fn read_begin(&mut self, what: ReadOut);

    /// Reads the counters again; returns what happened since.
    fn read_end(&mut self) -> Observations;

    /// The machine that the service runs on, where its counters tell.
    fn machine(&self) -> Option<MachineId>;

    /// Whether somebody else runs the service, perhaps on this machine, so that its CPU time can't be told from other programs'.
    fn is_external(&self) -> bool;

    /// The processes of the service, if they are on this machine.
    fn pids(&self) -> Vec<u32>;

    /// What the platform could not do here and how to get it, a sentence each.
    fn left_out(&self) -> Vec<String>;

    /// How the start went; asked once the service is ready.
    fn startup(&mut self) -> StartupRow;

    /// Why the service is no more, once it isn't. Must not take long.
    fn ended(&mut self) -> Option<String>;

    /// The last that the service printed.
    fn output_tail(&self) -> String;

    /// Ends the service and removes what was made for it.
    fn stop(self: Box<Self>) -> Result<(), BoxError>;
}

/// Whether a service is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It answered.
    Ready,
    /// It did not, and why.
    NotYet(String),
}

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOut {
    /// Everything there is.
    Everything,
    /// The service's CPU time alone, while another site is measured.
    ServiceCpu,
}

/// Tells machines apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MachineId(pub String);

impl MachineId {
    /// The id of a described machine: its boot, or else its name.
    pub fn of(machine: &Machine) -> Option<MachineId> {
        machine.boot_id.clone().or(machine.hostname.clone()).map(MachineId)
    }
}
