//! Slices in which it is watched when each service was stopped or held up, beside which its slowest requests can be laid. Watching takes CPU
//! time, so these slices count as no measurements.

use std::time::Duration;

use loadline_engine::SliceSpec;
use loadline_model::CellId;
use loadline_model::notes::Note;
use loadline_model::rows::TailRow;
use loadline_model::tails::Cause;

use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::{Fleet, Member};

impl Execution<'_> {
    /// Watches every cell of the live sites for `length`, and stores what was seen. Services on other machines cannot be watched, which is
    /// noted once.
    pub(crate) fn tails(&mut self, round: u32, length: Duration, fleet: &mut Fleet) -> Result<(), RunError> {
        for cell in fleet.cells() {
            self.check_interrupted()?;
            // The site may have been abandoned since.
            let Some(member) = fleet.get(self.plan.cell(cell).site) else { continue };
            match self.tail_of(round, cell, length, member) {
                Ok(Some(row)) => self.journal.tail(&row).map_err(RunError::Journal)?,
                Ok(None) => self.note(Note::TailsNotSeen)?,
                Err(failure) => self.continue_without(fleet, failure)?,
            }
        }
        Ok(())
    }

    /// `None` where the service, or the load, is on another machine, which has another clock.
    fn tail_of(
        &self,
        round: u32,
        cell: CellId,
        length: Duration,
        member: &mut Member,
    ) -> Result<Option<TailRow>, RunError> {
        if member.load_machine(cell, self.here.as_ref()) != self.here {
            return Ok(None);
        }
        // Connections that are opened once it is watched would look like another client's.
        member.with_engine(cell, |engine| engine.prepare())?;
        let Some(watch) = member.site.watch() else { return Ok(None) };
        let load = self.plan.cell(cell).load;
        let spec = self.experiment.load(load);
        let slice = SliceSpec {
            load: spec.load.averaged(self.experiment.plan.slices_of(load).length)?,
            duration: length,
            seed: self.order.tail_seed(round, load),
            offset: Duration::ZERO,
        };
        let driven = member.with_engine(cell, |engine| engine.drive(slice));
        let mut timeline = watch.stop();
        let record = driven?;
        let has_proxy =
            self.experiment.service(self.plan.site(self.plan.cell(cell).site).service).proxy().is_some();
        if record.reconnects > 0 || has_proxy {
            // What was accepted may have been the load's own, or the proxy's.
            timeline.spans.remove(&Cause::OtherClient);
        }
        if record.stopped {
            return Err(RunError::Interrupted);
        }
        let mut slowest: Vec<_> = record.slowest.iter().copied().collect();
        slowest.sort_unstable();
        Ok(Some(TailRow { cell, round, answered: record.answered, slowest, timeline }))
    }
}
