//! Profiling the live cells, each in slices of its own: what the kernel does for it, and why it raises soft interrupts.
//! A profiler slows what it samples, so these slices do not count as measurements.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use loadline_engine::{Record, SliceSpec};
use loadline_model::experiment::PlanSpec;
use loadline_model::gates::CpuUse;
use loadline_model::load::{Arrivals, Load, Think, ThinkDistribution};
use loadline_model::notes::Note;
use loadline_model::profile::SampledCost;
use loadline_model::rows::{ProfileRow, ReasonsRow};
use loadline_model::{CellId, Event, Observations};
use loadline_profile::{Options, ProfileError, Profiler, Samples, SoftirqWatch, Symbols, ThreadRoles};

use crate::deployer::ReadOut;
use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::{Fleet, Member};
use crate::gates;

/// Samples a second on each CPU. At 10,000, planted costs of 26 and 103 µs grew by 13 to 16 %.
const FREQUENCY_HZ: u32 = 2_500;
/// Mean time between an answer and the next request of a closed loop that is profiled. Back-to-back requests synchronise with the sampling
/// timer, which delays those that it hits: of 23 µs of spinning in every 44, between 0 and 26 were sampled. For the same reason a uniform
/// rate is profiled with Poisson arrivals.
const THINK: Duration = Duration::from_micros(30);
/// Soft interrupts are traced for one part in this many of a profile's length: each is an event, so a short time has many.
const SOFTIRQ_FRACTION: u32 = 3;

/// How long a request's cost without samples is measured: one part in this many of a profile's length.
const UNSAMPLED_FRACTION: u32 = 2;

/// How many deployments are profiled, evenly spread, if there are more. A profile of 300 ms takes three quarters of a second, and a long
/// ladder has 26 cells.
const DEPLOYMENTS: u32 = 6;

/// Whether the cells of a round of deployments are profiled, if any are.
pub(crate) fn is_profiled(plan: &PlanSpec, round: u32) -> bool {
    round.is_multiple_of((plan.deployments / DEPLOYMENTS).max(1))
}

/// How long a cell is loaded to be profiled for `length`, once.
pub(crate) fn duration_of_cell(length: Duration) -> Duration {
    length + length / SOFTIRQ_FRACTION + length / UNSAMPLED_FRACTION
}

/// A load under which the CPUs were sampled.
struct Sampled {
    record: Record,
    samples: Samples,
    /// CPU time of service and load for a request, ns, if that is known.
    cost: Option<f64>,
}

impl Execution<'_> {
    /// Profiles every cell of the live sites for `length`, and stores the profiles, if this round is to be profiled. What this user may not
    /// profile is noted once.
    pub(crate) fn profile(
        &mut self,
        round: u32,
        length: Duration,
        fleet: &mut Fleet,
    ) -> Result<(), RunError> {
        if !is_profiled(&self.experiment.plan, round) {
            return Ok(());
        }
        // The BPF programs of all sites are loaded, and stay until the round ends.
        let symbols = Symbols::new();
        for cell in fleet.cells() {
            self.check_interrupted()?;
            // The site may have been abandoned since.
            let Some(member) = fleet.get(self.plan.cell(cell).site) else { continue };
            if member.site.pids().is_empty() {
                self.note(Note::ServiceNotHere)?;
                continue;
            }
            match self.profile_cell(round, cell, length, member, &symbols) {
                Ok(Ok(row)) => self.journal.profile(&row).map_err(RunError::Journal)?,
                Ok(Err(refused)) => return self.note(Note::NotProfiled { reason: refused.to_string() }),
                Err(failure) => self.continue_without(fleet, failure)?,
            }
        }
        Ok(())
    }

    fn profile_cell(
        &mut self,
        round: u32,
        cell: CellId,
        length: Duration,
        member: &mut Member,
        symbols: &Symbols,
    ) -> Result<Result<ProfileRow, ProfileError>, RunError> {
        // Service and load may share a CPU, which is sampled once.
        let cpus: BTreeSet<u32> =
            self.cpus.service.iter().chain(&self.cpus.load).map(|cpu| *cpu as u32).collect();
        let cpus: Vec<u32> = cpus.into_iter().collect();
        let who = ThreadRoles { service: member.site.pids().into_iter().collect(), load: own_threads() };
        let most = Options::new(cpus.iter().copied());
        let options = Options { frequency_hz: most.frequency_hz.min(FREQUENCY_HZ), ..most };
        let without = self.cost_of_request(round, cell, length / UNSAMPLED_FRACTION, member)?;
        let Sampled { record, samples, cost: with } =
            match self.sample(round, cell, length, member, &options)? {
                Ok(seen) => seen,
                Err(refused) => return Ok(Err(refused)),
            };
        let samples_cost = with.zip(without).map(|(with, without)| SampledCost { with, without });
        // Names must be resolved while the processes and their programs exist.
        let mut profile = match samples.resolve(&who, symbols) {
            Ok(profile) => profile,
            Err(refused) => return Ok(Err(refused)),
        };
        profile.cost = samples_cost;
        // Spinning is not a cost of a request.
        profile.user_ns.load = profile.user_ns.load.saturating_sub(record.spun_ns);
        let reasons = match SoftirqWatch::start(&cpus) {
            Ok(watch) => {
                let record = self.drive_unmeasured(round, cell, length / SOFTIRQ_FRACTION, member)?;
                let reasons = watch.stop().and_then(|watched| watched.resolve(symbols));
                reasons.map(|reasons| ReasonsRow { answered: record.answered, reasons })
            }
            Err(refused) => Err(refused),
        };
        let reasons = match reasons {
            Ok(reasons) => Some(reasons),
            Err(refused) => {
                self.note(Note::SoftirqsNotSeen { reason: refused.to_string() })?;
                None
            }
        };
        Ok(Ok(ProfileRow { cell, round, answered: record.answered, profile, reasons }))
    }

    /// Samples an interval without disturbance, or else the last of the repeats: the clock continues while the hypervisor has the CPU, and
    /// that time would be attributed to the service.
    fn sample(
        &mut self,
        round: u32,
        cell: CellId,
        length: Duration,
        member: &mut Member,
        options: &Options,
    ) -> Result<Result<Sampled, ProfileError>, RunError> {
        let mut repeats = self.experiment.plan.repeats;
        loop {
            member.site.read_begin(ReadOut::Everything);
            let profiler = match Profiler::start(options) {
                Ok(profiler) => profiler,
                Err(refused) => return Ok(Err(refused)),
            };
            let record = self.drive_unmeasured(round, cell, length, member)?;
            let samples = match profiler.stop() {
                Ok(samples) => samples,
                Err(refused) => return Ok(Err(refused)),
            };
            let observed = member.site.read_end();
            let ours = observed.service_cpu_ns().map(|ns| (ns, record.cpu_ns));
            let cpu_use = CpuUse::of(&observed, ours);
            let failures = cpu_use.map_or_else(Vec::new, |cpu| gates::machine_failures(cpu, record.duration));
            if failures.is_empty() || repeats == 0 {
                for failure in failures {
                    self.note(Note::ProfileDisturbed { gate: failure.gate() })?;
                }
                let cost = cost_of_request(&observed, &record);
                return Ok(Ok(Sampled { record, samples, cost }));
            }
            (self.events)(Event::Repeating { cells: vec![cell] });
            repeats -= 1;
        }
    }

    /// CPU time of service and load for a request that is not sampled, ns.
    fn cost_of_request(
        &mut self,
        round: u32,
        cell: CellId,
        length: Duration,
        member: &mut Member,
    ) -> Result<Option<f64>, RunError> {
        member.site.read_begin(ReadOut::ServiceCpu);
        let record = self.drive_unmeasured(round, cell, length, member)?;
        Ok(cost_of_request(&member.site.read_end(), &record))
    }

    fn drive_unmeasured(
        &self,
        round: u32,
        cell: CellId,
        duration: Duration,
        member: &mut Member,
    ) -> Result<Record, RunError> {
        let load = self.plan.cell(cell).load;
        let think = Think { mean: THINK, distribution: ThinkDistribution::Exponential };
        let slice = SliceSpec {
            load: match self
                .experiment
                .load(load)
                .load
                .averaged(self.experiment.plan.slices_of(load).length)?
            {
                Load::Closed { think: None } => Load::Closed { think: Some(think) },
                Load::Open { rate, .. } => Load::Open { rate, arrivals: Arrivals::Poisson },
                load => load,
            },
            duration,
            seed: self.order.profile_seed(round, load),
            offset: Duration::ZERO,
        };
        let record = member.with_engine(cell, |engine| engine.drive(slice))?;
        if record.stopped { Err(RunError::Interrupted) } else { Ok(record) }
    }
}

/// CPU time of service and load for each request that was answered, ns, without what the load spent waiting awake.
fn cost_of_request(observed: &Observations, record: &Record) -> Option<f64> {
    let load_ns = record.cpu_ns.saturating_sub(record.spun_ns);
    let whole = observed.service_cpu_ns()? + load_ns;
    (record.answered > 0).then(|| whole as f64 / record.answered as f64)
}

/// The threads of this process: the load threads are among them, and the others are idle meanwhile.
fn own_threads() -> BTreeSet<u32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse().ok()).collect()
}
