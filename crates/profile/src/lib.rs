//! What the kernel does: samples of the CPUs' stacks, each attributed to a layer of the network path, and the reasons for
//! which soft interrupts were raised. It knows nothing of platforms, load or experiments: only CPUs, processes and threads.
//!
//! ```no_run
//! use loadline_profile::{Options, Profiler, Symbols, ThreadRoles};
//!
//! # fn main() -> Result<(), loadline_profile::ProfileError> {
//! let profiler = Profiler::start(&Options::new([0, 1]))?;
//! std::thread::sleep(std::time::Duration::from_secs(1));
//! // Resolve while the processes exist: their symbols are read from their memory maps.
//! let who = ThreadRoles { service: [4711].into(), load: [4712].into() };
//! let profile = profiler.stop()?.resolve(&who, &Symbols::new())?;
//! for (layer, cpu_ns) in &profile.kernel_ns {
//!     println!("{layer}: {cpu_ns} ns");
//! }
//! # Ok(())
//! # }
//! ```

mod attribute;
mod error;
mod flame;
mod layers;
mod profiler;
mod ring;
mod roles;
mod softirqs;
mod symbols;
mod sys;
mod tracefs;

pub use error::ProfileError;
pub use flame::{differential_flame_graph, flame_graph};
pub use layers::{Function, functions};
pub use loadline_model::profile::{
    CallTree, Layer, PeriodsDiffer, Profile, Reason, SoftirqReasons, UserTime,
};
pub use profiler::{Options, Profiler, Samples};
pub use roles::ThreadRoles;
pub use softirqs::{SoftirqWatch, WatchedSoftirqs};
pub use symbols::Symbols;
