//! What a run leaves behind: the rows of the store, as analysis reads them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::gates::{CpuUse, GateFailure, is_disturbed};
use crate::ids::{CellId, SiteId};
use crate::load::Load;
use crate::metrics::MetricDeclaration;
use crate::notes::{Failure, Note};
use crate::plan::Plan;
use crate::profile::{Profile, SoftirqReasons};
use crate::runtime::Runtime;
use crate::tails::Timeline;
use crate::{Machine, Observations, RunState, SlowRequest, SparseHistogram, TimeSpent};

/// All that is known of a run.
pub struct RunData {
    /// The run itself.
    pub run: RunRow,
    /// Its deployments.
    pub deployments: Vec<DeploymentRow>,
    /// Its warm-ups.
    pub warm_ups: Vec<WarmUpRow>,
    /// Its slices, in the order of measurement.
    pub slices: Vec<SliceRow>,
    /// What the profiler saw.
    pub profiles: Vec<ProfileRow>,
    /// Its slowest requests.
    pub tails: Vec<TailRow>,
    /// The runs that were joined to be compared, in their order; none of a run by itself.
    pub joined: Vec<JoinedRun>,
}

impl RunData {
    /// Which of the joined runs a cell is of.
    pub fn joined_run(&self, cell: CellId) -> Option<&JoinedRun> {
        self.joined.iter().rfind(|run| run.first_cell <= cell)
    }
}

/// One of several runs that were joined.
#[derive(Clone, Debug)]
pub struct JoinedRun {
    /// What it is called: `run 3`.
    pub name: String,
    /// The first of its cells; the others follow.
    pub first_cell: CellId,
    /// When it begins in the joined run, s: where the run before it ends.
    pub begins_s: f64,
}

/// What is known of a run before its first slice.
pub struct NewRun<'a> {
    /// Names what the run makes on the machine.
    pub label: &'a str,
    /// Version of loadline.
    pub version: &'a str,
    /// Word by word.
    pub command_line: &'a [String],
    /// What is asked for.
    pub experiment: &'a Experiment,
    /// Sites and cells.
    pub plan: &'a Plan,
    /// Where.
    pub machine: &'a Machine,
    /// CPUs of the services.
    pub service_cpus: &'a [usize],
    /// CPUs of the load.
    pub load_cpus: &'a [usize],
    /// The metrics of loadline's own probes.
    pub metrics: &'a [MetricDeclaration],
}

/// What a list shows of a run, without what was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHeading {
    /// Number in the store.
    pub id: i64,
    /// Names what the run made on the machine.
    pub label: String,
    /// What it is called.
    pub name: String,
    /// RFC 3339.
    pub started: String,
    /// RFC 3339.
    pub finished: Option<String>,
    /// How it ended.
    pub state: RunState,
    /// What its user calls it.
    pub tags: Vec<String>,
}

impl RunHeading {
    /// Whether its name or one of its tags contains this text, in letters of any case.
    pub fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        [&self.name].into_iter().chain(&self.tags).any(|words| words.to_lowercase().contains(&text))
    }

    /// Whether it is being measured, if these are the labels of the runs whose processes live.
    pub fn is_measured(&self, alive: &[String]) -> bool {
        self.state == RunState::Unfinished && alive.contains(&self.label)
    }
}

/// A run.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Number in the store.
    pub id: i64,
    /// Names what the run made on the machine.
    pub label: String,
    /// RFC 3339.
    pub started: String,
    /// RFC 3339.
    pub finished: Option<String>,
    /// How it ended.
    pub state: RunState,
    /// Version of loadline that measured.
    pub version: String,
    /// Word by word.
    pub command_line: Vec<String>,
    /// What was asked for.
    pub experiment: Experiment,
    /// Sites and cells.
    pub plan: Plan,
    /// Where.
    pub machine: Machine,
    /// CPUs of the services.
    pub service_cpus: Vec<usize>,
    /// CPUs of the load.
    pub load_cpus: Vec<usize>,
    /// The metrics of its probes, in the order in which tables show them.
    pub metrics: Vec<MetricDeclaration>,
    /// Cells measured request by request.
    pub side_by_side: Vec<CellId>,
    /// What a reader must know.
    pub notes: Vec<Note>,
    /// What went wrong.
    pub failures: Vec<Failure>,
    /// What the daemons and clusters were, by the platforms' names.
    pub surroundings: BTreeMap<String, Surroundings>,
    /// Where its time went, as far as it got; runs of before did not say.
    pub time_spent: Option<TimeSpent>,
    /// What its user calls it.
    pub tags: Vec<String>,
}

/// One start of a site's service.
#[derive(Clone, Debug)]
pub struct DeploymentRow {
    /// What was started.
    pub site: SiteId,
    /// Round of deployments.
    pub round: u32,
    /// Since the start of the run, s.
    pub at_s: f64,
    /// Start to readiness, ms.
    pub ready_ms: f64,
    /// What the platform could not do.
    pub left_out: Vec<String>,
    /// How the start went.
    pub startup: StartupRow,
    /// What was found out about the service's language runtime once it was warm.
    pub runtime: Runtime,
}

/// How a start went, as far as the platform could tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StartupRow {
    /// What was reached when, in order; readiness apart.
    pub phases: Vec<PhaseRow>,
    /// Size of the image in the platform's store.
    pub image_bytes: Option<u64>,
    /// Resident memory of the service when it was ready, before any load; of a pod whose kubelet is asked, its working set.
    pub idle_memory_bytes: Option<u64>,
}

/// One step of a start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// What was reached: `created`, `started`, `scheduled`, …
    pub name: String,
    /// Since the start was asked for, ms.
    pub after_ms: f64,
}

/// What a platform's daemon or cluster was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Surroundings {
    /// In one line, for people.
    pub summary: String,
    /// All that is known of it, in the platform's own shape.
    pub facts: serde_json::Value,
}

/// The warm-up of a cell.
#[derive(Clone, Debug)]
pub struct WarmUpRow {
    /// Which cell.
    pub cell: CellId,
    /// Round of deployments.
    pub round: u32,
    /// How long the cell was loaded.
    pub seconds: f64,
    /// Whether the cell was stationary when it ended.
    pub stationary: bool,
    /// Median service time of each cycle, ns.
    pub figures: Vec<f64>,
}

/// What was seen of a cell in the profiled slice of a deployment.
#[derive(Clone, Debug)]
pub struct ProfileRow {
    /// Which cell.
    pub cell: CellId,
    /// Round of deployments.
    pub round: u32,
    /// Requests while the profiler ran.
    pub answered: u64,
    /// Where the CPU time went.
    pub profile: Profile,
    /// Why soft interrupts were raised, where that may be asked.
    pub reasons: Option<ReasonsRow>,
}

/// The slowest requests of a cell in a slice of their own, and when its service was held up meanwhile.
#[derive(Clone, Debug)]
pub struct TailRow {
    /// Which cell.
    pub cell: CellId,
    /// Round of deployments.
    pub round: u32,
    /// Requests meanwhile.
    pub answered: u64,
    /// The slowest of them, ascending.
    pub slowest: Vec<SlowRequest>,
    /// When what held the service up.
    pub timeline: Timeline,
}

/// Why soft interrupts were raised in a slice of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReasonsRow {
    /// Requests meanwhile.
    pub answered: u64,
    /// The reasons.
    pub reasons: SoftirqReasons,
}

/// The response times of one request of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestTimes {
    /// Method and path.
    pub request: String,
    /// Response time, ns.
    pub response: SparseHistogram,
}

/// What a slice of a search was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// What it was for.
    pub purpose: Purpose,
    /// Its length, in slices of the search.
    pub slices: f64,
}

/// How a slice of a search went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// All objectives were met.
    Passed,
    /// One was not: its place among them.
    Failed(usize),
    /// The generator did not send what was asked for: it says nothing of the service.
    NotSent,
    /// The machine paused the load, or its CPUs were stolen: it says nothing of the service either.
    Disturbed,
}

impl TrialOutcome {
    /// Whether it says something of the service.
    pub fn is_of_the_service(self) -> bool {
        matches!(self, TrialOutcome::Passed | TrialOutcome::Failed(_))
    }
}

/// What a trial of a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// It looks for the capacity.
    Search,
    /// It is a long one at what the search found.
    Confirm,
    /// It overloads the service, to see in what state that leaves it. How it went is no news.
    Overload,
    /// It follows an overload, at a rate that was confirmed.
    Recover,
    /// All cells at the same rate, the smallest of their capacities, to be compared.
    Common,
    /// Each cell at its own capacity, to be compared.
    Own,
}

/// One slice of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceRow {
    /// Which cell.
    pub cell: CellId,
    /// The load that it was.
    pub load: Load,
    /// Round of deployments.
    pub round: u32,
    /// Block within the round.
    pub block: u32,
    /// 0, then repeats.
    pub attempt: u32,
    /// Turn within the block.
    pub position: u32,
    /// Since the start of the run, s.
    pub at_s: f64,
    /// Length, s.
    pub duration_s: f64,
    /// Requests that were due.
    pub due: u64,
    /// Requests written before the slice was over.
    pub sent_in_time: u64,
    /// Complete responses.
    pub answered: u64,
    /// Complete responses before the slice was over.
    pub answered_in_time: u64,
    /// Requests that found every connection busy.
    pub waited: u64,
    /// Connections opened again.
    pub reconnects: u64,
    /// Bytes of responses.
    pub received_bytes: u64,
    /// CPU time of the load threads, ns.
    pub load_cpu_ns: u64,
    /// The part of it in which they waited awake, ns; older runs don't know it.
    pub load_spun_ns: Option<u64>,
    /// Failed requests by kind; statuses that were not expected by request, `GET /a: 401`.
    pub errors: BTreeMap<String, u64>,
    /// Response times by request, of a mix of several that are told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestTimes>,
    /// Response time, ns.
    pub response: SparseHistogram,
    /// Service time, ns.
    pub service: SparseHistogram,
    /// Send lag, ns.
    pub send_lag: SparseHistogram,
    /// What machine and service did.
    pub observations: Observations,
    /// CPU time that others took.
    pub cpu_use: Option<CpuUse>,
    /// Gates that it failed.
    pub gate_failures: Vec<GateFailure>,
    /// What it was in a search for a capacity; `None`: no part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialRow>,
}

impl SliceRow {
    /// Whether the machine disturbed it, as its gates saw that.
    pub fn is_disturbed(&self) -> bool {
        is_disturbed(&self.gate_failures)
    }

    /// Whether the machine left it alone, as far as can be known: it passed the gates of the machine, and hardly any stolen time was counted in it. A
    /// gate lets a step of that pass, which may be rounding.
    pub fn is_quiet(&self) -> bool {
        !self.is_disturbed() && !self.cpu_use.is_some_and(|cpu| cpu.lost_time())
    }
}

/// Each cell's profiles in one, and the requests that they are of. One with another period stands for itself and is left out.
pub fn profiles_by_cell(rows: Vec<ProfileRow>) -> BTreeMap<CellId, (Profile, u64)> {
    let mut merged: BTreeMap<CellId, (Profile, u64)> = BTreeMap::new();
    for row in rows {
        match merged.get_mut(&row.cell) {
            Some((profile, requests)) => {
                if profile.merge(&row.profile).is_ok() {
                    *requests += row.answered;
                }
            }
            None => {
                merged.insert(row.cell, (row.profile, row.answered));
            }
        }
    }
    merged
}
