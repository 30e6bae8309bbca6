//! Which CPUs serve and which load: disjoint where the machine has two, the same on every platform.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use loadline_model::experiment::{Experiment, Placement};
use loadline_model::load::Load;
use loadline_model::notes::Note;
use loadline_model::{PlatformId, ServiceId};
use loadline_observe::parse_cpu_list;

/// The CPUs of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpus {
    /// Services run on these, all of them taken together.
    pub service: Vec<usize>,
    /// What each service is pinned to on each platform. One that isn't here sees all CPUs of its machine.
    pub pinned: BTreeMap<(ServiceId, PlatformId), Vec<usize>>,
    /// Load threads are pinned to these, one each.
    pub load: Vec<usize>,
    /// Whether the load runs before all other programs on its CPUs, with a real-time priority.
    pub load_runs_first: bool,
    /// What a reader must know of the choice.
    pub notes: Vec<Note>,
}

impl Cpus {
    /// What a platform is to pin a service to; nothing leaves it unpinned.
    pub fn pins(&self, service: ServiceId, platform: PlatformId) -> &[usize] {
        self.pinned.get(&(service, platform)).map_or(&[], Vec::as_slice)
    }

    /// Those on which services and load run; none if services run on any.
    pub fn watched(&self) -> Vec<usize> {
        match self.service.is_empty() {
            true => Vec::new(),
            false => self.service.iter().chain(&self.load).copied().collect(),
        }
    }

    /// Whether no service of this machine can take a CPU from the load.
    pub fn load_is_apart(&self) -> bool {
        self.load_runs_first || !self.service.iter().any(|cpu| self.load.contains(cpu))
    }
}

/// Chooses what the experiment leaves open. `allowed`: the CPUs that this process may use, in order; `may_run_first`: whether it may give
/// its load threads a real-time priority.
pub fn place(experiment: &Experiment, allowed: &[usize], may_run_first: &dyn Fn() -> bool) -> Cpus {
    choose(experiment, allowed, may_run_first, &smt_siblings)
}

fn choose(
    experiment: &Experiment,
    allowed: &[usize],
    may_run_first: &dyn Fn() -> bool,
    siblings: &dyn Fn(usize) -> Vec<usize>,
) -> Cpus {
    let asked: BTreeMap<(ServiceId, PlatformId), Placement> = experiment
        .cells
        .iter()
        .map(|cell| (cell.service, cell.platform))
        .map(|site| (site, experiment.placement_of(site.0, site.1)))
        .collect();
    let load = load_cpus(experiment, &asked, allowed);
    let automatic = beside(&load, allowed, siblings);
    let pinned: BTreeMap<(ServiceId, PlatformId), Vec<usize>> = asked
        .iter()
        .filter(|(_, placement)| !placement.service_sees_all)
        .map(|(site, placement)| (*site, placement.service_cpus.clone().unwrap_or_else(|| automatic.clone())))
        .collect();
    let any_sees_all = pinned.len() < asked.len();
    let shared = pinned.values().flatten().any(|cpu| load.contains(cpu));
    // A service that sees all CPUs may run on those of the load too: there the load goes first, or what it measures is its own waiting. On CPUs
    // of its own it goes before what else runs there for milliseconds. A service that is pinned to them would hardly run.
    let wants_to = any_sees_all || (!shared && sleeps(experiment, load.len()));
    let load_runs_first = wants_to && may_run_first();
    let notes =
        [shared.then_some(Note::SharedCpu), any_sees_all.then_some(Note::ServiceSeesAll { load_runs_first })];
    let all = if any_sees_all { allowed } else { &[] };
    let service: BTreeSet<usize> = pinned.values().flatten().chain(all).copied().collect();
    Cpus {
        service: service.into_iter().collect(),
        pinned,
        load,
        load_runs_first,
        notes: notes.into_iter().flatten().collect(),
    }
}

/// Requests a second of a thread up to which an open loop sleeps for most of the time: it polls for 60 µs before each.
const SLEEPS_UP_TO: f64 = 5_000.0;

/// Whether the load's threads sleep for most of the time, or whenever they wait for an answer, under each load: older kernels stop a thread of
/// real-time priority that does not for 50 ms in each second (sched(7), sched_rt_runtime_us). Nobody knows the rates of a search beforehand.
fn sleeps(experiment: &Experiment, threads: usize) -> bool {
    let sleeps = |load: &Load| match load.rate() {
        Some(rate) => rate.as_per_second() <= SLEEPS_UP_TO * threads as f64,
        None => load.is_closed(),
    };
    experiment.capacity.is_none() && experiment.loads.iter().all(|load| sleeps(&load.load))
}

/// The CPUs of the load: those that it is given, or else the last one that no service is given. The first ones serve most interrupts.
fn load_cpus(
    experiment: &Experiment,
    asked: &BTreeMap<(ServiceId, PlatformId), Placement>,
    allowed: &[usize],
) -> Vec<usize> {
    let taken: Vec<usize> =
        asked.values().flat_map(|placement| placement.service_cpus.iter().flatten()).copied().collect();
    experiment
        .placement
        .load_cpus
        .clone()
        .unwrap_or_else(|| without(allowed, &taken).last().or(allowed.last()).copied().into_iter().collect())
}

/// The CPUs of a service that is given none: all but the load's, and those that share a core with them.
fn beside(load: &[usize], allowed: &[usize], siblings: &dyn Fn(usize) -> Vec<usize>) -> Vec<usize> {
    // A sibling shares the core's execution units, so that load and service would slow each other down.
    let near: Vec<usize> = load.iter().flat_map(|cpu| siblings(*cpu)).chain(load.iter().copied()).collect();
    [without(allowed, &near), without(allowed, load), allowed.to_vec()]
        .into_iter()
        .find(|cpus| !cpus.is_empty())
        .unwrap_or_default()
}

fn without(allowed: &[usize], taken: &[usize]) -> Vec<usize> {
    allowed.iter().copied().filter(|cpu| !taken.contains(cpu)).collect()
}

/// The other hardware threads of a CPU's core; none if the kernel does not report them.
fn smt_siblings(cpu: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let list = fs::read_to_string(path).unwrap_or_default();
    let threads = parse_cpu_list(list.trim()).unwrap_or_default();
    threads.into_iter().filter(|other| *other != cpu).collect()
}

#[cfg(test)]
mod tests;
