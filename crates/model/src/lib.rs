//! The data of loadline, without I/O: what is to be measured ([`experiment`], [`load`], [`platform`]) and in which cells ([`plan`]), what
//! was seen of it ([`Record`], [`rows`], [`Observations`], [`metrics`], [`profile`], [`gates`], [`notes`]) and what follows ([`result`]).
//! Every other crate takes it from here; this one depends on none of them.

pub mod decision;
mod errors;
mod events;
pub mod experiment;
pub mod gates;
mod histogram;
mod ids;
pub mod load;
mod machine;
mod machine_cpu;
pub mod metrics;
pub mod notes;
mod observations;
pub mod pauses;
pub mod plan;
pub mod platform;
pub mod preview;
mod printable;
pub mod profile;
mod record;
pub mod result;
pub mod rows;
mod run_state;
pub mod runtime;
mod slowest;
pub mod so_far;
mod sparse_histogram;
pub mod tails;
mod time_spent;
mod tried;

pub use errors::{ErrorKind, Errors, FailedStatus, counted_in_words, names_a_status};
pub use events::Event;
pub use histogram::{HistogramError, decode_histogram, encode_histogram, new_histogram};
pub use ids::{CellId, LoadId, PlatformId, ServiceId, SiteId};
pub use machine::Machine;
pub use machine_cpu::MachineCpu;
pub use observations::{Observations, has_own_key};
pub use printable::printable;
pub use record::{Record, Second, record_time};
pub use run_state::RunState;
pub use slowest::{MOST_SLOW, SlowRequest, Slowest};
pub use sparse_histogram::SparseHistogram;
pub use time_spent::TimeSpent;
pub use tried::{Tried, TriedRequest};

/// Version of the data as they are stored. A change of what is written raises it, and the store learns to read what was written before.
pub const VERSION: u32 = 11;
