//! What can go wrong between a program of ours and a packet that passes it.

use std::{error::Error, io};

use nix::errno::Errno;

/// A BPF program could not be loaded, attached or run.
#[derive(Debug, thiserror::Error)]
pub enum BpfError {
    /// The kernel takes such programs from root only.
    #[error(
        "BPF programs for packets need root: run as root (CAP_BPF and CAP_NET_ADMIN outside of any user namespace), or leave out \
        what needs them (it failed to {doing})"
    )]
    NeedsRoot {
        /// What was refused.
        doing: String,
        /// How it was refused.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The kernel was built without it.
    #[error(
        "this kernel can't {doing}: it needs the kernel option {option}, built in or as a module that can be loaded"
    )]
    KernelLacks {
        /// What was tried.
        doing: String,
        /// Its name in the kernel's configuration.
        option: &'static str,
    },
    /// The verifier didn't accept the program, as when it calls what this kernel doesn't have yet.
    #[error(
        "the kernel refused the BPF program `{program}`, which needs Linux {since} or newer: {source}; the end of its log:\n{log}"
    )]
    Refused {
        /// The program's name.
        program: &'static str,
        /// The first version that has all that the program calls.
        since: &'static str,
        /// The end of what the verifier wrote.
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
    /// More loops than a program may make.
    #[error("a packet can't be held for {loops} loops: at most {most}")]
    TooManyLoops {
        /// The number as given.
        loops: u32,
        /// The most that there can be.
        most: u32,
    },
    /// Anything else that the system refused.
    #[error("failed to {doing}: {}", with_causes(source.as_ref()))]
    Failed {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl BpfError {
    /// What `source` means to somebody who wanted to `doing`.
    pub(crate) fn new(doing: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> BpfError {
        let (doing, source) = (doing.into(), source.into());
        match os_reason(source.as_ref()) {
            Some(Errno::EPERM) => BpfError::NeedsRoot { doing, source },
            Some(Errno::ENOSYS) => BpfError::KernelLacks { doing, option: "CONFIG_BPF_SYSCALL" },
            _ => BpfError::Failed { doing, source },
        }
    }
}

/// The error number at the end of a chain of causes.
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
