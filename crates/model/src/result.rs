//! The result model: everything a reader may ask of a run, in one versioned document that every output is made from.
//!
//! Figures are in the unit that their field names: `_ns`, `_us`, `_s`, `_bytes`; `per_request` figures are divided by answered
//! requests. The JSON Schema of this module is published as `docs/result.schema.json`.

mod capacity;
mod claim;
mod condition;
mod distribution;
pub mod doctor;
pub mod history;
mod ladder;
pub mod load;
mod remark;
mod runtime;
mod scalability;
mod seen;
mod slice;
mod statement;
mod sweep;
mod tail;
mod throttling;
mod trust;

use std::collections::BTreeMap;
use std::ops::Index;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Precision;
use crate::ids::CellId;
use crate::load::ConnectionOptions;
use crate::metrics::MetricDeclaration;
use crate::notes::Note;
use crate::platform::Limits;
use crate::{Machine, TimeSpent};

pub use crate::RunState;
pub use crate::metrics::Unit;
pub use crate::plan::Role;
pub use crate::rows::Surroundings;
pub use capacity::{
    Capacities, CapacityDifference, CapacityFinding, CellCapacity, CurvePoint, Irregularity, Knee,
};
pub use claim::{ClaimJudgement, ClaimResult, Finding};
pub use condition::{ConditionFinding, ConditionJudgement, ConditionResult};
pub use distribution::{Distribution, Spread};
pub use ladder::{Estimate, Ladder, LadderSum, Rung, SumRow};
pub use remark::{Carrier, GateFigure, IntervalMethod, Remark};
pub use runtime::SiteRuntime;
pub use scalability::{Fitted, Scalability};
pub use seen::{Seen, SeenDifference, SeenLayer, SoftirqReason, UnknownFunction};
pub use slice::{Histograms, Percentiles, Slice};
pub use statement::Statement;
pub use sweep::{Sweep, SweepPoint};
pub use tail::{Tail, TailCause};
pub use throttling::Throttling;
pub use trust::{CellRepeats, GateSummary, LoadRepeats, Repeats, Trust, TwinDifference};

/// Name and version of the format; a reader refuses what it doesn't know.
pub const SCHEMA: &str = "loadline.result/1";

/// One run, measured and judged.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What was run, when, by which command.
    pub run: RunInfo,
    /// The machine it ran on.
    pub machine: Machine,
    /// How it was measured.
    pub plan: PlanInfo,
    /// One per measured service × platform × load, and the twins; ordered by load.
    pub cells: Vec<Cell>,
    /// What is compared with what, in the order of the experiment; the twins' contrasts are in `noise`.
    pub contrasts: Vec<Contrast>,
    /// Each twin against the cell that it is the second deployment of: what is seen here is noise.
    pub noise: Vec<Contrast>,
    /// The most that services carry, of a run that searched for it; nothing is then compared otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacities: Option<Capacities>,
    /// Cells that differ in one number alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Sweep>,
    /// How throughput grows with connections, of what was measured in closed loops of at least four sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalability: Vec<Scalability>,
    /// What each layer costs, one ladder per load; empty unless platforms stand above each other.
    pub ladders: Vec<Ladder>,
    /// What somebody said, and what this run says of it, in the order of the experiment.
    pub claims: Vec<ClaimResult>,
    /// The conditions on which the run fails, and whether they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionResult>,
    /// How the services' starts went, one per service and platform, twins left out.
    pub starts: Vec<Start>,
    /// The services' language runtimes, of those that have one that loadline knows, twins left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<SiteRuntime>,
    /// What the daemons and clusters were, by the platforms' names.
    pub surroundings: BTreeMap<String, Surroundings>,
    /// Whether the figures can be trusted, gate by gate.
    pub trust: Trust,
    /// The metrics that stand under their names in the slices' observations; the others say their unit in their key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricDeclaration>,
    /// Every slice in the order of measurement, repeats and failures included.
    pub slices: Vec<Slice>,
    /// Sentences that a reader must know: what was left out, what was chosen automatically.
    pub notes: Vec<Statement<Note>>,
}

impl RunResult {
    /// A cell; `None` where a document names one that it does not hold.
    pub fn cell(&self, id: CellId) -> Option<&Cell> {
        self.cells.get(id.0)
    }

    /// All that was compared, at the rates of a search as well.
    pub fn comparisons(&self) -> impl Iterator<Item = &Contrast> {
        let of_search =
            self.capacities.iter().flat_map(|found| found.at_the_same_rate.iter().chain(&found.at_their_own));
        self.contrasts.iter().chain(of_search)
    }

    /// What conditions are judged by.
    pub fn judged(&self) -> &[Contrast] {
        self.capacities.as_ref().map_or(&self.contrasts, |found| &found.at_their_own)
    }

    /// Whether some differences can be trusted and others can't.
    pub fn is_trusted_in_part(&self) -> bool {
        let mut rows = self.comparisons().flat_map(|contrast| &contrast.rows);
        !self.trust.trusted && rows.any(|row| row.trusted)
    }
}

/// The cells of a result by their ids.
impl Index<CellId> for Vec<Cell> {
    type Output = Cell;

    fn index(&self, id: CellId) -> &Cell {
        &self[id.0]
    }
}

/// What was run, when, by which command.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunInfo {
    /// Number of the run in its store.
    pub id: i64,
    /// Name of the experiment.
    pub name: String,
    /// The author's question.
    pub question: Option<String>,
    /// RFC 3339.
    pub started: String,
    /// RFC 3339; absent when the run was killed.
    pub finished: Option<String>,
    /// How it ended.
    pub state: RunState,
    /// What went wrong, for `failed`, and cells given up in a run that went on.
    pub failures: Vec<String>,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// Version of loadline.
    pub version: String,
    /// Seed of order and schedules.
    pub seed: u64,
    /// Where the wall time went; runs of before did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_spent: Option<TimeSpent>,
    /// What its user calls it (`loadline store tag`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The experiment as it was understood.
    pub experiment: serde_json::Value,
}

/// How it was measured.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanInfo {
    /// Length of a slice, s; of the shortest, where loads have slices of several lengths.
    pub slice_s: f64,
    /// Length of the longest slice, s, where loads have slices of several lengths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_slice_s: Option<f64>,
    /// Blocks in a deployment.
    pub blocks: u32,
    /// Deployments that count.
    pub deployments: u32,
    /// Deployments planned (without `until`).
    pub deployments_planned: u32,
    /// Blocks that count, over all deployments.
    pub blocks_measured: u32,
    /// Confidence of the intervals, 0.95.
    pub confidence: f64,
    /// The kind of interval in a sentence, with its source.
    pub interval_method: Statement<IntervalMethod>,
    /// CPUs of the services.
    pub service_cpus: Vec<usize>,
    /// CPUs of the load.
    pub load_cpus: Vec<usize>,
    /// What was to be measured until it was this precise (`--until`).
    pub until: Option<Vec<Precision>>,
    /// How long a run takes that settles what is unresolved; absent when nothing is.
    pub seconds_to_settle: Option<SecondsToSettle>,
}

/// How long a run takes that settles an unresolved metric.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecondsToSettle {
    /// Label of the metric, `response p99`.
    pub metric: String,
    /// Half-width asked for, relative to the baseline.
    pub within: f64,
    /// What that run takes beyond what this one took, s.
    pub seconds: f64,
    /// Wall time of that run, s, with starting, warming up and ending its deployments as they went in this one.
    #[serde(default)]
    pub run_seconds: f64,
    /// Its deployments.
    pub deployments: u32,
    /// Whether the run's own time limit (`within`) would end it before.
    #[serde(default)]
    pub needs_more_time: bool,
}

/// One service × platform × load.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Index in [`RunResult::cells`].
    pub id: CellId,
    /// Name of the service.
    pub service: String,
    /// Name of the platform.
    pub platform: String,
    /// The load as text, `2000/s Poisson`.
    pub load: String,
    /// Asked rate, requests a second; absent in a closed loop.
    pub rate_per_second: Option<f64>,
    /// Connections kept open.
    pub connections: usize,
    /// Whether each request has a connection of its own.
    pub new_connections: bool,
    /// What sets its connections apart from the usual ones.
    #[serde(flatten)]
    pub options: ConnectionOptions,
    /// What the cell is for.
    pub role: Role,
    /// The name a table shows: what sets the cell apart; twins end with a prime (`host′`).
    pub label: String,
    /// The run that it is of, where several are compared: `run 3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What its service may use, if that is limited.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// How its slices took turns with the others'.
    pub interleave: String,
    /// One per deployment of its service.
    pub deployments: Vec<Deployment>,
    /// How far they lie apart; absent where fewer than two were measured.
    #[serde(default)]
    pub deployment_spread: Option<DeploymentSpread>,
    /// Answered requests over all counted slices.
    pub answered: u64,
    /// Errors over all counted slices by kind; statuses that were not expected by request, `GET /a: 401`.
    pub errors: BTreeMap<String, u64>,
    /// How often its CPU limit held it back; absent where it never did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Throttling>,
    /// The figures of the cell by metric id, with Student's t interval over deployments.
    pub figures: Vec<Figure>,
    /// The merged histograms of the counted slices.
    pub histograms: Histograms,
    /// What the profiler saw; absent where it was not asked for.
    pub seen: Option<Seen>,
    /// What the slowest requests met; absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
}

/// One start of a service.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Deployment {
    /// Which round of deployments, from 0.
    pub round: u32,
    /// Start to readiness, ms.
    pub ready_ms: f64,
    /// Warm-up, s.
    pub warmup_s: f64,
    /// Whether the cell was stationary when the warm-up ended; without a warm-up it was not.
    pub stationary: bool,
    /// The course of the warm-up: the median service time of each of its cycles, ns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmup_service_p50_ns: Vec<u64>,
    /// What the platform could not do here, in sentences.
    pub left_out: Vec<String>,
    /// Median of the merged response histograms of the counted slices of this deployment, ns; zero when none was answered.
    #[serde(default)]
    pub response_p50_ns: u64,
    /// Mean response time over the counted slices of this deployment, weighted by answered requests, ns; zero when none was answered.
    pub response_mean_ns: f64,
    /// 99th percentile of the merged response histograms of those slices, ns; zero when none was answered.
    pub response_p99_ns: u64,
    /// Answered requests a second over those slices.
    pub rate_per_second: f64,
}

/// How far the deployments of a cell lie apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeploymentSpread {
    /// In what: `rate.achieved` in a closed loop, else `response.p50`.
    pub metric: String,
    /// Half of the distance from the lowest to the highest, as a share of the middle between them: 0.05 is ±5 %.
    pub share: f64,
}

/// A cell's own figure of a metric.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Id of the metric, `response.p50`.
    pub metric: String,
    /// Label, `response p50`.
    pub label: String,
    /// Whether short tables show it.
    #[serde(default)]
    pub primary: bool,
    /// Unit of all figures: `ns`, `1`, `/s`, `bytes`.
    pub unit: Unit,
    /// Over all counted slices, histograms merged.
    pub value: f64,
    /// Student's t interval over the deployments' figures (over blocks with one deployment), because people publish that.
    /// Absent with fewer than two of them, for what is seen once a deployment with one deployment, and where it would reach below zero, which no
    /// figure does.
    pub t_interval: Option<[f64; 2]>,
}

/// A cell against another one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Contrast {
    /// Index of the baseline cell.
    pub baseline: CellId,
    /// Index of the compared cell.
    pub candidate: CellId,
    /// Index of the baseline's twin where it is pooled into the baseline: the rows' baseline is then the mean of both cells' figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<CellId>,
    /// One row per metric, in the order in which a table shows them.
    pub rows: Vec<Row>,
    /// The response times of each request, where both cells have the same mix of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestRows>,
    /// How what the profiler saw of the two differs; absent without profiles of both.
    pub seen: Option<SeenDifference>,
}

impl Contrast {
    /// The cells that its rows are made of.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        [self.baseline, self.candidate].into_iter().chain(self.twin)
    }

    /// The rows of single requests, labelled with theirs: `GET /a: response p50`.
    pub fn rows_by_request(&self) -> impl Iterator<Item = (String, &Row)> {
        self.by_request.iter().flat_map(|request| {
            request.rows.iter().map(move |row| (format!("{}: {}", request.request, row.label), row))
        })
    }

    /// All rows, those of single requests included.
    pub fn all_rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.rows.iter_mut().chain(self.by_request.iter_mut().flat_map(|request| &mut request.rows))
    }
}

/// One request of a mix, compared.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RequestRows {
    /// Method and path.
    pub request: String,
    /// Its response times: p50, p90, p99 and mean. Holm's correction covers all requests and contrasts.
    pub rows: Vec<Row>,
}

/// One metric of a contrast.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Id of the metric, `response.p50`.
    pub metric: String,
    /// Label, `response p50`.
    pub label: String,
    /// Whether a short table shows it.
    pub primary: bool,
    /// Unit of the figures below.
    pub unit: Unit,
    /// The baseline's figure; with a pooled twin the mean of both figures.
    pub baseline: f64,
    /// The candidate's figure.
    pub candidate: f64,
    /// Candidate − baseline.
    pub difference: f64,
    /// Difference ÷ baseline; absent when the baseline is zero.
    pub relative: Option<f64>,
    /// Interval of the difference; absent when nothing can be claimed (too few blocks or requests).
    pub interval: Option<[f64; 2]>,
    /// Degrees of freedom of its standard error: one fewer than there are deployments, or fewer where a tail rests on few of them. Absent where
    /// there is no interval, and in results of older versions.
    #[serde(default)]
    pub degrees_of_freedom: Option<f64>,
    /// p-value of "no difference", Holm-corrected over the contrasts of this metric; of a twin, over the primary metrics of all twins.
    pub p_holm: Option<f64>,
    /// Differences within ± this are equivalent; fixed before the run.
    pub margin: f64,
    /// p-value of "the difference is as large as the margin, or larger": the larger one of two one-sided tests.
    #[serde(default)]
    pub p_equivalent: Option<f64>,
    /// What the run shows of the size of the difference: it is at most this, either way; the farther end of the 90 % interval, which
    /// `equivalent` holds against the margin. Absent when nothing can be claimed.
    #[serde(default)]
    pub bound: Option<f64>,
    /// The difference that this run would have found with 95 % power, all contrasts of this metric corrected for; absent when nothing can be
    /// claimed.
    pub resolution: Option<f64>,
    /// Candidate − baseline over the first attempts at all blocks, disturbed ones included; absent where it differs from `difference` by no
    /// more than half of the interval, and for rows that are neither means nor tails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_attempts: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether both cells can be trusted; otherwise the verdict claims nothing, and reports show it in parentheses.
    #[serde(default)]
    pub trusted: bool,
    /// Why there is no claim, or what to know of this row.
    pub note: Option<Statement<Remark>>,
    /// Block by block, in order of measurement: candidate − baseline of the slices' own figures; empty for what is seen once a deployment.
    pub block_differences: Vec<f64>,
}

/// How a service's starts on a platform went: medians over its deployments.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// The name a table shows.
    pub label: String,
    /// Deployments that the medians are of.
    pub deployments: usize,
    /// What was reached when, in order; the last is `answered`, the first successful request.
    pub phases: Vec<StartPhase>,
    /// Size of the image in the platform's store.
    pub image_bytes: Option<u64>,
    /// Resident memory of the service when it was ready, before any load; of a pod whose kubelet is asked, its working set.
    pub idle_memory_bytes: Option<u64>,
}

/// One step of a start.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StartPhase {
    /// What was reached.
    pub name: String,
    /// Median over deployments, since the start was asked for, ms.
    pub median_ms: f64,
    /// Least and most.
    pub range_ms: [f64; 2],
}

/// What a contrast says of a metric. CPU is `costlier` and counts are `more` where time is `slower`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A time is longer.
    Slower,
    /// A time is shorter.
    Faster,
    /// Costs more CPU or memory.
    Costlier,
    /// Costs less CPU or memory.
    Cheaper,
    /// A count or rate is higher.
    More,
    /// A count or rate is lower.
    Fewer,
    /// Within the margin.
    Equivalent,
    /// The run can't tell.
    Unresolved,
}
