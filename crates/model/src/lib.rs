//! The data of loadline, without I/O: what is to be measured ([`experiment`], [`load`], [`platform`]), what was seen ([`Observations`],
//! [`profile`]) and where ([`Machine`]). Every other crate takes it from here; this one depends on none of them.

pub mod experiment;
mod histogram;
pub mod load;
mod machine;
mod machine_cpu;
mod observations;
pub mod platform;
pub mod profile;

pub use histogram::new_histogram;
pub use machine::Machine;
pub use machine_cpu::MachineCpu;
pub use observations::Observations;
