//! Measuring one turn: counters before, the load, counters after, the gates, the store.

use std::time::Duration;

use loadline_agent::{DriveError, Driver};
use loadline_engine::{Engine, Record, SliceSpec};
use loadline_model::rows::SliceRow;
use loadline_model::{CellId, LoadId, Observations};

use super::site::LiveSite;
use super::watch::Reading;
use super::{Execution, RunError};
use crate::gates::{self, CpuUse};
use crate::plan::{Order, Turn};

/// Where in the run a turn is.
#[derive(Clone, Copy)]
pub struct Place {
    pub round: u32,
    pub block: u32,
    pub attempt: u32,
    pub position: u32,
}

impl Execution<'_> {
    /// Measures a turn and keeps its slices; returns the cells that were disturbed and deserve a repeat.
    pub(super) fn measure(
        &mut self,
        place: Place,
        turn: &Turn,
        live: &mut [LiveSite],
    ) -> Result<Vec<CellId>, RunError> {
        self.check_interrupted()?;
        let (cells, duration) = match turn {
            Turn::Slice(cell) => (vec![(*cell, Duration::ZERO)], self.experiment.plan.slice),
            // As long as their slices would have taken one after the other.
            Turn::SideBySide(cells) => (cells.clone(), self.experiment.plan.slice * cells.len() as u32),
        };
        // A service that died earlier in this block has no cell any more.
        let cells: Vec<(CellId, Duration)> = cells
            .into_iter()
            .filter(|(cell, _)| live.iter().any(|site| site.cells().any(|other| other == *cell)))
            .collect();
        let at_s = self.begun.elapsed().as_secs_f64();
        let (records, before, after) = self.drive(place, &cells, duration, live)?;
        let observed: Vec<Observations> =
            before.iter().zip(&after).map(|(before, after)| before.until(after)).collect();
        // The sum of options is none when one is: an external service may run on this machine and can't be told apart.
        let here = observed.iter().zip(live.iter()).filter(|(_, site)| site.is_here());
        let services_ns = here.map(|(observed, _)| observed.service_cpu_ns).sum();
        let load_ns = records.iter().map(|record| record.cpu_ns).sum();
        // All of them, ours or not.
        let machine_cpus = self.machine.cpus.unwrap_or(1) as usize;
        let mut disturbed = Vec::new();
        for ((cell, _), record) in cells.iter().zip(records) {
            if record.stopped {
                return Err(RunError::Interrupted);
            }
            let site = live.iter().position(|site| site.cells().any(|other| other == *cell)).unwrap_or(0);
            let cpu_use = CpuUse::of(&observed[site], services_ns, load_ns, machine_cpus);
            let mut observations = observed[site].clone();
            if cells.len() > 1 {
                // What the whole machine did can't be told apart by cell.
                observations.machine = None;
                observations.machine_busy_ns = None;
                observations.net_rx_softirqs = None;
                observations.net_tx_softirqs = None;
            }
            let gate_failures = gates::failures(&self.load_of(*cell), &record, cpu_use);
            if gates::deserve_repeat(&gate_failures) {
                disturbed.push(*cell);
            }
            let row = slice_row(
                place,
                (*cell, self.plan.load_of(*cell)),
                at_s,
                record,
                observations,
                cpu_use,
                gate_failures,
            );
            self.store.add_slice(self.run, &row)?;
        }
        Ok(disturbed)
    }

    /// Drives the cells from one common start; returns their records, and every site's counters before and after.
    #[allow(clippy::type_complexity)]
    fn drive(
        &self,
        place: Place,
        cells: &[(CellId, Duration)],
        duration: Duration,
        live: &mut [LiveSite],
    ) -> Result<(Vec<Record>, Vec<Reading>, Vec<Reading>), RunError> {
        for (cell, _) in cells {
            with_engine(live, *cell, |engine| engine.prepare())?;
        }
        let before = read(live, cells);
        let start = Engine::next_start();
        let (mut begun, mut failure) = (Vec::with_capacity(cells.len()), None);
        for (cell, offset) in cells {
            let load = self.plan.load_of(*cell);
            let slice = SliceSpec {
                load: self.load_of(*cell),
                duration,
                seed: Order(&self.plan).schedule_seed(place.round, place.block, load),
                offset: *offset,
            };
            match with_engine(live, *cell, |engine| engine.begin(slice, start)) {
                Ok(()) => begun.push(*cell),
                Err(failed) => failure = failure.or(Some(failed)),
            }
        }
        let mut records = Vec::with_capacity(cells.len());
        // Whoever has begun must finish, or could not begin again.
        for cell in begun {
            match with_engine(live, cell, |engine| engine.finish()) {
                Ok(record) => records.push(record),
                Err(failed) => failure = failure.or(Some(failed)),
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok((records, before, read(live, cells))),
        }
    }
}

/// The counters of the measured sites, and the CPU time of the others' services.
fn read(live: &mut [LiveSite], cells: &[(CellId, Duration)]) -> Vec<Reading> {
    let read = |site: &mut LiveSite| {
        let is_measured = site.cells().any(|of_site| cells.iter().any(|(cell, _)| *cell == of_site));
        if is_measured { site.read() } else { site.read_cpu() }
    };
    live.iter_mut().map(read).collect()
}

fn with_engine<T>(
    live: &mut [LiveSite],
    cell: CellId,
    act: impl FnOnce(&mut dyn Driver) -> Result<T, DriveError>,
) -> Result<T, RunError> {
    for site in live {
        if let Some(engine) = site.engine(cell) {
            return act(engine.as_mut()).map_err(|source| {
                // When the service is dead, that is the better explanation.
                site.death().unwrap_or(RunError::Engine { site: site.label.clone(), source })
            });
        }
    }
    Err(RunError::Interrupted)
}

fn slice_row(
    place: Place,
    (cell, load): (CellId, LoadId),
    at_s: f64,
    record: Record,
    observations: Observations,
    cpu_use: Option<CpuUse>,
    gate_failures: Vec<gates::GateFailure>,
) -> SliceRow {
    SliceRow {
        cell,
        load,
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
        response: record.response,
        service: record.service,
        send_lag: record.send_lag,
        observations,
        cpu_use,
        gate_failures,
    }
}
