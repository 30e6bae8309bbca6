//! Which cells are measured side by side, request by request instead of slice by slice: those so slow that a slice would hold too few
//! requests.

use loadline_model::experiment::{Experiment, Interleave, Isolation};
use loadline_model::notes::Note;
use loadline_model::{CellId, LoadId};

use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::Fleet;

/// A slice with fewer requests than this is not worth measuring alone.
pub const FEW_REQUESTS: f64 = 100.0;
/// Cells run side by side if all of them together keep one CPU no busier than this.
const NEARLY_IDLE: f64 = 0.05;

/// Whether the cells of a load run side by side, if the machine is idle enough or that was asked for.
pub(crate) fn may_be(experiment: &Experiment, load: LoadId) -> bool {
    let plan = &experiment.plan;
    let Some(rate) = experiment.load(load).load.rate().map(|rate| rate.as_per_second()) else { return false };
    match plan.interleave {
        Interleave::Slices => false,
        Interleave::Requests => true,
        Interleave::Auto => {
            // What a cold service uses is not known.
            plan.isolation != Isolation::Exclusive
                && !plan.is_cold()
                && rate * plan.slices_of(load).length.as_secs_f64() < FEW_REQUESTS
        }
    }
}

impl Execution<'_> {
    /// Cells whose slices would hold too few requests run side by side with the others of their load, if together they leave the machine
    /// nearly idle.
    pub(crate) fn decide_side_by_side(&mut self, fleet: &Fleet) -> Result<Vec<CellId>, RunError> {
        let plan = &self.experiment.plan;
        let (mut chosen, mut busiest) = (Vec::new(), 0.0f64);
        for (index, spec) in self.experiment.loads.iter().enumerate() {
            let Some(rate) = spec.load.rate().map(|rate| rate.as_per_second()) else { continue };
            let cells = fleet.iter().flat_map(|member| member.cells().map(move |cell| (cell, member)));
            let (cells, cpu_s): (Vec<CellId>, Vec<f64>) = cells
                .filter(|(cell, _)| self.plan.cell(*cell).load == LoadId(index))
                .map(|(cell, member)| (cell, member.cpu_s_per_request))
                .unzip();
            let busy = rate * cpu_s.iter().sum::<f64>();
            let idle_enough = plan.interleave == Interleave::Requests || busy <= NEARLY_IDLE;
            if may_be(self.experiment, LoadId(index)) && idle_enough {
                chosen.extend(cells);
                busiest = busiest.max(busy);
            }
        }
        if !chosen.is_empty() {
            self.note(Note::SideBySide {
                cells: chosen.len(),
                fewer_than: (plan.interleave == Interleave::Auto).then_some(FEW_REQUESTS),
                busy_share: busiest,
            })?;
        }
        self.journal.side_by_side(&chosen).map_err(RunError::Journal)?;
        self.side_by_side = Some(chosen.clone());
        Ok(chosen)
    }
}
