//! A Go program from outside: its version and settings from its file, GOMAXPROCS and the garbage collector's figures from its memory, which
//! is read without stopping it. The file must have its symbols, and for the collector its debugging information, as `go build` leaves them.

mod build_info;
mod memory;
mod program;

use std::fs::File;

use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, Unit};
use loadline_model::runtime::{Runtime, Unseen};
use serde::{Deserialize, Serialize};

use crate::probe::{Probe, Target};
use crate::process::ProcessId;
use memory::Memory;
use program::Program;

/// Reads the Go runtime of a service, if it has one.
#[derive(Default)]
pub(crate) struct GoProbe {
    /// Processes that have none.
    others: Vec<ProcessId>,
    found: Option<Found>,
}

/// A Go program that runs.
struct Found {
    process: ProcessId,
    program: Program,
    memory: Result<Memory, String>,
}

/// What its runtime has counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    process: ProcessId,
    gomaxprocs: Option<u64>,
    collections: Option<u64>,
    pause_ns: Option<u64>,
    heap_live_bytes: Option<u64>,
}

impl Probe for GoProbe {
    type Reading = Reading;

    fn name(&self) -> &'static str {
        "go"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        vec![
            MetricDeclaration::level("go.gomaxprocs", Unit::Count).shown_as("GOMAXPROCS", HigherIs::More),
            MetricDeclaration::counter("go.gc.collections", Unit::Count)
                .shown_as("Go collections per request", HigherIs::More),
            MetricDeclaration::counter("go.gc.pause", Unit::Nanoseconds)
                .shown_as("  paused for them", HigherIs::Slower),
            MetricDeclaration::level("go.heap.live", Unit::Bytes)
                .shown_as("Go heap, live", HigherIs::Costlier),
        ]
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Reading> {
        let found = self.find(target)?;
        let memory = found.memory.as_ref().ok()?;
        let (program, collector) = (&found.program, found.program.collector);
        Some(Reading {
            process: found.process.clone(),
            gomaxprocs: program.gomaxprocs.and_then(|at| memory.u32(at).ok()).map(u64::from),
            collections: collector.and_then(|at| memory.u32(at.collections).ok()).map(u64::from),
            pause_ns: collector.and_then(|at| memory.u64(at.pause_total_ns).ok()),
            heap_live_bytes: collector.and_then(|at| memory.u64(at.heap_live).ok()),
        })
    }

    fn between(&self, before: &Reading, after: &Reading, seen: &mut Observations) {
        if before.process != after.process {
            return;
        }
        let added = |before: Option<u64>, after: Option<u64>| after?.checked_sub(before?);
        seen.set("go.gomaxprocs", after.gomaxprocs);
        seen.set("go.gc.collections", added(before.collections, after.collections));
        seen.set("go.gc.pause", added(before.pause_ns, after.pause_ns));
        seen.set("go.heap.live", after.heap_live_bytes);
    }

    fn runtime(&mut self, target: &Target<'_>) -> Runtime {
        let mut runtime = Runtime::default();
        let Some(found) = self.find(target) else { return runtime };
        let Program { build, gomaxprocs, collector, .. } = &found.program;
        runtime.set("go.version", &*build.version);
        if let Some(debug) = build.setting("DefaultGODEBUG") {
            runtime.set("go.default_godebug", debug);
        }
        if let Some(pid) = found.process.pid() {
            let environment = target.proc_file(&format!("{pid}/environ")).unwrap_or_default();
            for name in ["GOMAXPROCS", "GOMEMLIMIT", "GOGC", "GODEBUG"] {
                let value = environment.split('\0').find_map(|one| one.strip_prefix(name)?.strip_prefix('='));
                if let Some(value) = value {
                    runtime.set(format!("go.env.{name}"), value);
                }
            }
        }
        match &found.memory {
            Ok(memory) => {
                if let Some(number) = gomaxprocs.and_then(|at| memory.u32(at).ok()) {
                    runtime.set("go.gomaxprocs", number.to_string());
                }
                match (gomaxprocs, collector) {
                    (None, _) => runtime.unseen.push(Unseen::NoGoSymbols),
                    (Some(_), None) => runtime.unseen.push(Unseen::NoGoTypes),
                    (Some(_), Some(_)) => {}
                }
            }
            Err(why) => runtime.unseen.push(Unseen::NoGoMemory { why: why.clone() }),
        }
        runtime
    }
}

impl GoProbe {
    /// The service's Go program: the same as before as long as it lives, else the first of its processes that is one.
    fn find(&mut self, target: &Target<'_>) -> Option<&Found> {
        let proc = target.proc();
        let lives = self.found.as_ref().is_some_and(|found| {
            found.process.pid().is_some_and(|pid| ProcessId::of(proc, pid).as_ref() == Some(&found.process))
        });
        if lives {
            return self.found.as_ref();
        }
        self.found = None;
        let processes: Vec<_> =
            target.service().iter().filter_map(|pid| Some((*pid, ProcessId::of(proc, *pid)?))).collect();
        self.others.retain(|other| processes.iter().any(|(_, process)| process == other));
        for (pid, process) in processes {
            if self.others.contains(&process) {
                continue;
            }
            match File::open(format!("/proc/{pid}/exe")).ok().and_then(Program::read) {
                Some(program) => {
                    let memory = Memory::open(pid, program.entry).map_err(|error| error.to_string());
                    return Some(self.found.insert(Found { process, program, memory }));
                }
                None => self.others.push(process),
            }
        }
        None
    }
}

/// A Go program that is read again and again.
pub(crate) struct GoWatch {
    memory: Memory,
    pause_total_ns: u64,
}

impl GoWatch {
    /// The service's, if it is one that shows its collector.
    pub(crate) fn find(target: &Target<'_>) -> Option<GoWatch> {
        let mut probe = GoProbe::default();
        probe.find(target)?;
        let found = probe.found?;
        Some(GoWatch { memory: found.memory.ok()?, pause_total_ns: found.program.collector?.pause_total_ns })
    }

    /// For how long it has been stopped for collections since it began, ns.
    pub(crate) fn paused_ns(&self) -> Option<u64> {
        self.memory.u64(self.pause_total_ns).ok()
    }
}

/// Reads any bytes as a Go program's file, for the fuzzer.
#[doc(hidden)]
pub fn read_go_program(bytes: &[u8]) {
    let _ = Program::parse(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_told_and_what_was_not_seen_is_not() {
        let at = |collections| Reading {
            process: ProcessId::new(7, 1),
            gomaxprocs: Some(2),
            collections: Some(collections),
            pause_ns: None,
            heap_live_bytes: Some(4096),
        };
        let mut seen = Observations::default();
        GoProbe::default().between(&at(3), &at(8), &mut seen);
        let expected = Observations::default()
            .with("go.gomaxprocs", 2)
            .with("go.gc.collections", 5)
            .with("go.heap.live", 4096);
        assert_eq!(seen, expected);
        let other = Reading { process: ProcessId::new(7, 2), ..at(9) };
        let mut nothing = Observations::default();
        GoProbe::default().between(&at(3), &other, &mut nothing);
        assert_eq!(nothing, Observations::default());
    }
}
