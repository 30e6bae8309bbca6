//! The observers against the real kernel: children that burn CPU, threads that sleep, a real cgroup with a quota.
//! The cgroup test needs the right to make one (root, or a delegated cgroup v2) and fails without.

use std::error::Error;
use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use loadline_observe::{
    Cgroup, MachineCpu, Observations, Observer, Snapshot, Subject, Wanted, between_remote,
};

type Outcome = Result<(), Box<dyn Error>>;

const PATIENCE: Duration = Duration::from_secs(60);

/// A child process that is ended with the test.
struct Burner(Child);

impl Burner {
    fn start(script: &str) -> io::Result<Self> {
        Ok(Self(Command::new("/bin/sh").args(["-c", script]).spawn()?))
    }

    fn subject(&self) -> Subject {
        Subject { root_pids: vec![self.0.id()], cgroup: None }
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing left to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) -> Outcome {
    let given_up_at = Instant::now() + PATIENCE;
    while !done() {
        if Instant::now() > given_up_at {
            return Err(format!("waited in vain until {what}").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// User and system ticks of a process, read here in another way than the observers do.
fn ticks_used(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

fn observe(subject: &Subject, meanwhile: impl FnOnce() -> Outcome) -> Result<Observations, Box<dyn Error>> {
    let mut observer = Observer::new(subject.clone());
    let before = observer.read(&Wanted::Everything);
    meanwhile()?;
    let after = observer.read(&Wanted::Everything);
    Ok(observer.between(&before, &after))
}

/// What happened since a moment.
struct Since {
    observer: Observer,
    before: Snapshot,
}

impl Since {
    fn now(subject: &Subject) -> Since {
        let mut observer = Observer::new(subject.clone());
        let before = observer.read(&Wanted::Everything);
        Since { observer, before }
    }

    fn seen(&mut self) -> Observations {
        let after = self.observer.read(&Wanted::Everything);
        self.observer.between(&self.before, &after)
    }
}

#[test]
fn the_cpu_time_of_a_busy_process_is_seen() -> Outcome {
    let burner = Burner::start("while :; do :; done")?;
    let pid = burner.0.id();
    let seen = observe(&burner.subject(), || {
        let start = ticks_used(pid).ok_or("the child is gone")?;
        let ticks = rustix::param::clock_ticks_per_second() / 5;
        wait_until("200 ms of CPU are used", || ticks_used(pid).is_some_and(|now| now >= start + ticks))
    })?;
    let used = seen.service_cpu_ns().ok_or("no CPU time")?;
    // Ticks are rounded, so 20 of them may be a little less than 200 ms.
    assert!((180_000_000..2_000_000_000).contains(&used), "{used} ns");
    assert_eq!(
        seen.count("cpu.service.user").zip(seen.count("cpu.service.system")).map(|(u, s)| u + s),
        Some(used)
    );
    assert!(
        seen.count("cpu.service.user") > seen.count("cpu.service.system"),
        "a loop of a shell is all user time: {seen:?}"
    );
    assert!(seen.count("cpu.machine").is_some_and(|busy| busy >= 100_000_000), "{seen:?}");
    assert!(seen.wall_ns().is_some_and(|wall| wall > 0));
    assert!(
        seen.count("memory.resident").is_some_and(|bytes| bytes > 0)
            && seen.count("memory.peak") >= seen.count("memory.resident")
    );
    assert_eq!(
        (seen.count("cpu.throttled"), seen.count("memory.cgroup")),
        (None, None),
        "there is no cgroup"
    );
    Ok(())
}

#[test]
fn a_grandchild_belongs_to_the_service() -> Outcome {
    let burner = Burner::start("/bin/sh -c 'i=0; while [ $i -lt 3000000 ]; do i=$((i+1)); done' & wait")?;
    let subject = burner.subject();
    // The first shell only waits, so all of this is its child's.
    let mut since = Since::now(&subject);
    wait_until("the grandchild has used 100 ms", || {
        since.seen().service_cpu_ns().is_some_and(|used| used >= 100_000_000)
    })
}

#[test]
fn threads_that_sleep_switch_voluntarily() -> Outcome {
    let (begin, begun) = mpsc::channel();
    let (done, finished) = mpsc::channel();
    let (leave, left) = mpsc::channel::<()>();
    let sleeper = std::thread::spawn(move || -> Result<(), &'static str> {
        begun.recv().map_err(|_| "no start")?;
        for _ in 0..50 {
            std::thread::sleep(Duration::from_millis(1));
        }
        done.send(()).map_err(|_| "nobody waits")?;
        // A thread that has ended is not counted, so it stays until it has been.
        let _ = left.recv();
        Ok(())
    });
    let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
    let seen = observe(&subject, || {
        begin.send(())?;
        Ok(finished.recv()?)
    })?;
    drop(leave);
    sleeper.join().map_err(|_| "the thread panicked")??;
    assert!(
        seen.count("switches.voluntary").is_some_and(|n| n >= 50),
        "{:?}",
        seen.count("switches.voluntary")
    );
    assert!(seen.count("switches.involuntary").is_some() && seen.count("cpu.run_queue_wait").is_some());
    assert!(seen.count("softirqs.net_rx").is_some() && seen.count("softirqs.net_tx").is_some());
    assert!(seen.count("tcp.retransmits").is_some());
    Ok(())
}

#[test]
fn connections_that_find_the_listeners_queue_full_are_counted() -> Outcome {
    let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
    // A queue of 0 takes one connection; nobody accepts.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    rustix::net::listen(&listener, 0)?;
    let address = listener.local_addr()?;
    let seen = observe(&subject, || {
        let attempts = (0..3).map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(200)));
        let connected = attempts.filter(Result::is_ok).count();
        (connected < 3).then_some(()).ok_or_else(|| "the queue is never full".into())
    })?;
    assert!(seen.count("tcp.listen_overflows").is_some_and(|lost| lost >= 1), "{seen:?}");
    Ok(())
}

#[test]
fn of_an_external_service_only_the_machine_is_seen() -> Outcome {
    let seen = observe(&Subject::default(), || Ok(()))?;
    let names: Vec<&str> = seen.iter().map(|(name, _)| name).collect();
    let mut of_the_machine = vec!["cpu.machine", "cpu.observer", "machine.cpus", "time.wall"];
    of_the_machine.extend(MachineCpu::default().by_name().map(|(name, _)| name));
    of_the_machine.extend(["cpu.machine.steal.most", "softirqs.net_rx", "softirqs.net_tx"]);
    if Path::new("/sys/fs/cgroup/cpuacct/release_agent").exists() {
        of_the_machine.push("cpu.machine.tasks");
    }
    of_the_machine.sort_unstable();
    assert_eq!(names, of_the_machine);
    Ok(())
}

#[test]
fn a_service_that_died_has_no_figures_rather_than_zeros() -> Outcome {
    let mut child = Command::new("/bin/sleep").arg("60").spawn()?;
    let subject = Subject { root_pids: vec![child.id()], cgroup: None };
    let seen = observe(&subject, || {
        child.kill()?;
        child.wait()?;
        Ok(())
    })?;
    assert_eq!(
        (seen.service_cpu_ns(), seen.count("switches.voluntary"), seen.count("memory.resident")),
        (None, None, None)
    );
    assert!(seen.machine_cpu().is_some());
    Ok(())
}

#[test]
fn observations_survive_json() -> Outcome {
    let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
    let seen = observe(&subject, || Ok(()))?;
    assert_eq!(serde_json::from_str::<Observations>(&serde_json::to_string(&seen)?)?, seen);
    Ok(())
}

#[test]
fn snapshots_that_went_through_json_tell_the_same() -> Outcome {
    let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
    let mut observer = Observer::new(subject);
    let (before, after) = (observer.read(&Wanted::Everything), observer.read(&Wanted::Everything));
    let through_json =
        |snapshot: &Snapshot| serde_json::from_str::<Snapshot>(&serde_json::to_string(snapshot)?);
    let seen = observer.between(&before, &after);
    assert_eq!(observer.between(&through_json(&before)?, &through_json(&after)?), seen);
    assert_eq!(between_remote(&before, &after), seen, "on another machine, too");
    assert!(seen.service_cpu_ns().is_some());
    Ok(())
}

/// A cgroup with a quota of a fifth of a CPU, removed with the test.
struct Quota {
    cgroup: Cgroup,
    made: Vec<PathBuf>,
}

impl Quota {
    fn make() -> io::Result<Self> {
        let name = format!("loadline-observe-test-{}", std::process::id());
        let root = Path::new("/sys/fs/cgroup");
        if root.join("cgroup.controllers").exists() {
            fs::write(root.join("cgroup.subtree_control"), "+cpu +memory")?;
            let dir = root.join(name);
            fs::create_dir(&dir)?;
            let quota = Self { cgroup: Cgroup::V2 { dir: dir.clone() }, made: vec![dir.clone()] };
            fs::write(dir.join("cpu.max"), "20000 100000")?;
            return Ok(quota);
        }
        let [cpu, cpuacct, memory] = ["cpu", "cpuacct", "memory"].map(|h| root.join(h).join(&name));
        let mut made = Vec::new();
        for dir in [&cpu, &cpuacct, &memory] {
            // Hierarchies may be mounted together, and then the directory is there already.
            if !dir.exists() {
                fs::create_dir(dir)?;
                made.push(dir.clone());
            }
        }
        let quota = Self { cgroup: Cgroup::V1 { cpu: cpu.clone(), cpuacct, memory: Some(memory) }, made };
        fs::write(cpu.join("cpu.cfs_period_us"), "100000")?;
        fs::write(cpu.join("cpu.cfs_quota_us"), "20000")?;
        Ok(quota)
    }

    fn add(&self, pid: u32) -> io::Result<()> {
        let dirs = match &self.cgroup {
            Cgroup::V1 { cpu, cpuacct, memory } => [cpu, cpuacct].into_iter().chain(memory).collect(),
            Cgroup::V2 { dir } => vec![dir],
        };
        dirs.into_iter().try_for_each(|dir| fs::write(dir.join("cgroup.procs"), pid.to_string()))
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        for dir in &self.made {
            // A killed process leaves its cgroup a moment after it has been waited for.
            let given_up_at = Instant::now() + PATIENCE;
            while fs::remove_dir(dir).is_err() && Instant::now() < given_up_at {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

#[test]
fn a_proxy_outside_the_services_tree_counts_as_the_deployments() -> Outcome {
    let (service, proxy) = (Burner::start("exec sleep 60")?, Burner::start("while :; do :; done")?);
    let subject = Subject { root_pids: vec![service.0.id(), proxy.0.id()], cgroup: None };
    let mut since = Since::now(&subject);
    wait_until("the proxy's CPU time is seen", || {
        since.seen().service_cpu_ns().is_some_and(|ns| ns >= 50_000_000)
    })
}

#[test]
fn a_real_cgroup_tells_cpu_time_throttling_and_memory() -> Outcome {
    let quota = Quota::make()?;

    let burner = Burner::start("while :; do :; done")?;
    quota.add(burner.0.id())?;
    let subject = Subject { root_pids: vec![burner.0.id()], cgroup: Some(quota.cgroup.clone()) };
    let mut since = Since::now(&subject);
    let mut seen = Observations::default();
    wait_until("the quota has been used up twice", || {
        seen = since.seen();
        // On a busy machine a period may be over before the process that it would have held back has run.
        seen.count("throttling.throttled_periods").is_some_and(|n| n >= 2)
            && seen.count("cpu.throttled").is_some_and(|ns| ns > 0)
    })?;
    // Two full quotas of 20 ms, less what was used of the first period before the first snapshot.
    assert!(seen.service_cpu_ns().is_some_and(|ns| (10_000_000..2_000_000_000).contains(&ns)), "{seen:?}");
    assert!(seen.count("throttling.periods") >= seen.count("throttling.throttled_periods"), "{seen:?}");
    assert!(seen.count("cpu.throttled").is_some_and(|ns| ns > 0), "{seen:?}");
    assert!(
        seen.count("memory.cgroup").is_some()
            && seen.count("memory.cgroup_peak") >= seen.count("memory.cgroup")
    );
    assert!(seen.count("switches.involuntary").is_some() && seen.count("memory.resident").is_some());
    Ok(())
}
