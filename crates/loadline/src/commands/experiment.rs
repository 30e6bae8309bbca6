//! `loadline compare`, `loadline run` and `loadline layers`: an experiment from flags or from a file, executed, judged and shown.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use loadline_analysis::Objectives;
use loadline_engine::real_time_permitted;
use loadline_local::LocalError;
use loadline_machine::{RunName, may_create_cgroups};
use loadline_model::Tried;
use loadline_model::experiment::{Capacity, Experiment, Nodes, Platform, PlatformKind};
use loadline_model::notes::Note;
use loadline_model::plan::Plan;
use loadline_model::platform::Layer;
use loadline_model::rows::{SliceRow, TrialOutcome};
use loadline_observe::{TaskTime, describe_machine};
use loadline_platforms as platforms;
use loadline_run::deploy::{Network, PlatformDeployer, ServiceTraffic};
use loadline_run::placement::place;
use loadline_run::strategy::{FixedPlan, Patience, SearchCapacity, Until};
use loadline_run::{Event, Outcome, Run, RunError, Strategy, SystemClock, execute, try_out};
use loadline_spec::{add_conditions, check_conditions, from_flags, from_yaml_file, ladder};
use loadline_store::Store;

use super::machine::machine;
use super::stored::{self, Baseline};
use crate::arguments::{
    AgainstArguments, CapacityArguments, CompareArguments, LayersArguments, OutputArguments, RunArguments,
    TurnArguments,
};
use crate::event_log::EventLog;
use crate::exit::{Exit, UsageError};
use crate::interrupt;
use crate::journal::StoreJournal;
use crate::outputs;
use crate::progress::Progress;
use crate::streams::tell;
use crate::turn::wait_for_turn;

pub fn compare(arguments: &CompareArguments) -> Result<Exit> {
    if let Some(runs) = arguments.stored_runs()? {
        return stored::compare(&runs, &arguments.outputs);
    }
    let experiment = from_flags(&arguments.flags()?, &machine())?;
    execute_and_show(experiment, &arguments.turn, &arguments.against, &arguments.outputs)
}

pub fn capacity(arguments: &CapacityArguments) -> Result<Exit> {
    let experiment = from_flags(&arguments.flags()?, &machine())?;
    execute_and_show(experiment, &arguments.turn, &arguments.against, &arguments.outputs)
}

pub fn run(arguments: &RunArguments) -> Result<Exit> {
    let experiment = from_yaml_file(&arguments.file, &machine())?;
    execute_and_show(experiment, &arguments.turn, &arguments.against, &arguments.outputs)
}

pub fn layers(arguments: &LayersArguments) -> Result<Exit> {
    outputs::check(&arguments.outputs)?;
    let network = if is_root() { Network::Wired } else { Network::WiredInUserNamespace };
    // What can be had is asked where the rungs will be.
    enter(network)?;
    let stop = interrupt::stop_flag_of_run()?;
    let Some(_turn) = wait_for_turn(arguments.turn.anyway, &stop)? else { return Ok(Exit::Interrupted) };
    let missing = |layers: &[Layer]| {
        if stop.load(Ordering::Relaxed) {
            return Some("interrupted".to_owned());
        }
        loadline_local::missing(layers).map(|error| match error {
            LocalError::LayerMissing { why, .. } => why,
            other => other.to_string(),
        })
    };
    let ladder = ladder(&arguments.flags()?, &machine(), &missing);
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    let mut ladder = ladder?;
    add_conditions(&mut ladder.experiment, &arguments.outputs.fail_if)?;
    ends_in_time(&ladder.experiment)?;
    let notes = ladder.left_out.into_iter().map(|text| Note::LeftOut { text }).collect();
    execute_in(network, &ladder.experiment, notes, stop, None, &arguments.outputs)
}

fn execute_and_show(
    mut experiment: Experiment,
    turn: &TurnArguments,
    against: &AgainstArguments,
    outputs: &OutputArguments,
) -> Result<Exit> {
    let baseline = Baseline::read(against, &experiment, outputs)?;
    match baseline {
        Some(_) => check_conditions(&experiment, &outputs.fail_if)?,
        None => add_conditions(&mut experiment, &outputs.fail_if)?,
    }
    outputs::check(outputs)?;
    ends_in_time(&experiment)?;
    let network = network(&experiment)?;
    let notes = check_limits(&experiment, outputs.allow_missing)?;
    enter(network)?;
    let stop = interrupt::stop_flag_of_run()?;
    let Some(_turn) = wait_for_turn(turn.anyway, &stop)? else { return Ok(Exit::Interrupted) };
    execute_in(network, &experiment, notes, stop, baseline, outputs)
}

/// Refuses a search that cannot end in the time that it has, and says what else is not reached in it.
fn ends_in_time(experiment: &Experiment) -> Result<()> {
    let preview = loadline_run::preview(experiment, &Plan::new(experiment))
        .map_err(|error| UsageError(error.to_string()))?;
    if let Some(warning) = loadline_report::too_short(&preview.time) {
        tell(format_args!("{warning}"));
    }
    Ok(())
}

pub(super) fn network(experiment: &Experiment) -> Result<Network> {
    let shared_needs = experiment.has_shared_needs();
    Ok(Network::choose(is_root(), experiment.used_platforms(), experiment.plan.nodes, shared_needs)
        .map_err(|error| UsageError(error.to_string()))?)
}

/// Refuses limits that this user cannot set, or notes that it is measured without them.
pub(super) fn check_limits(experiment: &Experiment, allow_missing: bool) -> Result<Vec<Note>> {
    let is_here = |platform: &&Platform| matches!(platform.kind, PlatformKind::Host | PlatformKind::Local(_));
    let is_limited = |platform: &&Platform| {
        let of_needs = experiment.services.iter().flat_map(|service| &service.needs).map(|need| need.limits);
        let of_services = experiment.services.iter().map(|service| service.limits);
        let common = [experiment.limits, platform.limits].into_iter();
        common.chain(of_services).chain(of_needs).any(|limits| limits.any())
    };
    let limited = experiment.platforms.iter().filter(is_here).filter(is_limited);
    let platforms: Vec<String> = limited.map(|platform| platform.name.clone()).collect();
    if platforms.is_empty() || may_create_cgroups()? {
        return Ok(Vec::new());
    }
    if allow_missing {
        return Ok(vec![Note::WithoutLimits { platforms }]);
    }
    let why = format!(
        "limits cannot be set on {}: this user cannot write to cgroups; run as root, or under `systemd-run --user --scope -p Delegate=yes` \
         on a machine with cgroup v2; --allow-missing measures without limits",
        platforms.join(", ")
    );
    Err(UsageError(why).into())
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Before any thread is started: a user namespace can only be entered by a process that has one.
pub(super) fn enter(network: Network) -> Result<()> {
    if network == Network::WiredInUserNamespace {
        loadline_machine::enter_user_namespace()?;
    }
    Ok(())
}

fn execute_in(
    network: Network,
    experiment: &Experiment,
    notes: Vec<Note>,
    stop: Arc<AtomicBool>,
    baseline: Option<Baseline>,
    outputs: &OutputArguments,
) -> Result<Exit> {
    let traffic = ServiceTraffic::read(experiment).map_err(|error| UsageError(error.to_string()))?;
    let store = Store::create(&outputs.store)?;
    let journal = StoreJournal::new(&store);
    let plan = Plan::new(experiment);
    let progress = RefCell::new(Progress::new(experiment, &plan));
    let mut told = outputs.events.as_deref().map(|file| EventLog::create(file, stop.clone())).transpose()?;
    let events = &mut |event| {
        if let Some(told) = &mut told {
            told.tell(journal.run(), &event);
        }
        progress.borrow_mut().show(event);
    };
    let measuring = Measuring {
        network,
        experiment,
        plan: &plan,
        traffic,
        allow_missing: outputs.allow_missing,
        notes,
        stop,
        journal: &journal,
        events,
    };
    let fixed = FixedPlan::new(experiment, &plan);
    let outcome = match (&experiment.capacity, &experiment.plan.until) {
        (Some(capacity), _) => {
            let judge =
                |slice: &SliceRow, patience: &mut Patience| judge(capacity, &journal, slice, patience);
            measuring.run(&mut SearchCapacity::new(experiment, capacity, &plan, &judge))
        }
        (None, None) => measuring.run(&mut { fixed }),
        (None, Some(_)) => measuring.run(&mut Until::new(fixed, &mut |deployments| {
            is_settled(experiment, &journal, deployments, &mut progress.borrow_mut())
        })),
    }?;
    progress.borrow().finish();
    if let Some(baseline) = baseline.filter(|_| outcome.failure.is_none()) {
        return baseline.show(store.data(journal.run())?, outputs);
    }
    let result = outputs::analyse(&store, journal.run())?;
    if outcome.failure.is_some() && result.slices.is_empty() {
        // The failure is all there is to show.
        outputs::write_all(&result, &store, outputs)?;
    } else {
        outputs::write(&result, &store, outputs)?;
    }
    if let Some(failure) = &outcome.failure {
        tell(format_args!("error: {failure}"));
        return Ok(Exit::Failed);
    }
    Ok(outputs::exit_of(&result, outputs))
}

/// An experiment that is about to be measured on the real platforms.
pub(super) struct Measuring<'a> {
    pub network: Network,
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    pub traffic: ServiceTraffic,
    /// Whether it begins without platforms that cannot be reached, if it continues after failures.
    pub allow_missing: bool,
    /// Known before the run.
    pub notes: Vec<Note>,
    pub stop: Arc<AtomicBool>,
    pub journal: &'a StoreJournal<'a>,
    pub events: &'a mut dyn FnMut(Event),
}

impl Measuring<'_> {
    /// Measures it. Whatever happens, what was measured is in the journal.
    pub(super) fn run(self, strategy: &mut dyn Strategy) -> Result<Outcome> {
        self.with(|run| execute(run, strategy))
    }

    /// Sends each request once instead.
    pub(super) fn try_out(self, strategy: &mut dyn Strategy) -> Result<(Outcome, Vec<Tried>)> {
        self.with(|run| try_out(run, strategy))
    }

    fn with<T>(self, act: impl FnOnce(Run<'_>) -> Result<T, RunError>) -> Result<T> {
        let Measuring { network, experiment, plan, traffic, allow_missing, notes, stop, journal, events } =
            self;
        let machine = describe_machine();
        let cpus = place(experiment, &allowed_cpus()?, &real_time_permitted);
        let name = RunName::random();
        let own_node = experiment.plan.nodes == Nodes::Own;
        let mut deployer = PlatformDeployer {
            experiment,
            plan,
            platforms: experiment
                .platforms
                .iter()
                .map(|platform| platforms::platform(&platform.kind, own_node))
                .collect(),
            traffic,
            cpus: &cpus,
            run: name,
            program: own_program()?,
            network,
            machine: &machine,
            stop: stop.clone(),
            environment: None,
            is_set_up: false,
            node: platforms::platform(&PlatformKind::Host, false),
            shared_needs: Arc::default(),
        };
        let run = Run {
            experiment,
            plan,
            cpus: &cpus,
            machine: &machine,
            label: name.to_string(),
            command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stop,
            allow_missing,
            notes,
            deployer: &mut deployer,
            journal,
            clock: &SystemClock,
            tasks: &TaskTime::on(&cpus.service),
            events,
        };
        Ok(act(run)?)
    }
}

/// This program's own file, which also serves the built-in services.
pub(super) fn own_program() -> Result<PathBuf> {
    std::env::current_exe()
        .context("cannot find the file of this program, which serves the built-in services")
}

/// The CPUs that this process may use, in order.
pub(super) fn allowed_cpus() -> Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None)
        .context("cannot determine which CPUs this process may use")?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// How a slice of a search went, by the metrics that the run has by now.
fn judge(
    capacity: &Capacity,
    journal: &StoreJournal<'_>,
    slice: &SliceRow,
    patience: &mut Patience,
) -> TrialOutcome {
    match journal.store().run(journal.run()) {
        Ok(run) => Objectives::of(capacity, &run).judge(slice, patience),
        // Nothing is known of it, least of all whether it was sent.
        Err(_) => TrialOutcome::Disturbed,
    }
}

/// Whether a run with `until` has figures narrow enough, where it is time to look at them.
fn is_settled(
    experiment: &Experiment,
    journal: &StoreJournal<'_>,
    deployments: u32,
    progress: &mut Progress<'_>,
) -> bool {
    if !loadline_analysis::look_at(experiment, deployments) {
        return false;
    }
    let Ok(result) = outputs::analyse(journal.store(), journal.run()) else { return false };
    let open = loadline_analysis::still_open(&result);
    if let Some(open) = &open {
        progress.looked(open, deployments);
    }
    open.is_none()
}
