//! Warming up: cycles of load and pause, in turn over all cells, until each cell's service time is stationary and its compiler, if it has one,
//! is nearly done.

use std::time::Duration;

use loadline_engine::SliceSpec;
use loadline_model::experiment::{Experiment, LoadSpec};
use loadline_model::load::{Arrivals, Load, Rate};
use loadline_model::metrics::JIT;
use loadline_model::preview::Range;
use loadline_model::rows::WarmUpRow;
use loadline_model::{CellId, Event, LoadId, SiteId};
use loadline_stats::{STATIONARITY_WINDOW, Stationarity, stationary};

use crate::deployer::ReadOut;
use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::{Fleet, Member};
use crate::warmth::has_got_faster;

/// Length of a cycle. Eight of them, the minimum for the stationarity test, take little more than a second: a service that compiles itself
/// while it runs takes seconds to warm up, and over a shorter time its trend would be lost in the noise.
const CYCLE: Duration = Duration::from_millis(150);
/// The shortest of these cycles, for a closed loop.
const MIN_CYCLE: Duration = Duration::from_millis(10);
/// The shortest cycle of a service that needed no warming up before.
const MIN_SHORT_CYCLE: Duration = Duration::from_millis(3);
/// Requests in a short cycle: its median has a standard error of some percent, which the test is made for.
const SHORT_CYCLE_REQUESTS: f64 = 25.0;
/// A rate below this is warmed up at this rate, or a cycle would hold too few requests for a median. An external service never gets more
/// than the requested rate.
const MIN_RATE_PER_SECOND: f64 = 200.0;

/// A compiler is nearly done if it took no more than this share of the service's CPU time in the second half of the warm-up. It takes less
/// the longer the service runs, and has no end: while slices are measured, 2 % is too much.
const NEARLY_COMPILED: f64 = 0.05;

/// The cells of a site that are warmed up by one load: slow rates are warmed up together, at the same rate.
struct Progress {
    site: SiteId,
    load: LoadSpec,
    cells: Vec<CellId>,
    /// Whether the service was warm from the start when it was last deployed.
    was_warm_before: bool,
    /// Length of a cycle.
    cycle: Duration,
    figures: Vec<f64>,
    /// By cycle.
    work: Vec<Work>,
    loaded: Duration,
    done: bool,
}

/// CPU time of a service in a cycle, and how much of it its compiler used.
#[derive(Clone, Copy)]
struct Work {
    cpu_ns: u64,
    compiler_ns: u64,
}

impl Execution<'_> {
    /// Warms up all cells of the fleet. The pauses of one cell are the others' cycles.
    ///
    /// What did not get faster in its first eight cycles, nor compiled, in the deployment before needs no warming up that long cycles could show: its cycles are
    /// as short as their medians allow, and it need not wait until a machine that is getting slower is level again. If it gets faster in these,
    /// or while it is measured, the next warm-up has long ones again.
    pub(crate) fn warm_up(&mut self, round: u32, fleet: &mut Fleet) -> Result<(), RunError> {
        if self.experiment.plan.is_cold() {
            return Ok(());
        }
        let mut groups: Vec<Progress> = Vec::new();
        for member in fleet.iter() {
            for cell in member.cells() {
                let load = self.warm_up_load(cell, member.site.is_external())?;
                match groups.iter_mut().find(|group| group.site == member.id && group.load == load) {
                    Some(group) => group.cells.push(cell),
                    None => {
                        groups.push(self.begin(member.id, load, cell));
                    }
                }
            }
        }
        let mut cycle = 0;
        while groups.iter().any(|progress| !progress.done) {
            for progress in groups.iter_mut().filter(|progress| !progress.done) {
                self.check_interrupted()?;
                // The site may have been abandoned in an earlier cycle.
                let Some(member) = fleet.get(progress.site) else {
                    progress.done = true;
                    continue;
                };
                if let Err(failure) = self.cycle(round, cycle, progress, member) {
                    self.continue_without(fleet, failure)?;
                } else if progress.done {
                    self.store_warm_up(round, progress)?;
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
            duration: progress.cycle,
            seed: self.order.warm_up_seed(round, cycle, self.plan.cell(cell).load),
            offset: Duration::ZERO,
        };
        let begun = self.clock.now();
        member.site.read_begin(ReadOut::Warmth);
        let record = member.with_engine(cell, |engine| engine.drive(slice))?;
        if record.stopped {
            return Err(RunError::Interrupted);
        }
        if record.answered > 0 {
            // A service on another machine uses no CPU of the load's machine.
            let load_machine = member.load_machine(cell, self.here.as_ref());
            let is_beside_the_load = load_machine.is_some() && member.site.machine() == load_machine;
            let seen = member.site.read_end();
            let cpu_ns = seen.service_cpu_ns().unwrap_or(0);
            let service_ns = if is_beside_the_load { cpu_ns } else { 0 };
            member.cpu_s_per_request = (service_ns + record.cpu_ns) as f64 / 1e9 / record.answered as f64;
            progress.work.push(Work { cpu_ns, compiler_ns: seen.count(JIT).unwrap_or(0) });
            progress.figures.push(record.service.value_at_quantile(0.5) as f64);
        }
        progress.loaded += self.clock.now() - begun;
        let is_warm = progress.is_stationary() && progress.has_nearly_compiled();
        progress.done = is_warm || progress.loaded >= self.experiment.plan.warmup;
        Ok(())
    }

    fn store_warm_up(&mut self, round: u32, progress: &Progress) -> Result<(), RunError> {
        let (after, stationary, compiling) =
            (progress.loaded, progress.is_stationary(), !progress.has_nearly_compiled());
        let first = progress.cells[0];
        self.warmth.warmed_up(first, stationary && progress.was_warm_at_once());
        for cell in progress.cells.iter().copied() {
            (self.events)(Event::Warm { cell, after, stationary, compiling });
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

    fn begin(&self, site: SiteId, load: LoadSpec, first: CellId) -> Progress {
        let was_warm_before = self.warmth.is_warm_at_once(first);
        let long = long_cycle(self.experiment.plan.slices_of(self.plan.load_of(first)).length, &load);
        let cycle = if was_warm_before { short_cycle(long, &load) } else { long };
        Progress {
            site,
            load,
            cells: vec![first],
            was_warm_before,
            cycle,
            figures: Vec::new(),
            work: Vec::new(),
            loaded: Duration::ZERO,
            done: false,
        }
    }

    fn warm_up_load(&self, cell: CellId, is_external: bool) -> Result<LoadSpec, RunError> {
        load_of(self.experiment, self.plan.load_of(cell), is_external)
    }
}

/// How long all warm-ups of a site take together that is measured under these loads, s: when it is always stationary at once, and when it
/// never is.
pub(crate) fn bounds(
    experiment: &Experiment,
    loads: &[LoadId],
    is_external: bool,
) -> Result<Range, RunError> {
    if experiment.plan.is_cold() {
        return Ok(Range::default());
    }
    let mut distinct: Vec<(LoadId, LoadSpec)> = Vec::new();
    for id in loads {
        let load = load_of(experiment, *id, is_external)?;
        if distinct.iter().all(|(_, other)| *other != load) {
            distinct.push((*id, load));
        }
    }
    let (mut bounds, longest) = (Range::default(), experiment.plan.warmup);
    let deployments = f64::from(experiment.plan.deployments);
    for (id, load) in distinct {
        let slice = experiment.plan.slices_of(id).length;
        let window =
            |cycle: Duration| (cycle * STATIONARITY_WINDOW as u32).min(longest).max(cycle).as_secs_f64();
        let long = long_cycle(slice, &load);
        bounds.least += window(long) + window(short_cycle(long, &load)) * (deployments - 1.0);
        // The last cycle may begin just before the time is over.
        bounds.most += (longest + long).as_secs_f64() * deployments;
    }
    Ok(bounds)
}

/// The load that warms a cell up; slow ones are all warmed up at the same.
fn load_of(experiment: &Experiment, load: LoadId, is_external: bool) -> Result<LoadSpec, RunError> {
    let spec = experiment.load(load);
    // A cycle is shorter than a slice: what changes within a slice is warmed up at its mean rate.
    let steady = spec.load.averaged(experiment.plan.slices_of(load).length)?;
    let load = if is_external { steady } else { at_least_min_rate(steady)? };
    // Loads that differ by their names alone are the same one here.
    Ok(LoadSpec { load, name: None, ..spec.clone() })
}

/// A closed loop sends as fast as it is answered: a part of a short slice has requests enough for a median.
fn long_cycle(slice: Duration, load: &LoadSpec) -> Duration {
    if load.load.is_closed() { (slice / 6).clamp(MIN_CYCLE, CYCLE) } else { CYCLE }
}

/// As long as it takes to send enough requests for a median.
fn short_cycle(long: Duration, load: &LoadSpec) -> Duration {
    match load.load.rate() {
        Some(rate) => rate.mean_gap().mul_f64(SHORT_CYCLE_REQUESTS).clamp(MIN_SHORT_CYCLE, long),
        None => (long / 3).max(MIN_SHORT_CYCLE),
    }
}

impl Progress {
    /// Whether it did not get faster in its first cycles, nor compiled. A machine that gets slower meanwhile makes a warm-up long and no service
    /// cold.
    fn was_warm_at_once(&self) -> bool {
        let first = STATIONARITY_WINDOW.min(self.figures.len());
        !has_got_faster(&self.figures[..first]) && compiler_share(&self.work[..first]) <= NEARLY_COMPILED
    }

    /// Over half of the warm-up: a compiler rests between what it finds worth its while and what it finds so later.
    fn has_nearly_compiled(&self) -> bool {
        compiler_share(&self.work[self.work.len() / 2..]) <= NEARLY_COMPILED
    }

    fn is_stationary(&self) -> bool {
        match stationary(&self.figures) {
            Stationarity::TooFew => false,
            Stationarity::Stationary => true,
            Stationarity::Trending { shift, .. } => self.was_warm_before && shift > 0.0,
        }
    }
}

/// The share of the CPU time that the compiler took; 0 of a service that has none, or whose CPU time is not known.
fn compiler_share(work: &[Work]) -> f64 {
    let cpu_ns: u64 = work.iter().map(|work| work.cpu_ns).sum();
    let compiler_ns: u64 = work.iter().map(|work| work.compiler_ns).sum();
    if cpu_ns == 0 { 0.0 } else { compiler_ns as f64 / cpu_ns as f64 }
}

/// The load of a warm-up: the cell's own, but with enough requests in a cycle.
fn at_least_min_rate(load: Load) -> Result<Load, RunError> {
    Ok(match load {
        Load::Open { rate, .. } if rate.as_per_second() < MIN_RATE_PER_SECOND => {
            Load::Open { rate: Rate::per_second(MIN_RATE_PER_SECOND)?, arrivals: Arrivals::Uniform }
        }
        // A cycle may be shorter than the time that a user thinks.
        Load::Closed { .. } => Load::Closed { think: None },
        load => load,
    })
}
