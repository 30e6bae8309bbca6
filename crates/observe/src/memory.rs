//! `/proc/PID/status`: how much memory the processes of a service hold.
//! Taken from the processes on every platform alike; what a cgroup reports includes page cache, so it is kept apart.

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, RESIDENT_MEMORY, Unit};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::probe::{Probe, Target};
use crate::procfs::{self, Proc};

/// Reads the memory of a service's processes.
pub(crate) struct MemoryProbe;

impl Probe for MemoryProbe {
    type Reading = Memory;

    fn name(&self) -> &'static str {
        "memory"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let memory =
            |name, label| MetricDeclaration::level(name, Unit::Bytes).shown_as(label, HigherIs::Costlier);
        vec![memory(RESIDENT_MEMORY, "resident memory"), memory("memory.peak", "resident memory, peak")]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Memory> {
        of_processes(target.proc(), target.processes())
    }

    fn between(&self, _: &Memory, after: &Memory, seen: &mut Observations) {
        seen.set(RESIDENT_MEMORY, after.resident_bytes);
        seen.set("memory.peak", after.peak_bytes);
    }
}

/// Resident memory of one or more processes; memory that they share is counted for each (proc_pid_status(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// `VmRSS`.
    pub(crate) resident_bytes: u64,
    /// `VmHWM`: the most since the process began.
    pub(crate) peak_bytes: u64,
}

/// The sum over those of `pids` that still run; `None` if none does.
fn of_processes(proc: &Proc, pids: &[Pid]) -> Option<Memory> {
    let each = pids.iter().filter_map(|pid| parse(&proc.read(&format!("{pid}/status"))?));
    each.reduce(|sum, one| Memory {
        resident_bytes: sum.resident_bytes.saturating_add(one.resident_bytes),
        peak_bytes: sum.peak_bytes.saturating_add(one.peak_bytes),
    })
}

/// The file counts in units of 1024 bytes, which it calls kB. Zombies have no such lines.
fn parse(text: &str) -> Option<Memory> {
    let bytes = |key| procfs::number_after(text, key)?.checked_mul(1024);
    Some(Memory { resident_bytes: bytes("VmRSS:")?, peak_bytes: bytes("VmHWM:")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_recorded_file_is_read_in_bytes() {
        let sample =
            "Name:\tcat\nVmPeak:\t    3060 kB\nVmHWM:\t    1648 kB\nVmRSS:\t    1532 kB\nRssAnon:\t 116 kB\n";
        assert_eq!(parse(sample), Some(Memory { resident_bytes: 1532 * 1024, peak_bytes: 1648 * 1024 }));
    }

    #[test]
    fn a_zombie_has_none() {
        assert_eq!(parse("Name:\tsh\nState:\tZ (zombie)\n"), None);
        assert_eq!(of_processes(&Proc::default(), &[]), None);
    }

    #[test]
    fn memory_touched_by_this_process_is_seen() {
        let touched = vec![1u8; 32 << 20];
        let seen = of_processes(&Proc::default(), &[rustix::process::getpid()]);
        assert!(seen.is_some_and(|m| m.resident_bytes > 32 << 20 && m.peak_bytes >= m.resident_bytes));
        assert_eq!(std::hint::black_box(&touched)[1 << 20], 1);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*", kb: u64) {
            let _ = parse(&text);
            let _ = parse(&format!("VmRSS: {kb}\nVmHWM: {kb} kB"));
        }
    }
}
