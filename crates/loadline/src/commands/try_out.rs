//! `loadline try`: each request once, to each service on each platform. Nothing is measured, and nothing is stored.

use std::cell::RefCell;

use anyhow::{Context, Result};
use loadline_model::RunState;
use loadline_model::experiment::{Experiment, PlanSpec};
use loadline_model::plan::Plan;
use loadline_run::deploy::ServiceTraffic;
use loadline_run::strategy::FixedPlan;
use loadline_store::Store;

use super::experiment::{Measuring, check_limits, enter, network};
use super::plan;
use crate::arguments::TryArguments;
use crate::exit::{Exit, UsageError};
use crate::journal::StoreJournal;
use crate::progress::Progress;
use crate::streams::tell;
use crate::turn::wait_for_turn;
use crate::{interrupt, outputs};

pub fn try_out(arguments: &TryArguments) -> Result<Exit> {
    let experiment = once(plan::experiment(&arguments.experiment)?);
    let network = network(&experiment)?;
    // What a service says does not depend on its limits.
    let notes = check_limits(&experiment, true)?;
    enter(network)?;
    let stop = interrupt::stop_flag_of_run()?;
    let Some(_turn) = wait_for_turn(arguments.turn.anyway, &stop)? else { return Ok(Exit::Interrupted) };
    let traffic = ServiceTraffic::read(&experiment).map_err(|error| UsageError(error.to_string()))?;
    let store = Store::in_memory()?;
    let journal = StoreJournal::new(&store);
    let plan = Plan::new(&experiment);
    let progress = RefCell::new(Progress::new(&experiment, &plan));
    let measuring = Measuring {
        network,
        experiment: &experiment,
        plan: &plan,
        traffic,
        allow_missing: false,
        notes,
        stop,
        journal: &journal,
        events: &mut |event| progress.borrow_mut().show(event),
    };
    let (outcome, tried) = measuring.try_out(&mut FixedPlan::new(&experiment, &plan))?;
    progress.borrow().finish();
    let text = match arguments.experiment.json {
        true => format!("{}\n", serde_json::to_string_pretty(&tried)?),
        false => loadline_report::tried(&tried),
    };
    let mut out = outputs::create("-".as_ref())?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")?;
    if let Some(failure) = &outcome.failure {
        tell(format_args!("error: {failure}"));
        return Ok(Exit::Failed);
    }
    if outcome.state == RunState::Interrupted {
        return Ok(Exit::Interrupted);
    }
    let given_up = store.data(journal.run())?.run.failures;
    for failure in &given_up {
        tell(format_args!("error: {}", failure.text));
    }
    let is_as_expected =
        tried.iter().flat_map(|tried| &tried.requests).all(|request| request.problem.is_none());
    Ok(if is_as_expected && given_up.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Each service on each platform, deployed once.
fn once(experiment: Experiment) -> Experiment {
    let plan = PlanSpec { deployments: 1, twin: false, ..experiment.plan };
    Experiment { plan, ..experiment }
}
