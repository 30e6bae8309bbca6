//! Judging a slice by its gates. What the gates are and where their bounds lie is in the model. Whether a slice is measured again follows from
//! what the machine did alone, never from a response.

use std::time::Duration;

use loadline_engine::Record;
use loadline_model::gates::{
    CpuUse, ERROR_SHARE, FOREIGN_SHARE, Gate, GateFailure, LOAD_BUSY_SHARE, LOAD_WAIT_SHARE, LOAD_WORK_SHARE,
    PAUSED_LEAST, PAUSED_PER_SECOND, SENT_SHARE, STEAL_SHARE, late,
};
use loadline_model::load::Load;

/// The kernel reports idle and stolen time in hundredths of a second (`USER_HZ`, proc_stat(5)), and may add up what a task uses as seldom: this
/// much of each CPU may be rounding.
const STAT_RESOLUTION: Duration = Duration::from_millis(10);

/// The gates that a slice of a run fails. `paused` is for how long the load's CPUs were paused that can't have been paused by a service.
///
/// That requests left late is a fault of the load only if it had too much to do; else it was the machine, which its own gates judge.
pub fn slice_failures(
    load: &Load,
    record: &Record,
    cpu: Option<CpuUse>,
    paused: Option<Duration>,
) -> Vec<GateFailure> {
    let mut failures = failures(load, record, cpu);
    if record.share_of_workers(record.cpu_ns.saturating_sub(record.spun_ns)) <= LOAD_WORK_SHARE {
        failures.retain(|failure| failure.gate() != Gate::SendLag);
    }
    failures.extend(paused.and_then(|paused| pause_failure(record, paused)));
    failures
}

fn pause_failure(record: &Record, paused: Duration) -> Option<GateFailure> {
    let watched_s = record.duration.as_secs_f64() * f64::from(record.workers.max(1));
    let (ms, most) = (paused.as_secs_f64() * 1e3, PAUSED_PER_SECOND.as_secs_f64() * 1e3);
    let is_over = ms > most * watched_s && paused > PAUSED_LEAST;
    is_over.then(|| GateFailure::Paused { ms_per_second: ms / watched_s, most })
}

/// The gates that a load fails on its own.
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
    let grain = STAT_RESOLUTION.as_secs_f64() / duration.as_secs_f64();
    let (stolen, most) = (cpu.stolen_share(), STEAL_SHARE + grain);
    let stolen = (stolen > most).then_some(GateFailure::Stolen { share: stolen, most });
    let (foreign, most) = (share(cpu.foreign_ns.map_or(0.0, |ns| ns as f64)), FOREIGN_SHARE + grain);
    let foreign = (foreign > most).then_some(GateFailure::Foreign { share: foreign, most });
    stolen.into_iter().chain(foreign).collect()
}
