//! Why the kernel cannot be profiled, and what to do about it.

use std::{io, path::PathBuf};

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No CPU was given.
    #[error("no CPU to profile was given")]
    NoCpus,
    /// The kernel does not let this user profile whole CPUs (`perf_event_paranoid`, Documentation/admin-guide/perf-security.rst).
    #[error(
        "cannot profile CPU {cpu}: the kernel does not allow it for this user: run as root or with CAP_PERFMON{}",
        .paranoid.map(|level| format!(", or set kernel.perf_event_paranoid (now {level}) to -1")).unwrap_or_default()
    )]
    NotPermitted {
        /// The requested CPU.
        cpu: u32,
        /// The setting in force, where it can be read.
        paranoid: Option<i32>,
    },
    /// `perf_event_open(2)` or its ring buffer failed otherwise.
    #[error("cannot sample {event} on CPU {cpu}: {source}")]
    Event {
        /// Name of the event.
        event: String,
        /// The requested CPU.
        cpu: u32,
        /// The kernel's reason.
        source: io::Error,
    },
    /// `/proc/kallsyms` has no addresses for this user, so that no kernel function has a name.
    #[error(
        "cannot read the kernel's addresses: /proc/kallsyms hides them: run as root or with CAP_SYSLOG, and set kernel.kptr_restrict to 0 or 1"
    )]
    HiddenSymbols,
    /// A file of the kernel could not be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The kernel's reason.
        source: io::Error,
    },
    /// Addresses of the kernel could not be turned into names.
    #[error("cannot resolve the names of kernel functions: {0}")]
    Symbols(String),
    /// A tracepoint was not found: tracefs is not mounted and may not be mounted, or the kernel has no such tracepoint.
    #[error(
        "cannot use the kernel's tracepoint {name}: {source}; it needs root (CAP_SYS_ADMIN on the machine itself, not in a user namespace) \
         and a kernel with CONFIG_EVENT_TRACING"
    )]
    Tracepoint {
        /// Group and name, as below `events` in tracefs.
        name: &'static str,
        /// The kernel's reason.
        source: io::Error,
    },
    /// A record of the kernel does not match its format.
    #[error("cannot understand a record that the kernel wrote: {0}")]
    Record(String),
    /// The thread that empties the buffers could not be started.
    #[error("the thread that reads the samples failed: {0}")]
    Thread(String),
    /// A flame graph could not be drawn.
    #[error("cannot draw the flame graph: {0}")]
    FlameGraph(io::Error),
}
