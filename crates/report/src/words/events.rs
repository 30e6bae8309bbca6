//! What the log of a run in progress says.

use loadline_model::Event;
use loadline_model::experiment::Experiment;
use loadline_model::plan::Plan;

use super::Words;

/// The line that an event is worth in a log; none for what is shown as progress.
pub fn logged(event: &Event, experiment: &Experiment, plan: &Plan) -> Option<String> {
    match event {
        Event::Warm { cell, after, stationary, compiling } if !stationary || *compiling => {
            let site = plan.site_of(*cell).label(experiment);
            let load = experiment.load(plan.load_of(*cell));
            let load = load.name.clone().unwrap_or_else(|| load.load.to_string());
            let state = if *stationary { "its compiler still works" } else { "not stationary" };
            Some(format!("{site}, {load}: {state} after {:.0} s of warm-up", after.as_secs_f64()))
        }
        Event::Waiting { pause } => {
            Some(format!("the machine is too busy to measure on: waiting {} s", pause.as_secs()))
        }
        Event::GivenUp { failure } => Some(format!("continuing without a service: {failure}")),
        Event::Note(note) => Some(format!("note: {}", note.words())),
        Event::Begun { .. }
        | Event::Deploying { .. }
        | Event::Progress { .. }
        | Event::Ready { .. }
        | Event::Warm { .. }
        | Event::Measured(_)
        | Event::BlockDone { .. }
        | Event::Repeating { .. } => None,
    }
}
