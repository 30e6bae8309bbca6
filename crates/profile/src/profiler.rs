//! The sampling profiler: samples each CPU a fixed number of times a second, with the stacks of kernel and program.
//!
//! The event is the software `cpu-clock`: a timer on each CPU, so that a sample stands for the same time whatever the CPU's speed,
//! and machines without performance counters (most virtual ones) are profiled like any other. Its price: the timer is an interrupt,
//! so what runs with interrupts off is attributed to where they are enabled again (`perf_swevent_hrtimer`, kernel/events/core.c).
//!
//! There are two events on a CPU: one for all tasks except the idle task, and a slower one of which only the idle task's samples are
//! kept. The kernel stops an event that has had too many samples since the last tick until the next (`__perf_event_account_interrupt`
//! there), and an idle CPU has no ticks: one event for both would miss most of what follows an idle time of some milliseconds.
//! The CPUs are sampled in turn, not all at once: a sample delays its CPU by some microseconds, and a CPU that is sampled just then is
//! found waiting for the other more often than it waits otherwise. Two programs that alternated on two CPUs were under-counted by 15 %.
//! The same applies to a load in step with the sampling timer: the caller must make its requests come at random times.

use std::{collections::HashMap, time::Duration};

use perf_event::{Builder, SampleFlag, data::Sample, events::Software};

use crate::{
    ProfileError,
    ring::{Collected, Event, Group, RingBuffers},
    symbols,
};

/// Samples a second on each CPU, where the kernel allows as many.
const DEFAULT_FREQUENCY_HZ: u32 = 10_000;

/// How much less often the idle task is sampled than the others.
const IDLE_FACTOR: u32 = 4;

const TASKS: &str = "cpu-clock";
const IDLE_TASK: &str = "cpu-clock of the idle task";

/// Room for samples on each CPU, in bytes: a sample of 60 frames takes about 550, so these are four seconds at 10 kHz until the
/// thread that empties the buffers first wakes.
const BUFFER_BYTES: usize = 1 << 25;

/// Which CPUs to sample, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// CPUs to sample: those of the load and of the service.
    pub cpus: Vec<u32>,
    /// Samples a second on each CPU.
    pub frequency_hz: u32,
}

impl Options {
    /// Samples these CPUs 10,000 times a second, or as often as `kernel.perf_event_max_sample_rate` allows.
    pub fn new(cpus: impl IntoIterator<Item = u32>) -> Options {
        let allowed = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate")
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let frequency_hz = DEFAULT_FREQUENCY_HZ.min(allowed.unwrap_or(DEFAULT_FREQUENCY_HZ)).max(1);
        Options { cpus: cpus.into_iter().collect(), frequency_hz }
    }

    /// The CPU time that a sample stands for, in nanoseconds; one of the idle task stands for four times as much.
    pub fn period_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.frequency_hz.max(1))
    }
}

/// The task that was running when a sample was taken, and its stack.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SampledStack {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// The CPU time that it stands for.
    pub(crate) period_ns: u64,
    /// Addresses, innermost first, with the kernel's marks between kernel and program (`PERF_CONTEXT_*`, perf_event_open(2)).
    pub(crate) chain: Box<[u64]>,
}

impl SampledStack {
    fn of(sample: &Sample) -> Option<SampledStack> {
        Some(SampledStack {
            pid: sample.pid()?,
            tid: sample.tid()?,
            period_ns: sample.period()?,
            chain: sample.callchain()?.into(),
        })
    }
}

/// A running profiler. Dropping it stops the sampling.
pub struct Profiler {
    rings: RingBuffers<SampledStack>,
    options: Options,
}

impl Profiler {
    /// Starts sampling.
    ///
    /// # Errors
    /// If the kernel does not let this user profile whole CPUs, hides its symbols, or cannot sample.
    pub fn start(options: &Options) -> Result<Profiler, ProfileError> {
        let mut tasks = clock(TASKS, options.period_ns(), BUFFER_BYTES);
        tasks.builder.exclude_idle(true);
        let mut idle = clock(
            IDLE_TASK,
            options.period_ns() * u64::from(IDLE_FACTOR),
            BUFFER_BYTES / IDLE_FACTOR as usize,
        );
        // Separate groups, because the kernel stops whole groups.
        let open = |cpu| Ok(vec![Group::new(&mut tasks, cpu)?, Group::new(&mut idle, cpu)?]);
        let cpus = u32::try_from(options.cpus.len()).unwrap_or(u32::MAX).max(1);
        let rings = RingBuffers::start(
            &options.cpus,
            Duration::from_nanos(options.period_ns()) / cpus,
            open,
            SampledStack::of,
        )?;
        // Afterwards, because a user without the permission to profile cannot see the symbols either, and the former is the better error.
        symbols::check_kernel()?;
        Ok(Profiler { rings, options: options.clone() })
    }

    /// Stops the sampling and returns the samples.
    ///
    /// # Errors
    /// If the samples could not be read.
    pub fn stop(self) -> Result<Samples, ProfileError> {
        let mut collected = self.rings.stop()?;
        let period_ns = self.options.period_ns();
        collected.counts.retain(|seen, _| (seen.pid == 0) == (seen.period_ns != period_ns));
        Ok(Samples { collected, options: self.options })
    }
}

fn clock(name: &'static str, period_ns: u64, buffer_bytes: usize) -> Event<'static> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder.sample(SampleFlag::TID | SampleFlag::PERIOD | SampleFlag::CALLCHAIN).sample_period(period_ns);
    Event { name, builder, buffer_bytes }
}

/// Samples as addresses.
#[derive(Debug)]
pub struct Samples {
    collected: Collected<SampledStack>,
    options: Options,
}

impl Samples {
    pub(crate) fn seen(&self) -> &HashMap<SampledStack, u64> {
        &self.collected.counts
    }

    pub(crate) fn lost(&self) -> u64 {
        self.collected.lost
    }

    pub(crate) fn throttled(&self) -> u64 {
        self.collected.throttled.get(TASKS).copied().unwrap_or(0)
    }

    pub(crate) fn idle_throttled(&self) -> u64 {
        self.collected.throttled.get(IDLE_TASK).copied().unwrap_or(0)
    }

    /// The sampled CPU time: duration times CPUs.
    pub(crate) fn watched(&self) -> Duration {
        self.collected.enabled.saturating_mul(u32::try_from(self.options.cpus.len()).unwrap_or(u32::MAX))
    }

    pub(crate) fn period_ns(&self) -> u64 {
        self.options.period_ns()
    }
}
