//! Driving one turn: read the counters of all sites, apply the load, read the counters again.

use std::time::Duration;

use loadline_agent::{DriveError, Driver};
use loadline_engine::{Engine, Record, SliceSpec, WATCHED_AFTER_END};
use loadline_model::Observations;
use loadline_model::gates::CpuUse;

use crate::clock::Clock;
use crate::deployer::{MachineId, ReadOut};
use crate::error::RunError;
use crate::fleet::Fleet;
use crate::reading::Reading;
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
    let last_due = turn.duration + visits.iter().map(|visit| visit.offset).max().unwrap_or_default();
    let watched_until = start + (last_due + WATCHED_AFTER_END).as_nanos() as u64;
    let in_between = match are_over(&begun, fleet, watched_until) {
        true => None,
        false => Reading::in_between(fleet, here, tasks, tasks_before),
    };
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
    let at_end = Reading::at_end(fleet, tasks, tasks_before);
    let time = TurnTime { load: ended - loaded, counters: (loaded - prepared) + (clock.now() - ended) };
    let judged_by = |site| in_between.as_ref().filter(|seen| seen.of_site(site).is_some()).unwrap_or(&at_end);
    let uses: Vec<Option<CpuUse>> = records
        .iter()
        .map(|(visit, _)| judged_by(visit.site).cpu_use(visit, &records, fleet, here))
        .collect();
    let taken = in_between.as_ref().unwrap_or(&at_end).taken(fleet, here);
    let driven = records.into_iter().zip(uses).map(|((visit, record), cpu_use)| Driven {
        visit,
        record,
        observations: at_end.of_site(visit.site).cloned().unwrap_or_default(),
        cpu_use,
        taken,
    });
    Ok((driven.collect(), time))
}

/// Waits until then for all slices to end; returns whether they have.
fn are_over(begun: &[&Visit], fleet: &mut Fleet, until_ns: u64) -> bool {
    begun.iter().all(|visit| with_engine(fleet, visit, |engine| Ok(engine.wait(until_ns))).unwrap_or(true))
}

fn with_engine<T>(
    fleet: &mut Fleet,
    visit: &Visit,
    act: impl FnOnce(&mut dyn Driver) -> Result<T, DriveError>,
) -> Result<T, RunError> {
    let member = fleet.get(visit.site).ok_or(RunError::NotDeployed { cell: visit.cell })?;
    member.with_engine(visit.cell, act)
}
