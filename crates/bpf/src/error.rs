//! What can go wrong with a BPF program.

use std::{error::Error, io};

use nix::errno::Errno;

/// A BPF program could not be loaded, attached or run.
#[derive(Debug, thiserror::Error)]
pub enum BpfError {
    /// The kernel accepts such programs from root only.
    #[error(
        "cannot {what}: BPF programs for packets need root (CAP_BPF and CAP_NET_ADMIN outside any user namespace): run as root, or leave out the layers that need them"
    )]
    NeedsRoot {
        /// What failed.
        what: String,
        /// The kernel's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The kernel was built without the option.
    #[error("cannot {what}: the kernel lacks {option}, built in or as a loadable module")]
    KernelLacks {
        /// What failed.
        what: String,
        /// The option's name in the kernel's configuration.
        option: &'static str,
    },
    /// The verifier rejected the program, for example because it calls a helper that this kernel does not have.
    #[error(
        "cannot load the BPF program `{program}`, which needs Linux {since} or later: {source}; the end of the verifier log:\n{log}"
    )]
    Refused {
        /// The program's name.
        program: &'static str,
        /// The first version with all helpers that the program calls.
        since: &'static str,
        /// The end of the verifier's log.
        log: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// No link of that name.
    #[error("there is no link `{link}` in this network namespace: {source}")]
    NoLink {
        /// The name as given.
        link: String,
        /// The operating system's reason.
        source: Errno,
    },
    /// More loops than a program may execute.
    #[error("cannot spin for {loops} loops per packet: at most {most}")]
    TooManyLoops {
        /// The number as given.
        loops: u32,
        /// The maximum.
        most: u32,
    },
    /// Any other error of the system.
    #[error("cannot {what}: {}", with_causes(source.as_ref()))]
    Failed {
        /// What failed.
        what: String,
        /// Why it failed.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl BpfError {
    /// The error of `source` for an attempt to `what`.
    pub(crate) fn new(what: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> BpfError {
        let (what, source) = (what.into(), source.into());
        match os_reason(source.as_ref()) {
            Some(Errno::EPERM) => BpfError::NeedsRoot { what, source },
            Some(Errno::ENOSYS) => BpfError::KernelLacks { what, option: "CONFIG_BPF_SYSCALL" },
            _ => BpfError::Failed { what, source },
        }
    }
}

/// The errno at the end of a chain of causes.
pub(crate) fn os_reason(error: &(dyn Error + 'static)) -> Option<Errno> {
    let number = |cause: &(dyn Error + 'static)| match cause.downcast_ref::<Errno>() {
        Some(errno) => Some(*errno),
        None => cause.downcast_ref::<io::Error>()?.raw_os_error().map(Errno::from_raw),
    };
    causes(error).find_map(number)
}

fn with_causes(error: &(dyn Error + 'static)) -> String {
    causes(error).map(|cause| cause.to_string()).collect::<Vec<_>>().join(": ")
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| (*cause).source())
}
