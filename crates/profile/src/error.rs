//! What can keep the kernel from being watched, and what to do about it.

use std::{io, path::PathBuf};

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No CPU was named.
    #[error("no CPU to watch was named")]
    NoCpus,
    /// The kernel does not let this user watch whole CPUs (`perf_event_paranoid`, Documentation/admin-guide/perf-security.rst).
    #[error(
        "the kernel does not let this user watch CPU {cpu}: run as root or with CAP_PERFMON{}",
        .paranoid.map(|level| format!(", or set kernel.perf_event_paranoid (now {level}) to -1")).unwrap_or_default()
    )]
    NotPermitted {
        /// The CPU that was asked for.
        cpu: u32,
        /// The setting in force, where it can be read.
        paranoid: Option<i32>,
    },
    /// `perf_event_open(2)` or its ring buffer failed otherwise.
    #[error("cannot watch {event} on CPU {cpu}: {source}")]
    Event {
        /// Name of the event.
        event: String,
        /// The CPU that was asked for.
        cpu: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// `/proc/kallsyms` has no addresses for this user, so that no kernel function has a name.
    #[error(
        "/proc/kallsyms hides the kernel's addresses: run as root or with CAP_SYSLOG and set kernel.kptr_restrict to 0 or 1"
    )]
    HiddenSymbols,
    /// A file of the kernel's could not be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Addresses of the kernel could not be turned into names.
    #[error("cannot name the kernel's functions: {0}")]
    Symbols(String),
    /// A tracepoint could not be found: tracefs is mounted nowhere and may not be mounted, or the kernel has no such tracepoint.
    #[error(
        "cannot use the kernel's tracepoint {name}: {source}; it needs root (CAP_SYS_ADMIN on the machine itself, not in a user namespace) \
         and a kernel with CONFIG_EVENT_TRACING"
    )]
    Tracepoint {
        /// Group and name, as below `events` in tracefs.
        name: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A record of the kernel's is not what its format says.
    #[error("the kernel wrote a record that cannot be understood: {0}")]
    Record(String),
    /// The thread that empties the buffers could not be run.
    #[error("the thread that reads the samples failed: {0}")]
    Thread(String),
    /// A flame graph could not be drawn.
    #[error("cannot draw the flame graph: {0}")]
    FlameGraph(io::Error),
}
