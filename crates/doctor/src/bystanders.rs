//! What runs on the machine while loadline does nothing: other programs, by name and by CPU, and the hypervisor's other guests.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use loadline_model::MachineCpu;
use loadline_model::result::doctor::{CpuBusy, OtherPrograms};
use loadline_observe::{CpuTimes, ProgramsReading};

use crate::sleep_unless_stopped;

/// Programs that are named.
const NAMED: usize = 5;

/// What was seen while loadline did nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Bystanders {
    /// The programs.
    pub programs: OtherPrograms,
    /// The share of the CPUs' time that the hypervisor took.
    pub stolen_share: Option<f64>,
}

/// Watches for so long; `None` if the kernel does not say.
pub fn bystanders(duration: Duration, stop: &AtomicBool) -> Option<Bystanders> {
    let (begin, before, programs) = (Instant::now(), CpuTimes::now()?, ProgramsReading::now());
    sleep_unless_stopped(duration, stop);
    let seconds = begin.elapsed().as_secs_f64();
    let times = CpuTimes::now()?.since(&before);
    let mut programs = programs.programs_since(times.each.len().max(1));
    programs.truncate(NAMED);
    let busy = |times: &MachineCpu| share(times.busy_ns(), times);
    Some(Bystanders {
        programs: OtherPrograms {
            seconds,
            share: busy(&times.all).unwrap_or(0.0),
            cpus: times
                .each
                .iter()
                .filter_map(|(cpu, times)| Some(CpuBusy { cpu: *cpu, share: busy(times)? }))
                .collect(),
            programs,
        },
        stolen_share: stolen_share(&times),
    })
}

/// The share of all CPUs' time that the hypervisor took; `None` of no time at all.
pub fn stolen_share(times: &CpuTimes) -> Option<f64> {
    share(times.all.steal_ns, &times.all)
}

fn share(part_ns: u64, of: &MachineCpu) -> Option<f64> {
    let whole = of.by_name().iter().fold(0_u64, |sum, (_, ns)| sum.saturating_add(*ns));
    (whole > 0).then(|| part_ns as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_share_of_all_time() {
        let all = MachineCpu { user_ns: 20, idle_ns: 70, steal_ns: 10, ..MachineCpu::default() };
        assert_eq!(stolen_share(&CpuTimes { all, ..CpuTimes::default() }), Some(0.1));
        assert_eq!(stolen_share(&CpuTimes::default()), None);
    }

    #[test]
    fn this_machine_can_be_watched() {
        let seen = bystanders(Duration::from_millis(100), &AtomicBool::new(false)).expect("/proc/stat");
        assert!(!seen.programs.cpus.is_empty() && seen.programs.programs.len() <= NAMED);
    }
}
