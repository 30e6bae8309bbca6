//! A node that this machine is not: its `/proc` and the cgroup of its one container are files in the kernel's format, generated for as many
//! CPUs as a test wants. The agent's own code reads and parses them, and they reach this side by the agent's own protocol. Only its clocks
//! are made up: nobody can wait for exactly so long.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use loadline_agent::{Containers, Observed, RemoteObserver, ServeError, serve_containers};
use loadline_model::metrics::{MetricDeclaration, OBSERVER_CPU, Unit, WALL};
use loadline_model::{Machine, Observations};
use loadline_observe::{Cgroup, Observer, Probe, Subject, Target, probes};
use serde::{Deserialize, Serialize};

/// Files count time in ticks of this length (`USER_HZ`, proc_stat(5)).
const TICK: Duration = Duration::from_millis(10);

/// What goes on on a node, in CPUs.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub service: f64,
    pub others: f64,
    pub stolen: f64,
}

/// A node and the agent on it, which ends with the value.
pub struct RecordedNode {
    cpus: u32,
    /// How fast its clocks are, beside this machine's.
    clock_rate: f64,
    cpu_use: Use,
    folder: tempfile::TempDir,
    passed: Mutex<Duration>,
    agent: std::net::SocketAddr,
    end: Mutex<UnixStream>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl RecordedNode {
    pub fn start(cpus: u32, clock_rate: f64, cpu_use: Use) -> Arc<RecordedNode> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let agent = listener.local_addr().unwrap();
        let (end, told) = UnixStream::pair().unwrap();
        let containers = Arc::new(OneContainer { folder: folder.path().to_owned(), cpus });
        let thread = std::thread::spawn(move || serve_containers(&listener, told, containers));
        let node = RecordedNode {
            cpus,
            clock_rate,
            cpu_use,
            folder,
            // It has been up for a day.
            passed: Mutex::new(Duration::from_secs(86_400)),
            agent,
            end: Mutex::new(end),
            thread: Some(thread),
        };
        node.write();
        Arc::new(node)
    }

    /// Lets time pass there while it passes here.
    pub fn advance(&self, here: Duration) {
        *self.passed.lock().unwrap() += here.mul_f64(self.clock_rate);
        self.write();
    }

    pub fn observe(&self) -> RemoteObserver {
        RemoteObserver::start(TcpStream::connect(self.agent).unwrap(), "recorded").unwrap()
    }

    /// Writes its files as they are after the time that has passed.
    fn write(&self) {
        let passed = *self.passed.lock().unwrap();
        let Use { service, others, stolen } = self.cpu_use;
        let file = |name: &str, text: &str| std::fs::write(self.folder.path().join(name), text).unwrap();
        file("proc/stat", &self.stat(passed));
        file("proc/softirqs", &self.softirqs(passed));
        file("proc/clock", &passed.as_nanos().to_string());
        let used = passed.mul_f64(service).as_micros();
        file("cpu.stat", &format!("usage_usec {used}\nuser_usec {used}\nsystem_usec 0\n"));
        file("cgroup.procs", "");
        assert!(service + others + stolen <= f64::from(self.cpus));
    }

    /// `/proc/stat`: the total, then each CPU. Everything is spread evenly.
    fn stat(&self, passed: Duration) -> String {
        let Use { service, others, stolen } = self.cpu_use;
        let idle = f64::from(self.cpus) - service - others - stolen;
        let line = |name: &str, part: f64| {
            let ticks = |cpus: f64| (passed.mul_f64(cpus * part).as_nanos() / TICK.as_nanos()) as u64;
            format!("{name} {} 0 0 {} 0 0 0 {} 0 0\n", ticks(service + others), ticks(idle), ticks(stolen))
        };
        let mut text = line("cpu ", 1.0);
        for cpu in 0..self.cpus {
            text += &line(&format!("cpu{cpu}"), 1.0 / f64::from(self.cpus));
        }
        text + "intr 8213342 0 9 0\nctxt 9731123\nbtime 1760000000\nprocesses 91234\nprocs_running 3\nprocs_blocked 0\n"
    }

    /// `/proc/softirqs`: on each CPU a packet received a millisecond.
    fn softirqs(&self, passed: Duration) -> String {
        let mut text = " ".repeat(20);
        for cpu in 0..self.cpus {
            write!(text, "{:<11}", format!("CPU{cpu}")).unwrap();
        }
        for (name, count) in [("TIMER", 77), ("NET_TX", 1), ("NET_RX", passed.as_millis()), ("RCU", 5)] {
            write!(text, "\n{name:>12}:").unwrap();
            (0..self.cpus).for_each(|_| write!(text, " {count:>10}").unwrap());
        }
        text + "\n"
    }
}

impl Drop for RecordedNode {
    fn drop(&mut self) {
        // A test that has failed does not wait for an agent that may be what is wrong.
        if let Some(thread) = self.thread.take().filter(|_| !std::thread::panicking()) {
            self.end.lock().unwrap().write_all(b".").unwrap();
            thread.join().unwrap().unwrap();
        }
    }
}

/// The container of a node whose files are in a folder.
struct OneContainer {
    folder: PathBuf,
    cpus: u32,
}

impl Containers for OneContainer {
    fn find(&self, _: &str) -> Result<Observed, String> {
        let machine =
            Machine { boot_id: Some("node-7".to_owned()), cpus: Some(self.cpus), ..Machine::default() };
        let subject =
            Subject { root_pids: Vec::new(), cgroup: Some(Cgroup::V2 { dir: self.folder.clone() }) };
        let mut all = probes::all(&[]);
        all.retain(|probe| probe.name() != Probe::name(&RecordedClocks));
        all.push(Box::new(RecordedClocks));
        let observer = Observer::with_probes(subject, all).with_proc_at(self.folder.join("proc"));
        Ok(Observed { machine, observer })
    }
}

/// The clocks of the node; the other side reads them as it reads any node's.
struct RecordedClocks;

#[derive(Serialize, Deserialize)]
struct Times {
    monotonic_ns: u64,
    observer_cpu_ns: u64,
}

impl Probe for RecordedClocks {
    type Reading = Times;

    fn name(&self) -> &'static str {
        "clocks"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        [WALL, OBSERVER_CPU]
            .map(|name| MetricDeclaration::counter(name, Unit::Nanoseconds).of_the_measurement())
            .into()
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Times> {
        Some(Times { monotonic_ns: target.proc_file("clock")?.parse().ok()?, observer_cpu_ns: 0 })
    }

    fn between(&self, _: &Times, _: &Times, _: &mut Observations) {
        unreachable!("the differences are made on the other side");
    }
}
