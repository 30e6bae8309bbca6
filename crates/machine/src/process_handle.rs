//! A process held by a descriptor (`pidfd_open(2)`), so that a number that the kernel gives again can't be taken for it.

use std::{
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

use crate::error::{Doing, Error};

/// A process of this machine, alive or not.
#[derive(Debug)]
pub struct ProcessHandle {
    pid: Pid,
    descriptor: OwnedFd,
}

impl ProcessHandle {
    /// Holds the process that has the number now.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(pid: u32) -> Result<ProcessHandle, Error> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = number.ok_or(Errno::SRCH).doing(|| format!("hold process {pid}"))?;
        let descriptor = pidfd_open(pid, PidfdFlags::empty()).doing(|| format!("hold process {pid}"))?;
        Ok(ProcessHandle { pid, descriptor })
    }

    /// Its number, which is its own for as long as it isn't reaped.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether it has ended, reaped or not.
    pub fn has_ended(&self) -> bool {
        self.wait(Duration::ZERO).unwrap_or(false)
    }

    /// Waits until it ends, but not longer than `patience`. Says whether it did.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub fn wait(&self, patience: Duration) -> Result<bool, Error> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            // It is readable once its process has ended.
            match poll(&mut [PollFd::new(&self.descriptor, PollFlags::IN)], Some(&timeout)) {
                Err(Errno::INTR) => {}
                ready => {
                    return Ok(ready.doing(|| format!("wait for process {}", self.pid))? > 0);
                }
            }
        }
    }

    /// Sends it SIGKILL. Says whether there was still somebody to take it.
    pub(crate) fn kill(&self) -> bool {
        pidfd_send_signal(&self.descriptor, Signal::KILL).is_ok()
    }

    /// The number as the system calls take it.
    pub(crate) fn raw(&self) -> Pid {
        self.pid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_seen_in_its_descriptor() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let held = ProcessHandle::open(child.id()).unwrap();
        assert!(!held.has_ended());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(held.has_ended() && held.wait(Duration::from_secs(60)).unwrap());
    }

    #[test]
    fn there_is_no_process_without_a_number() {
        assert!(ProcessHandle::open(0).is_err() && ProcessHandle::open(u32::MAX).is_err());
    }
}
