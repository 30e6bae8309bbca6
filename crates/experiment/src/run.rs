//! The run loop: rounds of deployments, blocks of slices, each thing kept in the store as it ends.

mod error;
mod events;
mod generator;
mod measure;
mod network;
mod notes;
mod profile;
mod ready;
mod side_by_side;
mod site;
mod warm_up;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loadline_engine::Load;
use loadline_machine::{Environment, RunName};
use loadline_model::experiment::{Experiment, OnFailure};
use loadline_model::notes::{Failure, Note};
use loadline_model::platform::Starts;
use loadline_model::rows::Surroundings;
use loadline_model::{CellId, LoadId, Machine, RunState, SiteId};
use loadline_observe::describe_machine;
use loadline_store::{NewRun, Store};

use crate::placement::{self, Cpus};
use crate::plan::{Order, Plan, Turn};

pub use error::RunError;
pub use events::Event;
pub use network::{NeedsRoot, Network};
use site::{LiveSite, StartedSite};

/// What a run needs beside its experiment.
pub struct RunOptions {
    /// Kept with the run.
    pub command_line: Vec<String>,
    /// Version of the program, kept with the run.
    pub version: String,
    /// The program that serves the built-in services.
    pub program: PathBuf,
    /// Set to end the run; what was measured is kept.
    pub stop: Arc<AtomicBool>,
    /// CPUs that this process may use, in order.
    pub allowed_cpus: Vec<usize>,
    /// What is known before the run and a reader must know.
    pub notes: Vec<Note>,
    /// [`Network::choose`]n for the experiment, and entered if need be.
    pub network: Network,
}

/// Says after a round whether enough was measured, for `until`.
pub trait Referee {
    /// Whether the run may end after so many deployments.
    fn settled(&mut self, store: &Store, run: i64, deployments: u32) -> bool;
}

/// How a run ended.
pub struct RunOutcome {
    /// Its number in the store.
    pub run: i64,
    /// How it ended.
    pub state: RunState,
    /// Why, when it failed.
    pub failure: Option<RunError>,
}

/// Executes an experiment. What it measures is in the store whatever happens; an error means that there is no run at all.
pub fn execute(
    experiment: &Experiment,
    options: &RunOptions,
    store: &Store,
    referee: &mut dyn Referee,
    events: &mut dyn FnMut(Event),
) -> Result<RunOutcome, RunError> {
    let plan = Plan::new(experiment);
    let cpus = placement::place(&experiment.placement, &options.allowed_cpus);
    let name = RunName::random();
    let machine = describe_machine();
    let run = store.begin_run(&NewRun {
        label: &name.to_string(),
        version: &options.version,
        command_line: &options.command_line,
        experiment,
        plan: &plan,
        machine: &machine,
        service_cpus: &cpus.service,
        load_cpus: &cpus.load,
    })?;
    let mut execution = Execution {
        experiment,
        options,
        store,
        run,
        failed_sites: vec![false; plan.sites.len()],
        plan,
        cpus,
        machine,
        begun: Instant::now(),
        side_by_side: None,
        noted: Vec::new(),
        failed_at: None,
        events,
    };
    let result = execution.deploy_and_measure(name, referee);
    let (state, failure) = match result {
        Ok(()) if options.stop.load(Ordering::Relaxed) => (RunState::Interrupted, None),
        Ok(()) => (RunState::Complete, None),
        Err(RunError::Interrupted) => (RunState::Interrupted, None),
        Err(failure) => {
            store.add_failure(run, &Failure { site: execution.failed_at, text: failure.to_string() })?;
            (RunState::Failed, Some(failure))
        }
    };
    store.finish_run(run, state)?;
    Ok(RunOutcome { run, state, failure })
}

/// A run under way.
struct Execution<'a> {
    experiment: &'a Experiment,
    options: &'a RunOptions,
    store: &'a Store,
    run: i64,
    plan: Plan,
    cpus: Cpus,
    machine: Machine,
    begun: Instant,
    /// Sites that failed in a run that goes on without them.
    failed_sites: Vec<bool>,
    /// Cells measured request by request; decided after the first warm-up.
    side_by_side: Option<Vec<CellId>>,
    /// Notes already in the store.
    noted: Vec<Note>,
    /// The site at which the run ended.
    failed_at: Option<SiteId>,
    events: &'a mut dyn FnMut(Event),
}

impl Execution<'_> {
    fn deploy_and_measure(&mut self, name: RunName, referee: &mut dyn Referee) -> Result<(), RunError> {
        let all_external = self
            .experiment
            .platforms
            .iter()
            .all(|platform| platform.kind.capabilities(false).starts == Starts::Nothing);
        let environment = match self.options.network {
            _ if all_external => None,
            Network::Wired | Network::WiredInUserNamespace => Some(Environment::prepare(name)?),
            Network::WithoutWire => {
                self.note(Note::NoWire)?;
                Some(Environment::prepare_without_wire(name)?)
            }
        };
        self.note_what_to_know()?;
        let result = self
            .keep_surroundings(environment.as_ref())
            .and_then(|()| self.rounds(environment.as_ref(), referee));
        let removed = environment.map_or(Ok(()), Environment::remove);
        result.and(removed.map_err(RunError::from))
    }

    /// Keeps what kind of daemon or cluster each platform is. One that can't be asked now says why when it is to deploy.
    fn keep_surroundings(&mut self, environment: Option<&Environment>) -> Result<(), RunError> {
        let Some(environment) = environment else { return Ok(()) };
        for platform in &self.experiment.platforms {
            if let Ok(Some(found)) = self.platform_of(&platform.kind).surroundings(environment) {
                let row = Surroundings { summary: found.summary, facts: found.facts };
                self.store.add_surroundings(self.run, &platform.name, &row)?;
            }
        }
        Ok(())
    }

    fn rounds(
        &mut self,
        environment: Option<&Environment>,
        referee: &mut dyn Referee,
    ) -> Result<(), RunError> {
        let plan = &self.experiment.plan;
        for round in 0.. {
            let enough = match plan.until {
                None => round >= plan.deployments,
                Some(_) => round >= plan.deployments && referee.settled(self.store, self.run, round),
            };
            if enough {
                return Ok(());
            }
            if let Some(within) = plan.within.filter(|within| round > 0 && self.begun.elapsed() >= *within) {
                self.note(Note::TimeOver { deployments: round, within })?;
                return Ok(());
            }
            for stage in Order(&self.plan).stages(plan.isolation, round) {
                self.stage(environment, round, &stage)?;
            }
        }
        Ok(())
    }

    /// Deploys the sites of a stage, warms their cells up, measures the blocks and stops the sites.
    fn stage(
        &mut self,
        environment: Option<&Environment>,
        round: u32,
        sites: &[SiteId],
    ) -> Result<(), RunError> {
        let (mut live, mut held_back) = (Vec::new(), Vec::new());
        for site in sites.iter().copied().filter(|site| !self.failed_sites[site.0]).collect::<Vec<_>>() {
            let platform = &self.experiment.platform(self.plan.site(site).platform).kind;
            match self.start_site(environment, round, site) {
                Ok(started) if platform.capabilities(false).holds_back => held_back.push(started),
                Ok(started) => live.extend(self.ready_or_given_up(environment, started)?),
                Err(failure) => self.give_up(site, failure)?,
            }
        }
        for started in held_back {
            live.extend(self.ready_or_given_up(environment, started)?);
        }
        let result = self.warm_up_and_measure(round, &mut live);
        for site in live {
            let index = site.index;
            match (site.stop(), &result) {
                (Err(failure), Ok(())) => self.give_up(index, failure)?,
                (Err(failure), Err(_)) => tracing::warn!("{failure}"),
                (Ok(()), _) => {}
            }
        }
        result
    }

    fn ready_or_given_up(
        &mut self,
        environment: Option<&Environment>,
        started: StartedSite,
    ) -> Result<Option<LiveSite>, RunError> {
        let site = started.site();
        match self.make_ready(environment, started) {
            Ok(live) => Ok(Some(live)),
            Err(failure) => self.give_up(site, failure).map(|()| None),
        }
    }

    fn warm_up_and_measure(&mut self, round: u32, live: &mut Vec<LiveSite>) -> Result<(), RunError> {
        self.warm_up(round, live)?;
        let side_by_side = match self.side_by_side.clone() {
            Some(cells) => cells,
            None => self.decide_side_by_side(live)?,
        };
        for block in 0..self.experiment.plan.blocks {
            self.block(round, block, live, &side_by_side)?;
            (self.events)(Event::BlockDone { round, block });
        }
        if let Some(length) = self.experiment.plan.profile {
            self.profile(round, length, live)?;
        }
        Ok(())
    }

    fn block(
        &mut self,
        round: u32,
        block: u32,
        live: &mut Vec<LiveSite>,
        side_by_side: &[CellId],
    ) -> Result<(), RunError> {
        let cells: Vec<CellId> = live.iter().flat_map(LiveSite::cells).collect();
        let together: Vec<CellId> =
            side_by_side.iter().copied().filter(|cell| cells.contains(cell)).collect();
        let gap = |load: LoadId| self.mean_gap(load);
        let mut turns: Vec<(Turn, u32)> = Order(&self.plan)
            .block(round, block, &cells, &together, &gap)
            .into_iter()
            .map(|turn| (turn, 0))
            .collect();
        let mut position = 0;
        while position < turns.len() {
            let (turn, attempt) = turns[position].clone();
            let place = measure::Place { round, block, attempt, position: position as u32 };
            let failed = match self.measure(place, &turn, live) {
                Ok(failed) => failed,
                Err(failure) => {
                    self.leave_behind(live, failure)?;
                    Vec::new()
                }
            };
            if !failed.is_empty() && attempt < self.experiment.plan.repeats {
                (self.events)(Event::Repeating { cells: failed.clone() });
                turns.push((turn, attempt + 1));
            }
            self.bury_the_dead(live)?;
            position += 1;
        }
        Ok(())
    }

    /// Goes on without the sites whose service has ended, or else without the one at which an engine failed. Any other failure ends
    /// the run.
    fn leave_behind(&mut self, live: &mut Vec<LiveSite>, failure: RunError) -> Result<(), RunError> {
        let sites = live.len();
        self.bury_the_dead(live)?;
        if live.len() < sites {
            return Ok(());
        }
        let failed = match &failure {
            RunError::Engine { site, .. } => live.iter().position(|live| live.label == *site),
            _ => None,
        };
        match failed {
            Some(index) => {
                let site = live.remove(index);
                self.give_up(site.index, failure)
            }
            None => Err(failure),
        }
    }

    /// Drops the sites whose service has ended.
    fn bury_the_dead(&mut self, live: &mut Vec<LiveSite>) -> Result<(), RunError> {
        let mut index = 0;
        while index < live.len() {
            match live[index].death() {
                None => index += 1,
                Some(failure) => {
                    let site = live.remove(index);
                    let number = site.index;
                    drop(site);
                    self.give_up(number, failure)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the run, or goes on without a site, as the experiment says.
    fn give_up(&mut self, site: SiteId, failure: RunError) -> Result<(), RunError> {
        let is_of_the_site =
            matches!(failure, RunError::Service { .. } | RunError::Site { .. } | RunError::Engine { .. });
        if self.experiment.plan.on_failure == OnFailure::Continue && is_of_the_site {
            let row = Failure { site: Some(site), text: failure.to_string() };
            self.store.add_failure(self.run, &row)?;
            self.failed_sites[site.0] = true;
            (self.events)(Event::GivenUp { failure: failure.to_string() });
            if self.failed_sites.iter().any(|failed| !failed) {
                return Ok(());
            }
        }
        self.failed_at = Some(site);
        Err(failure)
    }

    fn load_of(&self, cell: CellId) -> Load {
        self.experiment.load(self.plan.load_of(cell)).load.clone()
    }

    fn mean_gap(&self, load: LoadId) -> Duration {
        self.experiment.load(load).load.rate().map_or(Duration::ZERO, |rate| rate.mean_gap())
    }

    fn check_interrupted(&self) -> Result<(), RunError> {
        if self.options.stop.load(Ordering::Relaxed) { Err(RunError::Interrupted) } else { Ok(()) }
    }
}
