//! A conversation about a container on this machine.

use std::net::TcpStream;

use loadline_machine::find_container;
use loadline_observe::{Cgroup, Snapshot, Subject, describe_machine};

use super::conversation::answer;
use crate::frame::{self, FrameError};
use crate::protocol::{Answer, ObserverAsk};

/// How runtimes number containers, in hexadecimal digits.
const ID_DIGITS: usize = 64;

/// Observes until the stream ends.
pub fn converse(stream: &TcpStream, container: &str) -> Result<(), FrameError> {
    let subject = match find(container) {
        Ok(subject) => subject,
        Err(sentence) => return answer(stream, Err::<(), _>(sentence)),
    };
    answer(stream, Ok(describe_machine()))?;
    loop {
        match frame::read(stream)? {
            ObserverAsk::Snapshot => answer(stream, Ok(Snapshot::take(&subject)))?,
        }
    }
}

/// What to observe, or why it can't be.
fn find(id: &str) -> Answer<Subject> {
    if id.len() != ID_DIGITS || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("`{id}` is not a container id: an id has {ID_DIGITS} hexadecimal digits"));
    }
    let found = find_container(id).map_err(|error| error.to_string())?;
    let container = found.ok_or_else(|| {
        format!(
            "cannot find a process of container {id} on this machine: it has ended, runs elsewhere, or the agent does not share the \
            node's process namespace (hostPID)"
        )
    })?;
    Ok(Subject { root_pids: vec![container.pid], cgroup: Some(cgroup(container.cgroup)) })
}

fn cgroup(cgroup: loadline_machine::Cgroup) -> Cgroup {
    match cgroup {
        loadline_machine::Cgroup::V1 { cpu, cpuacct, memory, .. } => Cgroup::V1 { cpu, cpuacct, memory },
        loadline_machine::Cgroup::V2 { dir } => Cgroup::V2 { dir },
    }
}
