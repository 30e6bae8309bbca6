//! Measuring one turn: counters before, the load, counters after, the gates, the journal.

use loadline_model::gates::GateFailure;
use loadline_model::rows::SliceRow;
use loadline_model::{CellId, Event};

use crate::drive::{Driven, drive};
use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::Fleet;
use crate::gates;
use crate::turn::{SlicePosition, Turn, Visit};

impl Execution<'_> {
    /// Measures a turn and stores its slices; returns the disturbed cells that should be repeated.
    pub fn measure(
        &mut self,
        position: SlicePosition,
        turn: &Turn,
        fleet: &mut Fleet,
    ) -> Result<Vec<CellId>, RunError> {
        self.check_interrupted()?;
        // A service that ended earlier in this block has no cell any more.
        let deployed = fleet.cells();
        let visits: Vec<&Visit> = turn.visits.iter().filter(|visit| deployed.contains(&visit.cell)).collect();
        if visits.is_empty() {
            return Ok(Vec::new());
        }
        let at_s = (self.clock.now() - self.begun).as_secs_f64();
        let (driven, time) = drive(&visits, turn, fleet, self.here.as_ref(), self.clock)?;
        self.spent.counters_s += time.counters.as_secs_f64();
        let loaded_s = time.load.as_secs_f64();
        match position.attempt {
            0 => self.spent.measuring_s += loaded_s,
            _ => self.spent.repeating_s += loaded_s,
        }
        let side_by_side = driven.len() > 1;
        let mut disturbed = Vec::new();
        for mut driven in driven {
            if driven.record.stopped {
                return Err(RunError::Interrupted);
            }
            let gate_failures = gates::failures(&driven.visit.load, &driven.record, driven.cpu_use);
            if gates::should_repeat(&gate_failures) {
                disturbed.push(driven.visit.cell);
            }
            if side_by_side {
                driven.observations.forget_machine(&self.metrics);
            }
            let slice = slice(position, at_s, driven, gate_failures);
            let stored = self.timed(|spent| &mut spent.storing_s, |run| run.journal.slice(&slice));
            stored.map_err(RunError::Journal)?;
            self.strategy.measured(&slice);
            (self.events)(Event::Measured(Box::new(slice)));
        }
        Ok(disturbed)
    }
}

fn slice(
    position: SlicePosition,
    at_s: f64,
    driven: Driven<'_>,
    gate_failures: Vec<GateFailure>,
) -> SliceRow {
    let Driven { visit, record, observations, cpu_use } = driven;
    SliceRow {
        cell: visit.cell,
        load: visit.load.clone(),
        round: position.round,
        block: position.block,
        attempt: position.attempt,
        position: position.position,
        at_s,
        duration_s: record.duration.as_secs_f64(),
        due: record.due,
        sent_in_time: record.sent_in_time,
        answered: record.answered,
        answered_in_time: record.answered_in_time,
        waited: record.waited,
        reconnects: record.reconnects,
        received_bytes: record.received_bytes,
        load_cpu_ns: record.cpu_ns,
        load_spun_ns: Some(record.spun_ns),
        errors: record.errors.by_name(),
        response: record.response,
        service: record.service,
        send_lag: record.send_lag,
        observations,
        cpu_use,
        gate_failures,
    }
}
