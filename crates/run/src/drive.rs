//! Driving one turn: read the counters of all sites, apply the load, read the counters again.

use std::time::Duration;

use loadline_agent::{DriveError, Driver};
use loadline_engine::{Engine, Record, SliceSpec};
use loadline_model::gates::CpuUse;
use loadline_model::metrics::NEEDS_CPU;
use loadline_model::{Observations, SiteId};

use crate::clock::Clock;
use crate::deployer::{MachineId, ReadOut};
use crate::error::RunError;
use crate::fleet::Fleet;
use crate::taken::TaskTimes;
use crate::turn::{Turn, Visit};

/// The record and the observations of one visit.
pub(crate) struct Driven<'t> {
    pub visit: &'t Visit,
    pub record: Record,
    /// The observations of the visited site.
    pub observations: Observations,
    /// The CPU use of its machine by others.
    pub cpu_use: Option<CpuUse>,
    /// What others took of the services' CPUs; `None` where these can't be told apart.
    pub taken: Option<Duration>,
}

/// How long the parts of a turn took.
pub(crate) struct TurnTime {
    /// The load, from the start to the last response.
    pub load: Duration,
    /// Reading the counters, before and after.
    pub counters: Duration,
}

/// Drives the visits from one common start, between two readings of all sites' counters.
pub(crate) fn drive<'t>(
    visits: &[&'t Visit],
    turn: &Turn,
    fleet: &mut Fleet,
    here: Option<&MachineId>,
    clock: &dyn Clock,
    tasks: &dyn TaskTimes,
) -> Result<(Vec<Driven<'t>>, TurnTime), RunError> {
    for visit in visits {
        with_engine(fleet, visit, |engine| engine.prepare())?;
    }
    let prepared = clock.now();
    for member in fleet.iter_mut() {
        let is_measured = visits.iter().any(|visit| visit.site == member.id);
        member.site.read_begin(if is_measured { ReadOut::Everything } else { ReadOut::ServiceCpu });
    }
    let tasks_before = tasks.read();
    let loaded = clock.now();
    let start = Engine::next_start();
    let (mut begun, mut failure) = (Vec::with_capacity(visits.len()), None);
    for visit in visits {
        let slice = SliceSpec {
            load: visit.load.clone(),
            duration: turn.duration,
            seed: visit.seed,
            offset: visit.offset,
        };
        match with_engine(fleet, visit, |engine| engine.begin(slice, start)) {
            Ok(()) => begun.push(*visit),
            Err(failed) => failure = failure.or(Some(failed)),
        }
    }
    let mut records: Vec<(&'t Visit, Record)> = Vec::with_capacity(visits.len());
    // An engine that has started a slice must finish it before it can start another.
    for visit in begun {
        match with_engine(fleet, visit, |engine| engine.finish()) {
            Ok(record) => records.push((visit, record)),
            Err(failed) => failure = failure.or(Some(failed)),
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    let ended = clock.now();
    let ran = tasks.read().zip(tasks_before).map(|(after, before)| after.saturating_sub(before));
    let seen: Vec<(SiteId, Observations)> =
        fleet.iter_mut().map(|member| (member.id, member.site.read_end())).collect();
    let time = TurnTime { load: ended - loaded, counters: (loaded - prepared) + (clock.now() - ended) };
    let uses: Vec<Option<CpuUse>> =
        records.iter().map(|(visit, _)| cpu_use(visit, &records, &seen, fleet, here)).collect();
    let taken = ran
        .zip(services_ns(&seen, fleet, here))
        .map(|(ran, ns)| ran.saturating_sub(Duration::from_nanos(ns)));
    let driven = records.into_iter().zip(uses).map(|((visit, record), cpu_use)| Driven {
        visit,
        record,
        observations: of_site(&seen, visit.site).cloned().unwrap_or_default(),
        cpu_use,
        taken,
    });
    Ok((driven.collect(), time))
}

fn with_engine<T>(
    fleet: &mut Fleet,
    visit: &Visit,
    act: impl FnOnce(&mut dyn Driver) -> Result<T, DriveError>,
) -> Result<T, RunError> {
    let member = fleet.get(visit.site).ok_or(RunError::NotDeployed { cell: visit.cell })?;
    member.with_engine(visit.cell, act)
}

fn of_site(seen: &[(SiteId, Observations)], site: SiteId) -> Option<&Observations> {
    seen.iter().find(|(id, _)| *id == site).map(|(_, observations)| observations)
}

/// The CPU time that the hypervisor and other programs took on the machine of the visited service. Services and load of this turn on the
/// same machine do not count as others.
fn cpu_use(
    visit: &Visit,
    records: &[(&Visit, Record)],
    seen: &[(SiteId, Observations)],
    fleet: &mut Fleet,
    here: Option<&MachineId>,
) -> Option<CpuUse> {
    let machine = fleet.get(visit.site)?.site.machine()?;
    let services_ns = services_ns(seen, fleet, Some(&machine));
    let mut load_ns = Some(0);
    for (other, record) in records {
        match fleet.get(other.site)?.load_machine(other.cell, here) {
            Some(of_load) if of_load == machine => load_ns = load_ns.map(|ns: u64| ns + record.cpu_ns),
            Some(_) => {}
            // It is not known whether it is on this machine.
            None => load_ns = None,
        }
    }
    CpuUse::of(of_site(seen, visit.site)?, services_ns.zip(load_ns))
}

/// The CPU time of all services of a machine; `None` if one of them can't be told.
fn services_ns(
    seen: &[(SiteId, Observations)],
    fleet: &mut Fleet,
    machine: Option<&MachineId>,
) -> Option<u64> {
    let mut services_ns = Some(0);
    for (site, observations) in seen {
        let Some(member) = fleet.get(*site) else { continue };
        if member.site.machine().is_some_and(|other| Some(&other) == machine) {
            // An external service may run here and cannot be distinguished from other programs.
            let own = observations.service_cpu_ns().filter(|_| !member.site.is_external());
            let own = own.map(|ns| ns + observations.count(NEEDS_CPU).unwrap_or(0));
            services_ns = services_ns.zip(own).map(|(sum, ns): (u64, u64)| sum + ns);
        }
    }
    services_ns
}
