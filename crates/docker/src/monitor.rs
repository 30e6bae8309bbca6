//! Whether a container still runs, and why it ended: loadline watches its first process through the kernel, and asks Docker only once
//! that has ended. Where the process is not on this machine, Docker is asked each time.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    process::ExitStatus,
    time::{Duration, Instant},
};

use bollard::models::{ContainerInspectResponse, ContainerState};

use loadline_machine::{
    ProcessHandle, kernel_log,
    wait::{self, DAEMON_INTERVAL},
};
use loadline_model::platform::Limits;
use loadline_platform::mebibytes;

use crate::{client::Client, error::DockerError};

/// How long Docker may take to notice that a process has ended.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(3);
/// Removing a running container kills it first, and Docker learns of an OOM kill by another way than of the container's end; this is how
/// long to wait for either to show.
const CAUSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Exit codes above this one denote a signal, as with a shell.
const SIGNALLED: i64 = 128;
const SIGKILL: i64 = 9;

/// A container and, if it is on this machine, its first process.
pub(crate) struct ContainerMonitor {
    id: String,
    /// The start of the relevant part of the kernel's log.
    since: Duration,
    process: Option<ProcessHandle>,
}

impl ContainerMonitor {
    /// A handle on the process that Docker reports as the container's first, if it is: with a daemon elsewhere, the id means another
    /// process.
    pub fn over(id: &str, state: Option<&ContainerState>) -> ContainerMonitor {
        let pid = state.and_then(|state| u32::try_from(state.pid?).ok());
        let held = pid.and_then(|pid| ProcessHandle::open(pid).ok());
        let since = kernel_log::now();
        ContainerMonitor {
            id: id.to_owned(),
            since,
            process: held.filter(|process| is_in_container(process.pid(), id)),
        }
    }

    /// The id of the first process on this machine.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(ProcessHandle::pid)
    }

    /// Why the container has ended, once it has.
    pub fn ended(&self, client: &Client, limits: &Limits) -> Option<String> {
        match &self.process {
            Some(process) if !process.has_ended() => None,
            Some(_) => Some(self.reason(client, limits)),
            None => match self.inspect(client) {
                Ok(Some(state)) if runs(&state) => None,
                _ => Some(self.reason(client, limits)),
            },
        }
    }

    fn reason(&self, client: &Client, limits: &Limits) -> String {
        let begun = Instant::now();
        let found = wait::until(NOTICE_TIMEOUT, DAEMON_INTERVAL, || match self.inspect(client) {
            Ok(Some(state)) if runs(&state) && begun.elapsed() < NOTICE_TIMEOUT => None,
            Ok(Some(state)) if was_killed(&state) && begun.elapsed() < CAUSE_TIMEOUT => None,
            found => Some(found),
        });
        match found.unwrap_or_else(|| self.inspect(client)) {
            Ok(None) => "something else removed the service's container".to_owned(),
            Ok(Some(state)) => sentence(&state, limits),
            Err(error) if self.process.is_some() => format!("the service has ended: {error}"),
            Err(error) => format!("cannot see the service any more: {error}"),
        }
    }

    /// Docker misses an OOM kill when it learns of the container's end first. The kernel's log has it.
    fn with_cause(&self, state: ContainerState) -> ContainerState {
        let for_memory = || self.pid().is_some_and(|pid| kernel_log::killed_for_memory(pid, self.since));
        if was_killed(&state) && for_memory() {
            return ContainerState { oom_killed: Some(true), ..state };
        }
        state
    }

    fn inspect(&self, client: &Client) -> Result<Option<ContainerState>, DockerError> {
        let found = inspect(client, &self.id)?;
        Ok(found.map(|container| self.with_cause(container.state.unwrap_or_default())))
    }
}

/// Docker's description of a container, if it has one with that id.
pub(crate) fn inspect(client: &Client, id: &str) -> Result<Option<ContainerInspectResponse>, DockerError> {
    client.find("inspect the container", |api| api.inspect_container(id, None))
}

/// Container runtimes put the id into the path of the cgroup.
fn is_in_container(pid: u32, id: &str) -> bool {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup"));
    groups.is_ok_and(|groups| groups.contains(id))
}

fn runs(state: &ContainerState) -> bool {
    state.running == Some(true)
}

fn was_killed(state: &ContainerState) -> bool {
    state.exit_code == Some(SIGNALLED + SIGKILL) && state.oom_killed != Some(true)
}

/// How a container has ended.
pub(crate) fn sentence(state: &ContainerState, limits: &Limits) -> String {
    if state.oom_killed == Some(true) {
        return match limits.memory_bytes {
            Some(bytes) => {
                format!("the service was killed because it exceeded its memory limit of {}", mebibytes(bytes))
            }
            None => "the service was killed because the machine ran out of memory".to_owned(),
        };
    }
    let code = state.exit_code.unwrap_or_default();
    match u8::try_from(code - SIGNALLED) {
        Ok(signal @ 1..) => format!("the service was killed ({})", ExitStatus::from_raw(i32::from(signal))),
        _ => format!("the service exited on its own (exit status: {code})"),
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
    fn the_reason_of_an_end_follows_from_its_code_and_from_an_oom_kill() {
        assert_eq!(said(0, false, None), "the service exited on its own (exit status: 0)");
        assert_eq!(said(3, false, None), "the service exited on its own (exit status: 3)");
        assert_eq!(said(137, false, None), "the service was killed (signal: 9 (SIGKILL))");
        let limit = "the service was killed because it exceeded its memory limit of";
        assert_eq!(said(137, true, Some(64 << 20)), format!("{limit} 64 MiB"));
        assert_eq!(said(137, true, Some(1_500_000)), format!("{limit} 1500000 bytes"));
        assert_eq!(said(137, true, None), "the service was killed because the machine ran out of memory");
    }
}
