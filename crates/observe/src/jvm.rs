//! A JVM from outside: collections, pauses and heap from the performance data that it keeps in its `/tmp`, which costs it nothing; its flags
//! and threads by the attach protocol, once a deployment. HotSpot's JVMs are known, of which 17 and 25 were tried.

mod attach;
mod compilers;
mod flags;
mod perf_data;
mod threads;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};
use loadline_model::runtime::{Runtime, Unseen};
use serde::{Deserialize, Serialize};

use crate::inside::{Inside, ReadError, names_in};
use crate::probe::{Probe, Target};
use crate::process::ProcessId;
use attach::{AttachError, Attached};
pub(crate) use compilers::CompilerProbe;
use perf_data::PerfData;

/// A file has 32 KiB unless the JVM is asked for more (`-XX:PerfDataMemorySize`).
const LONGEST_FILE: u64 = 1 << 20;
/// HotSpot of today has three at most.
const MOST_COLLECTORS: usize = 8;
const MOST_GENERATIONS: usize = 4;
const MOST_SPACES: usize = 8;
/// What is told of a pool of threads.
const POOLS_SHOWN: usize = 12;

/// Reads the JVM of a service, if it has one.
#[derive(Default)]
pub(crate) struct JvmProbe {
    /// Processes that are none.
    others: Vec<ProcessId>,
    found: Option<Found>,
    /// The collectors seen so far, by the names of their metrics.
    collectors: BTreeMap<String, String>,
}

/// A JVM.
#[derive(Clone)]
struct Found {
    process: ProcessId,
    /// Its number in its own PID namespace.
    own: u32,
    /// The library that it is in.
    library: String,
}

/// What it has counted since it began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Reading {
    process: Option<ProcessId>,
    collectors: Vec<Collector>,
    safepoints: Option<u64>,
    safepoint_ns: Option<u64>,
    /// Until all threads had stopped.
    to_safepoint_ns: Option<u64>,
    heap_used_bytes: u64,
    heap_committed_bytes: u64,
    old_used_bytes: Option<u64>,
    threads: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Collector {
    name: String,
    collections: u64,
    pause_ns: u64,
}

impl Collector {
    /// The namespace of its metrics: `jvm.gc.g1_young_collection_pauses`.
    fn namespace(&self) -> String {
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        format!("jvm.gc.{}", self.name.chars().map(word).collect::<String>())
    }
}

impl Probe for JvmProbe {
    type Reading = Reading;

    fn name(&self) -> &'static str {
        "jvm"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let time = |name: &'static str, label: &'static str| {
            MetricDeclaration::counter(name, Unit::Nanoseconds).shown_as(label, HigherIs::Slower)
        };
        let count = |name: &'static str, label: &'static str| {
            MetricDeclaration::counter(name, Unit::Count).shown_as(label, HigherIs::More)
        };
        let bytes = |name: &'static str, label: &'static str| {
            MetricDeclaration::level(name, Unit::Bytes).shown_as(label, HigherIs::Costlier)
        };
        let fixed = [
            count("jvm.gc.collections", "JVM collections per request"),
            time("jvm.gc.pause", "  paused for them"),
            count("jvm.safepoints", "JVM safepoints per request"),
            time("jvm.safepoint.time", "  stopped at them"),
            time("jvm.safepoint.sync", "  until all threads stood"),
            bytes("jvm.heap.used", "JVM heap used"),
            bytes("jvm.heap.committed", "  committed"),
            bytes("jvm.heap.old", "  used by what survived"),
            MetricDeclaration::level("jvm.threads", Unit::Count).shown_as("JVM threads", HigherIs::More),
        ];
        let by_collector = self.collectors.keys().flat_map(|namespace| {
            let counter = |last: &str, unit| MetricDeclaration {
                name: format!("{namespace}.{last}").into(),
                ..MetricDeclaration::counter("", unit)
            };
            [counter("collections", Unit::Count), counter("pause", Unit::Nanoseconds)]
        });
        fixed.into_iter().chain(by_collector).collect()
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Reading> {
        let found = self.find(target)?;
        let reading = Reading::of(&found, &perf_data(&found).ok()?);
        for collector in &reading.collectors {
            self.collectors.insert(collector.namespace(), collector.name.clone());
        }
        Some(reading)
    }

    fn between(&self, before: &Reading, after: &Reading, seen: &mut Observations) {
        if before.process != after.process {
            return;
        }
        let added = |before: u64, after: u64| after.checked_sub(before);
        let both = |before: Option<u64>, after: Option<u64>| added(before?, after?);
        let (mut collections, mut pause_ns) = (Some(0), Some(0));
        for (then, now) in before.collectors.iter().zip(&after.collectors) {
            let new = (added(then.collections, now.collections), added(then.pause_ns, now.pause_ns));
            seen.set(format!("{}.collections", now.namespace()), new.0);
            seen.set(format!("{}.pause", now.namespace()), new.1);
            collections = collections.zip(new.0).map(|(sum, new)| sum + new);
            pause_ns = pause_ns.zip(new.1).map(|(sum, new)| sum + new);
        }
        if !after.collectors.is_empty() {
            seen.set("jvm.gc.collections", collections);
            seen.set("jvm.gc.pause", pause_ns);
        }
        seen.set("jvm.safepoints", both(before.safepoints, after.safepoints));
        seen.set("jvm.safepoint.time", both(before.safepoint_ns, after.safepoint_ns));
        seen.set("jvm.safepoint.sync", both(before.to_safepoint_ns, after.to_safepoint_ns));
        seen.set("jvm.heap.used", after.heap_used_bytes);
        seen.set("jvm.heap.committed", after.heap_committed_bytes);
        seen.set("jvm.heap.old", after.old_used_bytes);
        seen.set("jvm.threads", after.threads);
    }

    fn runtime(&mut self, target: &Target<'_>) -> Runtime {
        let mut runtime = Runtime::default();
        let Some(found) = self.find(target) else { return runtime };
        if !found.library.starts_with("libjvm.so") {
            runtime.unseen.push(Unseen::OtherJvm { library: found.library });
            return runtime;
        }
        match perf_data(&found) {
            Ok(data) => facts(&data, &mut runtime),
            Err(unseen) => runtime.unseen.push(unseen),
        }
        if let Err(error) = ask(target, &found, &mut runtime) {
            runtime.unseen.push(Unseen::NotAttached { why: error.to_string() });
        }
        runtime
    }
}

impl JvmProbe {
    /// The service's JVM: the same as before as long as it lives, else the first of its processes that has one.
    fn find(&mut self, target: &Target<'_>) -> Option<Found> {
        let proc = target.proc();
        if let Some(found) = &self.found
            && ProcessId::of(proc, found.process.pid()?).as_ref() == Some(&found.process)
        {
            return Some(found.clone());
        }
        let processes = || target.service().iter().filter_map(|pid| Some((*pid, ProcessId::of(proc, *pid)?)));
        self.others.retain(|other| processes().any(|(_, process)| process == *other));
        for (pid, process) in processes() {
            if self.others.contains(&process) {
                continue;
            }
            match library(&proc.read(&format!("{pid}/maps")).unwrap_or_default()) {
                Some(library) => {
                    let status = proc.read(&format!("{pid}/status"))?;
                    self.found = Some(Found { process, own: own_number(&status)?, library });
                    return self.found.clone();
                }
                None => self.others.push(process),
            }
        }
        None
    }
}

/// The file name of the JVM's library among those that a process has mapped: HotSpot's, or OpenJ9's.
fn library(maps: &str) -> Option<String> {
    let files = maps
        .lines()
        .filter_map(|line| Path::new(line.split_ascii_whitespace().nth(5)?).file_name()?.to_str());
    files
        .filter(|file| file.starts_with("libjvm.so") || file.starts_with("libj9vm"))
        // OpenJ9 has a library of HotSpot's name beside its own.
        .max_by_key(|file| file.starts_with("libj9vm"))
        .map(str::to_owned)
}

/// The process's number in the innermost PID namespace (proc_pid_status(5), `NSpid`).
fn own_number(status: &str) -> Option<u32> {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_ascii_whitespace().next_back()?.parse().ok()
}

/// What the JVM keeps of itself: the file with its number in one of `/tmp`'s folders, which are named after users.
fn perf_data(found: &Found) -> Result<PerfData, Unseen> {
    let bad = |why: String| Unseen::BadPerformanceData { why };
    let pid = found.process.pid().ok_or(Unseen::NoPerformanceData)?;
    let inside = Inside::of(pid).map_err(|error| bad(error.to_string()))?;
    let folder = inside.folder("tmp").map_err(|_| Unseen::NoPerformanceData)?;
    let mut failure = Unseen::NoPerformanceData;
    for name in names_in(&folder) {
        if !name.as_encoded_bytes().starts_with(b"hsperfdata_") {
            continue;
        }
        let mut path = OsString::from("tmp/");
        path.push(&name);
        path.push(format!("/{}", found.own));
        match inside.read(&path, LONGEST_FILE) {
            Ok(bytes) => match PerfData::parse(&bytes) {
                Ok(data) => return Ok(data),
                Err(error) => failure = bad(error.to_string()),
            },
            Err(ReadError::Refused(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR)) => {}
            Err(error) => failure = bad(error.to_string()),
        }
    }
    Err(failure)
}

impl Reading {
    fn of(found: &Found, data: &PerfData) -> Reading {
        let collectors = (0..MOST_COLLECTORS).map_while(|number| {
            let of = |last: &str| format!("sun.gc.collector.{number}.{last}");
            Some(Collector {
                name: data.text(&of("name"))?.to_owned(),
                collections: data.number(&of("invocations"))?,
                pause_ns: data.time_ns(&of("time"))?,
            })
        });
        let spaces = || {
            (0..MOST_GENERATIONS).flat_map(|generation| {
                (0..MOST_SPACES).map(move |space| format!("sun.gc.generation.{generation}.space.{space}"))
            })
        };
        let sum = |last: &str| spaces().filter_map(|space| data.number(&format!("{space}.{last}"))).sum();
        Reading {
            process: Some(found.process.clone()),
            collectors: collectors.collect(),
            safepoints: data.number("sun.rt.safepoints"),
            safepoint_ns: data.time_ns("sun.rt.safepointTime"),
            to_safepoint_ns: data.time_ns("sun.rt.safepointSyncTime"),
            heap_used_bytes: sum("used"),
            heap_committed_bytes: sum("capacity"),
            old_used_bytes: data.number("sun.gc.generation.1.space.0.used"),
            threads: data.number("java.threads.live"),
        }
    }
}

/// What the performance data say of the JVM itself.
fn facts(data: &PerfData, runtime: &mut Runtime) {
    let texts = [
        ("jvm.name", "java.property.java.vm.name"),
        ("jvm.version", "java.property.java.vm.version"),
        ("jvm.collector", "sun.gc.policy.name"),
        ("jvm.arguments", "java.rt.vmArgs"),
    ];
    for (fact, name) in texts {
        if let Some(text) = data.text(name) {
            runtime.set(fact, text);
        }
    }
}

/// What it says when it is asked: flags that are not as they are by default, the collector, and the pools of threads.
fn ask(target: &Target<'_>, found: &Found, runtime: &mut Runtime) -> Result<(), AttachError> {
    let Some(pid) = found.process.pid() else { return Ok(()) };
    let jvm = Attached::to(target.proc(), pid, found.own)?;
    let text = jvm.ask("VM.flags -all")?;
    for flag in flags::parse(&text).filter(|flag| flag.origin != "default") {
        runtime.set(format!("jvm.flag.{}", flag.name), format!("{} ({})", flag.value, flag.origin));
        if let ("true", Some(collector)) = (flag.value, collector(flag.name)) {
            runtime.set("jvm.collector", collector);
        }
        if flag.name == "MaxHeapSize" {
            runtime.set("jvm.heap.max", flag.value);
        }
    }
    let mut pools: Vec<(String, usize)> = threads::pools(&jvm.ask("Thread.print")?).into_iter().collect();
    pools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named = pools.iter().take(POOLS_SHOWN).map(|(name, count)| format!("{name} {count}"));
    runtime.set("jvm.threads", named.collect::<Vec<_>>().join(", "));
    // The scheduler of virtual threads is the pool of their carriers; JDK 21 and later.
    if let Some((_, carriers)) = pools.iter().find(|(name, _)| name.starts_with("ForkJoinPool-1-worker-")) {
        runtime.set("jvm.carriers", carriers.to_string());
    }
    Ok(())
}

/// The collector that a flag chooses.
fn collector(flag: &str) -> Option<&'static str> {
    Some(match flag {
        "UseSerialGC" => "Serial",
        "UseParallelGC" => "Parallel",
        "UseG1GC" => "G1",
        "UseZGC" => "ZGC",
        "UseShenandoahGC" => "Shenandoah",
        "UseEpsilonGC" => "Epsilon",
        _ => return None,
    })
}

/// A JVM that is read again and again.
pub(crate) struct JvmWatch(Found);

impl JvmWatch {
    /// The service's, if it has one.
    pub(crate) fn find(target: &Target<'_>) -> Option<JvmWatch> {
        let found = JvmProbe::default().find(target)?;
        perf_data(&found).is_ok().then_some(JvmWatch(found))
    }

    /// For how long all of its threads have been stopped since it began.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        let reading = Reading::of(&self.0, &perf_data(&self.0).ok()?);
        let collecting_ns = reading.collectors.iter().map(|collector| collector.pause_ns).sum();
        Some(Stopped { collecting_ns, otherwise_ns: reading.safepoint_ns?.saturating_sub(collecting_ns) })
    }
}

/// Times for which all threads of a JVM stood still.
pub(crate) struct Stopped {
    pub(crate) collecting_ns: u64,
    /// At safepoints for something else.
    pub(crate) otherwise_ns: u64,
}

/// Reads any bytes as performance data, for the fuzzer.
#[doc(hidden)]
pub fn read_perf_data(bytes: &[u8]) {
    let Ok(data) = PerfData::parse(bytes) else { return };
    let found = Found { process: ProcessId::default(), own: 0, library: String::new() };
    let reading = Reading::of(&found, &data);
    JvmProbe::default().between(&reading, &reading, &mut Observations::default());
    facts(&data, &mut Runtime::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jvm_is_told_by_its_library() {
        let line = |path: &str| format!("7f00-7f01 r-xp 00000000 08:01 12 {path}\n");
        let of = |paths: &[&str]| library(&paths.iter().map(|path| line(path)).collect::<String>());
        assert_eq!(of(&["/usr/bin/java", "/jdk/lib/server/libjvm.so"]).as_deref(), Some("libjvm.so"));
        assert_eq!(of(&["/j9/libjvm.so", "/j9/libj9vm29.so"]).as_deref(), Some("libj9vm29.so"));
        assert_eq!(of(&["/usr/bin/nginx"]), None);
    }

    #[test]
    fn the_number_in_the_innermost_namespace_is_the_last() {
        assert_eq!(own_number("Name:\tjava\nNSpid:\t4711\t12\t1\n"), Some(1));
        assert_eq!(own_number("Name:\tjava\n"), None);
    }

    #[test]
    fn what_was_added_is_told_in_all_and_by_collector() {
        let young = |collections, pause_ns| Collector { name: "G1 young".to_owned(), collections, pause_ns };
        let full = Collector { name: "G1 full".to_owned(), collections: 1, pause_ns: 9 };
        let at = |young| Reading { collectors: vec![young, full.clone()], ..Reading::default() };
        let mut seen = Observations::default();
        JvmProbe::default().between(&at(young(1, 10)), &at(young(4, 70)), &mut seen);
        assert_eq!(seen.count("jvm.gc.collections"), Some(3));
        assert_eq!(seen.count("jvm.gc.pause"), Some(60));
        assert_eq!(seen.count("jvm.gc.g1_young.collections"), Some(3));
        assert_eq!(seen.count("jvm.gc.g1_full.pause"), Some(0));
        assert_eq!(seen.count("jvm.safepoints"), None);
    }

    #[test]
    fn another_process_is_nothing_to_compare_with() {
        let of = |started| Reading { process: Some(ProcessId::new(1, started)), ..Reading::default() };
        let mut seen = Observations::default();
        JvmProbe::default().between(&of(1), &of(2), &mut seen);
        assert_eq!(seen, Observations::default());
    }
}
