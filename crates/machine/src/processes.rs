//! Finding and killing the processes of a run by their label or their session, wherever they run.
//! A pidfd of a process is opened before the process is checked, so that a reused id cannot get another one killed.

use std::{fs, time::Duration};

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    owner::{Owner, PROCESS_LABEL},
    process_handle::ProcessHandle,
    wait::{self, SHORT_INTERVAL},
};

/// How long killed processes may take to vanish; the kernel needs milliseconds.
pub(crate) const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// A process, identified for ever: its id and when it started, in clock ticks since boot (`proc_pid_stat(5)`, field 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessRecord {
    pub pid: i32,
    pub start_ticks: u64,
}

impl ProcessRecord {
    pub fn of(pid: Pid) -> Option<ProcessRecord> {
        let pid = pid.as_raw_nonzero().get();
        Some(ProcessRecord { pid, start_ticks: Stat::read(pid)?.start_ticks })
    }

    fn is_alive(&self) -> bool {
        Stat::read(self.pid).is_some_and(|stat| stat.start_ticks == self.start_ticks)
    }
}

/// Kills every process that carries the owner's label or belongs to the session of one of `leaders`, until none is left.
/// Returns the commands that were killed.
pub(crate) fn kill_owned(owner: &Owner, leaders: &[ProcessRecord]) -> Result<Vec<String>, Error> {
    let mut killed = Vec::new();
    let gone = repeat_until_empty(|| {
        // The id of a session is that of its leader, and is not reused while a member lives.
        let sessions: Vec<i32> =
            leaders.iter().filter(|leader| leader.is_alive()).map(|leader| leader.pid).collect();
        let is_ours =
            |pid| Stat::read(pid).is_some_and(|s| sessions.contains(&s.session)) || is_labelled(pid, owner);
        let mut left = 0;
        for pid in all_processes().filter(|pid| is_ours(*pid)) {
            if kill_matching(pid, |pid| !is_dead(pid) && is_ours(pid)) {
                left += 1;
                let name = format!("{pid} ({})", command_name(pid));
                if !killed.contains(&name) {
                    killed.push(name);
                }
            }
        }
        left
    });
    if gone {
        Ok(killed)
    } else {
        Err(Error::Remains { what: format!("the processes {}", killed.join(", ")) })
    }
}

/// Kills the processes that `list` returns until it returns none, or only zombies.
pub(crate) fn kill_all(list: impl Fn() -> Vec<i32>) -> bool {
    repeat_until_empty(|| {
        list()
            .into_iter()
            .filter(|pid| kill_matching(*pid, |pid| !is_dead(pid) && list().contains(&pid)))
            .count()
    })
}

/// Repeats `round`, which returns how many are left, until none is left.
fn repeat_until_empty(mut round: impl FnMut() -> usize) -> bool {
    wait::until(KILL_TIMEOUT, SHORT_INTERVAL, || (round() == 0).then_some(())).is_some()
}

/// Kills `pid` if it still meets `condition` once its pidfd is open. Returns whether it did, and so may still be alive.
fn kill_matching(pid: i32, condition: impl Fn(i32) -> bool) -> bool {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let Some(number) = u32::try_from(pid).ok().filter(|_| pid != own) else { return false };
    let Ok(held) = ProcessHandle::open(number) else { return false };
    condition(pid) && held.kill()
}

fn all_processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn is_labelled(pid: i32, owner: &Owner) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    environment.split(|byte| *byte == 0).any(|variable| {
        let label =
            std::str::from_utf8(variable).ok().and_then(|v| v.strip_prefix(PROCESS_LABEL)?.strip_prefix('='));
        label.is_some_and(|label| owner.owns_label(label))
    })
}

fn is_dead(pid: i32) -> bool {
    Stat::read(pid).is_none_or(|stat| matches!(stat.state, 'Z' | 'X'))
}

fn command_name(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Debug, PartialEq)]
struct Stat {
    state: char,
    session: i32,
    start_ticks: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(line: &str) -> Option<Stat> {
        // The command, in parentheses, may itself contain blanks and parentheses; what follows the last one is field 3.
        let mut fields = line.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let session = fields.nth(2)?.parse().ok()?;
        let start_ticks = fields.nth(15)?.parse().ok()?;
        Some(Stat { state, session, start_ticks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_is_parsed_after_a_command_with_parentheses() {
        let line = "4711 (a) b (c) S 1 4700 4699 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9999 8888";
        assert_eq!(Stat::parse(line), Some(Stat { state: 'S', session: 4699, start_ticks: 123_456 }));
    }

    #[test]
    fn a_record_does_not_match_a_later_process_with_the_same_id() {
        let mark = ProcessRecord::of(rustix::process::getpid()).unwrap();
        assert!(mark.is_alive());
        assert!(!ProcessRecord { start_ticks: mark.start_ticks + 1, ..mark }.is_alive());
    }
}
