//! Measuring one turn: counters before, the load, counters after, the gates, the journal.

use loadline_engine::Record;
use loadline_model::gates::{CpuUse, GateFailure};
use loadline_model::rows::SliceRow;
use loadline_model::{CellId, Observations};

use crate::drive::drive;
use crate::error::RunError;
use crate::events::Event;
use crate::execution::Execution;
use crate::fleet::Fleet;
use crate::gates;
use crate::turn::{Place, Turn, Visit};

impl Execution<'_> {
    /// Measures a turn and keeps its slices; returns the cells that were disturbed and deserve a repeat.
    pub fn measure(&mut self, place: Place, turn: &Turn, fleet: &mut Fleet) -> Result<Vec<CellId>, RunError> {
        self.check_interrupted()?;
        // A service that ended earlier in this block has no cell any more.
        let deployed = fleet.cells();
        let visits: Vec<&Visit> = turn.visits.iter().filter(|visit| deployed.contains(&visit.cell)).collect();
        if visits.is_empty() {
            return Ok(Vec::new());
        }
        let at_s = (self.clock.now() - self.begun).as_secs_f64();
        let driven = drive(&visits, turn, fleet)?;
        if driven.visits.iter().any(|(_, record)| record.stopped) {
            return Err(RunError::Interrupted);
        }
        let uses: Vec<Option<CpuUse>> =
            driven.visits.iter().map(|(visit, _)| driven.cpu_use(visit, fleet, self.here.as_ref())).collect();
        let side_by_side = visits.len() > 1;
        let mut disturbed = Vec::new();
        for ((visit, record), cpu_use) in driven.visits.iter().zip(uses) {
            let gate_failures = gates::failures(&visit.load, record, cpu_use);
            if gates::deserve_repeat(&gate_failures) {
                disturbed.push(visit.cell);
            }
            let mut observations = driven.observations(visit).cloned().unwrap_or_default();
            if side_by_side {
                observations.forget_machine();
            }
            let slice = slice(place, visit, at_s, record, observations, cpu_use, gate_failures);
            self.journal.slice(&slice).map_err(RunError::Journal)?;
            self.strategy.measured(&slice);
            (self.events)(Event::Measured(Box::new(slice)));
        }
        Ok(disturbed)
    }
}

fn slice(
    place: Place,
    visit: &Visit,
    at_s: f64,
    record: &Record,
    observations: Observations,
    cpu_use: Option<CpuUse>,
    gate_failures: Vec<GateFailure>,
) -> SliceRow {
    SliceRow {
        cell: visit.cell,
        load: visit.load.clone(),
        round: place.round,
        block: place.block,
        attempt: place.attempt,
        position: place.position,
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
        response: record.response.clone(),
        service: record.service.clone(),
        send_lag: record.send_lag.clone(),
        observations,
        cpu_use,
        gate_failures,
    }
}
