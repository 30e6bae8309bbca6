//! The clocks of the machine and of this process: how long a slice was, and what reading it cost.

use loadline_model::Observations;
use loadline_model::metrics::{MetricDeclaration, OBSERVER_CPU, Unit, WALL};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::probe::{Probe, Target};

/// Reads the clocks.
pub(crate) struct Clocks;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Times {
    /// `CLOCK_MONOTONIC` of the machine that it was read on.
    monotonic_ns: u64,
    /// `CLOCK_PROCESS_CPUTIME_ID` of the process that read it.
    observer_cpu_ns: u64,
}

impl Probe for Clocks {
    type Reading = Times;

    fn name(&self) -> &'static str {
        "clocks"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        [WALL, OBSERVER_CPU]
            .map(|name| MetricDeclaration::counter(name, Unit::Nanoseconds).of_the_measurement())
            .into()
    }

    fn read(&mut self, _: &Target<'_>) -> Option<Times> {
        Some(Times {
            monotonic_ns: now_ns(ClockId::Monotonic),
            observer_cpu_ns: now_ns(ClockId::ProcessCPUTime),
        })
    }

    fn between(&self, before: &Times, after: &Times, seen: &mut Observations) {
        seen.set(WALL, after.monotonic_ns.checked_sub(before.monotonic_ns));
        seen.set(OBSERVER_CPU, after.observer_cpu_ns.checked_sub(before.observer_cpu_ns));
    }
}

/// Nanoseconds of a clock that never shows a negative time.
fn now_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
