//! A run while it goes on, from its slices' medians alone: what a watcher sees. It keeps a number for each slice, and costs nothing that could
//! be measured.

use std::collections::{BTreeMap, VecDeque};

use loadline_model::experiment::Experiment;
use loadline_model::gates::CpuUse;
use loadline_model::pauses::Pauses;
use loadline_model::plan::Plan;
use loadline_model::rows::SliceRow;
use loadline_model::so_far::{CellSoFar, DifferenceSoFar, MachineSoFar, SoFar};
use loadline_model::{CellId, LoadId};
use loadline_stats::{Unit, t_interval};

use crate::ALPHA;
use crate::cells::label;
use crate::counted::BlockAt;

/// So many slices are the latest ones.
const LATEST: usize = 30;

/// Follows a run.
pub struct Watch<'a> {
    experiment: &'a Experiment,
    plan: &'a Plan,
    /// The median response time of each slice, ns, of the last attempt at its block.
    medians: BTreeMap<(LoadId, BlockAt), BTreeMap<CellId, f64>>,
    latest: VecDeque<OfMachine>,
}

/// What a slice knows of the machine.
struct OfMachine {
    duration_s: f64,
    paused_ns: Option<u64>,
    cpu_use: Option<CpuUse>,
}

impl<'a> Watch<'a> {
    /// Before the first slice.
    pub fn new(experiment: &'a Experiment, plan: &'a Plan) -> Watch<'a> {
        Watch { experiment, plan, medians: BTreeMap::new(), latest: VecDeque::new() }
    }

    /// Takes in a slice that was measured.
    pub fn add(&mut self, slice: &SliceRow) {
        let place = (self.plan.load_of(slice.cell), (slice.round, slice.block));
        let median = slice.response.value_at_quantile(0.5) as f64;
        let block = self.medians.entry(place).or_default();
        match slice.response.is_empty() {
            true => block.remove(&slice.cell),
            false => block.insert(slice.cell, median),
        };
        self.latest.push_back(OfMachine {
            duration_s: slice.duration_s,
            paused_ns: Pauses::seen(&slice.observations).map(|pauses| pauses.over_1ms.total_ns),
            cpu_use: slice.cpu_use,
        });
        if self.latest.len() > LATEST {
            self.latest.pop_front();
        }
    }

    /// What is known.
    pub fn so_far(&self) -> SoFar {
        let asked = self.plan.cell_ids().filter(|cell| !self.plan.site_of(*cell).twin);
        SoFar { cells: asked.map(|cell| self.cell(cell)).collect(), machine: self.machine() }
    }

    fn cell(&self, id: CellId) -> CellSoFar {
        let of_cell = self.medians.values().filter_map(|block| block.get(&id));
        let mut medians: Vec<f64> = of_cell.copied().collect();
        medians.sort_by(f64::total_cmp);
        let baseline = self.plan.planned_contrasts().find(|contrast| contrast.candidate == id);
        CellSoFar {
            label: label(self.experiment, self.plan.site_of(id)),
            load: self.experiment.load(self.plan.load_of(id)).load.to_string(),
            p50_ns: medians.get(medians.len() / 2).copied(),
            difference: baseline.and_then(|contrast| self.difference(contrast.baseline, id)),
        }
    }

    /// Block by block from the mean of baseline and twin, the mean of each deployment, and of these.
    fn difference(&self, baseline: CellId, candidate: CellId) -> Option<DifferenceSoFar> {
        let twin = self.plan.twin_of(baseline);
        let mut deployments: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for ((_, (round, _)), block) in &self.medians {
            let (Some(one), Some(other)) = (block.get(&baseline), block.get(&candidate)) else { continue };
            let twin = twin.and_then(|twin| block.get(&twin)).unwrap_or(one);
            deployments.entry(*round).or_default().push(other - (one + twin) / 2.0);
        }
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let means: Vec<f64> = deployments.values().map(|blocks| mean(blocks)).collect();
        let units = match Unit::highest_replicated(means.len()) {
            Unit::Deployment => &means,
            Unit::Block => deployments.values().next()?,
        };
        let interval = t_interval(units, 1.0 - ALPHA);
        Some(DifferenceSoFar {
            ns: mean(&means),
            half_width_ns: interval.map(|interval| (interval.high - interval.low) / 2.0),
        })
    }

    fn machine(&self) -> MachineSoFar {
        let latest = || self.latest.iter();
        let paused = latest().filter_map(|slice| Some((slice.paused_ns? as f64 / 1e6, slice.duration_s)));
        let uses = || latest().filter_map(|slice| slice.cpu_use);
        let of_capacity = |ns: fn(&CpuUse) -> Option<f64>| {
            ratio(uses().filter_map(|cpu| Some((ns(&cpu)?, cpu.capacity_ns as f64))))
        };
        MachineSoFar {
            paused_ms_per_second: ratio(paused),
            // The kernel tells CPU time in steps.
            foreign: of_capacity(|cpu| Some(cpu.foreign_ns? as f64)).map(|share| share.max(0.0)),
            stolen: of_capacity(|cpu| Some(cpu.steal_ns as f64)),
        }
    }
}

/// The sum of the first over that of the second.
fn ratio(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (top, bottom) = pairs.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    (bottom > 0.0).then(|| top / bottom)
}
