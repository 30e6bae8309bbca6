//! What a service may use, and what a pod reserves.

use loadline_model::platform::Limits;

use crate::draft::LimitsDraft;
use crate::error::{Complaint, Problems};
use crate::units::{parse_size, show_size};

/// Less than this, and the kernel kills most programs before they run (a static Go binary alone maps more).
const MIN_MEMORY_BYTES: u64 = 4 << 20;
/// More than any machine has.
const MAX_MEMORY_BYTES: u64 = 64 << 40;
/// The scheduler accepts no quota below 1 ms in a period of 100 ms (kernel/sched/core.c, min_cfs_quota_period).
const MIN_CPUS: f64 = 0.01;
/// More than any machine has.
const MAX_CPUS: f64 = 1024.0;

/// The limits; none where the draft has none.
pub(super) fn limits(draft: Option<&LimitsDraft>, problems: &mut Problems) -> Option<Limits> {
    let before = problems.count();
    let cpu = draft.and_then(|draft| draft.cpu.as_ref()).and_then(|text| text.read(problems, cpus));
    let memory =
        draft.and_then(|draft| draft.memory.as_ref()).and_then(|text| text.read(problems, memory_bytes));
    (problems.count() == before).then_some(Limits { cpus: cpu, memory_bytes: memory })
}

fn cpus(text: &str) -> Result<f64, Complaint> {
    match text.trim().parse::<f64>() {
        // NaN is in no range.
        Ok(cpus) if (MIN_CPUS..=MAX_CPUS).contains(&cpus) => Ok(cpus),
        _ => {
            let message =
                format!("CPUs must be a number from {MIN_CPUS} to {MAX_CPUS}, not `{}`", text.trim());
            Err(Complaint::new(message).help("write 1 or 0.5"))
        }
    }
}

fn memory_bytes(text: &str) -> Result<u64, Complaint> {
    let bytes = parse_size(text)?;
    if (MIN_MEMORY_BYTES..=MAX_MEMORY_BYTES).contains(&bytes) {
        return Ok(bytes);
    }
    let (least, most) = (show_size(MIN_MEMORY_BYTES), show_size(MAX_MEMORY_BYTES));
    Err(Complaint::new(format!("memory must be from {least} to {most}, not {}", text.trim()))
        .help("write 512Mi or 1Gi"))
}
