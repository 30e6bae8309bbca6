//! A conversation about a container.

use std::net::TcpStream;

use loadline_machine::find_container;
use loadline_observe::{Cgroup, Machine, Observer, Subject, describe_machine};

use super::conversation::answer;
use crate::frame::{self, FrameError};
use crate::protocol::{Answer, ObserverAsk};

/// How runtimes number containers, in hexadecimal digits.
const ID_DIGITS: usize = 64;

/// The containers that an agent observes.
pub trait Containers: Send + Sync {
    /// Finds one by the id that its runtime gave it.
    ///
    /// # Errors
    /// Why it cannot be observed, a sentence.
    fn find(&self, id: &str) -> Answer<Observed>;
}

/// A container and the machine that it is on.
pub struct Observed {
    /// What kind of machine it is.
    pub machine: Machine,
    /// Reads the container's probes.
    pub observer: Observer,
}

/// The containers of this machine.
pub struct ThisMachine;

impl Containers for ThisMachine {
    fn find(&self, id: &str) -> Answer<Observed> {
        let subject = find(id)?;
        Ok(Observed { machine: describe_machine(), observer: Observer::new(subject) })
    }
}

/// Observes until the stream ends.
pub fn converse(stream: &TcpStream, containers: &dyn Containers, container: &str) -> Result<(), FrameError> {
    let Observed { machine, mut observer } = match containers.find(container) {
        Ok(observed) => observed,
        Err(sentence) => return answer(stream, Err::<(), _>(sentence)),
    };
    answer(stream, Ok(machine))?;
    loop {
        match frame::read(stream)? {
            ObserverAsk::Metrics => answer(stream, Ok(observer.metrics()))?,
            ObserverAsk::Read(wanted) => answer(stream, Ok(observer.read(&wanted)))?,
            ObserverAsk::Runtime => answer(stream, Ok(observer.runtime()))?,
        }
    }
}

/// What to observe, or why it cannot be.
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
