//! Judging a slice by its gates. What the gates are and where their bounds lie is in the model.

use std::time::Duration;

use loadline_engine::Record;
use loadline_model::gates::{
    CpuUse, ERROR_SHARE, FOREIGN_SHARE, Gate, GateFailure, LOAD_BUSY_SHARE, LOAD_WAIT_SHARE, SENT_SHARE,
    STEAL_SHARE, late,
};
use loadline_model::load::Load;

/// The kernel reports idle time in hundredths of a second (`USER_HZ`, proc_stat(5)): this much of each CPU may be rounding.
const IDLE_RESOLUTION: Duration = Duration::from_millis(10);

/// Whether a slice should be repeated: it was disturbed from outside, and not by the service itself.
pub fn should_repeat(failures: &[GateFailure]) -> bool {
    !failures.is_empty() && failures.iter().all(|failure| failure.gate().is_disturbance())
}

/// The gates that a slice fails.
pub fn failures(load: &Load, record: &Record, cpu: Option<CpuUse>) -> Vec<GateFailure> {
    let mut failures = Vec::new();
    match load {
        Load::Open { .. } | Load::Profile { .. } | Load::Replay(_) => {
            if record.sent_share() < SENT_SHARE {
                // Requests that found no connection free waited for the service; the others for the generator.
                let waited_for_service = record.waited >= record.due - record.sent_in_time;
                failures.push(GateFailure::NotSent {
                    gate: if waited_for_service { Gate::Rate } else { Gate::SendLag },
                    share: record.sent_share(),
                    least: SENT_SHARE,
                    asked: load.clone(),
                });
            }
            failures.extend(late(&record.send_lag, &record.service).map(GateFailure::Late));
        }
        Load::Closed { .. } => {
            let share = record.share_of_workers(record.cpu_ns);
            if share > LOAD_BUSY_SHARE {
                failures.push(GateFailure::LoadBusy { share, most: LOAD_BUSY_SHARE });
            }
        }
    }
    let failed = record.errors.total() + record.unsolicited;
    if failed as f64 > ERROR_SHARE * record.due as f64 || (record.due > 0 && record.answered == 0) {
        failures.push(GateFailure::Failed { failed, due: record.due, kinds: record.errors.by_name() });
    }
    failures.extend(cpu.into_iter().flat_map(|cpu| machine_failures(cpu, record.duration)));
    failures
}

/// The gates that a load fails whose threads were watched as well: for `waited_ns`, all of them together, they were ready to run and did
/// not; `None` if the kernel does not say. What other programs used can't be told from a service that may run here as well, but what they
/// took from the load threads can.
pub fn failures_with_waiting(
    load: &Load,
    record: &Record,
    cpu: Option<CpuUse>,
    waited_ns: Option<u64>,
) -> Vec<GateFailure> {
    let mut failures = failures(load, record, cpu);
    failures.extend(waited_ns.and_then(|ns| waiting_failure(load, record, ns)));
    failures
}

fn waiting_failure(load: &Load, record: &Record, waited_ns: u64) -> Option<GateFailure> {
    let busy_share = record.share_of_workers(record.cpu_ns);
    let waiting_share = record.share_of_workers(waited_ns);
    if load.is_closed() && busy_share > LOAD_BUSY_SHARE {
        // It is saturated whatever it waited for.
        None
    } else if load.is_closed() && busy_share + waiting_share > LOAD_BUSY_SHARE {
        Some(GateFailure::LoadSaturated { busy_share, waiting_share, most: LOAD_BUSY_SHARE })
    } else {
        let (share, most) = (waiting_share, LOAD_WAIT_SHARE);
        (share > most).then_some(GateFailure::LoadWaited { share, most })
    }
}

/// The gates of the machine that a time fails: how much of its CPUs the hypervisor and other programs took.
pub fn machine_failures(cpu: CpuUse, duration: Duration) -> Vec<GateFailure> {
    let share = |ns: f64| ns / cpu.capacity_ns.max(1) as f64;
    let grain = IDLE_RESOLUTION.as_secs_f64() / duration.as_secs_f64();
    let (stolen, most) = (share(cpu.steal_ns as f64), STEAL_SHARE);
    let stolen = (stolen > most).then_some(GateFailure::Stolen { share: stolen, most });
    let (foreign, most) = (share(cpu.foreign_ns.map_or(0.0, |ns| ns as f64)), FOREIGN_SHARE + grain);
    let foreign = (foreign > most).then_some(GateFailure::Foreign { share: foreign, most });
    stolen.into_iter().chain(foreign).collect()
}
