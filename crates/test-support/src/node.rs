//! A node for each test: a network namespace that nothing else is in, with a registry of its own.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use loadline_machine::{Cgroup, Environment, Netns, Registry, RunName};
use loadline_platform::{Deployment, Service, Subject};

use crate::helper::helper;

/// The calling thread's own node.
pub struct Node {
    pub dir: tempfile::TempDir,
    pub registry: Registry,
}

impl Node {
    /// Moves the calling thread into a new network namespace.
    pub fn enter_new() -> Node {
        assert!(rustix::process::geteuid().is_root(), "this test makes links and rules: run it as root");
        Netns::new().unwrap().enter().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::at(dir.path().join("runs")).unwrap();
        Node { dir, registry }
    }

    /// A run on the node.
    pub fn environment(&self) -> Environment {
        Environment::prepare_in(&self.registry, RunName::random()).unwrap()
    }

    pub fn registry_path(&self) -> String {
        self.dir.path().join("runs").display().to_string()
    }
}

/// A run in a process of its own that keeps its deployment until it is killed, and the address that its service saw first.
pub fn held_run(args: &[&str]) -> (Child, IpAddr) {
    let mut held =
        Command::new(helper()).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut answer = String::new();
    BufReader::new(held.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    (held, answer.trim().parse().unwrap_or_else(|_| panic!("{answer:?}")))
}

/// A service that answers with its caller's address.
pub fn who_called() -> Service {
    let argv = [helper(), "serve", "{host}", "{port}"].map(str::to_owned).to_vec();
    Service { argv, cpus: vec![0], ..Service::default() }
}

/// Python's web server, as a user would start it.
pub fn web_server() -> Service {
    let argv = ["python3", "-m", "http.server", "{port}", "--bind", "{host}"].map(str::to_owned).to_vec();
    Service { argv, cpus: vec![0], ..Service::default() }
}

/// The client's address as the service sees it.
pub fn caller_seen(environment: &Environment, address: SocketAddr) -> IpAddr {
    let answer = exchange(environment.client(), address, b"");
    answer.parse().unwrap_or_else(|_| panic!("{address} answered {answer:?}"))
}

/// How long a service may take to answer. kube-proxy asks an API server that was lost twice in two minutes again after up
/// to 60 s (client-go `tools/cache/reflector.go`: 30 s at most, with as much jitter), and knows of no new Service until then.
const ANSWERED_WITHIN: Duration = Duration::from_secs(90);

/// Sends `request` from `netns` and returns the whole answer, waiting for the service to come up.
pub fn exchange(netns: &Netns, address: SocketAddr, request: &[u8]) -> String {
    let deadline = Instant::now() + ANSWERED_WITHIN;
    let once = || {
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2))?;
        stream.write_all(request)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    netns
        .run(|| {
            loop {
                match once() {
                    Ok(answer) if !answer.is_empty() => return Ok(answer),
                    outcome if Instant::now() > deadline => panic!("no answer from {address}: {outcome:?}"),
                    _ => std::thread::sleep(Duration::from_millis(20)),
                }
            }
        })
        .unwrap()
}

/// Everything on the node, in the cgroups and among the processes that `run` could leave behind; without a run, what
/// is on the node.
pub fn inventory(run: &str) -> BTreeSet<String> {
    let listings = [
        ("ip", &["-o", "link"][..]),
        ("ip", &["-o", "addr"]),
        ("ip", &["route", "show", "table", "all"]),
        ("nft", &["--stateless", "list", "ruleset"]),
        ("iptables-nft-save", &[]),
        ("iptables-legacy-save", &[]),
    ];
    let mut things: BTreeSet<String> =
        listings.iter().flat_map(|(tool, arguments)| lines_of(tool, arguments)).collect();
    things.extend(cgroups_of(run).iter().map(|dir| dir.display().to_string()));
    let processes = if run.is_empty() { Vec::new() } else { processes_of(run) };
    things.extend(processes.iter().map(|pid| format!("process {pid}")));
    things
}

fn lines_of(tool: &str, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(tool).args(arguments).output().unwrap_or_else(|e| panic!("{tool}: {e}"));
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // Counters in brackets, blank lines and comments are irrelevant.
    let said = |line: &&str| !line.starts_with('#') && !line.trim().is_empty();
    let bare = |line: &str| line.split(" [").next().unwrap_or_default().to_owned();
    text.lines().filter(said).map(|line| format!("{tool}: {}", bare(line))).collect()
}

/// Compares two inventories by their differences.
pub fn assert_same(after: &BTreeSet<String>, before: &BTreeSet<String>) {
    let left: Vec<_> = after.difference(before).collect();
    let lost: Vec<_> = before.difference(after).collect();
    assert!(left.is_empty() && lost.is_empty(), "left behind: {left:#?}\nlost: {lost:#?}");
}

pub fn cgroups_of(run: &str) -> Vec<PathBuf> {
    let hierarchies = fs::read_dir("/sys/fs/cgroup").unwrap().flatten().map(|entry| entry.path());
    hierarchies
        .chain([PathBuf::from("/sys/fs/cgroup")])
        .map(|h| h.join(format!("loadline-{run}")))
        .filter(|d| d.exists())
        .collect()
}

/// Processes that carry the run's label.
pub fn processes_of(run: &str) -> Vec<i32> {
    let label = format!("LOADLINE_OWNER=loadline-{run}");
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    let labelled = |pid: &i32| {
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|e| String::from_utf8_lossy(&e).contains(&label))
    };
    pids.filter(labelled).collect()
}

/// Loads the kernel's module for IP rules on bridges where it is not built in: no platform loads it on its own.
pub fn load_br_netfilter() {
    if !std::path::Path::new("/proc/sys/net/bridge").exists() {
        assert!(Command::new("modprobe").arg("br_netfilter").status().unwrap().success());
    }
}

/// Waits for `condition`, which must come true.
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What `/proc` says of a process's CPUs.
pub fn allowed_cpus(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    line.trim().to_owned()
}

/// The first process of a deployment, which must have one.
pub fn pid_of(deployment: &dyn Deployment) -> u32 {
    root_pid(deployment).expect("a process")
}

/// The first process of a deployment, if it is on this machine.
pub fn root_pid(deployment: &dyn Deployment) -> Option<u32> {
    root_pids(deployment).first().copied()
}

/// The first processes of the proxies in the path of a deployment.
pub fn proxy_pids(deployment: &dyn Deployment) -> Vec<u32> {
    root_pids(deployment).split_off(1)
}

fn root_pids(deployment: &dyn Deployment) -> Vec<u32> {
    match deployment.subject() {
        Subject::Here { root_pids, .. } => root_pids,
        _ => Vec::new(),
    }
}

/// The cgroup of a deployment, if it has one of its own on this machine.
pub fn cgroup_of(deployment: &dyn Deployment) -> Option<Cgroup> {
    match deployment.subject() {
        Subject::Here { cgroup, .. } => cgroup,
        _ => None,
    }
}
