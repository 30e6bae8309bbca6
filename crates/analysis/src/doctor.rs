//! From what was seen of a machine (`loadline doctor`) to what can be told on it, and to advice.

mod advice;
mod correlation;
mod noise;
mod planning;

use std::time::{SystemTime, UNIX_EPOCH};

use loadline_model::Machine;
use loadline_model::result::doctor::{
    ClockReading, CpuPower, DoctorResult, LeftOut, Noise, OtherPrograms, Pauses, SCHEMA, Stolen, WakeUps,
};

use crate::RunData;
use crate::result::Statement;

/// What was seen of a machine.
#[derive(Default)]
pub struct Examination {
    /// Version of loadline that examined it.
    pub version: String,
    /// Word by word.
    pub command_line: Vec<String>,
    /// When it began; `None` is long ago.
    pub started: Option<SystemTime>,
    /// How long it took.
    pub seconds: f64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The machine.
    pub machine: Machine,
    /// The CPUs that service and load may use.
    pub cpus: Vec<usize>,
    /// Pauses.
    pub pauses: Option<Pauses>,
    /// Stolen time while nothing of loadline ran, and while all CPUs were busy.
    pub stolen: Stolen,
    /// Reading the clock.
    pub clock: Option<ClockReading>,
    /// Wake-ups.
    pub wake_ups: WakeUps,
    /// Frequency, idle states and cores.
    pub cpu_power: CpuPower,
    /// What ran beside loadline.
    pub other_programs: Option<OtherPrograms>,
    /// A service compared with itself.
    pub run: Option<RunData>,
    /// What is already known to be missing.
    pub left_out: Vec<LeftOut>,
}

/// The result of an examination.
pub fn doctor_result(examination: Examination) -> DoctorResult {
    let (noise, not_estimated) = match examination.run.as_ref().map(noise::noise) {
        Some(Ok(noise)) => (Some(noise), None),
        Some(Err(left_out)) => (None, Some(left_out)),
        None => (None, None),
    };
    let stolen =
        Stolen { loaded_share: examination.run.as_ref().and_then(noise::stolen_share), ..examination.stolen };
    let advice = advice::advice(&examination, &stolen);
    let invisible = invisible(&examination.machine, &examination.cpu_power);
    let left_out = examination.left_out.into_iter().chain(not_estimated).chain(invisible);
    DoctorResult {
        schema: SCHEMA.to_owned(),
        version: examination.version,
        command_line: examination.command_line,
        started_unix_s: examination
            .started
            .and_then(|started| started.duration_since(UNIX_EPOCH).ok())
            .map_or(0.0, |since| since.as_secs_f64()),
        seconds: examination.seconds,
        interrupted: examination.interrupted,
        noise: noise.filter(|noise: &Noise| !noise.rows.is_empty()),
        pauses: examination.pauses,
        stolen: stolen.most().map(|_| stolen),
        clock: examination.clock,
        wake_ups: examination.wake_ups,
        other_programs: examination.other_programs,
        advice,
        left_out: left_out.map(Statement::of).collect(),
        machine: examination.machine,
        cpu_power: examination.cpu_power,
    }
}

fn invisible(machine: &Machine, power: &CpuPower) -> impl Iterator<Item = LeftOut> + use<> {
    let virtual_machine = machine.hypervisor.is_some();
    let frequency = power.frequency_driver.is_none().then_some(LeftOut::Frequency { virtual_machine });
    let idle_states = power.idle_states.is_empty().then_some(LeftOut::IdleStates { virtual_machine });
    frequency.into_iter().chain(idle_states)
}
