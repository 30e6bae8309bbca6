//! The unsafe code of this crate: leaving namespaces, and what a child does between fork and exec.
//! Everything else is safe Rust over rustix.

use std::{
    ffi::{CString, OsString},
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::{ffi::OsStringExt, process::CommandExt},
    },
    path::PathBuf,
    process::{Child, Command},
    ptr,
};

use rustix::{
    process::{Pid, Signal},
    thread::{CpuSet, LinkNameSpaceType, UnshareFlags},
};

/// Moves the calling thread (and with `NEWUSER` the process) into new namespaces (`unshare(2)`).
pub(crate) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    debug_assert!(!namespaces.contains(UnshareFlags::FILES));
    // SAFETY: only unsharing the descriptor table (FILES) can break other threads, and no caller does that.
    Ok(unsafe { rustix::thread::unshare_unsafe(namespaces) }?)
}

/// A program with its arguments and its whole environment, ready for `execve(2)`.
///
/// The standard library would use `execvp(3)`, which hands a file of unknown format to a shell.
pub(crate) struct Program {
    path: CString,
    arguments: CStrings,
    environment: CStrings,
}

impl Program {
    /// Fails on a NUL byte in any of the strings.
    pub fn new(
        path: PathBuf,
        arguments: impl IntoIterator<Item = OsString>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> io::Result<Program> {
        let variable = |(mut name, value): (OsString, OsString)| {
            name.push("=");
            name.push(value);
            name
        };
        Ok(Program {
            path: CString::new(path.into_os_string().into_vec())?,
            arguments: CStrings::new(arguments)?,
            environment: CStrings::new(environment.into_iter().map(variable))?,
        })
    }

    /// Replaces this process by the program; returns only on failure.
    fn exec(&self) -> io::Error {
        // SAFETY: the path ends with NUL, and both arrays are of such strings and end with a null pointer.
        unsafe {
            libc::execve(
                self.path.as_ptr(),
                self.arguments.pointers.as_ptr(),
                self.environment.pointers.as_ptr(),
            )
        };
        io::Error::last_os_error()
    }
}

/// Strings, and the array of pointers to them that ends with a null pointer.
struct CStrings {
    pointers: Vec<*const libc::c_char>,
    /// What the pointers point to; never changed, so it stays where it is.
    _strings: Vec<CString>,
}

// SAFETY: the pointers lead to immutable bytes on the heap that the same value owns.
unsafe impl Send for CStrings {}
// SAFETY: as above; nothing is ever written through them.
unsafe impl Sync for CStrings {}

impl CStrings {
    fn new(words: impl IntoIterator<Item = OsString>) -> io::Result<CStrings> {
        let strings =
            words.into_iter().map(|word| CString::new(word.into_vec())).collect::<Result<Vec<_>, _>>()?;
        let pointers = strings.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        Ok(CStrings { pointers, _strings: strings })
    }
}

/// What a child does before it executes the service, so that nothing of the service runs elsewhere.
pub(crate) struct ChildSetup {
    /// Open `cgroup.procs` files to join.
    pub cgroups: Vec<File>,
    /// The network namespace to enter; the parent's when `None`.
    pub netns: Option<OwnedFd>,
    /// CPUs to run on; all that the parent may use when `None`.
    pub cpus: Option<CpuSet>,
    /// The process that starts it, and with which it ends.
    pub parent: Pid,
    /// What the program gets as descriptor 3.
    pub third: Option<OwnedFd>,
    /// The program that it executes.
    pub program: Program,
}

/// Steps of [`ChildSetup`] in order, as named in errors.
const STEPS: [&str; 7] = [
    "joining its cgroup",
    "entering its network namespace",
    "opening a session",
    "pinning it to its CPUs (check that they exist)",
    "making it end with loadline",
    "passing it a descriptor",
    "starting the program",
];

impl ChildSetup {
    /// Starts the program with this set-up and the standard streams and working directory of `command`, which is not
    /// itself run. The kernel kills the process when the *thread* that called this ends
    /// (`PR_SET_PDEATHSIG`, see `prctl(2)`), so call it from one that lives as long as the service may.
    ///
    /// An error names the step that failed.
    pub fn spawn(self, command: &mut Command) -> Result<Child, (&'static str, io::Error)> {
        let before = |error| ("preparing to start it", error);
        let (mut failed_step, mut report) = io::pipe().map_err(before)?;
        let hook = move || {
            for step in 0..STEPS.len() {
                if let Err(error) = self.apply(step) {
                    // The step needs a channel of its own: the one for exec's error carries only the errno.
                    let _ = report.write(&[step as u8]);
                    return Err(error);
                }
            }
            Ok(())
        };
        // SAFETY: between fork and exec the hook only makes system calls on descriptors and values made before
        // the fork; it neither allocates nor takes a lock (`signal-safety(7)`).
        unsafe { command.pre_exec(hook) };
        let spawned = command.spawn();
        spawned.map_err(|error| {
            // Replacing the command drops the hook and with it the last write end, so that reading ends.
            *command = Command::new("");
            let mut step = [0];
            match failed_step.read(&mut step) {
                Ok(1) => (STEPS.get(usize::from(step[0])).copied().unwrap_or("setting it up"), error),
                _ => ("forking", error),
            }
        })
    }

    fn apply(&self, step: usize) -> io::Result<()> {
        match step {
            // "0" means the writing process (kernel, `__cgroup1_procs_write` and `cgroup_procs_write_start`).
            0 => self.cgroups.iter().try_for_each(|mut procs| procs.write_all(b"0")),
            1 => match &self.netns {
                Some(netns) => Ok(rustix::thread::move_into_link_name_space(
                    netns.as_fd(),
                    Some(LinkNameSpaceType::Network),
                )?),
                None => Ok(()),
            },
            2 => Ok(rustix::process::setsid().map(drop)?),
            3 => match &self.cpus {
                Some(cpus) => Ok(rustix::thread::sched_setaffinity(None, cpus)?),
                None => Ok(()),
            },
            4 => {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                // The parent may have died before the line above; then the signal would never be sent.
                let orphaned = rustix::process::getppid() != Some(self.parent);
                if orphaned { Err(rustix::io::Errno::SRCH.into()) } else { Ok(()) }
            }
            // Late, because it closes the previous descriptor 3: if that was the error channel, the reader of `third` sees its end.
            5 => self.third.as_ref().map_or(Ok(()), become_descriptor_3),
            _ => Err(self.program.exec()),
        }
    }
}

/// Makes `file` descriptor 3, open across exec.
fn become_descriptor_3(file: &OwnedFd) -> io::Result<()> {
    if file.as_raw_fd() == 3 {
        // A descriptor copied onto itself keeps its close-on-exec flag (`dup(2)`).
        return Ok(rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?);
    }
    // SAFETY: in a child between fork and exec nothing else uses the descriptor that this may close.
    match unsafe { libc::dup2(file.as_raw_fd(), 3) } {
        3 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
