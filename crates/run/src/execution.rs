//! A run from its first deployment to its last: rounds, stages, blocks, and the handling of failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use loadline_model::Machine;
use loadline_model::RunState;
use loadline_model::TimeSpent;
use loadline_model::experiment::{Experiment, OnFailure};
use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::Failure;
use loadline_model::notes::Note;
use loadline_model::pauses::Pauses;
use loadline_model::plan::Plan;
use loadline_model::rows::{DeploymentRow, NewRun};
use loadline_model::runtime::Runtime;
use loadline_model::{CellId, Event, PlatformId, SiteId};
use loadline_observe::probes;

use crate::clock::Clock;
use crate::deployer::{Deployer, MachineId, StartingSite};
use crate::error::{BoxError, RunError};
use crate::fleet::{Fleet, Member};
use crate::journal::Journal;
use crate::loud_spell::Loudness;
use crate::order::Order;
use crate::placement::Cpus;
use crate::strategy::{BlockContext, NextRound, RoundsSoFar, Strategy};
use crate::taken::{self, Taken, TaskTimes};
use crate::warmth::Warmth;

/// The input of a run.
pub struct Run<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its sites and cells.
    pub plan: &'a Plan,
    /// Where services and load run.
    pub cpus: &'a Cpus,
    /// The machine of the load.
    pub machine: &'a Machine,
    /// The name of everything that the run creates on the machine.
    pub label: String,
    /// The command line, stored with the run.
    pub command_line: Vec<String>,
    /// Version of the program, stored with the run.
    pub version: String,
    /// Set to interrupt the run; what was measured is kept.
    pub stop: Arc<AtomicBool>,
    /// Whether a run that continues without a service also begins without a platform that cannot be reached.
    pub allow_missing: bool,
    /// Notes that are known before the run.
    pub notes: Vec<Note>,
    /// Starts the services.
    pub deployer: &'a mut dyn Deployer,
    /// Keeps what is measured.
    pub journal: &'a dyn Journal,
    /// The clock by which the loop waits.
    pub clock: &'a dyn Clock,
    /// What ran on the services' CPUs.
    pub tasks: &'a dyn TaskTimes,
    /// Receives the events.
    pub events: &'a mut dyn FnMut(Event),
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The final state.
    pub state: RunState,
    /// The reason, if it failed.
    pub failure: Option<RunError>,
}

/// Executes an experiment. Whatever happens, what it measured is in the journal.
///
/// # Errors
/// When the journal could not be started or finished.
pub fn execute(run: Run<'_>, strategy: &mut dyn Strategy) -> Result<Outcome, RunError> {
    execute_with(run, strategy, &mut |execution, round, fleet| execution.measure_stage(round, fleet))
}

/// What is done with the sites of a stage once they are ready, in the deployment with this number.
pub(crate) type Act<'a> = dyn FnMut(&mut Execution<'_>, u32, &mut Fleet) -> Result<(), RunError> + 'a;

/// Executes an experiment, and does this with its sites.
pub(crate) fn execute_with(
    run: Run<'_>,
    strategy: &mut dyn Strategy,
    act: &mut Act<'_>,
) -> Result<Outcome, RunError> {
    let Run { experiment, plan, cpus, machine, journal, deployer, .. } = run;
    let metrics = [probes::metrics(), Pauses::metrics(), vec![taken::metric()]].concat();
    let begin = NewRun {
        label: &run.label,
        version: &run.version,
        command_line: &run.command_line,
        experiment,
        plan,
        machine,
        service_cpus: &cpus.service,
        load_cpus: &cpus.load,
        metrics: &metrics,
    };
    journal.begin(&begin).map_err(RunError::Journal)?;
    let mut execution = Execution {
        experiment,
        plan,
        order: Order::new(experiment.plan.seed),
        cpus,
        machine,
        here: MachineId::of(machine),
        stop: run.stop,
        journal,
        clock: run.clock,
        tasks: run.tasks,
        taken: Taken::default(),
        begun: run.clock.now(),
        allow_missing: run.allow_missing,
        abandoned: Vec::new(),
        spent: TimeSpent::default(),
        side_by_side: None,
        warmth: Warmth::default(),
        loudness: Loudness::default(),
        noted: Vec::new(),
        metrics,
        events: run.events,
        strategy,
    };
    let result = execution.run(&run.notes, deployer, act);
    if let Err(failure @ RunError::Journal(_)) = result {
        // It may keep no more than it has: then the run stays one that was never finished.
        let _ = journal.failure(&Failure { site: None, text: failure.to_string() });
        let _ = journal.finish(RunState::Failed);
        return Ok(Outcome { state: RunState::Failed, failure: Some(failure) });
    }
    execution.store_time_spent()?;
    let (state, failure) = match result {
        Ok(()) if execution.is_stopped() => (RunState::Interrupted, None),
        Ok(()) => (RunState::Complete, None),
        Err(RunError::Interrupted) => (RunState::Interrupted, None),
        Err(failure) => {
            journal.failure(&Failure { site: None, text: failure.to_string() }).map_err(RunError::Journal)?;
            (RunState::Failed, Some(failure))
        }
    };
    journal.finish(state).map_err(RunError::Journal)?;
    Ok(Outcome { state, failure })
}

/// A run in progress.
pub(crate) struct Execution<'a> {
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    pub order: Order,
    pub cpus: &'a Cpus,
    pub machine: &'a Machine,
    /// The id of the machine of the load.
    pub here: Option<MachineId>,
    pub journal: &'a dyn Journal,
    pub clock: &'a dyn Clock,
    pub tasks: &'a dyn TaskTimes,
    /// What others took of the services' CPUs lately.
    pub taken: Taken,
    pub begun: Instant,
    /// Where the time has gone so far.
    pub spent: TimeSpent,
    /// Cells measured request by request; decided after the first warm-up.
    pub side_by_side: Option<Vec<CellId>>,
    /// Which services need no long warm-up.
    pub warmth: Warmth,
    /// How disturbed the latest turns were.
    pub loudness: Loudness,
    /// Notes already in the journal.
    pub noted: Vec<Note>,
    /// The metrics that its probes declare, as the journal has them.
    pub metrics: Vec<MetricDeclaration>,
    pub events: &'a mut dyn FnMut(Event),
    pub strategy: &'a mut dyn Strategy,
    stop: Arc<AtomicBool>,
    allow_missing: bool,
    /// Sites that failed in a run that continues without them.
    abandoned: Vec<SiteId>,
}

/// A site whose service is being started.
struct StartedSite<'d> {
    id: SiteId,
    label: String,
    begun: Instant,
    site: Box<dyn StartingSite + 'd>,
}

impl Execution<'_> {
    fn run(
        &mut self,
        notes: &[Note],
        deployer: &mut dyn Deployer,
        act: &mut Act<'_>,
    ) -> Result<(), RunError> {
        let prepared = self.timed(|spent| &mut spent.starting_s, |_| deployer.prepare());
        let prepared = prepared.map_err(RunError::Environment);
        let result = prepared.and_then(|found| {
            found.iter().chain(notes).try_for_each(|note| self.note(note.clone()))?;
            self.add_initial_notes()?;
            self.reach_platforms(deployer)?;
            self.store_platform_info(deployer)?;
            self.rounds(deployer, act)
        });
        let removed = self.timed(|spent| &mut spent.stopping_s, |_| deployer.remove());
        result.and(removed.map_err(RunError::Environment))
    }

    /// Checks that all platforms can be reached before anything is started on one of them.
    fn reach_platforms(&mut self, deployer: &dyn Deployer) -> Result<(), RunError> {
        let unreachable: Vec<(PlatformId, BoxError)> =
            self.platforms().filter_map(|id| deployer.reach(id).err().map(|error| (id, error))).collect();
        if unreachable.is_empty() {
            return Ok(());
        }
        let continues = self.experiment.plan.on_failure == OnFailure::Continue;
        if !(continues && self.allow_missing) {
            let named =
                |(id, error): (PlatformId, BoxError)| (self.experiment.platform(id).name.clone(), error);
            let platforms = unreachable.into_iter().map(named).collect();
            return Err(RunError::Unreachable { platforms, continues });
        }
        for (id, error) in unreachable {
            let why = error.to_string();
            for (site, planned) in SiteId::of(self.plan.sites.len()).zip(&self.plan.sites) {
                if planned.platform == id {
                    self.abandon(
                        site,
                        RunError::Site { site: self.label(site), source: why.clone().into() },
                    )?;
                }
            }
        }
        Ok(())
    }

    /// The platforms that are used.
    fn platforms(&self) -> impl Iterator<Item = PlatformId> {
        PlatformId::of(self.experiment.platforms.len()).filter(|id| self.plan.uses(*id))
    }

    fn store_platform_info(&mut self, deployer: &dyn Deployer) -> Result<(), RunError> {
        for id in self.platforms() {
            if let Some(found) = deployer.surroundings(id) {
                self.journal
                    .surroundings(&self.experiment.platform(id).name, &found)
                    .map_err(RunError::Journal)?;
            }
        }
        Ok(())
    }

    fn rounds(&mut self, deployer: &dyn Deployer, act: &mut Act<'_>) -> Result<(), RunError> {
        for rounds in 0.. {
            let elapsed = self.clock.now() - self.begun;
            match self.strategy.next_round(RoundsSoFar { rounds, elapsed }) {
                NextRound::Enough => break,
                NextRound::TimeIsUp { within } => {
                    return self.note(Note::TimeOver { deployments: rounds, within });
                }
                NextRound::Deploy(stages) => {
                    let prepared = self.timed(|spent| &mut spent.starting_s, |_| deployer.before_round());
                    prepared.map_err(RunError::Environment)?;
                    stages.iter().try_for_each(|sites| self.stage(deployer, rounds, sites, act))?;
                    // Here as well, because a run may be killed.
                    self.store_time_spent()?;
                }
            }
        }
        Ok(())
    }

    /// Deploys the sites of a stage, does with them what is to be done, and stops them.
    fn stage(
        &mut self,
        deployer: &dyn Deployer,
        round: u32,
        sites: &[SiteId],
        act: &mut Act<'_>,
    ) -> Result<(), RunError> {
        let mut fleet = Fleet::default();
        let deployed = self.deploy(deployer, round, sites, &mut fleet);
        let mut result = deployed.and_then(|()| act(self, round, &mut fleet));
        for (id, stopped) in self.timed(|spent| &mut spent.stopping_s, |_| fleet.stop()) {
            if let Err(failure) = stopped {
                match result {
                    Ok(()) => result = self.abandon(id, failure),
                    Err(_) => tracing::warn!("{failure}"),
                }
            }
        }
        result
    }

    /// Warms the cells of a stage up and measures its blocks.
    fn measure_stage(&mut self, round: u32, fleet: &mut Fleet) -> Result<(), RunError> {
        let look = |run: &mut Self, fleet: &mut Fleet| {
            run.timed(|spent| &mut spent.counters_s, |run| run.look_into_runtimes(round, fleet))
        };
        if self.experiment.plan.is_cold() {
            // A JVM that is asked is no longer one that has just started.
            self.measure_blocks(round, fleet)?;
            return look(self, fleet);
        }
        self.timed(|spent| &mut spent.warming_up_s, |run| run.warm_up(round, fleet))?;
        look(self, fleet)?;
        self.measure_blocks(round, fleet)
    }

    fn deploy(
        &mut self,
        deployer: &dyn Deployer,
        round: u32,
        sites: &[SiteId],
        fleet: &mut Fleet,
    ) -> Result<(), RunError> {
        let mut deferred = Vec::new();
        for site in sites.iter().copied() {
            if self.abandoned.contains(&site) {
                continue;
            }
            match self.start(deployer, round, site) {
                Ok(started) if started.site.is_slow_to_start() => deferred.push(started),
                Ok(started) => self.admit(round, started, fleet)?,
                Err(failure) => self.abandon(site, failure)?,
            }
        }
        deferred.into_iter().try_for_each(|started| self.admit(round, started, fleet))
    }

    fn start<'d>(
        &mut self,
        deployer: &'d dyn Deployer,
        round: u32,
        id: SiteId,
    ) -> Result<StartedSite<'d>, RunError> {
        self.check_interrupted()?;
        let label = self.label(id);
        (self.events)(Event::Deploying { round, site: label.clone() });
        let begun = self.clock.now();
        let started =
            self.timed(|spent| &mut spent.starting_s, |run| deployer.start(id, &mut run.progress(&label)));
        let site = started.map_err(|source| RunError::Site { site: label.clone(), source })?;
        Ok(StartedSite { id, label, begun, site })
    }

    fn admit(&mut self, round: u32, started: StartedSite, fleet: &mut Fleet) -> Result<(), RunError> {
        let id = started.id;
        match self.make_ready(round, started) {
            Ok(member) => fleet.add(member),
            Err(failure) => self.abandon(id, failure)?,
        }
        Ok(())
    }

    /// Waits until a site is ready, stores the phases of its start, and connects its engines.
    fn make_ready(&mut self, round: u32, started: StartedSite) -> Result<Member, RunError> {
        let StartedSite { id, label, begun, site } = started;
        let waited = self.timed(|spent| &mut spent.starting_s, |run| site.wait(&mut run.progress(&label)));
        let site = waited.map_err(|source| RunError::Site { site: label.clone(), source })?;
        let mut member = Member::new(id, label, site);
        let ready = self.timed(|spent| &mut spent.ready_s, |run| run.wait_until_ready(&mut member, begun))?;
        member.look_where_it_may_run();
        (self.events)(Event::Ready { site: member.label.clone(), after: ready });
        let left_out = member.site.left_out();
        for sentence in &left_out {
            self.note(Note::LeftOut { text: sentence.clone() })?;
        }
        let deployment = DeploymentRow {
            site: id,
            round,
            at_s: (begun - self.begun).as_secs_f64(),
            ready_ms: ready.as_secs_f64() * 1e3,
            left_out,
            startup: member.site.startup(),
            runtime: Runtime::default(),
        };
        self.journal.deployment(&deployment).map_err(RunError::Journal)?;
        let metrics = member.site.metrics();
        self.check_objectives(&member.label, &metrics)?;
        self.keep_metrics(metrics)?;
        for (cell, load) in self.plan.cells_of(id) {
            let engine = member.site.connect(self.experiment.load(load))?;
            member.add_engine(cell, engine);
        }
        Ok(member)
    }

    /// Refuses a site whose slices cannot be judged by the objectives of a search: some metrics are known only once it shows them.
    fn check_objectives(&self, site: &str, metrics: &[MetricDeclaration]) -> Result<(), RunError> {
        let objectives = self.experiment.capacity.iter().flat_map(|capacity| &capacity.objectives);
        let mut faults = objectives.filter_map(|objective| Some((objective, objective.fault(metrics)?)));
        faults.next().map_or(Ok(()), |(objective, fault)| {
            let (site, objective) = (site.to_owned(), objective.text.clone());
            Err(RunError::Objective { site, objective, fault })
        })
    }

    /// Keeps the metrics of a site that no other had.
    fn keep_metrics(&mut self, declared: Vec<MetricDeclaration>) -> Result<(), RunError> {
        let known = self.metrics.len();
        for metric in declared {
            if self.metrics.iter().all(|other| other.name != metric.name) {
                self.metrics.push(metric);
            }
        }
        if self.metrics.len() == known {
            return Ok(());
        }
        self.journal.metrics(&self.metrics).map_err(RunError::Journal)
    }

    fn measure_blocks(&mut self, round: u32, fleet: &mut Fleet) -> Result<(), RunError> {
        let side_by_side = match self.side_by_side.clone() {
            Some(cells) => cells,
            None => self.decide_side_by_side(fleet)?,
        };
        for block in 0.. {
            let cells = fleet.cells();
            let together: Vec<CellId> =
                side_by_side.iter().copied().filter(|cell| cells.contains(cell)).collect();
            let at = BlockContext { round, block, cells: &cells, side_by_side: &together };
            let Some(turns) = self.strategy.next_block(&at) else { break };
            self.block(round, block, turns, fleet)?;
            (self.events)(Event::BlockDone { round, block });
        }
        self.warmth.review(self.plan);
        let plan = &self.experiment.plan;
        if let Some(length) = plan.tails {
            self.timed(|spent| &mut spent.profiling_s, |run| run.tails(round, length, fleet))?;
        }
        match plan.profile {
            Some(length) => {
                self.timed(|spent| &mut spent.profiling_s, |run| run.profile(round, length, fleet))
            }
            None => Ok(()),
        }
    }

    /// Continues without the sites whose service has ended, or otherwise without the one whose engine failed. Any other failure ends the
    /// run.
    pub fn continue_without(&mut self, fleet: &mut Fleet, failure: RunError) -> Result<(), RunError> {
        if !failure.is_of_a_site() {
            return Err(failure);
        }
        let before = fleet.len();
        self.abandon_ended(fleet)?;
        if fleet.len() < before {
            return Ok(());
        }
        let failed = match &failure {
            RunError::Engine { site, .. } => fleet.labelled(site),
            _ => None,
        };
        match failed {
            Some(id) => {
                drop(fleet.take(id));
                self.abandon(id, failure)
            }
            None => Err(failure),
        }
    }

    /// Removes the sites whose service has ended from the fleet.
    pub fn abandon_ended(&mut self, fleet: &mut Fleet) -> Result<(), RunError> {
        while let Some((member, why)) = fleet.take_ended() {
            let id = member.id;
            drop(member);
            self.abandon(id, why)?;
        }
        Ok(())
    }

    /// Ends the run, or continues without a site, as the experiment says.
    fn abandon(&mut self, site: SiteId, failure: RunError) -> Result<(), RunError> {
        if self.experiment.plan.on_failure == OnFailure::End || !failure.is_of_a_site() {
            return Err(failure);
        }
        let text = failure.to_string();
        self.journal.failure(&Failure { site: Some(site), text: text.clone() }).map_err(RunError::Journal)?;
        if !self.abandoned.contains(&site) {
            self.abandoned.push(site);
        }
        (self.events)(Event::GivenUp { failure: text });
        if self.abandoned.len() == self.plan.sites.len() { Err(failure) } else { Ok(()) }
    }

    /// Reports the progress of a site.
    fn progress<'e>(&'e mut self, label: &'e str) -> impl FnMut(&str) + 'e {
        |text| (self.events)(Event::Progress { site: label.to_owned(), text: text.to_owned() })
    }

    fn label(&self, id: SiteId) -> String {
        self.plan.site(id).label(self.experiment)
    }

    pub fn check_interrupted(&self) -> Result<(), RunError> {
        if self.is_stopped() { Err(RunError::Interrupted) } else { Ok(()) }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
