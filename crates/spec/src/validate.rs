//! From a draft to an experiment: what each value means, whether it can be, and whether the parts fit together.
//!
//! One path for files and flags. Every part is read even when another is wrong, so that all problems are told at once.

mod choices;
mod claims;
mod command;
mod cpus;
mod docker;
mod fitting;
mod kubernetes;
mod layers;
mod limits;
mod loads;
mod names;
mod plan;
mod platforms;
mod requests;
mod services;
mod tls;
mod together;

use super::draft::Draft;
use super::error::{Place, Problem, Problems};
use super::machine::Machine;
use super::{Experiment, Platform, Service};

/// The experiment that the draft describes.
pub(super) fn experiment(draft: &Draft, machine: &Machine) -> Result<Experiment, Vec<Problem>> {
    let mut problems = Problems::default();
    let platforms = platforms::platforms(draft, machine, &mut problems);
    let needs = services::Needs::of(&platforms);
    let services = services::services(draft, needs, machine, &mut problems);
    let loads = loads::loads(draft, &mut problems);
    let limits = limits::limits(draft.limits.as_ref(), &mut problems);
    let plan = plan::plan(draft.plan.as_ref(), &mut problems);
    let placement = cpus::placement(draft.cpus.as_ref(), machine, &mut problems);
    let measured = claims::Measured { services: &services, platforms: &platforms, loads: &loads };
    let claims = claims::claims(draft, &measured, &mut problems);
    let name = match &draft.name {
        Some(name) => name.read(&mut problems, names::name),
        None => Some(default_name(&services, &platforms)),
    };
    let question = draft.question.as_ref().map(|question| question.value.trim().to_owned());
    let experiment = name.zip(limits).zip(plan).zip(placement).map(|(((name, limits), plan), placement)| {
        Experiment { name, question, services, limits, platforms, loads, plan, placement, claims }
    });
    if let Some(experiment) = experiment.as_ref().filter(|_| problems.count() == 0) {
        together::together(experiment, draft, machine, &mut problems);
        fitting::loads_fit(experiment, draft, &mut problems);
    }
    problems.finish(experiment)
}

/// `orders · host against pod`
fn default_name(services: &[Service], platforms: &[Platform]) -> String {
    let services: Vec<_> = services.iter().map(|service| service.name.as_str()).collect();
    let platforms: Vec<_> = platforms.iter().map(|platform| platform.name.as_str()).collect();
    format!("{} · {}", services.join(" against "), platforms.join(" against "))
}

/// What to do, in the words of the file or of the command line.
fn way_out(place: &Place, file: &'static str, command_line: &'static str) -> &'static str {
    match place {
        Place::Yaml(_) | Place::File => file,
        Place::Flag { .. } | Place::CommandLine => command_line,
    }
}
