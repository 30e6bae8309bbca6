//! The observers of an agent at a cgroup that is named as container runtimes name theirs. It needs the right to make one (root) and fails
//! without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::support::{Agent, wait_for};
use loadline_agent::RemoteObserver;
use loadline_model::metrics::SERVICE_CPU;
use loadline_observe::{Observations, Wanted, between_remote, describe_machine, probes};

/// A cgroup with a busy process in it; both end with the value.
struct Container {
    id: String,
    dirs: Vec<PathBuf>,
    process: Child,
}

impl Container {
    fn start() -> Container {
        // 64 digits that no other test has.
        let id = format!("{:064x}", u128::from(std::process::id()) << 64 | 0xc0ffee);
        let root = Path::new("/sys/fs/cgroup");
        let unified = root.join("cgroup.controllers").exists();
        let hierarchies: &[&str] = if unified { &[""] } else { &["cpu", "cpuacct", "memory"] };
        // Hierarchies that are mounted together are links to one folder.
        let mut roots: Vec<PathBuf> =
            hierarchies.iter().map(|name| root.join(name).canonicalize().expect("a hierarchy")).collect();
        roots.dedup();
        let process = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        let dirs = roots.into_iter().map(|root| root.join(&id)).collect();
        let container = Container { id, dirs, process };
        for dir in &container.dirs {
            fs::create_dir(dir).expect("a cgroup: run this as root");
            fs::write(dir.join("cgroup.procs"), container.process.id().to_string()).expect("a member");
        }
        container
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
        for dir in self.dirs.iter().filter(|dir| dir.exists()) {
            // A killed process leaves its cgroup a moment after it has been waited for.
            wait_for("an empty cgroup", || fs::remove_dir(dir).is_ok());
        }
    }
}

#[test]
fn a_container_is_found_by_its_id_and_observed_from_here() {
    let (agent, container) = (Agent::start(), Container::start());
    let mut observer = RemoteObserver::start(agent.connect(), &container.id).unwrap();
    let before = observer.read(&Wanted::Everything).unwrap();
    let mut seen = Observations::default();
    wait_for("100 ms of CPU time", || {
        seen = between_remote(&before, &observer.read(&Wanted::Everything).unwrap());
        seen.service_cpu_ns().is_some_and(|used| used >= 100_000_000)
    });
    assert!(seen.wall_ns().is_some_and(|wall| wall >= 90_000_000), "it has one thread: {seen:?}");
    assert!(seen.get("cpu.machine").is_some() && seen.get("softirqs.net_rx").is_some(), "{seen:?}");
    assert!(seen.get("switches.involuntary").is_some() && seen.get("tcp.retransmits").is_some(), "{seen:?}");
    assert!(seen.count("memory.resident").is_some_and(|bytes| bytes > 0), "{seen:?}");
    assert!(seen.get("memory.cgroup").is_some(), "read from the cgroup: {seen:?}");
    assert_eq!(*observer.machine(), describe_machine());
    assert_eq!(observer.metrics().unwrap(), probes::metrics(), "each is declared");
    let cpu_alone = Wanted::Metrics(vec![SERVICE_CPU.into()]);
    let (first, second) = (observer.read(&cpu_alone).unwrap(), observer.read(&cpu_alone).unwrap());
    let names: Vec<String> =
        between_remote(&first, &second).iter().map(|(name, _)| name.to_owned()).collect();
    assert!(names.iter().all(|name| name.starts_with(SERVICE_CPU)) && !names.is_empty(), "{names:?}");

    drop(container);
    let after = observer.read(&Wanted::Everything).unwrap();
    let gone = between_remote(&before, &after);
    assert_eq!(
        (gone.service_cpu_ns(), gone.get("memory.resident")),
        (None, None),
        "no figures rather than zeros"
    );
}

#[test]
fn a_container_that_is_not_there_is_an_error() {
    let agent = Agent::start();
    let error = |id: &str| RemoteObserver::start(agent.connect(), id).err().expect("an error").to_string();
    let absent = "0".repeat(64);
    let sentence = error(&absent);
    assert!(
        sentence.starts_with(&format!(
            "the agent reported an error: cannot find a process of container {absent}"
        )),
        "{sentence}"
    );
    for id in ["", "a", "../../etc"] {
        let sentence = error(id);
        assert!(sentence.contains("is not a container id"), "{sentence}");
    }
}
