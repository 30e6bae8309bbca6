//! What is known of a run while it is measured: made of its events, in the thread that reads them.

use std::time::Instant;

use loadline_analysis::{Pace, Watch};
use loadline_model::experiment::Experiment;
use loadline_model::metrics::{RESIDENT_MEMORY, RUN_QUEUE_WAIT, SERVICE_CPU, THROTTLED};
use loadline_model::plan::Plan;
use loadline_model::rows::SliceRow;
use loadline_model::so_far::{CellSoFar, SoFar};
use loadline_model::{CellId, Event, printable};
use loadline_report::logged;
use serde::Serialize;
use utoipa::ToSchema;

/// Lines of a log that are kept.
const LOG_LINES: usize = 200;

/// A run so far.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(crate) struct Live {
    /// Its number in the store, once it has begun.
    pub run: Option<i64>,
    /// What it is doing: `deployment 2/8: orders on pod`.
    pub doing: String,
    /// Blocks that were measured.
    pub blocks: u64,
    /// Blocks in all; 0 if that is not known beforehand.
    pub of_blocks: u64,
    /// Seconds until it ends, about; absent while nothing tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<f64>,
    /// Slices that were measured again, because the machine disturbed them.
    pub repeated: usize,
    /// The cells that it measures, in the order of the plan.
    pub cells: Vec<CellNow>,
    /// What the machine did in the latest slices.
    pub machine: MachineNow,
    /// What it said: warm-ups without an end, waits, services that were given up.
    pub log: Vec<String>,
}

/// A cell so far: rough, and meant to be watched.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct CellNow {
    /// Its number, which slices name; those between are twins.
    cell: usize,
    /// Service and platform.
    label: String,
    /// `2000/s Poisson`
    load: String,
    /// Median of its slices' median response times, ns.
    p50_ns: Option<f64>,
    /// By how much it is longer than that of its baseline, ns.
    difference_ns: Option<f64>,
    /// Half the width of the difference's 95 % interval, ns.
    half_width_ns: Option<f64>,
}

/// What the machine did; absent where nothing tells.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(crate) struct MachineNow {
    /// Pauses of 1 ms and more in a second, ms.
    paused_ms_per_second: Option<f64>,
    /// Share of its CPUs that other programs took.
    foreign: Option<f64>,
    /// Share that the hypervisor took.
    stolen: Option<f64>,
}

/// A slice, as far as it is drawn.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Slice {
    /// Which cell.
    #[schema(value_type = usize)]
    cell: CellId,
    /// When, s since the run began.
    at_s: f64,
    /// Median response time, ns; absent if nothing was answered.
    p50_ns: Option<u64>,
    /// Whether the machine disturbed it.
    disturbed: bool,
    /// CPU time of the service per answered request, ns.
    cpu_ns: Option<f64>,
    /// How long its threads waited for a CPU per answered request, ns.
    run_queue_wait_ns: Option<f64>,
    /// For how long its limit held it back, ns a second.
    throttled_ns: Option<f64>,
    /// Its memory, bytes.
    memory_bytes: Option<f64>,
}

impl CellNow {
    fn of((id, cell): (CellId, CellSoFar)) -> CellNow {
        CellNow {
            cell: id.0,
            label: cell.label,
            load: cell.load,
            p50_ns: cell.p50_ns,
            difference_ns: cell.difference.map(|difference| difference.ns),
            half_width_ns: cell.difference.and_then(|difference| difference.half_width_ns),
        }
    }
}

impl Slice {
    fn of(row: &SliceRow) -> Slice {
        let seen = |metric: &str| row.observations.get(metric);
        let per_request =
            |metric: &str| seen(metric).filter(|_| row.answered > 0).map(|sum| sum / row.answered as f64);
        Slice {
            cell: row.cell,
            at_s: row.at_s,
            p50_ns: (!row.response.is_empty()).then(|| row.response.value_at_quantile(0.5)),
            disturbed: !row.gate_failures.is_empty(),
            cpu_ns: per_request(SERVICE_CPU),
            run_queue_wait_ns: per_request(RUN_QUEUE_WAIT),
            throttled_ns: seen(THROTTLED).filter(|_| row.duration_s > 0.0).map(|ns| ns / row.duration_s),
            memory_bytes: seen(RESIDENT_MEMORY),
        }
    }
}

/// Follows the events of a run.
pub(crate) struct Follower<'a> {
    experiment: &'a Experiment,
    plan: &'a Plan,
    watch: Watch<'a>,
    pace: Pace,
    deployments: u32,
    begun: Instant,
    live: Live,
    /// Those that were not asked for yet.
    slices: Vec<Slice>,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(run: i64, experiment: &'a Experiment, plan: &'a Plan) -> Follower<'a> {
        let pace = Pace::of(experiment, &plan.sites);
        let live = Live { run: Some(run), of_blocks: pace.blocks(), ..Live::default() };
        let deployments = experiment.plan.deployments;
        let watch = Watch::new(experiment, plan);
        Follower {
            experiment,
            plan,
            watch,
            pace,
            deployments,
            begun: Instant::now(),
            live,
            slices: Vec::new(),
        }
    }

    /// What is known now, and the slices that were measured since this was asked last.
    pub(crate) fn news(&mut self) -> (Live, Vec<Slice>) {
        let SoFar { cells, machine } = self.watch.so_far();
        self.live.cells = self.asked().zip(cells).map(CellNow::of).collect();
        self.live.machine = MachineNow {
            paused_ms_per_second: machine.paused_ms_per_second,
            foreign: machine.foreign,
            stolen: machine.stolen,
        };
        (self.live.clone(), std::mem::take(&mut self.slices))
    }

    /// The cells that are no twins, as [`Watch::so_far`] has them.
    fn asked(&self) -> impl Iterator<Item = CellId> + use<'a> {
        let plan = self.plan;
        plan.cell_ids().filter(|cell| !plan.site_of(*cell).twin)
    }

    /// Takes in what happened.
    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Deploying { round, site } => {
                self.does(format!("deployment {}/{}: {site}", round + 1, self.deployments))
            }
            Event::Progress { site, text } => self.does(format!("{site}: {text}")),
            Event::Measured(slice) => {
                self.watch.add(slice);
                self.slices.push(Slice::of(slice));
            }
            Event::BlockDone { round, .. } => {
                self.live.blocks += 1;
                let left = self.pace.left(*round, self.live.blocks, self.begun.elapsed());
                self.live.seconds_left = left.seconds();
                self.does(format!("deployment {}/{}", round + 1, self.deployments));
            }
            Event::Repeating { cells } => self.live.repeated += cells.len(),
            event => {
                if let Some(text) = logged(event, self.experiment, self.plan) {
                    self.log(&text);
                }
            }
        }
    }

    fn does(&mut self, text: String) {
        self.live.doing = printable(&text).into_owned();
    }

    fn log(&mut self, text: &str) {
        if self.live.log.len() < LOG_LINES {
            self.live.log.push(printable(text).into_owned());
        }
    }
}
