//! The keys of an experiment: what may be written, what each value means, and whether the parts fit together.
//!
//! Each file declares the keys of one part in a table, and turns what was read into that part of the model and back. One path for files
//! and flags. Every part is read even when another is wrong, so that all problems are reported at once.

mod capacity;
mod cells;
mod claims;
mod command;
mod conditions;
mod cpus;
mod docker;
mod fitting;
mod fixed_ports;
mod hooks;
mod images;
mod kubernetes;
mod layers;
pub(crate) mod limits;
mod loads;
mod matrix;
mod metric;
mod names;
mod plan;
mod platforms;
mod precision;
mod published;
mod requests;
mod says;
mod services;
mod size;
mod starting;
mod tls;
mod together;

use std::path::{Path, PathBuf};

use loadline_model::experiment::Condition;
use loadline_model::platform::Limits;

use crate::error::{Place, Problem, Problems};
use crate::kinds::{List, Pairs, parsed, trimmed};
use crate::machine::Machine;
use crate::node::{Node, Text};
use crate::options::{Detail, Flag, Kind, Table, Written};
use crate::schema::Definitions;
use crate::{Experiment, Interleave, Platform, Service};
use capacity::CapacityKeys;
use cells::{CellsKeys, CellsKind, ContrastKeys};
use claims::ClaimKeys;
use cpus::CpuKeys;
use hooks::HookKeys;
use loads::LoadKeys;
use plan::PlanKeys;
use platforms::PlatformKeys;
use services::ServiceKeys;

pub use capacity::FLAGS as SEARCH_FLAGS;
pub use conditions::{add_conditions, check_conditions};
pub(crate) use docker::PUBLISHING;
pub(crate) use kubernetes::PLACEMENTS;
pub use metric::{metric, unknown_metric};
pub(crate) use names::name;
pub(crate) use services::{is_reference, service_as_written};
pub use services::{is_reference_service, service_lines};

/// Headings of the command line's help.
const WHAT: &str = "What";
const WHERE: &str = "Where";
const LOAD: &str = "Load";
const TLS: &str = "TLS";
const HOW_MUCH: &str = "How much";

/// What is written of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
struct ExperimentKeys {
    /// The folder of the file, which paths of files are relative to.
    folder: Option<PathBuf>,
    name: Option<String>,
    question: Option<String>,
    service: Option<Written<ServiceKeys>>,
    services: Option<Vec<Written<ServiceKeys>>>,
    limits: Written<Limits>,
    env: Vec<(String, String)>,
    platforms: Option<Vec<Written<PlatformKeys>>>,
    loads: Option<Vec<Written<LoadKeys>>>,
    cells: Option<CellsKeys>,
    contrasts: Option<Vec<Written<ContrastKeys>>>,
    capacity: Option<Written<CapacityKeys>>,
    plan: Written<PlanKeys>,
    cpus: Written<CpuKeys>,
    claims: Vec<Written<ClaimKeys>>,
    fail_if: Vec<Condition>,
    hooks: Written<HookKeys>,
}

impl ExperimentKeys {
    fn searches_each_request(&self) -> bool {
        self.capacity.as_ref().is_some_and(|capacity| capacity.value.each_request)
    }
}

fn table() -> Table<ExperimentKeys> {
    let description = "A loadline experiment: services, platforms and loads to compare";
    let limits =
        limits::table().flag_of("cpu", "--limit-cpu", WHERE).flag_of("memory", "--limit-memory", WHERE);
    Table::<ExperimentKeys>::new("Experiment", "experiment", description)
        .key("name", parsed(names::name), "Short name, shown as the title", |keys| &mut keys.name)
        .default("the services and platforms")
        .key("question", trimmed(), "The question that the run is to answer, in your words", |keys| {
            &mut keys.question
        })
        .key("service", services::table(), "What is measured. Write either `service` or `services`", |keys| {
            &mut keys.service
        })
        .key(
            "services",
            List { element: services::table(), needs_one: true },
            "What is compared, if it is more than one service; the first is the baseline",
            |keys| &mut keys.services,
        )
        .key(
            "limits",
            limits,
            "What a service may use, unless it or its platform has limits of its own",
            |keys| &mut keys.limits,
        )
        .key("env", Pairs(services::variable), "Environment variables of all services", |keys| &mut keys.env)
        .key("platforms", platforms::kind(), "Where the services run; the first is the baseline", |keys| {
            &mut keys.platforms
        })
        .required("")
        .key(
            "loads",
            List { element: loads::table(), needs_one: true },
            "What is sent to the services",
            |keys| &mut keys.loads,
        )
        .required("")
        .key("cells", CellsKind, "Which services are measured on which platforms under which loads", |keys| {
            &mut keys.cells
        })
        .default("all of them")
        .key(
            "contrasts",
            List { element: cells::contrast_table(), needs_one: true },
            "What is compared with what",
            |keys| &mut keys.contrasts,
        )
        .default("everything with the first platform, and services there with the first service")
        .key(
            "capacity",
            capacity::table().may_be_empty(),
            "Search for the highest rate that meets objectives, from the rate of each load on, instead of measuring at it",
            |keys| &mut keys.capacity,
        )
        .key("plan", plan::table(), "How much is measured, in which order", |keys| &mut keys.plan)
        .key(
            "cpus",
            cpus::table(),
            "Which CPUs serve and which load; chosen automatically if left out",
            |keys| &mut keys.cpus,
        )
        .key(
            "claims",
            List { element: claims::table(), needs_one: false },
            "Statements about the platforms, each confirmed or refuted at the end, or beyond the run's resolution",
            |keys| &mut keys.claims,
        )
        .key(
            "fail_if",
            List { element: conditions::condition(), needs_one: false },
            "The run fails, with exit code 4, if the interval of a comparison proves one of these: p99 slower by > 5%",
            |keys| &mut keys.fail_if,
        )
        .key("hooks", hooks::table(), "Commands that are run around the measuring", |keys| &mut keys.hooks)
}

/// The flags that set a key, each once.
pub fn flags() -> Vec<Flag> {
    let mut flags = Vec::new();
    for flag in table().flags() {
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    flags
}

/// What the flags say of the keys of an experiment that are in no list.
pub(crate) fn from_flags(given: &[(String, String)]) -> Node {
    let mut tree = map_from_flags(&table(), given);
    // A service is made for each that was asked for.
    tree.remove("service");
    tree
}

/// What the flags say of every service.
pub(crate) fn service_from_flags(given: &[(String, String)]) -> Node {
    map_from_flags(&services::table(), given)
}

/// What the flags say of every load.
pub(crate) fn load_from_flags(given: &[(String, String)]) -> Node {
    map_from_flags(&loads::table(), given)
}

fn map_from_flags(table: &impl Kind, given: &[(String, String)]) -> Node {
    table.given_by(given).unwrap_or_else(|| Node::map([], Place::CommandLine))
}

/// The JSON Schema (draft 2020-12) of an experiment file, as published in `docs/experiment.schema.json`.
pub fn experiment_schema() -> serde_json::Value {
    let mut definitions = Definitions::default();
    let root = table().object_schema(&mut definitions);
    definitions.file("loadline experiment", root)
}

/// The experiment that is written in a tree; `folder`: that of its file, if it is in one.
pub(crate) fn experiment(
    mut root: Node,
    folder: Option<&Path>,
    machine: &Machine,
) -> Result<Experiment, Vec<Problem>> {
    let mut problems = Problems::default();
    matrix::expand(&mut root, &mut problems);
    if problems.count() > 0 {
        return problems.finish(None);
    }
    let Some(mut keys) = table().read_partly(root, &mut problems) else { return problems.finish(None) };
    if let Place::Yaml(_) = keys.place {
        keys.place = Place::File;
    }
    keys.value.folder = folder.map(Path::to_owned);
    let platforms = platforms::platforms(&keys, machine, &mut problems);
    let mut services = services::services(&keys, machine, &mut problems);
    if keys.value.searches_each_request() && problems.count() == 0 {
        services::separate_requests(&mut keys.value, &services);
        services = services::services(&keys, machine, &mut problems);
    }
    let loads = loads::loads(&keys, &mut problems);
    let capacity = capacity::capacity(&keys, &services, &loads, machine, &mut problems);
    let placement = cpus::placement(&keys.value.cpus, machine, &mut problems).unwrap_or_default();
    let name = keys.value.name.clone().unwrap_or_else(|| default_name(&services, &platforms));
    let (question, limits) = (keys.value.question.clone(), keys.value.limits.value);
    let mut experiment = Experiment {
        name,
        question,
        services,
        limits,
        env: keys.value.env.clone(),
        platforms,
        loads,
        cells: Vec::new(),
        contrasts: Vec::new(),
        capacity,
        // Chosen below, from the loads and the limits.
        plan: keys.value.plan.value.plan.clone(),
        placement,
        claims: Vec::new(),
        fail_if: keys.value.fail_if.clone(),
        hooks: keys.value.hooks.value.hooks(),
    };
    experiment.plan =
        plan::plan(&keys.value.plan.value, &experiment.loads, experiment.shortest_slice(), machine.seed);
    if experiment.capacity.is_some() {
        let plan = &mut experiment.plan;
        // A search finds out by itself how much it must measure.
        plan.deployments = if keys.value.plan.has("deployments") { plan.deployments } else { 1 };
        plan.twin = plan.twin && keys.value.plan.has("twin");
        plan.interleave = Interleave::Slices;
        // A trial that the machine disturbed is none, and is made again.
        plan.repeats = if keys.value.plan.has("repeats") { plan.repeats } else { 0 };
    }
    if !size::combinations_fit(&experiment, &keys, &mut problems) {
        return problems.finish(None);
    }
    let mut experiment = experiment.with_every_cell();
    // What names a part that is itself wrong would only repeat its problem.
    if problems.count() == 0 {
        cells::cells(&mut experiment, &keys, &mut problems);
        size::cells_fit(&experiment, &keys, &mut problems);
        experiment.claims = claims::claims(&keys.value.claims, &experiment, &mut problems);
    }
    if problems.count() == 0 {
        conditions::are_judged(&experiment, keys.place_of("fail_if"), &mut problems);
        starting::can_be_started(&experiment, &keys, &mut problems);
        together::together(&experiment, &keys, machine, &mut problems);
        fitting::loads_fit(&experiment, &keys, &mut problems);
    }
    problems.finish(Some(experiment))
}

/// The tree that is read as the experiment.
pub(crate) fn written(experiment: &Experiment, detail: Detail) -> Node {
    let usual_name = default_name(&experiment.services, &experiment.platforms);
    let mut services = ServiceKeys::of_all(&experiment.services, detail);
    let service = if services.len() == 1 { services.pop() } else { None };
    let platforms = experiment.platforms.iter();
    let platforms =
        platforms.map(|platform| PlatformKeys::of(platform, &experiment.platforms, detail).into());
    let keys = ExperimentKeys {
        folder: None,
        name: (experiment.name != usual_name).then(|| experiment.name.clone()),
        question: experiment.question.clone(),
        service,
        services: (!services.is_empty()).then_some(services),
        limits: experiment.limits.into(),
        env: experiment.env.clone(),
        platforms: Some(platforms.collect()),
        loads: Some(experiment.loads.iter().map(|load| LoadKeys::of(load).into()).collect()),
        cells: CellsKeys::of(experiment),
        contrasts: ContrastKeys::of_all(experiment),
        capacity: experiment.capacity.as_ref().map(|capacity| CapacityKeys::of(capacity).into()),
        plan: PlanKeys::of(experiment, detail).into(),
        cpus: CpuKeys::of(&experiment.placement).into(),
        claims: experiment
            .claims
            .iter()
            .map(|claim| ClaimKeys::of(claim, &experiment.loads).into())
            .collect(),
        fail_if: experiment.fail_if.clone(),
        hooks: HookKeys::of(&experiment.hooks).into(),
    };
    let mut tree = table().write(&keys.into(), detail);
    if experiment.capacity.is_some() {
        // What a search has by default is not what other experiments have.
        let plan = &experiment.plan;
        let different = [
            ("deployments", plan.deployments.to_string()),
            ("repeats", plan.repeats.to_string()),
            ("twin", plan.twin.to_string()),
        ];
        let keys = different.clone().map(|(key, _)| key);
        let plan =
            Node::map(different.map(|(key, value)| (key, Node::scalar(value, Place::File))), Place::File);
        match tree.get_mut("plan") {
            Some(written) => {
                keys.into_iter().for_each(|key| written.remove(key));
                written.extend(plan);
            }
            None => tree.set("plan", plan),
        }
    }
    tree
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

/// The words without their places.
fn strings(words: impl AsRef<[Text]>) -> Vec<String> {
    words.as_ref().iter().map(|word| word.value.clone()).collect()
}

/// Words to be written.
fn texts(words: &[String]) -> Vec<Text> {
    words.iter().map(|word| Text { value: word.clone(), place: Place::File }).collect()
}
