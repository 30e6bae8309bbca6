//! Whether the parts of an experiment fit together: something to compare, ways of taking turns that the loads allow, needs that can be
//! started and found.

use std::path::Path;
use std::time::Duration;

use loadline_model::PlatformId;
use loadline_model::experiment::{Need, ServiceCpus};
use loadline_model::plan::Plan;
use loadline_model::platform::{Expose, Kubernetes, Limits, Starts};

use super::fixed_ports::fixed_ports;
use super::services;
use super::{ExperimentKeys, way_out};
use crate::error::{Complaint, Place, Problems};
use crate::machine::Machine;
use crate::options::Written;
use crate::{Experiment, Interleave, Isolation, Nodes, Platform, PlatformKind};

/// A test of whether a service is warm needs no less.
const SHORTEST_WARM_UP: Duration = Duration::from_secs(1);

/// Notes what is wrong between parts that are each valid.
pub(super) fn together(
    experiment: &Experiment,
    keys: &Written<ExperimentKeys>,
    machine: &Machine,
    problems: &mut Problems,
) {
    something_to_compare(experiment, keys, problems);
    fixed_ports(experiment, keys, machine, problems);
    taking_turns(experiment, keys, problems);
    measured_cold(experiment, keys, problems);
    limits_apply(experiment, keys, problems);
    cpus_apart(experiment, keys, problems);
    requests_fit(experiment, keys, problems);
    manifests_once(experiment, keys, problems);
    one_service_on_a_ladder(experiment, keys, problems);
    needs_fit(experiment, keys, problems);
}

/// Whether what services need can be started beside them, and be reached.
fn needs_fit(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let place = keys.place_of("platforms");
    let mut refuse = |need: &Need, why: &str, help: &str| {
        let complaint = Complaint::new(format!("`{}` cannot be started {why}", need.name));
        problems.add(place, complaint.help(help));
    };
    let mut needs = experiment.services.iter().flat_map(|service| &service.needs);
    if (experiment.is_ladder() || experiment.plan.nodes == Nodes::Own)
        && let Some(need) = needs.next()
    {
        refuse(need, "beside nodes of their own: no route leads to it", "leave `nodes: own` and `above` out");
        return;
    }
    for site in &Plan::new(experiment).sites {
        let own = experiment.service(site.service).needs.iter().find(|need| !need.shared);
        let Some(need) = own else { continue };
        match &experiment.platform(site.platform).kind {
            PlatformKind::External { .. } => {
                return refuse(need, "beside an external service", "leave one of the two out");
            }
            PlatformKind::Kubernetes(Kubernetes { manifests: Some(_), .. }) => {
                return refuse(
                    need,
                    "beside the objects of manifests",
                    "write it into the manifests as well",
                );
            }
            PlatformKind::Kubernetes(Kubernetes { expose: Expose::Ingress(_), .. }) => {
                return refuse(need, "behind an ingress that is the service's", "write `expose: nodePort`");
            }
            _ => {}
        }
    }
    addresses_are_known(experiment, place, problems);
}

/// What loadline does not start is not told where a need is, so that this must be known beforehand.
fn addresses_are_known(experiment: &Experiment, place: &Place, problems: &mut Problems) {
    for site in &Plan::new(experiment).sites {
        let reader = match experiment.platform(site.platform).kind.capabilities(false).starts {
            Starts::Command | Starts::Image => continue,
            Starts::Nothing => "an external service is",
            Starts::Manifests => "the objects of manifests are",
        };
        let needs = &experiment.service(site.service).needs;
        let Some(need) = needs.iter().find(|need| need.shared && need.port.is_none()) else { continue };
        let complaint = Complaint::new(format!("{reader} not told where `{}` is", need.name));
        return problems.add(place, complaint.help("give it a fixed `port`, or leave one of the two out"));
    }
}

fn one_service_on_a_ladder(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    if experiment.is_ladder() && experiment.services.len() > 1 {
        let place = keys.place_of("services");
        let complaint = Complaint::new("platforms on a ladder (`above`) allow only one service");
        problems.add(place, complaint.help("write one experiment per service, or leave `above` out"));
    }
}

fn something_to_compare(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    // What each carries is an answer without a comparison.
    if experiment.capacity.is_none() && Plan::new(experiment).contrasts.is_empty() {
        let help = way_out(
            &keys.place,
            "add a platform or a service, or leave out `twin: false`",
            "add a platform or a service, or leave out --no-twin",
        );
        let place = plan_place(keys, "twin");
        problems.add(place, Complaint::new("no cell is compared with another").help(help));
    }
}

fn taking_turns(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    if experiment.plan.interleave != Interleave::Requests {
        return;
    }
    let place = plan_place(keys, "interleave");
    if experiment.loads.iter().any(|load| load.load.is_closed()) {
        let complaint = Complaint::new("a closed loop cannot be interleaved by request: it never pauses");
        problems.add(place, complaint.help("write `interleave: slices`, or give the load a rate"));
    }
    if experiment.plan.isolation == Isolation::Exclusive {
        let complaint =
            Complaint::new("cells that are deployed one at a time cannot be interleaved by request");
        problems.add(place, complaint.help("choose either `isolation: exclusive` or `interleave: requests`"));
    }
}

/// Only the first slice after a start meets a cold service.
fn measured_cold(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let plan = &experiment.plan;
    let place = plan_place(keys, "warmup");
    let mut refuse = |message: &str, help: &str| problems.add(place, Complaint::new(message).help(help));
    if !plan.is_cold() {
        if plan.warmup < SHORTEST_WARM_UP {
            let message = "this is too short a warm-up to tell whether a service is warm";
            refuse(message, "write 1s or more, or 0s to measure cold services");
        }
    } else if experiment.capacity.is_some() {
        let message = "a search for a capacity loads a service again and again, so that it is soon warm";
        refuse(message, "give it a warm-up of 1s or more");
    } else if experiment.platforms.iter().any(is_started_by_others) {
        let message = "loadline does not start an external service, and can't tell whether it is cold";
        refuse(message, "give it a warm-up of 1s or more");
    } else if plan.interleave == Interleave::Requests {
        let message = "services that are loaded for the first time would disturb each other side by side";
        refuse(message, "leave `interleave: requests` out, or give them a warm-up of 1s or more");
    } else if plan.blocks != 1 || plan.repeats != 0 || experiment.loads.len() != 1 {
        let message = "without a warm-up, only the first slice after a start meets a cold service";
        let file = "write one load and `plan: {warmup: 0s, isolation: exclusive, blocks: 1, repeats: 0}`";
        let command_line = "give one load, --warmup 0s, --isolation exclusive, --blocks 1 and --repeats 0";
        refuse(message, way_out(&keys.place, file, command_line));
    } else if plan.isolation == Isolation::Shared && Plan::new(experiment).sites.len() > 1 {
        let message = "without a warm-up, a service must be loaded once it has started, and these would wait for their turns";
        refuse(message, way_out(&keys.place, "write `isolation: exclusive`", "give --isolation exclusive"));
    }
}

fn is_started_by_others(platform: &Platform) -> bool {
    platform.kind.capabilities(false).starts == Starts::Nothing
}

/// The objects of manifests have names of their own, so in a run's namespace there is room for them once.
fn manifests_once(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    if experiment.plan.isolation == Isolation::Exclusive {
        return;
    }
    let written = keys.value.platforms.iter().flatten();
    let sites = Plan::new(experiment).sites;
    let mut deployed: Vec<&Path> = Vec::new();
    for (at, (platform, written)) in experiment.platforms.iter().zip(written).enumerate() {
        let PlatformKind::Kubernetes(Kubernetes { manifests: Some(manifests), .. }) = &platform.kind else {
            continue;
        };
        let times = sites.iter().filter(|site| site.platform.0 == at).count();
        if times > 1 || deployed.contains(&manifests.file.as_path()) {
            let complaint = Complaint::new(
                "the objects of these manifests would be deployed more than once at the same time",
            )
            .help("write `isolation: exclusive`, which deploys one service at a time");
            problems.add(&written.place, complaint);
        }
        deployed.push(&manifests.file);
    }
}

/// No pod reserves more than it may use: the API server would refuse it.
fn requests_fit(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let written = keys.value.platforms.iter().flatten();
    let platforms = experiment.platforms.iter().zip(written);
    for (id, (platform, written)) in PlatformId::of(experiment.platforms.len()).zip(platforms) {
        let (PlatformKind::Kubernetes(pod), Some(written)) = (&platform.kind, written.value.requests())
        else {
            continue;
        };
        let requests = &pod.requests;
        let cells = experiment.cells_on(id);
        let limits: Vec<Limits> = cells.map(|cell| experiment.limits_of(cell.service, id)).collect();
        let cpu = limits
            .iter()
            .any(|limits| requests.cpus.zip(limits.cpus).is_some_and(|(request, limit)| request > limit));
        let memory = limits.iter().any(|limits| {
            requests.memory_bytes.zip(limits.memory_bytes).is_some_and(|(request, limit)| request > limit)
        });
        for (_, key) in [(cpu, "cpu"), (memory, "memory")].into_iter().filter(|(above, _)| *above) {
            let complaint = Complaint::new("a pod cannot request more than its limit");
            problems.add(written.place_of(key), complaint.help("raise `limits`, or request less"));
        }
    }
}

fn limits_apply(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let all_external = experiment.platforms.iter().all(|platform| !platform.kind.capabilities(false).limits);
    if experiment.limits.any() && all_external {
        let limits = &keys.value.limits;
        let key = if experiment.limits.cpus.is_some() { "cpu" } else { "memory" };
        let complaint = Complaint::new("cannot limit a service that already runs");
        let help = "leave the limits out, or add a platform that starts the service";
        problems.add(limits.place_of(key), complaint.help(help));
    }
    let written = keys.value.platforms.iter().flatten();
    for (platform, written) in experiment.platforms.iter().zip(written) {
        let own = [
            ("limits", platform.limits.any()),
            ("cpus", platform.cpus.is_some()),
            ("env", !platform.env.is_empty()),
        ];
        let (refused, why, help): (&[&str], _, _) = match platform.kind.capabilities(false).starts {
            Starts::Command | Starts::Image => continue,
            Starts::Nothing => (
                &["limits", "cpus", "env"],
                "to a service that already runs",
                "leave it out of this platform",
            ),
            // Its pods are pinned as others are.
            Starts::Manifests => (&["limits", "env"], "to your own manifests", "write it into the manifests"),
        };
        for (key, _) in own.into_iter().filter(|(key, is_given)| *is_given && refused.contains(key)) {
            let complaint = Complaint::new(format!("cannot apply `{key}` {why}"));
            problems.add(written.place_of(key), complaint.help(help));
        }
    }
}

/// No service is pinned to a CPU of the load, wherever that is written.
fn cpus_apart(experiment: &Experiment, keys: &Written<ExperimentKeys>, problems: &mut Problems) {
    let load = experiment.placement.load_cpus.as_deref().unwrap_or_default();
    let shared = |cpus: &Option<ServiceCpus>| match cpus {
        Some(ServiceCpus::Pinned(cpus)) => cpus.iter().copied().find(|cpu| load.contains(cpu)),
        _ => None,
    };
    let services = services::written(&keys.value).into_iter().map(|written| written.place_of("cpus"));
    let services = experiment.services.iter().map(|service| &service.cpus).zip(services);
    let platforms = keys.value.platforms.iter().flatten().map(|written| written.place_of("cpus"));
    let platforms = experiment.platforms.iter().map(|platform| &platform.cpus).zip(platforms);
    for (cpus, place) in services.chain(platforms) {
        if let Some(cpu) = shared(cpus) {
            let message = format!("CPU {cpu} is assigned to both the service and the load");
            let help = "give each its own CPUs, or the load slows the service down";
            problems.add(place, Complaint::new(message).help(help));
        }
    }
}

/// The place of a value of the plan, or of the whole.
fn plan_place<'a>(keys: &'a Written<ExperimentKeys>, key: &str) -> &'a Place {
    let plan = &keys.value.plan;
    if plan.has(key) { plan.place_of(key) } else { &keys.place }
}
