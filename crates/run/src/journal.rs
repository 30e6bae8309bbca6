//! Where a run is stored while it is in progress. When a call returns, its data survive a kill of the process.

use loadline_model::RunState;
use loadline_model::TimeSpent;
use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::Failure;
use loadline_model::notes::Note;
use loadline_model::rows::{DeploymentRow, NewRun, ProfileRow, SliceRow, Surroundings, TailRow, WarmUpRow};
use loadline_model::runtime::Runtime;
use loadline_model::{CellId, SiteId};

use crate::error::BoxError;

/// Stores one run.
pub trait Journal {
    /// Stores the run; called before everything else.
    fn begin(&self, run: &NewRun<'_>) -> Result<(), BoxError>;
    /// All metrics of the run, where its services turned out to have more than loadline's own probes declare.
    fn metrics(&self, metrics: &[MetricDeclaration]) -> Result<(), BoxError>;
    /// Which cells are measured request by request.
    fn side_by_side(&self, cells: &[CellId]) -> Result<(), BoxError>;
    /// A note for the reader of the figures.
    fn note(&self, note: &Note) -> Result<(), BoxError>;
    /// A failure that the run survived or ended with.
    fn failure(&self, failure: &Failure) -> Result<(), BoxError>;
    /// What kind of daemon or cluster a platform is.
    fn surroundings(&self, platform: &str, what: &Surroundings) -> Result<(), BoxError>;
    /// One start of a site's service.
    fn deployment(&self, deployment: &DeploymentRow) -> Result<(), BoxError>;
    /// What was found out about the language runtime of a site's service, once it was deployed and warm.
    fn runtime(&self, site: SiteId, round: u32, runtime: &Runtime) -> Result<(), BoxError>;
    /// The warm-up of a cell.
    fn warm_up(&self, warm_up: &WarmUpRow) -> Result<(), BoxError>;
    /// One slice.
    fn slice(&self, slice: &SliceRow) -> Result<(), BoxError>;
    /// What the profiler saw of a cell.
    fn profile(&self, profile: &ProfileRow) -> Result<(), BoxError>;
    /// The slowest requests of a cell, and when its service was held up.
    fn tail(&self, tail: &TailRow) -> Result<(), BoxError>;
    /// Where the run's time has gone so far.
    fn time_spent(&self, spent: &TimeSpent) -> Result<(), BoxError>;
    /// How the run ended; called last.
    fn finish(&self, state: RunState) -> Result<(), BoxError>;
}
