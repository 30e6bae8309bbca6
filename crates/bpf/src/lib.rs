//! BPF programs that are layers of the path between client and service, and their attachment to links (`tc-bpf(8)`).
//! The programs are C in `programs/`, with the objects that `programs/build` compiles from them; everything acts in the network namespace
//! of the calling thread.

mod attached;
mod datapath;
mod error;
mod object;
mod spin;

pub use attached::Attached;
pub use datapath::attach_datapath;
pub use error::BpfError;
pub use spin::{MAX_SPIN_LOOPS, attach_spin, spin_ns_per_packet};
