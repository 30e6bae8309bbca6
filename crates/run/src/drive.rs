//! Driving one turn: the counters of all sites, the load, the counters again.

use loadline_agent::{DriveError, Driver};
use loadline_engine::{Engine, Record, SliceSpec};
use loadline_model::gates::CpuUse;
use loadline_model::{Observations, SiteId};

use crate::deployer::{MachineId, ReadOut};
use crate::error::RunError;
use crate::fleet::{Fleet, Member};
use crate::turn::{Turn, Visit};

/// What was driven and seen in one turn, visit by visit.
pub(crate) struct Driven<'t> {
    pub visits: Vec<(&'t Visit, Record)>,
    observed: Vec<SiteObserved>,
}

/// What one deployed site's counters said of a turn.
struct SiteObserved {
    site: SiteId,
    observations: Observations,
}

/// Drives the visits from one common start, between two readings of all sites' counters.
pub(crate) fn drive<'t>(
    visits: &[&'t Visit],
    turn: &Turn,
    fleet: &mut Fleet,
) -> Result<Driven<'t>, RunError> {
    for visit in visits {
        with_engine(fleet, visit, |engine| engine.prepare())?;
    }
    for member in fleet.iter_mut() {
        let is_measured = visits.iter().any(|visit| visit.site == member.id);
        member.site.read_begin(if is_measured { ReadOut::Everything } else { ReadOut::ServiceCpu });
    }
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
    let mut driven = Vec::with_capacity(visits.len());
    // Whoever has begun must finish, or could not begin again.
    for visit in begun {
        match with_engine(fleet, visit, |engine| engine.finish()) {
            Ok(record) => driven.push((visit, record)),
            Err(failed) => failure = failure.or(Some(failed)),
        }
    }
    let observe =
        |member: &mut Member| SiteObserved { site: member.id, observations: member.site.read_end() };
    let observed = fleet.iter_mut().map(observe).collect();
    match failure {
        Some(failure) => Err(failure),
        None => Ok(Driven { visits: driven, observed }),
    }
}

fn with_engine<T>(
    fleet: &mut Fleet,
    visit: &Visit,
    act: impl FnOnce(&mut dyn Driver) -> Result<T, DriveError>,
) -> Result<T, RunError> {
    let member = fleet.get(visit.site).ok_or(RunError::NotDeployed { cell: visit.cell })?;
    member.with_engine(visit.cell, act)
}

impl Driven<'_> {
    /// What the counters of the visited site said.
    pub fn observations(&self, visit: &Visit) -> Option<&Observations> {
        self.observed.iter().find(|seen| seen.site == visit.site).map(|seen| &seen.observations)
    }

    /// What a hypervisor and other programs took of the CPUs of the machine that the visited service is on. Services and load of this
    /// turn that are on the same machine are not others.
    pub fn cpu_use(&self, visit: &Visit, fleet: &mut Fleet, here: Option<&MachineId>) -> Option<CpuUse> {
        let machine = fleet.get(visit.site)?.site.machine()?;
        let mut services_ns = Some(0);
        for seen in &self.observed {
            let Some(member) = fleet.get(seen.site) else { continue };
            if member.site.machine().is_some_and(|other| other == machine) {
                // An external service may run here and can't be told from other programs.
                let own = seen.observations.service_cpu_ns.filter(|_| !member.site.is_external());
                services_ns = services_ns.zip(own).map(|(sum, ns): (u64, u64)| sum + ns);
            }
        }
        let mut load_ns = Some(0);
        for (other, record) in &self.visits {
            match fleet.get(other.site)?.load_machine(other.cell, here) {
                Some(of_load) if of_load == machine => load_ns = load_ns.map(|ns: u64| ns + record.cpu_ns),
                Some(_) => {}
                // It may be on this machine or not.
                None => load_ns = None,
            }
        }
        CpuUse::of(self.observations(visit)?, services_ns.zip(load_ns))
    }
}
