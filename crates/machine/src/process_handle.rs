//! A process identified by a descriptor (`pidfd_open(2)`), so that a reused process id cannot be mistaken for it.

use std::{
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

use crate::error::{Error, ErrorContext};

/// A process of this machine, alive or not.
#[derive(Debug)]
pub struct ProcessHandle {
    pid: Pid,
    descriptor: OwnedFd,
}

impl ProcessHandle {
    /// Opens a descriptor of the process that has the id now.
    ///
    /// # Errors
    /// When there is no such process.
    pub fn open(pid: u32) -> Result<ProcessHandle, Error> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = number.ok_or(Errno::SRCH).with_context(|| format!("open a handle on process {pid}"))?;
        let descriptor = pidfd_open(pid, PidfdFlags::empty())
            .with_context(|| format!("open a handle on process {pid}"))?;
        Ok(ProcessHandle { pid, descriptor })
    }

    /// The process id, which is not reused as long as the process is not reaped.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether it has ended, reaped or not.
    pub fn has_ended(&self) -> bool {
        self.wait(Duration::ZERO).unwrap_or(false)
    }

    /// Waits until it ends, at most for `timeout`. Returns whether it has ended.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub fn wait(&self, timeout: Duration) -> Result<bool, Error> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            // The descriptor is readable once its process has ended.
            match poll(&mut [PollFd::new(&self.descriptor, PollFlags::IN)], Some(&timeout)) {
                Err(Errno::INTR) => {}
                ready => {
                    return Ok(ready.with_context(|| format!("wait for process {}", self.pid))? > 0);
                }
            }
        }
    }

    /// Sends it SIGKILL. Returns whether the process still existed.
    pub(crate) fn kill(&self) -> bool {
        pidfd_send_signal(&self.descriptor, Signal::KILL).is_ok()
    }

    /// The process id as system calls take it.
    pub(crate) fn raw(&self) -> Pid {
        self.pid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_descriptor_shows_that_a_process_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let held = ProcessHandle::open(child.id()).unwrap();
        assert!(!held.has_ended());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(held.has_ended() && held.wait(Duration::from_secs(60)).unwrap());
    }

    #[test]
    fn there_is_no_process_with_id_zero() {
        assert!(ProcessHandle::open(0).is_err() && ProcessHandle::open(u32::MAX).is_err());
    }
}
