//! Whether a container still runs, and why not: its first process is watched by the kernel, and Docker is asked only once that
//! has ended. Where the process isn't on this machine, Docker is asked each time.

use std::{
    fs,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    process::ExitStatus,
    thread::sleep,
    time::{Duration, Instant},
};

use bollard::models::{ContainerInspectResponse, ContainerState};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

use super::{DockerError, client::Client};
use crate::{Limits, service::mebibytes};

/// How long Docker may take to notice that a process has ended.
const NOTICE_PATIENCE: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Whoever removes a running container has it killed first, and that the kernel killed it for want of memory reaches Docker by
/// another way than its end; so long is waited for either to show.
const CAUSE_PATIENCE: Duration = Duration::from_secs(1);
/// Exit codes above it stand for a signal, as with a shell.
const SIGNALLED: i64 = 128;
const SIGKILL: i64 = 9;

/// A container and, if it is on this machine, its first process.
pub(super) struct Watch {
    id: String,
    process: Option<(Pid, OwnedFd)>,
}

impl Watch {
    /// Holds the process that Docker says is the container's first, if it is: of a daemon elsewhere, the number means another.
    pub fn over(id: &str, state: Option<&ContainerState>) -> Watch {
        let pid = state.and_then(|state| Pid::from_raw(i32::try_from(state.pid?).ok()?));
        let held = pid.and_then(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?)));
        Watch { id: id.to_owned(), process: held.filter(|(pid, _)| is_in_container(*pid, id)) }
    }

    /// The number of the first process on this machine.
    pub fn pid(&self) -> Option<i32> {
        self.process.as_ref().map(|(pid, _)| pid.as_raw_nonzero().get())
    }

    /// Why the container runs no more, once it doesn't.
    pub fn ended(&self, client: &Client, limits: &Limits) -> Option<String> {
        match &self.process {
            Some((_, pidfd)) if !has_ended(pidfd) => None,
            Some(_) => Some(self.reason(client, limits)),
            None => match self.inspect(client) {
                Ok(Some(state)) if runs(&state) => None,
                _ => Some(self.reason(client, limits)),
            },
        }
    }

    fn reason(&self, client: &Client, limits: &Limits) -> String {
        let begun = Instant::now();
        loop {
            match self.inspect(client) {
                Ok(None) => return "the service's container was removed by someone else".to_owned(),
                Ok(Some(state)) if runs(&state) && begun.elapsed() < NOTICE_PATIENCE => {}
                Ok(Some(state)) if was_killed(&state) && begun.elapsed() < CAUSE_PATIENCE => {}
                Ok(Some(state)) => return sentence(&state, limits),
                Err(error) if self.process.is_some() => return format!("the service has ended: {error}"),
                Err(error) => return format!("the service is out of sight: {error}"),
            }
            sleep(POLL_INTERVAL);
        }
    }

    fn inspect(&self, client: &Client) -> Result<Option<ContainerState>, DockerError> {
        let found = inspect(client, &self.id)?;
        Ok(found.map(|container| container.state.unwrap_or_default()))
    }
}

/// What Docker says of a container, if it has one of that id.
pub(super) fn inspect(client: &Client, id: &str) -> Result<Option<ContainerInspectResponse>, DockerError> {
    client.look("ask for the container", |api| api.inspect_container(id, None))
}

fn has_ended(pidfd: &OwnedFd) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    // A pidfd is readable once its process has ended (`pidfd_open(2)`).
    matches!(poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&at_once)), Ok(1..))
}

/// Runtimes put the id into the path of the cgroup.
fn is_in_container(pid: Pid, id: &str) -> bool {
    let groups = fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_nonzero()));
    groups.is_ok_and(|groups| groups.contains(id))
}

fn runs(state: &ContainerState) -> bool {
    state.running == Some(true)
}

fn was_killed(state: &ContainerState) -> bool {
    state.exit_code == Some(SIGNALLED + SIGKILL) && state.oom_killed != Some(true)
}

/// How a container that runs no more has ended.
pub(super) fn sentence(state: &ContainerState, limits: &Limits) -> String {
    if state.oom_killed == Some(true) {
        return match limits.memory_bytes {
            Some(bytes) => {
                format!("the service was killed for using more than its memory limit of {}", mebibytes(bytes))
            }
            None => "the service was killed because the machine ran out of memory".to_owned(),
        };
    }
    let code = state.exit_code.unwrap_or_default();
    match u8::try_from(code - SIGNALLED) {
        Ok(signal @ 1..) => format!("the service was killed ({})", ExitStatus::from_raw(i32::from(signal))),
        _ => format!("the service ended by itself (exit status: {code})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(exit_code: i64, oom_killed: bool, limit: Option<u64>) -> String {
        let state = ContainerState {
            exit_code: Some(exit_code),
            oom_killed: Some(oom_killed),
            ..ContainerState::default()
        };
        sentence(&state, &Limits { cpus: None, memory_bytes: limit })
    }

    #[test]
    fn an_end_is_told_by_its_code_and_by_whether_memory_was_the_reason() {
        assert_eq!(said(0, false, None), "the service ended by itself (exit status: 0)");
        assert_eq!(said(3, false, None), "the service ended by itself (exit status: 3)");
        assert_eq!(said(137, false, None), "the service was killed (signal: 9 (SIGKILL))");
        let limit = "the service was killed for using more than its memory limit of";
        assert_eq!(said(137, true, Some(64 << 20)), format!("{limit} 64 MiB"));
        assert_eq!(said(137, true, Some(1_500_000)), format!("{limit} 1500000 bytes"));
        assert_eq!(said(137, true, None), "the service was killed because the machine ran out of memory");
    }
}
