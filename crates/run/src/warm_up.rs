//! Warming up: cycles of load and pause, in turn over all cells, until each cell's service time is stationary.

use std::time::Duration;

use loadline_engine::SliceSpec;
use loadline_model::experiment::LoadSpec;
use loadline_model::load::{Arrivals, Load, Rate};
use loadline_model::rows::WarmUpRow;
use loadline_model::{CellId, SiteId};
use loadline_stats::{Stationarity, stationary};

use crate::deployer::ReadOut;
use crate::error::RunError;
use crate::events::Event;
use crate::execution::Execution;
use crate::fleet::{Fleet, Member};

/// Length of a cycle. Eight of them, the least that the test of stationarity asks for, take little more than a second.
const CYCLE: Duration = Duration::from_millis(150);
/// The shortest cycle of a closed loop.
const SHORTEST_CYCLE: Duration = Duration::from_millis(10);
/// A rate below this is warmed up at this rate, or a cycle would hold too few requests for a median. An external service is
/// never sent more than was asked for.
const LEAST_PER_SECOND: f64 = 200.0;

/// Cells of a site that one load warms up: slow rates are all warmed up at the same one, once.
struct Progress {
    site: SiteId,
    load: LoadSpec,
    cells: Vec<CellId>,
    figures: Vec<f64>,
    loaded: Duration,
    done: bool,
}

impl Execution<'_> {
    /// Warms up all cells of the fleet. The pauses of one cell are the others' cycles.
    pub(crate) fn warm_up(&mut self, round: u32, fleet: &mut Fleet) -> Result<(), RunError> {
        let mut groups: Vec<Progress> = Vec::new();
        for member in fleet.iter() {
            for cell in member.cells() {
                let load = self.warm_up_load(cell, member.site.is_external())?;
                match groups.iter_mut().find(|group| group.site == member.id && group.load == load) {
                    Some(group) => group.cells.push(cell),
                    None => groups.push(Progress::new(member.id, load, cell)),
                }
            }
        }
        let mut cycle = 0;
        while groups.iter().any(|progress| !progress.done) {
            for progress in groups.iter_mut().filter(|progress| !progress.done) {
                self.check_interrupted()?;
                // The site may have been given up in an earlier cycle.
                let Some(member) = fleet.get(progress.site) else {
                    progress.done = true;
                    continue;
                };
                if let Err(failure) = self.cycle(round, cycle, progress, member) {
                    self.go_on_without(fleet, failure)?;
                } else if progress.done {
                    self.keep_warm_up(round, progress)?;
                }
            }
            cycle += 1;
        }
        Ok(())
    }

    fn cycle(
        &mut self,
        round: u32,
        cycle: u32,
        progress: &mut Progress,
        member: &mut Member,
    ) -> Result<(), RunError> {
        let cell = progress.cells[0];
        let slice = SliceSpec {
            load: progress.load.load.clone(),
            duration: if progress.load.load.is_closed() { self.short_cycle() } else { CYCLE },
            seed: self.order.warm_up_seed(round, cycle, self.plan.cell(cell).load),
            offset: Duration::ZERO,
        };
        let begun = self.clock.now();
        member.site.read_begin(ReadOut::Everything);
        let record = member.with_engine(cell, |engine| engine.drive(slice))?;
        if record.stopped {
            return Err(RunError::Interrupted);
        }
        if record.answered > 0 {
            // A service elsewhere takes nothing from the machine of the load.
            let load_machine = member.load_machine(cell, self.here.as_ref());
            let is_beside_the_load = load_machine.is_some() && member.site.machine() == load_machine;
            let service_ns =
                member.site.read_end().service_cpu_ns.filter(|_| is_beside_the_load).unwrap_or(0);
            member.cpu_s_per_request = (service_ns + record.cpu_ns) as f64 / 1e9 / record.answered as f64;
            progress.figures.push(record.service.value_at_quantile(0.5) as f64);
        }
        progress.loaded += self.clock.now() - begun;
        progress.done = progress.is_stationary() || progress.loaded >= self.experiment.plan.warmup;
        Ok(())
    }

    /// A closed loop sends as fast as it is answered: a part of a short slice has requests enough for a median.
    fn short_cycle(&self) -> Duration {
        (self.experiment.plan.slice / 6).clamp(SHORTEST_CYCLE, CYCLE)
    }

    fn keep_warm_up(&mut self, round: u32, progress: &Progress) -> Result<(), RunError> {
        let (after, stationary) = (progress.loaded, progress.is_stationary());
        for cell in progress.cells.iter().copied() {
            (self.events)(Event::Warm { cell, after, stationary });
            let warm_up = WarmUpRow {
                cell,
                round,
                seconds: after.as_secs_f64(),
                stationary,
                figures: progress.figures.clone(),
            };
            self.journal.warm_up(&warm_up).map_err(RunError::Journal)?;
        }
        Ok(())
    }

    fn warm_up_load(&self, cell: CellId, is_external: bool) -> Result<LoadSpec, RunError> {
        let spec = self.experiment.load(self.plan.cell(cell).load);
        // A cycle is shorter than a slice: what changes within a slice is warmed up at its mean rate.
        let steady = spec.load.averaged(self.experiment.plan.slice)?;
        let load = if is_external { steady } else { brisk(steady)? };
        Ok(LoadSpec { load, ..spec.clone() })
    }
}

impl Progress {
    fn new(site: SiteId, load: LoadSpec, cell: CellId) -> Progress {
        Progress { site, load, cells: vec![cell], figures: Vec::new(), loaded: Duration::ZERO, done: false }
    }

    fn is_stationary(&self) -> bool {
        stationary(&self.figures) == Stationarity::Stationary
    }
}

/// The load of a warm-up: the cell's own, but not so slow that a cycle tells nothing.
fn brisk(load: Load) -> Result<Load, RunError> {
    Ok(match load {
        Load::Open { rate, .. } if rate.as_per_second() < LEAST_PER_SECOND => {
            Load::Open { rate: Rate::per_second(LEAST_PER_SECOND)?, arrivals: Arrivals::Uniform }
        }
        // A cycle may be shorter than the time that a user thinks.
        Load::Closed { .. } => Load::Closed { think: None },
        load => load,
    })
}
