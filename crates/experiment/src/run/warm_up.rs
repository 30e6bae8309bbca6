//! Warming up: cycles of load and pause, in turn over all cells, until each cell's service time is stationary.

use std::time::{Duration, Instant};

use loadline_engine::{Arrivals, Load, Rate, SliceSpec};
use loadline_model::experiment::LoadSpec;
use loadline_model::rows::WarmUpRow;
use loadline_model::{CellId, SiteId};
use loadline_stats::{Stationarity, stationary};

use super::site::LiveSite;
use super::{Event, Execution, RunError};
use crate::plan::Order;

/// Length of a cycle. Eight of them, the least that the test of stationarity asks for, take little more than a second.
const CYCLE: Duration = Duration::from_millis(150);
/// The shortest cycle of a closed loop.
const LEAST_CYCLE: Duration = Duration::from_millis(10);
/// A rate below this is warmed up at this rate, or a cycle would hold too few requests for a median. An external service is
/// never sent more than was asked for.
const LEAST_PER_SECOND: f64 = 200.0;

struct Progress {
    /// The site.
    site: SiteId,
    /// What it is warmed up with.
    load: LoadSpec,
    /// The cells of the site that this warms up: slow rates are all warmed up at the same one, once.
    cells: Vec<CellId>,
    figures: Vec<f64>,
    loaded: Duration,
    done: bool,
}

impl Execution<'_> {
    /// Warms up all cells of the live sites. The pauses of one cell are the others' cycles.
    pub(super) fn warm_up(&mut self, round: u32, live: &mut Vec<LiveSite>) -> Result<(), RunError> {
        let mut sorts: Vec<Progress> = Vec::new();
        for site in live.iter() {
            for cell in site.cells() {
                let load = self.warm_up_load(cell, site.is_external)?;
                match sorts.iter_mut().find(|sort| sort.site == site.index && sort.load == load) {
                    Some(sort) => sort.cells.push(cell),
                    None => sorts.push(Progress::new(site.index, load, cell)),
                }
            }
        }
        let mut cycle = 0;
        while sorts.iter().any(|progress| !progress.done) {
            for progress in sorts.iter_mut().filter(|progress| !progress.done) {
                self.check_interrupted()?;
                // A site may have died in an earlier cycle.
                let Some(site) = live.iter_mut().find(|site| site.index == progress.site) else {
                    progress.done = true;
                    continue;
                };
                if let Err(failure) = self.cycle(round, cycle, progress, site) {
                    self.leave_behind(live, failure)?;
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
        site: &mut LiveSite,
    ) -> Result<(), RunError> {
        let slice = SliceSpec {
            load: progress.load.load.clone(),
            duration: if progress.load.load.is_closed() { self.short_cycle() } else { CYCLE },
            seed: Order(&self.plan).warm_up_seed(round, cycle, self.plan.load_of(progress.cells[0])),
            offset: Duration::ZERO,
        };
        let begun = Instant::now();
        let before = site.read();
        let Some(engine) = site.engine(progress.cells[0]) else { return Ok(()) };
        let record = match engine.drive(slice) {
            Ok(record) => record,
            Err(source) => {
                // When the service is dead, that is the better explanation.
                return Err(site.death().unwrap_or(RunError::Engine { site: site.label.clone(), source }));
            }
        };
        if record.stopped {
            return Err(RunError::Interrupted);
        }
        if record.answered > 0 {
            // A service elsewhere takes nothing from this machine.
            let service_ns =
                before.until(&site.read()).service_cpu_ns.filter(|_| site.is_here()).unwrap_or(0);
            site.cpu_s_per_request = (service_ns + record.cpu_ns) as f64 / 1e9 / record.answered as f64;
            progress.figures.push(record.service.value_at_quantile(0.5) as f64);
        }
        progress.loaded += begun.elapsed();
        let is_stationary = stationary(&progress.figures) == Stationarity::Stationary;
        progress.done = is_stationary || progress.loaded >= self.experiment.plan.warmup;
        Ok(())
    }

    /// A closed loop sends as fast as it is answered: a part of a short slice has requests enough for a median.
    fn short_cycle(&self) -> Duration {
        (self.experiment.plan.slice / 6).clamp(LEAST_CYCLE, CYCLE)
    }

    fn keep_warm_up(&mut self, round: u32, progress: &Progress) -> Result<(), RunError> {
        let is_stationary = stationary(&progress.figures) == Stationarity::Stationary;
        let after = progress.loaded;
        for cell in &progress.cells {
            (self.events)(Event::Warm { cell: *cell, after, stationary: is_stationary });
            let row = WarmUpRow {
                cell: *cell,
                round,
                seconds: after.as_secs_f64(),
                stationary: is_stationary,
                figures: progress.figures.clone(),
            };
            self.store.add_warm_up(self.run, &row)?;
        }
        Ok(())
    }

    fn warm_up_load(&self, cell: CellId, is_external: bool) -> Result<LoadSpec, RunError> {
        let spec = self.experiment.load(self.plan.load_of(cell));
        let load = if is_external { spec.load.clone() } else { brisk(spec.load.clone())? };
        Ok(LoadSpec { load, ..spec.clone() })
    }
}

impl Progress {
    fn new(site: SiteId, load: LoadSpec, cell: CellId) -> Progress {
        Progress { site, load, cells: vec![cell], figures: Vec::new(), loaded: Duration::ZERO, done: false }
    }
}

/// The load of a warm-up: the cell's own, but not so slow that a cycle tells nothing.
fn brisk(load: Load) -> Result<Load, RunError> {
    Ok(match load {
        Load::Open { rate, .. } if rate.as_per_second() < LEAST_PER_SECOND => {
            Load::Open { rate: Rate::per_second(LEAST_PER_SECOND)?, arrivals: Arrivals::Uniform }
        }
        load => load,
    })
}
