//! The result of `loadline doctor`: what this machine does to measurements, and what can be told on it in how much time.
//!
//! Its JSON Schema is published as `docs/doctor.schema.json`. Figures are in the unit that their field names; a share of 1 is all.

mod advice;
mod cpu_power;
mod disturbances;
mod noise;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Statement;
use crate::Machine;

pub use advice::{Advice, Change, Finding, LeftOut, Topic, Why};
pub use cpu_power::{CpuPower, Governor, IdleState};
pub use disturbances::{
    ClockReading, CpuBusy, CpuPauses, Latency, OtherPrograms, PauseCount, Pauses, Program, Stolen, WakeUps,
};
pub use noise::{Correlation, Noise, NoiseRow, NoiseRun, Resolution};

/// Name and version of the format; the version changes when a reader would have to.
pub const SCHEMA: &str = "loadline.doctor/1";

/// An examination of a machine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorResult {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of loadline that examined it.
    pub version: String,
    /// Word by word.
    pub command_line: Vec<String>,
    /// When it began, seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    /// How long it took.
    pub seconds: f64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The machine.
    pub machine: Machine,
    /// A service compared with itself: noise, and the differences that can be told; `None` when it was not measured.
    pub noise: Option<Noise>,
    /// When CPUs did not run what was ready to run; `None` when it was not measured.
    pub pauses: Option<Pauses>,
    /// CPU time that the hypervisor took; `None` if the kernel does not say.
    pub stolen: Option<Stolen>,
    /// Reading the clock; `None` when it was not measured.
    pub clock: Option<ClockReading>,
    /// How late a sleeping thread runs again.
    pub wake_ups: WakeUps,
    /// Frequency, idle states and cores.
    pub cpu_power: CpuPower,
    /// What ran beside loadline; `None` when it was not measured.
    pub other_programs: Option<OtherPrograms>,
    /// What would make measurements here sharper, the most important first.
    pub advice: Vec<Advice>,
    /// What could not be measured or seen, and why.
    pub left_out: Vec<Statement<LeftOut>>,
}
