//! Measuring one turn: counters before, the load, counters after, the gates, the journal.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::gates::{GateFailure, is_disturbed};
use loadline_model::rows::{RequestTimes, SliceRow};
use loadline_model::{CellId, Event};

use crate::drive::{Driven, drive};
use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::Fleet;
use crate::gates;
use crate::taken::TAKEN;
use crate::turn::{SlicePosition, Turn, Visit};

impl Execution<'_> {
    /// Measures a turn and stores its slices; returns whether the machine disturbed one of them.
    pub fn measure(
        &mut self,
        position: SlicePosition,
        turn: &Turn,
        fleet: &mut Fleet,
    ) -> Result<bool, RunError> {
        self.check_interrupted()?;
        // A service that ended earlier in this block has no cell any more.
        let deployed = fleet.cells();
        let visits: Vec<&Visit> = turn.visits.iter().filter(|visit| deployed.contains(&visit.cell)).collect();
        if visits.is_empty() {
            return Ok(false);
        }
        let at_s = (self.clock.now() - self.begun).as_secs_f64();
        let driven = fleet.quiesce(&visits).and_then(|rest| {
            self.clock.sleep(rest);
            drive(&visits, turn, fleet, self.here.as_ref(), self.clock, self.tasks)
        });
        if driven.is_err() || fleet.is_quiet_for_long() {
            self.let_go_on(fleet)?;
        }
        let (driven, time) = driven?;
        self.spent.counters_s += time.counters.as_secs_f64();
        let loaded_s = time.load.as_secs_f64();
        match position.attempt {
            0 => self.spent.measuring_s += loaded_s,
            _ => self.spent.repeating_s += loaded_s,
        }
        let side_by_side = driven.len() > 1;
        let paused = self.paused(&driven, fleet);
        let are_pinned = fleet.services_are_on(&self.cpus.service, &self.cpus.load);
        let mut disturbed = false;
        for mut driven in driven {
            if driven.record.stopped {
                return Err(RunError::Interrupted);
            }
            let (load, record) = (&driven.visit.load, &driven.record);
            let mut gate_failures = gates::slice_failures(load, record, driven.cpu_use, paused);
            if let Some(taken) = driven.taken.filter(|_| are_pinned) {
                driven.observations.set(TAKEN, taken.as_nanos() as u64);
                gate_failures.extend(self.taken.judge(driven.visit.cell, taken, record.duration));
            }
            disturbed |= is_disturbed(&gate_failures);
            if side_by_side {
                driven.observations.forget_machine(&self.metrics);
            }
            driven.record.pauses.enter(&mut driven.observations);
            let requests = self.requests(driven.visit.cell);
            let errors = driven.record.errors.by_request(&requests);
            let gate_failures =
                gate_failures.into_iter().map(|failure| failure.with_kinds(&errors)).collect();
            let slice = slice(position, at_s, driven, requests, errors, gate_failures);
            if slice.answered > 0 && !is_disturbed(&slice.gate_failures) {
                let median = slice.service.value_at_quantile(0.5) as f64;
                self.warmth.measured(slice.cell, median);
            }
            let stored = self.timed(|spent| &mut spent.storing_s, |run| run.journal.slice(&slice));
            stored.map_err(RunError::Journal)?;
            self.strategy.measured(&slice);
            (self.events)(Event::Measured(Box::new(slice)));
        }
        Ok(disturbed)
    }

    /// The requests of a cell's mix, method and path of each.
    fn requests(&self, cell: CellId) -> Vec<String> {
        let site = self.plan.site(self.plan.cell(cell).site);
        let requests = self.experiment.service(site.service).requests.iter();
        requests.map(|request| format!("{} {}", request.method, request.path)).collect()
    }

    /// For how long the load's CPUs were paused during a turn, in pauses of 1 ms and more; `None` where it may have been a service that had
    /// them.
    fn paused(&self, driven: &[Driven<'_>], fleet: &Fleet) -> Option<Duration> {
        let is_apart = |driven: &Driven<'_>| fleet.load_is_apart(driven.visit, self.cpus, self.here.as_ref());
        if !driven.iter().all(is_apart) {
            return None;
        }
        // Side by side, the threads of several engines share CPUs and wait for each other. What stopped all of them was none of them.
        let paused = |driven: &Driven<'_>| driven.record.pauses.over_1ms.total_ns;
        driven.iter().map(paused).min().map(Duration::from_nanos)
    }
}

fn slice(
    position: SlicePosition,
    at_s: f64,
    driven: Driven<'_>,
    requests: Vec<String>,
    errors: BTreeMap<String, u64>,
    gate_failures: Vec<GateFailure>,
) -> SliceRow {
    let Driven { visit, record, observations, cpu_use, .. } = driven;
    let by_request = requests.into_iter().zip(record.by_request);
    SliceRow {
        cell: visit.cell,
        load: visit.load.clone(),
        round: position.round,
        block: position.block,
        attempt: position.attempt,
        position: position.position,
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
        errors,
        by_request: by_request
            .map(|(request, response)| RequestTimes { request, response: (&response).into() })
            .collect(),
        response: (&record.response).into(),
        service: (&record.service).into(),
        send_lag: (&record.send_lag).into(),
        observations,
        cpu_use,
        gate_failures,
        trial: visit.trial,
    }
}
