//! Measuring one turn: counters before, the load, counters after, the gates, the journal.

use loadline_engine::{Engine, Record, SliceSpec};
use loadline_model::CellId;
use loadline_model::Observations;
use loadline_model::gates::CpuUse;
use loadline_model::rows::SliceRow;

use crate::deployer::{MachineId, ReadOut};
use crate::error::RunError;
use crate::events::Event;
use crate::execution::Execution;
use crate::fleet::Fleet;
use crate::gates;
use crate::turn::{Turn, Visit};

/// Where in the run a turn is.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub round: u32,
    pub block: u32,
    pub attempt: u32,
    pub position: u32,
}

/// What was driven and seen in one turn, visit by visit.
struct Driven<'t> {
    visits: Vec<(&'t Visit, Record)>,
    observed: Vec<SiteObserved>,
}

/// What one deployed site's counters said of a turn.
struct SiteObserved {
    site: loadline_model::SiteId,
    observations: Observations,
}

impl Execution<'_> {
    /// Measures a turn and keeps its slices; returns the cells that were disturbed and deserve a repeat.
    pub fn measure(&mut self, place: Place, turn: &Turn, fleet: &mut Fleet) -> Result<Vec<CellId>, RunError> {
        self.check_interrupted()?;
        // A service that ended earlier in this block has no cell any more.
        let deployed = fleet.cells();
        let visits: Vec<&Visit> = turn.visits.iter().filter(|visit| deployed.contains(&visit.cell)).collect();
        if visits.is_empty() {
            return Ok(Vec::new());
        }
        let at_s = (self.clock.now() - self.begun).as_secs_f64();
        let driven = drive(&visits, turn, fleet)?;
        if driven.visits.iter().any(|(_, record)| record.stopped) {
            return Err(RunError::Interrupted);
        }
        let uses: Vec<Option<CpuUse>> =
            driven.visits.iter().map(|(visit, _)| driven.cpu_use(visit, fleet, self.here.as_ref())).collect();
        let side_by_side = visits.len() > 1;
        let mut disturbed = Vec::new();
        for ((visit, record), cpu_use) in driven.visits.iter().zip(uses) {
            let gate_failures = gates::failures(&visit.load, record, cpu_use);
            if gates::deserve_repeat(&gate_failures) {
                disturbed.push(visit.cell);
            }
            let mut observations = driven.observations(visit).cloned().unwrap_or_default();
            if side_by_side {
                observations.forget_machine();
            }
            let slice = slice(place, visit, at_s, record, observations, cpu_use, gate_failures);
            self.journal.slice(&slice).map_err(RunError::Journal)?;
            self.strategy.measured(&slice);
            (self.events)(Event::Measured(Box::new(slice)));
        }
        Ok(disturbed)
    }
}

/// Drives the visits from one common start, between two readings of all sites' counters.
fn drive<'t>(visits: &[&'t Visit], turn: &Turn, fleet: &mut Fleet) -> Result<Driven<'t>, RunError> {
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
    let observe = |member: &mut crate::fleet::Member| SiteObserved {
        site: member.id,
        observations: member.site.read_end(),
    };
    let observed = fleet.iter_mut().map(observe).collect();
    match failure {
        Some(failure) => Err(failure),
        None => Ok(Driven { visits: driven, observed }),
    }
}

fn with_engine<T>(
    fleet: &mut Fleet,
    visit: &Visit,
    act: impl FnOnce(&mut dyn loadline_agent::Driver) -> Result<T, loadline_agent::DriveError>,
) -> Result<T, RunError> {
    let member = fleet.get(visit.site).ok_or(RunError::NotDeployed { cell: visit.cell })?;
    member.with_engine(visit.cell, act)
}

impl Driven<'_> {
    fn observations(&self, visit: &Visit) -> Option<&Observations> {
        self.observed.iter().find(|seen| seen.site == visit.site).map(|seen| &seen.observations)
    }

    /// What a hypervisor and other programs took of the CPUs of the machine that the visited service is on. Services and load of this
    /// turn that are on the same machine are not others.
    fn cpu_use(&self, visit: &Visit, fleet: &mut Fleet, here: Option<&MachineId>) -> Option<CpuUse> {
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

#[expect(clippy::too_many_arguments, reason = "a row has many sources")]
fn slice(
    place: Place,
    visit: &Visit,
    at_s: f64,
    record: &Record,
    observations: Observations,
    cpu_use: Option<CpuUse>,
    gate_failures: Vec<loadline_model::gates::GateFailure>,
) -> SliceRow {
    SliceRow {
        cell: visit.cell,
        load: visit.load.clone(),
        round: place.round,
        block: place.block,
        attempt: place.attempt,
        position: place.position,
        at_s,
        duration_s: record.duration.as_secs_f64(),
        due: record.due,
        sent_in_time: record.sent_in_time,
        answered: record.answered,
        answered_in_time: record.answered_in_time,
        waited: record.waited,
        reconnects: record.reconnects,
        received_bytes: record.received_bytes,
        load_cpu_ns: record.cpu_ns,
        load_spun_ns: Some(record.spun_ns),
        errors: record.errors.by_name(),
        response: record.response.clone(),
        service: record.service.clone(),
        send_lag: record.send_lag.clone(),
        observations,
        cpu_use,
        gate_failures,
    }
}
