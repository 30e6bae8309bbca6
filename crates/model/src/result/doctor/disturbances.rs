//! What a machine does to a program that wants to run: pauses, stolen time, clocks, wake-ups, other programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When CPUs did not run what was ready to run, seen by a thread on each that does nothing but read the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pauses {
    /// How long was looked.
    pub seconds: f64,
    /// One for each CPU, in order.
    pub cpus: Vec<CpuPauses>,
}

/// The pauses of one CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuPauses {
    /// Its number.
    pub cpu: usize,
    /// By least length, the shortest first; a pause counts in each that it reaches.
    pub over: Vec<PauseCount>,
    /// The longest.
    pub longest_ns: u64,
    /// The part of all pauses in which other programs ran, ns a second; `None` if the kernel does not say. The rest went to interrupts
    /// and the hypervisor.
    pub other_programs_ns_per_second: Option<f64>,
}

/// The pauses of one length and longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PauseCount {
    /// At least this long.
    pub least_ns: u64,
    /// How many a minute.
    pub per_minute: f64,
    /// Time lost to them, ns a second.
    pub lost_ns_per_second: f64,
}

/// Share of the CPUs' time that the hypervisor took, by what they did meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stolen {
    /// loadline did nothing.
    pub idle_share: Option<f64>,
    /// All CPUs were busy.
    pub busy_share: Option<f64>,
    /// Service and load ran.
    pub loaded_share: Option<f64>,
}

impl Stolen {
    /// The largest share that was seen.
    pub fn most(&self) -> Option<f64> {
        [self.idle_share, self.busy_share, self.loaded_share].into_iter().flatten().reduce(f64::max)
    }
}

/// Reading the clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockReading {
    /// What the kernel tells the time by.
    pub source: Option<String>,
    /// What else it could tell the time by.
    pub alternatives: Vec<String>,
    /// One reading.
    pub read_ns: f64,
}

/// How late a sleeping thread runs again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WakeUps {
    /// After the time that it asked a timer for.
    pub timer: Option<Latency>,
    /// After a thread on another CPU wrote to the pipe that it reads from; `None` with a single CPU.
    pub other_cpu: Option<Latency>,
}

/// Quantiles of a latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// How often it was measured.
    pub count: usize,
}

/// What ran beside loadline while it did nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherPrograms {
    /// How long was looked.
    pub seconds: f64,
    /// Share of all CPUs' time.
    pub share: f64,
    /// Share of each CPU's time.
    pub cpus: Vec<CpuBusy>,
    /// Those that used the most CPU time, the first the most.
    pub programs: Vec<Program>,
}

/// How busy a CPU was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuBusy {
    /// Its number.
    pub cpu: usize,
    /// Share of its time.
    pub share: f64,
}

/// The CPU time of the processes of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// As the kernel has it, 15 bytes at most.
    pub name: String,
    /// How many processes.
    pub processes: usize,
    /// One of them, that with the most CPU time.
    pub pid: u32,
    /// Whether that one is in a container.
    pub in_container: bool,
    /// Share of all CPUs' time.
    pub share: f64,
}
