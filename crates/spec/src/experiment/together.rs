//! Whether the parts of an experiment fit together: something to compare, ports that don't collide, ways of taking turns
//! that the loads allow.

use std::path::Path;
use std::time::Duration;

use loadline_model::PlatformId;
use loadline_model::experiment::{Need, ServiceCpus};
use loadline_model::plan::{Plan, Site};
use loadline_model::platform::{Expose, Kubernetes, Limits, PortsOf, Starts};

use super::services::{self, port_place};
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
    let mut refuse = |need: &Need, why: &str, help: &str| {
        let complaint = Complaint::new(format!("`{}` cannot be started {why}", need.name));
        problems.add(keys.place_of("platforms"), complaint.help(help));
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

/// A port that a service insists on is free, and only one deployment at a time wants it.
fn fixed_ports(
    experiment: &Experiment,
    keys: &Written<ExperimentKeys>,
    machine: &Machine,
    problems: &mut Problems,
) {
    let own_nodes = experiment.plan.nodes == Nodes::Own;
    let has_own_node =
        |platform: &Platform| own_nodes && platform.kind.capabilities(own_nodes).takes_own_node;
    let on_node: Vec<bool> = experiment
        .platforms
        .iter()
        .map(|platform| !has_own_node(platform) && shares_the_nodes_ports(platform))
        .collect();
    let at_once = experiment.plan.isolation == Isolation::Shared;
    let sites = Plan::new(experiment).sites;
    let mut taken: Vec<(u16, &str)> = Vec::new();
    for (at, (service, written)) in experiment.services.iter().zip(services::written(&keys.value)).enumerate()
    {
        let Some(port) = service.port else { continue };
        let of_service: Vec<&Site> = sites.iter().filter(|site| site.service.0 == at).collect();
        let deployments = of_service.iter().filter(|site| on_node[site.platform.0]).count();
        if deployments == 0 {
            continue;
        }
        let is_here = |site: &&Site| {
            let platform = experiment.platform(site.platform);
            !has_own_node(platform) && is_surely_here(platform)
        };
        let place = port_place(written);
        if of_service.iter().any(is_here) && (machine.listens)(port) {
            let complaint = Complaint::new(format!("port {port} is in use on this machine"));
            problems.add(place, complaint.help("stop what listens there: `ss -ltnp` names it"));
        }
        let help =
            "leave `port` out and let the service take {port} or $PORT, or write `isolation: exclusive`";
        if at_once && deployments > 1 {
            let has_twin = of_service.iter().any(|site| site.twin);
            let twin = if has_twin { ", the baseline's twin included" } else { "" };
            let message = format!("{deployments} deployments need port {port} at the same time{twin}");
            problems.add(place, Complaint::new(message).help(help));
        } else if at_once && let Some((_, other)) = taken.iter().find(|(other, _)| *other == port) {
            let message = format!("port {port} is needed by `{other}` at the same time");
            problems.add(place, Complaint::new(message).help(help));
        }
        taken.push((port, &service.name));
    }
}

/// Whether a service there listens among the ports of a node; behind a veth it has a network namespace of its own.
fn shares_the_nodes_ports(platform: &Platform) -> bool {
    platform.kind.capabilities(false).ports != PortsOf::Service
}

/// Whether its ports are this machine's: the node of a pod may be any other, and is asked once it is known.
fn is_surely_here(platform: &Platform) -> bool {
    platform.kind.capabilities(false).ports == PortsOf::Machine
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
