//! Which cells take turns request by request rather than slice by slice: those so slow that a slice of theirs would say next to nothing.

use loadline_model::experiment::{Interleave, Isolation};
use loadline_model::notes::Note;
use loadline_model::{CellId, LoadId};

use super::site::LiveSite;
use super::{Execution, RunError};

/// A slice with fewer requests than this gathers next to nothing.
const FEW_REQUESTS: f64 = 100.0;
/// Cells run side by side while all of them together keep one CPU no busier than this.
const NEARLY_IDLE: f64 = 0.05;

impl Execution<'_> {
    /// Cells whose slices would gather next to nothing run side by side with the others of their load, if together those leave the
    /// machine all but idle.
    pub(super) fn decide_side_by_side(&mut self, live: &[LiveSite]) -> Result<Vec<CellId>, RunError> {
        let plan = &self.experiment.plan;
        let slice_s = plan.slice.as_secs_f64();
        let (mut chosen, mut busiest) = (Vec::new(), 0.0f64);
        for (load, spec) in LoadId::of(self.experiment.loads.len()).zip(&self.experiment.loads) {
            let Some(rate) = spec.load.rate().map(|rate| rate.as_per_second()) else { continue };
            let of_load = |cell: &CellId| self.plan.load_of(*cell) == load;
            let cells = live.iter().flat_map(|site| site.cells().map(move |cell| (cell, site)));
            let (cells, cpu_s): (Vec<CellId>, Vec<f64>) = cells
                .filter(|(cell, _)| of_load(cell))
                .map(|(cell, site)| (cell, site.cpu_s_per_request))
                .unzip();
            let busy = rate * cpu_s.iter().sum::<f64>();
            let together = match plan.interleave {
                Interleave::Slices => false,
                Interleave::Requests => true,
                Interleave::Auto => {
                    plan.isolation != Isolation::Exclusive
                        && rate * slice_s < FEW_REQUESTS
                        && busy <= NEARLY_IDLE
                }
            };
            if together {
                chosen.extend(cells);
                busiest = busiest.max(busy);
            }
        }
        if !chosen.is_empty() {
            let fewer_than = (plan.interleave == Interleave::Auto).then_some(FEW_REQUESTS);
            self.note(Note::SideBySide { cells: chosen.len(), fewer_than, busy_share: busiest })?;
        }
        self.store.set_side_by_side(self.run, &chosen)?;
        self.side_by_side = Some(chosen.clone());
        Ok(chosen)
    }
}
