//! The sites that are currently deployed, found by their ids.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use loadline_agent::Driver;
use loadline_model::{CellId, SiteId};
use loadline_observe::cpus_of;

use crate::deployer::{LiveSite, MachineId};
use crate::error::RunError;
use crate::placement::Cpus;
use crate::turn::Visit;

/// Each gets a share of the CPUs to end in the time that it has for that.
const MOST_STOPPED_AT_ONCE: usize = 8;
/// For how long what platforms do beside running services stays stopped over several slices. To let it go on and stop it again between two of
/// 50 ms takes longer than these, and all that is due is then done right before the second one.
const MOST_QUIET: Duration = Duration::from_secs(1);

/// A deployed site and the engines of its cells.
pub struct Member {
    /// Its id in the plan.
    pub id: SiteId,
    /// Service and platform, as shown to the user.
    pub label: String,
    /// CPU time of service and load together per request, s; known after the warm-up.
    pub cpu_s_per_request: f64,
    /// Before the site, so that the load ends before the service does.
    engines: BTreeMap<CellId, Box<dyn Driver>>,
    /// What was deployed.
    pub site: Box<dyn LiveSite>,
    /// The CPUs that its processes may run on, whatever was planned; none if they can't be seen from here.
    may_run_on: BTreeSet<usize>,
}

impl Member {
    /// A site without engines.
    pub fn new(id: SiteId, label: String, site: Box<dyn LiveSite>) -> Member {
        Member {
            id,
            label,
            cpu_s_per_request: 0.0,
            site,
            engines: BTreeMap::new(),
            may_run_on: BTreeSet::new(),
        }
    }

    /// Looks where its processes may run. Once the service is ready: its start may pin them.
    pub fn look_where_it_may_run(&mut self) {
        self.may_run_on = cpus_of(&self.site.pids());
    }

    /// Adds the engine of a cell.
    pub fn add_engine(&mut self, cell: CellId, engine: Box<dyn Driver>) {
        self.engines.insert(cell, engine);
    }

    /// Its cells, in the plan's order.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        self.engines.keys().copied()
    }

    /// Runs `act` with the engine of one of its cells. If that fails because the service has ended, the error says so.
    pub fn with_engine<T, E: Into<loadline_agent::DriveError>>(
        &mut self,
        cell: CellId,
        act: impl FnOnce(&mut dyn Driver) -> Result<T, E>,
    ) -> Result<T, RunError> {
        let Some(engine) = self.engines.get_mut(&cell) else { return Err(RunError::NotDeployed { cell }) };
        act(engine.as_mut()).map_err(|source| {
            let site = self.label.clone();
            self.end().unwrap_or(RunError::Engine { site, source: source.into() })
        })
    }

    /// The machine that loads one of its cells; `here` is this one.
    pub fn load_machine(&self, cell: CellId, here: Option<&MachineId>) -> Option<MachineId> {
        match self.engines.get(&cell)?.machine() {
            None => here.cloned(),
            Some(elsewhere) => MachineId::of(elsewhere),
        }
    }

    /// Whether the service may run on the load's CPUs and is not known to run after it. A pod may be pinned by its node, whatever was planned.
    fn may_take(&self, cpus: &Cpus) -> bool {
        let is_on_them = self.may_run_on.iter().any(|cpu| cpus.load.contains(cpu));
        self.site.is_external() || (is_on_them && !cpus.load_runs_first)
    }

    /// Why the service has ended, if it has.
    pub fn end(&mut self) -> Option<RunError> {
        let why = self.site.ended()?;
        Some(RunError::service(&self.label, why, &self.site.output_tail()))
    }

    /// Stops the load, then the service.
    pub fn stop(mut self) -> Result<(), RunError> {
        self.engines.clear();
        let site = self.label;
        self.site.stop().map_err(|source| RunError::Site { site, source })
    }
}

fn stop_at_once(members: Vec<Member>) -> Vec<(SiteId, Result<(), RunError>)> {
    thread::scope(|scope| {
        let stop = |member: Member| (member.id, scope.spawn(|| member.stop()));
        let stopping: Vec<_> = members.into_iter().map(stop).collect();
        let outcome = |stopped: ScopedJoinHandle<'_, _>| {
            stopped.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        stopping.into_iter().map(|(id, stopped)| (id, outcome(stopped))).collect()
    })
}

/// All deployed sites.
#[derive(Default)]
pub struct Fleet {
    members: Vec<Member>,
    /// Since when what their platforms do beside running services is stopped.
    stopped: Option<Instant>,
}

impl Fleet {
    /// Adds a site.
    pub fn add(&mut self, member: Member) {
        self.members.push(member);
    }

    /// The number of sites.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// All sites, in the order of their deployment.
    pub fn iter(&self) -> impl Iterator<Item = &Member> {
        self.members.iter()
    }

    /// Whether no service can take the CPUs of the load that visits a cell: it runs on others, or after the load. An external service may run
    /// anywhere, and an agent's load threads may be on the CPUs of a service of its machine.
    pub fn load_is_apart(&self, visit: &Visit, cpus: &Cpus, here: Option<&MachineId>) -> bool {
        let Some(visited) = self.members.iter().find(|member| member.id == visit.site) else { return false };
        let is_elsewhere = visited.engines.get(&visit.cell).is_some_and(|engine| engine.machine().is_some());
        if is_elsewhere {
            let load = visited.load_machine(visit.cell, here);
            load.is_some()
                && self
                    .members
                    .iter()
                    .all(|member| member.site.machine().is_some() && member.site.machine() != load)
        } else {
            cpus.load_is_apart() && !self.members.iter().any(|member| member.may_take(cpus))
        }
    }

    /// Whether all services run on these CPUs alone, which the load leaves to them. An external service may run anywhere.
    pub fn services_are_on(&self, cpus: &[usize], load: &[usize]) -> bool {
        let is_on_them = |member: &Member| {
            !member.site.is_external()
                && !member.may_run_on.is_empty()
                && member.may_run_on.iter().all(|cpu| cpus.contains(cpu))
        };
        !load.iter().any(|cpu| cpus.contains(cpu)) && self.members.iter().all(is_on_them)
    }

    /// Stops what the platforms do beside running services, unless one of these sites is to be measured with it: then it goes on, if it was
    /// stopped. Returns how long it must before they are measured.
    pub fn quiesce(&mut self, measured: &[&Visit]) -> Result<Duration, RunError> {
        let leaves_running = |member: &Member| {
            member.site.leaves_running() && measured.iter().any(|visit| visit.site == member.id)
        };
        if self.iter().any(leaves_running) {
            return self.resume();
        }
        if !self.is_quiet() {
            // Some of it may be stopped even if that failed.
            let begun = Instant::now();
            let stopped = self.set_stopped(true);
            self.stopped = (!matches!(stopped, Ok(None))).then_some(begun);
            stopped?;
        }
        Ok(Duration::ZERO)
    }

    /// Whether it is stopped: then no platform answers.
    pub fn is_quiet(&self) -> bool {
        self.stopped.is_some()
    }

    /// Whether it was stopped for as long as it may be over several slices.
    pub fn is_quiet_for_long(&self) -> bool {
        self.stopped.is_some_and(|since| since.elapsed() >= MOST_QUIET)
    }

    /// Lets all of it go on, and returns how long it must before it may be stopped again.
    pub fn resume(&mut self) -> Result<Duration, RunError> {
        match self.stopped.take() {
            Some(_) => Ok(self.set_stopped(false)?.unwrap_or_default()),
            None => Ok(Duration::ZERO),
        }
    }

    /// The longest rest that one of them needs; `None` if none of them has anything to stop.
    fn set_stopped(&mut self, stopped: bool) -> Result<Option<Duration>, RunError> {
        // Of those that failed the first is told; each was tried.
        let mut longest = Ok(None);
        for member in self.iter_mut() {
            let rest = member.site.quiesce(stopped);
            longest = longest.and_then(|longest: Option<Duration>| Ok(longest.max(rest?)));
        }
        longest
    }

    /// All sites, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.iter_mut()
    }

    /// Cells of the deployed sites.
    pub fn cells(&self) -> Vec<CellId> {
        self.members.iter().flat_map(Member::cells).collect()
    }

    /// A site, unless it was abandoned.
    pub fn get(&mut self, id: SiteId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.id == id)
    }

    /// The site with this label, unless it was abandoned.
    pub fn labelled(&self, label: &str) -> Option<SiteId> {
        self.members.iter().find(|member| member.label == label).map(|member| member.id)
    }

    /// Removes a site.
    pub fn take(&mut self, id: SiteId) -> Option<Member> {
        let index = self.members.iter().position(|member| member.id == id)?;
        Some(self.members.remove(index))
    }

    /// Stops all sites, even if stopping one fails, and says how that went for each. Several at once: the kernel waits tens of milliseconds for
    /// each link that is deleted, but hardly longer for many.
    pub fn stop(mut self) -> Vec<(SiteId, Result<(), RunError>)> {
        let mut outcomes = Vec::with_capacity(self.members.len());
        while !self.members.is_empty() {
            let next: Vec<Member> =
                self.members.drain(..self.members.len().min(MOST_STOPPED_AT_ONCE)).collect();
            outcomes.extend(stop_at_once(next));
        }
        outcomes
    }

    /// Removes a site whose service has ended, and returns why it ended.
    pub fn take_ended(&mut self) -> Option<(Member, RunError)> {
        let (index, why) =
            self.members.iter_mut().enumerate().find_map(|(index, member)| Some((index, member.end()?)))?;
        Some((self.members.remove(index), why))
    }
}
